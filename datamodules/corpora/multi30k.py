"""Multi30k: image captions in English, French, German and Czech (Elliott et al. 2016)."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar

from common.errors import InputError
from common.processes import parallel_map
from common.text_files import read_lines
from datamodules.corpora.on_disk import OnDisk, find_file
from datamodules.corpora.parallel_files import aligned
from datamodules.corpus import Split
from datamodules.text.tokenize import tokenize, tokenize_pair

LANGUAGES = ("fr", "de", "cs")


class Multi30k(OnDisk):
    """Raw captions, one per line; line i is the same caption in every language. `.gz` or plain."""

    name = "multi30k"
    remedy = (
        "get data/task1/raw of github.com/multi30k/dataset (python -m datamodules.download multi30k) "
        "and set corpus.root= to that folder"
    )
    splits: ClassVar = {"train": "train", "dev": "val", "test": "test_2016_flickr"}

    def files(self) -> list[Path]:
        return [path for name in self.splits.values() for path in self.root.glob(f"{name}.*")]

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        if target not in LANGUAGES:
            raise InputError(f"corpus multi30k is translated into {', '.join(LANGUAGES)}, not {target}")
        pairs = aligned(self._file(split, "en"), self._file(split, target))
        return parallel_map(partial(tokenize_pair, language=target), self.cut(split, pairs))

    def sentences(self, split: Split) -> Iterator[str]:
        lines = self.cut(split, read_lines(self._file(split, "en")))
        return parallel_map(tokenize, (text for _, text in lines))

    def _file(self, split: Split, language: str) -> Path:
        return find_file(self.root, f"{self.split_name(split)}.{language}", self.remedy)
