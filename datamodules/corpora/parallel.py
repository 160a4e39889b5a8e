"""Your own translations: two files with the same sentence in two languages on line i."""

from collections.abc import Callable, Container, Iterable, Iterator
from filecmp import cmp
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import Annotated

from datamodules.corpora.on_disk import Example, OnDisk, line_pairs, text_files
from datamodules.corpus import Corpus, Split
from datamodules.text.languages import check_language
from datamodules.text.tokenize import tokenize
from encoder_lab.compute.processes import parallel_map
from encoder_lab.errors import InputError
from encoder_lab.settings.types import CorpusSize, HeldOut, SourceLanguage, Tokenized
from encoder_lab.storage.content import contents_of, key_of
from encoder_lab.storage.text_files import read_lines


class Parallel(Corpus):
    """Files for train, and for dev and test or a share of train; plain, `.gz` or `.bz2`, one sentence per line."""

    name = "parallel"
    for_probing = ("dev", "test")

    def __init__(
        self,
        source: Annotated[str | None, "one sentence per line; plain, .gz or .bz2"],
        target: Annotated[str | None, "line i is the translation of line i"],
        dev_source: Annotated[str | None, "without files, one line in held_out of the training files is dev,"] = None,
        dev_target: Annotated[str | None, "of dev_source"] = None,
        test_source: Annotated[str | None, "and one is test"] = None,
        test_target: Annotated[str | None, "of test_source"] = None,
        source_language: SourceLanguage = "en",
        target_language: Annotated[str | None, "of target, which decides how it is tokenised"] = None,
        held_out: HeldOut = 20,
        size: CorpusSize = None,
        tokenized: Tokenized = False,
    ) -> None:
        if not source or not target or not target_language:
            note = "; for another source than English also corpus.source_language= and objective=nmt"
            needed = "corpus.source=FILE corpus.target=FILE corpus.target_language=LANGUAGE (as fr)"
            raise InputError(f"corpus=parallel needs {needed}{note}")
        files = {"train": (source, target), "dev": (dev_source, dev_target), "test": (test_source, test_target)}
        self.pairs: dict[str, tuple[Path, Path]] = {}
        for split, (first, second) in files.items():
            if bool(first) != bool(second):
                raise InputError(f"corpus.{split}_source= and corpus.{split}_target=: give both files or none")
            if first and second:
                self.pairs[split] = Path(first), Path(second)
        for path in self._paths():
            if not path.is_file():
                raise InputError(f"{path}: no such file (corpus=parallel)")
            text_files(path, (".txt",))  # refuses a file of columns
        if same := next((pair for pair in combinations(self._paths(), 2) if cmp(*pair, shallow=False)), None):
            remedy = "without corpus.dev_ and corpus.test_ files lines of the training files are held out"
            raise InputError(f"{same[1]}: the same text as {same[0]} (corpus=parallel); give another file; {remedy}")
        check_language(source_language, "corpus.source_language")
        check_language(target_language, "corpus.target_language")
        self.source_language, self.target_language = source_language, target_language
        self.held_out, self.size, self.tokenized = held_out, size, tokenized

    def fingerprint(self) -> str:
        settings = f"{self.source_language}-{self.target_language} 1/{self.held_out} {self.size} {self.tokenized}"
        return f"parallel {settings} {list(self.pairs)} {key_of(contents_of(self._paths()))}"

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        if target != self.target_language:
            languages = f"{self.source_language}-{self.target_language}"
            remedy = "give objective=nmt, which takes it from there"
            raise InputError(f"corpus parallel has {languages}, not {target}: {remedy}")
        raw = self._examples(split, lambda files: line_pairs(*files))
        return parallel_map(partial(self._tokenize_pair, target=target), raw)

    def sentences(self, split: Split) -> Iterator[str]:
        lines = (line for _, line in self._examples(split, lambda files: read_lines(files[0])))
        return parallel_map(partial(self._tokenize_line, language=self.source_language), lines)

    def _tokenize_pair(self, pair: tuple[str, str], target: str) -> tuple[str, str]:
        return self._tokenize_line(pair[0], self.source_language), self._tokenize_line(pair[1], target)

    def _tokenize_line(self, line: str, language: str) -> str:
        return " ".join(line.split()) if self.tokenized else tokenize(line, language)

    def place(self, side: str) -> str:
        return f"{', '.join(str(pair[side == 'target']) for pair in self.pairs.values())}, {side}"

    tokenize = staticmethod(OnDisk.tokenize)

    def _paths(self) -> list[Path]:
        return [path for pair in self.pairs.values() for path in pair]

    def _examples(self, split: Split, read: Callable[[tuple[Path, Path]], Iterator[Example]]) -> Iterator[Example]:
        if split != "train" and split in self.pairs:
            return read(self.pairs[split])
        rows = rows_of_split(read(self.pairs["train"]), split, self.pairs, self.held_out)
        return islice(rows, self.size if split == "train" else None)


def rows_of_split(rows: Iterable[Example], split: Split, splits: Container[str], held_out: int) -> Iterator[Example]:
    """The rows of a split of the training text: one in `held_out` is dev and one test, unless they are in `splits`."""
    if split == "probe":
        raise InputError("this corpus has no probe split: use probes=files, trees, senteval or none")
    shares = {row: name for row, name in enumerate(("dev", "test")) if name not in splits}
    return (row for index, row in enumerate(rows) if shares.get(index % held_out, "train") == split)
