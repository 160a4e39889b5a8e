"""SNLI and MultiNLI: premise-hypothesis pairs as .jsonl or .txt (Bowman et al. 2015; Williams et al. 2018)."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, ClassVar

from datamodules.corpora.on_disk import OnDisk, find_file, stored_file
from datamodules.corpus import LABELS, Inference, Split
from datamodules.text.tokenize import tokenize
from encoder_lab.compute.processes import parallel_map
from encoder_lab.errors import InputError
from encoder_lab.settings.types import CorpusSize
from encoder_lab.storage.text_files import log_note, read_json_lines, read_table, without_packed_suffix

NO_MAJORITY = "-"  # annotators disagreed
COLUMNS = ("gold_label", "sentence1", "sentence2")


class PublishedPairs(OnDisk):
    """Pairs from files with columns `gold_label`, `sentence1`, `sentence2`; skips pairs without a gold label."""

    for_probing = ("dev", "test")

    def files(self) -> list[Path]:
        return [self._find_file(split) for split in self.splits]

    def inference(self, split: Split) -> Iterator[Inference]:
        return parallel_map(tokenize_inference, self.limit(split, self.raw_pairs(split)))

    def raw_pairs(self, split: Split) -> Iterator[Inference]:
        """The pairs of a split, not tokenised."""
        return read_pairs(self._find_file(split))

    def _find_file(self, split: Split) -> Path:
        stem = self.split_name(split)
        remedy = f"and no {stem}.jsonl either; {self.remedy}"
        return stored_file(self.root, f"{stem}.jsonl") or find_file(self.root, f"{stem}.txt", remedy)


class Snli(PublishedPairs):
    """The Stanford corpus: the premises are image captions."""

    name = "snli"
    remedy = "python -m datamodules.download snli, then set corpus.root= to its folder"
    splits: ClassVar = {"train": "snli_1.0_train", "dev": "snli_1.0_dev", "test": "snli_1.0_test"}


class MultiNli(PublishedPairs):
    """Ten genres of speech and writing. The mismatched dev set, of other genres than training, is the test set."""

    name = "multinli"
    remedy = "python -m datamodules.download multinli, then set corpus.root= to its folder"
    splits: ClassVar = {
        "train": "multinli_1.0_train",
        "dev": "multinli_1.0_dev_matched",
        "test": "multinli_1.0_dev_mismatched",
    }


class AllNli(PublishedPairs):
    """SNLI, then MultiNLI, for training; SNLI for dev and test (Conneau et al. 2018, section 3.2)."""

    name = "allnli"
    remedy = "put the folders of snli and multinli into one (python -m datamodules.download) and set corpus.root= to it"

    def __init__(
        self,
        root: Annotated[str | None, "folder that holds the folders snli_1.0 and multinli_1.0"],
        size: CorpusSize = None,
    ) -> None:
        super().__init__(root, size)
        self._snli, self._multinli = Snli(root), MultiNli(root)

    def files(self) -> list[Path]:
        return self._snli.files() + self._multinli.files()

    def raw_pairs(self, split: Split) -> Iterator[Inference]:
        pairs = self._snli.raw_pairs(split)
        return chain(pairs, self._multinli.raw_pairs(split)) if split == "train" else pairs


def read_pairs(path: Path) -> Iterator[Inference]:
    """The labelled pairs of a published file. Raises InputError naming file and line."""
    is_json = without_packed_suffix(path).suffix == ".jsonl"
    undecided = 0
    for number, record in read_json_lines(path) if is_json else read_table(path, COLUMNS):
        label, premise, hypothesis = (_get_text(record, name, f"{path}:{number}") for name in COLUMNS)
        if label == NO_MAJORITY:
            undecided += 1
        elif label in LABELS:
            yield Inference(premise, hypothesis, label)  # type: ignore[arg-type]
        else:
            raise InputError(f"{path}:{number}: label {label[:40]!r}, expected {', '.join(LABELS)} or {NO_MAJORITY}")
    if undecided:
        log_note(f"{path}: {undecided} pairs without a gold label left out")


def tokenize_inference(pair: Inference, language: str = "en") -> Inference:
    premise, hypothesis = (tokenize(text, language) for text in (pair.premise, pair.hypothesis))
    return pair._replace(premise=premise, hypothesis=hypothesis)


def _get_text(record: dict, name: str, location: str) -> str:
    if not isinstance(record.get(name), str):
        raise InputError(f"{location}: no text under {name}; fix or remove the line")
    return record[name]
