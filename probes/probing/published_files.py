"""Reads the ten published probing files (SentEval's data/probing)."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from encoder_lab.errors import InputError, printable
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.text_files import read_json_lines, read_lines
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
TOOLKIT = {  # the toolkit's names of its tasks
    "Length": "SentLen",
    "WordContent": "WC",
    "Depth": "TreeDepth",
    "TopConstituents": "TopConst",
    "BigramShift": "BShift",
    "SubjNumber": "SubjNum",
    "ObjNumber": "ObjNum",
    "OddManOut": "SOMO",
    "CoordinationInversion": "CoordInv",
}
SPLITS = ("tr", "va", "te")
SPLIT_NAMES = {"train": "tr", "dev": "va", "validation": "va", "test": "te"}  # in JSON lines
SOURCE = "github.com/facebookresearch/SentEval/tree/main/data/probing"


def read_senteval(root: Path, names: Sequence[str] = tuple(FILES)) -> list[Classification]:
    """The named tasks from a folder with the published files, or from `probing/` in it. Prints which are missing.

    Each line is split tag, tab, label, tab, sentence; more fields may stand between the last two. Classes are the
    sorted labels of the training split. Raises InputError naming file and line.
    """
    unknown = [name for name in names if name not in FILES]
    if unknown:
        raise InputError(f"no probing task {', '.join(unknown)}; choose from {', '.join(FILES)}")
    folder = root / "probing" if (root / "probing").is_dir() else root
    missing = [name for name in names if not (folder / FILES[name]).is_file()]
    if len(missing) == len(names):
        raise InputError(f"{folder}: none of the {len(names)} files; get them from {SOURCE} (probes.root=)")
    if missing:
        files = ", ".join(f"{name} ({FILES[name]})" for name in missing)
        said = f"{folder}: skipped, as their files are not there: {files}; get them from {SOURCE}"
        print(printable(said), file=sys.stderr)
    return [read_task(name, folder / FILES[name]) for name in names if name not in missing]


def read_task(name: str, path: Path) -> Classification:
    """One published file."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    rows: dict[str, list[tuple[int, str, str]]] = {split: [] for split in SPLITS}
    for number, split, label, sentence in _records(path):
        rows[split].append((number, label, " ".join(sentence.split())))
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


def name_of(path: Path) -> str:
    """The name of the user's own task in a file: its name without endings."""
    return path.name.partition(".")[0]


def _records(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """Line, split, label and sentence: tab-separated, or JSON objects with these names if the file ends in .jsonl."""
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        for number, record in read_json_lines(path):
            split, label, sentence = (str(record.get(key, "")) for key in ("split", "label", "sentence"))
            if SPLIT_NAMES.get(split, split) not in SPLITS or not label or not sentence.strip():
                raise InputError(f"{path}:{number}: expected split (train, dev or test), label and sentence")
            yield number, SPLIT_NAMES.get(split, split), label, sentence
        return
    for number, line in read_lines(path):
        fields = line.rstrip().split("\t")
        if len(fields) < 3 or fields[0] not in SPLITS or not fields[1] or not fields[-1].strip():
            raise InputError(
                f"{path}:{number}: expected tr, va or te, a label and a sentence between tabs: {line[:60]!r}"
            )
        yield number, fields[0], fields[1], fields[-1]


def write_task(task: Classification, path: Path, ids: Sequence[str] = ()) -> None:
    """Write a task in the published format. `ids`: names of the test sentences, a field before the sentence."""
    with atomic_write(path) as file:
        for tag, split in zip(SPLITS, (task.train, task.dev, task.test), strict=True):
            named = [f"{name}\t" for name in ids] if tag == SPLITS[-1] and ids else [""] * len(split.sentences)
            for name, sentence, label in zip(named, split.sentences, split.gold, strict=True):
                file.write(f"{tag}\t{task.classes[label]}\t{name}{sentence}\n")


def read_test_ids(path: Path) -> list[str]:
    """The names of the test sentences of a task, in their order; none if the file has no field for them."""
    rows = [line.split("\t") for _, line in read_lines(path) if line.startswith(f"{SPLITS[-1]}\t")]
    return [row[2] for row in rows if len(row) > 3]
