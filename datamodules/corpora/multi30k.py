"""Multi30k: image captions in English, French, German and Czech (Elliott et al. 2016)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar

from datamodules.corpora.on_disk import OnDisk, find_file, line_pairs, refuse_language
from datamodules.corpus import Split
from encoder_lab.settings.types import CorpusSize, SourceLanguage
from encoder_lab.storage.text_files import read_lines

LANGUAGES = ("en", "fr", "de", "cs")


class Multi30k(OnDisk):
    """Raw captions, one per line; line i is the same caption in every language. `.gz` or plain."""

    name = "multi30k"
    for_probing = ("dev", "test")
    remedy = (
        "get data/task1/raw of github.com/multi30k/dataset (python -m datamodules.download multi30k) "
        "and set corpus.root= to that folder"
    )
    splits: ClassVar = {"train": "train", "dev": "val", "test": "test_2016_flickr"}

    def __init__(
        self,
        root: Annotated[str | None, "folder with train.en.gz, train.fr.gz, val.*, test_2016_flickr.*"],
        size: CorpusSize = None,
        source_language: SourceLanguage = "en",
    ) -> None:
        refuse_language(self.name, source_language, LANGUAGES)
        super().__init__(root, size)
        self.source_language = source_language

    def files(self) -> list[Path]:
        names = [f"{folder}{name}.*" for name in self.splits.values() for folder in ("", "*/")]
        return [path for name in names for path in self.root.glob(name)]

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        refuse_language(self.name, target, LANGUAGES)
        pairs = line_pairs(self._find_file(split, self.source_language), self._find_file(split, target))
        return self.tokenize_pairs(self.limit(split, pairs), target)

    def sentences(self, split: Split) -> Iterator[str]:
        lines = self.limit(split, read_lines(self._find_file(split, self.source_language)))
        return self.tokenize_all(text for _, text in lines)

    def _find_file(self, split: Split, language: str) -> Path:
        return find_file(self.root, f"{self.split_name(split)}.{language}", self.remedy)
