"""The base of all corpora in files: a root that must exist, a size limit for train, a fingerprint."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from datamodules.corpus import Corpus, Split
from datamodules.text.tokenize import tokenize, tokenize_pair
from encoder_lab.compute.processes import parallel_map
from encoder_lab.errors import InputError
from encoder_lab.settings.types import CorpusSize
from encoder_lab.storage.content import contents_of, key_of
from encoder_lab.storage.text_files import files_below, plain_or_packed, read_lines, without_packed_suffix

COLUMN_ENDINGS = frozenset([".jsonl", ".tsv", ".csv"])  # of files with more than a text on a line
Example = TypeVar("Example")


class OnDisk(Corpus):
    """Files under `root` (a folder or one file). `size`: keep this many training examples; None: all."""

    remedy = "see python -m datamodules.download"
    splits: ClassVar[dict[Split, str]]  # the name of each split in the files; for corpora with published splits

    def __init__(
        self, root: Annotated[str | None, "the folder with its files, or one file"], size: CorpusSize = None
    ) -> None:
        if not root or not Path(root).exists():
            fault = f"corpus.root={root}: no {self.name} there" if root else "corpus.root= is missing"
            raise InputError(f"{fault}; {self.remedy}")
        self.root, self.size = Path(root), size

    def files(self) -> list[Path]:
        raise NotImplementedError

    def fingerprint(self) -> str:
        return f"{self.name} {self.source_language} size {self.size} {key_of(contents_of(self.files(), self.root))}"

    def place(self, side: str) -> str:
        return f"{self.root}, {side}"

    @staticmethod
    def tokenize(raw: str, language: str = "en") -> str:
        return tokenize(raw, language)

    def tokenize_all(self, sentences: Iterable[str]) -> Iterator[str]:
        """Raw sentences, tokenised on all cores."""
        return parallel_map(partial(tokenize, language=self.source_language), sentences)

    def tokenize_pairs(self, pairs: Iterable[tuple[str, str]], target: str) -> Iterator[tuple[str, str]]:
        """Raw sentences with their translations into `target`, tokenised on all cores."""
        return parallel_map(partial(tokenize_pair, source=self.source_language, target=target), pairs)

    def limit(self, split: Split, examples: Iterable[Example]) -> Iterator[Example]:
        return islice(examples, self.size if split == "train" else None)

    def split_name(self, split: Split) -> str:
        if split not in self.splits:
            raise InputError(f"corpus {self.name} has no {split} split: it comes as {', '.join(self.splits)}")
        return self.splits[split]


def refuse_language(name: str, language: str, available: Sequence[str]) -> None:
    """Raises InputError for a language that a corpus does not have."""
    if language not in available:
        raise InputError(f"corpus {name} is in {', '.join(available)}, not in {language} (corpus.source_language=)")


def stored_file(root: Path, name: str) -> Path | None:
    """The file `name`, plain or packed, in `root` or in a folder directly below it; None where there is none."""
    paths = (plain_or_packed(folder / name) for folder in (root, *sorted(root.glob("*/"))))
    return next(filter(Path.is_file, paths), None)


def find_file(root: Path, name: str, remedy: str) -> Path:
    """The same. Raises InputError where there is none."""
    if path := stored_file(root, name):
        return path
    raise InputError(f"{root / name}: missing, and no {name}.gz either; {remedy}")


def text_files(root: Path, endings: tuple[str, ...]) -> list[Path]:
    """The files below `root`, as `files_below` lists them, but empty ones. Raises InputError for a file of columns."""
    if without_packed_suffix(root).suffix in COLUMN_ENDINGS.difference(endings) and root.is_file():
        raise InputError(
            f"{root}: has columns; write what is to be read into a file that ends in {' or '.join(endings)}"
        )
    files = files_below(root, endings)
    return [path for path in files if path.stat().st_size] or files  # the reader refuses an empty file


def line_pairs(english: Path, translation: Path) -> Iterator[tuple[str, str]]:
    """Pairs of raw lines. Raises InputError naming both files and their lengths if these differ."""
    sources, targets = read_lines(english), read_lines(translation)
    count = 0
    for count, (_, source) in enumerate(sources, start=1):
        target = next(targets, None)
        if target is None:
            raise _unequal_error(english, count + sum(1 for _ in sources), translation, count - 1)
        yield source, target[1]
    extra = sum(1 for _ in targets)
    if extra:
        raise _unequal_error(english, count, translation, count + extra)


def _unequal_error(english: Path, lines: int, translation: Path, translation_lines: int) -> InputError:
    return InputError(f"{english} has {lines} lines but {translation} has {translation_lines}; get both files again")
