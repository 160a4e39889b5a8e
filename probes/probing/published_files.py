"""Reads the ten published probing files (SentEval's data/probing)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from common.errors import InputError
from common.files import atomic_write
from common.text_files import read_lines
from probes.classification import Classification
from probes.task import single

FILES = {
    "SentLen": "sentence_length.txt",
    "WC": "word_content.txt",
    "TreeDepth": "tree_depth.txt",
    "TopConst": "top_constituents.txt",
    "BShift": "bigram_shift.txt",
    "Tense": "past_present.txt",
    "SubjNum": "subj_number.txt",
    "ObjNum": "obj_number.txt",
    "SOMO": "odd_man_out.txt",
    "CoordInv": "coordination_inversion.txt",
}
SPLITS = ("tr", "va", "te")
SOURCE = "github.com/facebookresearch/SentEval/tree/main/data/probing"


def read_senteval(root: Path, names: Sequence[str] = tuple(FILES)) -> list[Classification]:
    """The named tasks from a folder with the published files, or from `probing/` in it.

    Each line is split tag, tab, label, tab, sentence; more fields may stand between the last two. Classes are the
    sorted labels of the training split. Raises InputError naming file and line.
    """
    unknown = [name for name in names if name not in FILES]
    if unknown:
        raise InputError(f"no probing task {', '.join(unknown)}; choose from {', '.join(FILES)}")
    folder = root / "probing" if (root / "probing").is_dir() else root
    return [read_task(name, folder / FILES[name]) for name in names]


def read_task(name: str, path: Path) -> Classification:
    """One published file."""
    if not path.is_file():
        raise InputError(f"{path}: missing; get it from {SOURCE} and name its folder (probes.root=)")
    rows: dict[str, list[tuple[int, str, str]]] = {split: [] for split in SPLITS}
    for number, line in read_lines(path):
        fields = line.rstrip().split("\t")
        if len(fields) < 3 or fields[0] not in rows or not fields[1] or not fields[-1].strip():
            raise InputError(
                f"{path}:{number}: expected tr, va or te, a label and a sentence between tabs: {line[:60]!r}"
            )
        rows[fields[0]].append((number, fields[1], " ".join(fields[-1].split())))
    empty = [split for split in SPLITS if not rows[split]]
    if empty:
        raise InputError(f"{path}: no line of split {' or '.join(empty)}; the file is cut off")
    classes = sorted({label for _, label, _ in rows["tr"]})
    if len(classes) < 2:
        said = f"the training lines have only one label, {classes[0]!r}"
        raise InputError(f"{path}: {said}; fix the file, or leave {name} out of probes.tasks=")
    index = {label: i for i, label in enumerate(classes)}
    for split in SPLITS[1:]:
        for number, label, _ in rows[split]:
            if label not in index:
                raise InputError(f"{path}:{number}: label {label!r} is not among the training labels")
    splits = [
        single([s for _, _, s in rows[split]], np.array([index[label] for _, label, _ in rows[split]], dtype=np.int64))
        for split in SPLITS
    ]
    return Classification(name, classes, *splits)


def write_task(task: Classification, path: Path) -> None:
    """Write a task in the published format."""
    with atomic_write(path) as file:
        for tag, split in zip(SPLITS, (task.train, task.dev, task.test), strict=True):
            for sentence, label in zip(split.sentences, split.gold, strict=True):
                file.write(f"{tag}\t{task.classes[label]}\t{sentence}\n")
