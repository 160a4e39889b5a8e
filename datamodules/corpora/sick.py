"""SICK, Sentences Involving Compositional Knowledge, as premise-hypothesis pairs (Marelli et al. 2014)."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from datamodules.corpora.inference_files import PublishedPairs
from datamodules.corpora.on_disk import find_file, stored_file
from datamodules.corpus import LABELS, Inference, Split
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_table

COMPLETE_FILE = "SICK.txt"  # all splits in one file: another label column, and a column with the split
SETS = {"train": "TRAIN", "dev": "TRIAL", "test": "TEST"}


class Sick(PublishedPairs):
    """`SICK_train.txt`, `SICK_trial.txt`, `SICK_test_annotated.txt` as at SemEval 2014, or the one `SICK.txt`."""

    name = "sick"
    remedy = "python -m datamodules.download sick, then set corpus.root= to its folder"
    splits: ClassVar = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}

    def files(self) -> list[Path]:
        complete = stored_file(self.root, COMPLETE_FILE)
        return [complete] if complete else [find_file(self.root, name, self.remedy) for name in self.splits.values()]

    def raw_pairs(self, split: Split) -> Iterator[Inference]:
        name, complete = self.split_name(split), stored_file(self.root, COMPLETE_FILE)
        label = "entailment_label" if complete else "entailment_judgment"
        columns = ["sentence_A", "sentence_B", label, *(["SemEval_set"] if complete else [])]
        path = complete or find_file(self.root, name, self.remedy)
        for number, row in read_table(path, columns):
            gold, subset = row[label].strip().lower(), row["SemEval_set"].strip() if complete else SETS[split]
            if gold not in LABELS:
                raise InputError(f"{path}:{number}: label {row[label][:40]!r}, expected one of {', '.join(LABELS)}")
            if subset not in SETS.values():
                raise InputError(f"{path}:{number}: set {subset[:40]!r}, expected one of {', '.join(SETS.values())}")
            if subset == SETS[split]:
                yield Inference(row["sentence_A"], row["sentence_B"], gold)  # type: ignore[arg-type]
