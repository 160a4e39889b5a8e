"""Multi30k: image captions in English, French, German and Czech (Elliott et al. 2016)."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from datamodules.corpus import Corpus, Split
from datamodules.errors import InputError
from datamodules.lines import read_lines
from datamodules.tokenize import tokenize

FILES = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
LANGUAGES = ("fr", "de", "cs")
REMEDY = (
    "get data/task1/raw of github.com/multi30k/dataset (python -m datamodules.download multi30k) "
    "and set corpus.root= to that folder"
)


class Multi30k(Corpus):
    """Raw captions, one a line, line i of every language the same caption; `.gz` or plain."""

    name = "multi30k"

    def __init__(self, root: str | None, size: int | None = None) -> None:
        if not root or not Path(root).is_dir():
            raise InputError(f"corpus.root={root}: no folder with multi30k there; {REMEDY}")
        self.root, self.size = Path(root), size

    def fingerprint(self) -> str:
        files = sorted(self.root.glob("*.*"))
        state = [f"{f.name}:{f.stat().st_size}:{f.stat().st_mtime_ns}" for f in files]
        return f"multi30k {self.root.resolve()} size {self.size} {' '.join(state)}"

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        if target not in LANGUAGES:
            raise InputError(f"corpus multi30k is translated into {', '.join(LANGUAGES)}, not {target}")
        paths = self._file(split, "en"), self._file(split, target)
        return islice(self._pairs(*paths, target), self._limit(split))

    def sentences(self, split: Split) -> Iterator[str]:
        lines = (tokenize(text) for _, text in read_lines(self._file(split, "en")))
        return islice(lines, self._limit(split))

    @staticmethod
    def tokenize(raw: str) -> str:
        return tokenize(raw)

    def _limit(self, split: Split) -> int | None:
        return self.size if split == "train" else None

    def _file(self, split: Split, language: str) -> Path:
        if split not in FILES:
            raise InputError(f"corpus multi30k has no {split} split")
        stem = f"{FILES[split]}.{language}"
        found = [path for path in (self.root / stem, self.root / f"{stem}.gz") if path.is_file()]
        if not found:
            raise InputError(f"{self.root / stem}: missing, and no {stem}.gz either; {REMEDY}")
        return found[0]

    def _pairs(self, english: Path, other: Path, target: str) -> Iterator[tuple[str, str]]:
        sources, targets = read_lines(english), read_lines(other)
        count = 0
        for count, (_, source) in enumerate(sources, start=1):
            translation = next(targets, None)
            if translation is None:
                lines = count + sum(1 for _ in sources)
                raise InputError(f"{english} has {lines} lines but {other} has {count - 1}; get both files again")
            yield tokenize(source), tokenize(translation[1], target)
        extra = sum(1 for _ in targets)
        if extra:
            raise InputError(f"{english} has {count} lines but {other} has {count + extra}; get both files again")
