"""Reads the ten published probing files (SentEval's data/probing), and files of tasks of the user's own."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from datamodules.corpora.on_disk import text_files
from encoder_lab.errors import InputError, printable
from encoder_lab.settings.command_line import unknown_name_message
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.text_files import log_note_once, read_json_lines, read_lines, read_table, without_packed_suffix
from probes.classification import Classification
from probes.probing import FILES
from probes.task import Items
from probes.vectors import pair_features, sentence_vector

PUBLISHED_SIZE = 120_000  # lines of each
SPREADSHEET_PATTERN = re.compile(r'"\S[^"]*,[^"]*"')  # a text with a comma, as it is saved with tabs between columns
SPLITS = ("tr", "va", "te")
SPLIT_NAMES = {"train": "tr", "dev": "va", "validation": "va", "test": "te"}  # in JSON lines
OWN_ENDINGS = (".txt", ".tsv", ".jsonl")
SOURCE = "github.com/facebookresearch/SentEval/tree/main/data/probing"


def read_senteval(root: Path, names: Sequence[str] = tuple(FILES)) -> list[Classification]:
    """The named tasks from a folder with the published files, or from `probing/` in it. Prints which are missing.

    Each line is split tag, tab, label, tab, sentence; more fields may stand between the last two. Classes are the
    sorted labels of the training split. Raises InputError naming file and line.
    """
    unknown = [name for name in names if name not in FILES]
    if unknown:
        raise InputError(f"{unknown[0]}: {unknown_name_message('probing task', unknown[0], list(FILES))}")
    folder = root / "probing" if (root / "probing").is_dir() else root
    missing = [name for name in names if not (folder / FILES[name]).is_file()]
    if len(missing) == len(names):
        raise InputError(f"{folder}: none of the {len(names)} files; get them from {SOURCE} (probes.root=)")
    if missing:
        files = ", ".join(f"{name} ({FILES[name]})" for name in missing)
        problem = f"{folder}: skipped, as their files are not there: {files}; get them from {SOURCE}"
        print(printable(problem), file=sys.stderr)
    return [read_task(name, folder / FILES[name]) for name in names if name not in missing]


class TaskRow(NamedTuple):
    """A line of a file: an item of a task."""

    number: int
    split: str
    gold: str  # a label, or a score
    texts: tuple[str, ...]  # a sentence, or a pair


def read_task(name: str, path: Path, suite: str = "probing") -> Classification:
    """One published file, or one of the user's own: of sentences or of pairs, with labels."""
    rows = read_rows(path, "label")
    if empty := [split for split in SPLITS if not rows[split]]:
        raise InputError(f"{path}: no line of split {' or '.join(empty)}; train (tr), dev (va) and test (te) have some")
    classes = sorted({row.gold for row in rows["tr"]})
    if len(classes) < 2:
        problem = f"the training lines have only one label, {classes[0]!r}"
        raise InputError(f"{path}: {problem}; fix the file, or leave {name} out of probes.tasks=")
    if len({label.casefold() for label in classes}) < len(classes):
        log_note_once(f"{path}: labels that differ in capitals alone are several classes")
    index = {label: i for i, label in enumerate(classes)}
    if unseen := next((row for split in SPLITS[1:] for row in rows[split] if row.gold not in index), None):
        raise InputError(f"{path}:{unseen.number}: label {unseen.gold!r} is not among the training labels")
    parts = [
        items_from_rows(rows[split], np.array([index[row.gold] for row in rows[split]], np.int64)) for split in SPLITS
    ]
    features = sentence_vector if len(parts[0].texts) == 1 else pair_features
    path = originals_path(path)
    originals = [line for _, line in read_lines(path)] if path.exists() else []
    return Classification(name, classes, *parts, suite=suite, features=features, originals=originals)


def originals_path(path: Path) -> Path:
    """The file next to a task with what its changed sentences were, a line each: training text is without them too."""
    return without_packed_suffix(path).with_suffix(".originals")


def read_own_task(name: str, path: Path, suite: str = "probing") -> Classification:
    """One of the user's own. Says how many of its test items are training items too."""
    task = read_task(name, path, suite)
    warn_of_seen_items(path, task.train, task.test)
    return task


def warn_of_seen_items(path: Path, train: Items, test: Items) -> None:
    """Print a line if texts of the test items, in any order, stand in the training items."""
    trained = set(map(frozenset, zip(*train.texts, strict=True)))
    if seen := sum(item in trained for item in map(frozenset, zip(*test.texts, strict=True))):
        problem = f"{seen:,} of {len(test.gold):,} test items are training items too, which makes scores too high"
        print(printable(f"warning: {path}: {problem}"), file=sys.stderr)


def read_rows(path: Path, gold: str) -> dict[str, list[TaskRow]]:
    """The rows of each split. `gold`: the column with "label" or "score". Raises InputError naming file and line."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    columns = columns_of(path)
    if {"label", "score"} <= set(columns):
        raise InputError(f"{path}: both label and score; write the file with one of them")
    if gold == "label" and "score" in columns:
        raise InputError(f"{path}: scores in place of labels; give it as suite=downstream downstream.more=[{path}]")
    if unread := [name for name in columns if name not in ("split", gold, "sentence", "sentence2")]:
        log_note_once(f"{path}: not read are the columns {', '.join(map(repr, unread))}")
    rows: dict[str, list[TaskRow]] = {split: [] for split in SPLITS}
    texts = 0
    for row in _read_rows(path, gold):
        texts = texts or len(row.texts)
        if len(row.texts) != texts:
            raise InputError(f"{path}:{row.number}: {len(row.texts)} sentences, but {texts} in the lines before")
        rows[row.split].append(row)
    return rows


def items_from_rows(rows: Sequence[TaskRow], gold: np.ndarray) -> Items:
    """The texts of some rows with their classes or scores."""
    return Items(tuple(list(column) for column in zip(*(row.texts for row in rows), strict=True)), gold)


def task_name_of(path: Path) -> str:
    """The name of the task in a file: the published one of a published file, else that of the file without endings."""
    name = path.name.partition(".")[0]
    return next((task for task, file in FILES.items() if file == f"{name}.txt"), name)


def own_task_files(paths: Sequence[str], key: str) -> dict[str, Path]:
    """The tasks in files and folders of the user, by name. Raises InputError for a missing one, or two of a name."""
    if missing := [path for path in paths if not Path(path).exists()]:
        raise InputError(f"{missing[0]}: no such file or folder ({key})")
    files = [file for path in paths for file in text_files(Path(path), OWN_ENDINGS)]
    named = {task_name_of(file): file for file in files}
    if len(named) < len(files):
        raise InputError(f"{key}: two files of one name; tasks are named {', '.join(named)}")
    return named


def columns_of(path: Path) -> list[str]:
    """The names that the first line of a file gives to its fields; none in the published form."""
    if without_packed_suffix(path).suffix == ".jsonl":
        return list(next(read_json_lines(path), (0, {}))[1])
    header = next(read_lines(path))[1].split("\t")
    return header if "split" in header and header[0] not in SPLITS else []


def _read_rows(path: Path, gold: str) -> Iterator[TaskRow]:
    """The rows of a file: JSON objects (.jsonl), a table that names its columns first, or the published form."""
    if without_packed_suffix(path).suffix == ".jsonl":
        yield from (_row_from_record(path, gold, number, record) for number, record in read_json_lines(path))
        return
    if header := columns_of(path):
        columns = ["split", gold, "sentence", *(["sentence2"] if "sentence2" in header else [])]
        yield from (_row_from_record(path, gold, number, record) for number, record in read_table(path, columns))
        return
    widths: dict[str, int] = {}  # of each split: built files name the sentences of test
    for number, line in read_lines(path):
        fields = line.rstrip().split("\t")
        if len(fields) < 3 or fields[0] not in SPLITS or not fields[1].strip() or not fields[-1].strip():
            names = ", or names as split, label and sentence" if number == 1 else ""
            expected = f"expected tr, va or te, a label and a sentence between tabs{names}"
            raise InputError(f"{path}:{number}: {expected}: {line[:60]!r}")
        width = widths.setdefault(fields[0], len(fields))
        if len(fields) != width:
            other = f"{len(fields)} columns, the first line of {fields[0]} has {width}"
            raise InputError(f"{path}:{number}: {other}; no tab may be in a sentence")
        yield TaskRow(number, fields[0], " ".join(fields[1].split()), (" ".join(fields[-1].split()),))
    if widths.get(SPLITS[0], 0) > 3:
        log_note_once(f"{path}: what stands between label and sentence is not read; of pairs name the columns")


def _row_from_record(path: Path, gold: str, number: int, record: Mapping[str, Any]) -> TaskRow:
    tag = SPLIT_NAMES.get(str(record.get("split")), str(record.get("split")))
    value = record.get(gold)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 1.0 and 1 are one label
    if isinstance(value, bool):
        value = str(value).lower()  # as JSON writes it
    value = " ".join(str(value).split()) if isinstance(value, str | int | float) and value == value else ""  # nor NaN
    texts = [record.get("sentence"), *([record["sentence2"]] if "sentence2" in record else [])]
    if tag not in SPLITS or not value or not all(isinstance(text, str) and text.strip() for text in texts):
        hint = ", and sentence2 of a pair" if len(texts) > 1 else ""
        raise InputError(f"{path}:{number}: expected split (train, dev or test), one {gold} and sentence{hint}")
    if quoted := next(filter(_is_quoted, texts), None):
        remedy = "write the file without them (csv.QUOTE_NONE)"
        raise InputError(f"{path}:{number}: {quoted[:40]!r} has the quotation marks of CSV; {remedy}")
    if any(map(SPREADSHEET_PATTERN.fullmatch, texts)):
        log_note_once(f"{path}: sentences between quotation marks, which a spreadsheet adds, are read with them")
    return TaskRow(number, tag, value, tuple(" ".join(str(text).split()) for text in texts))


def _is_quoted(text: str) -> bool:
    """Whether a text with quotation marks is between two more, and its own are doubled."""
    content = text[1:-1]
    return text[0] == text[-1] == '"' and '""' in content and '"' not in content.replace('""', "")


def write_task(task: Classification, path: Path, ids: Sequence[str] = ()) -> None:
    """Write a task in the published format. `ids`: names of the test sentences, a field before the sentence."""
    originals_path(path).unlink(missing_ok=True)  # of an earlier task
    if task.originals:
        with atomic_write(originals_path(path)) as file:
            file.writelines(f"{sentence}\n" for sentence in task.originals)
    with atomic_write(path) as file:
        for tag, split in zip(SPLITS, (task.train, task.dev, task.test), strict=True):
            named = [f"{name}\t" for name in ids] if tag == SPLITS[-1] and ids else [""] * len(split.sentences)
            for name, sentence, label in zip(named, split.sentences, split.gold, strict=True):
                file.write(f"{tag}\t{task.classes[label]}\t{name}{sentence}\n")


def read_test_ids(path: Path) -> list[str]:
    """The names of the test sentences of a task, in their order; none if the file has no field for them."""
    rows = [line.split("\t") for _, line in read_lines(path) if line.startswith(f"{SPLITS[-1]}\t")]
    return [row[2] for row in rows if len(row) > 3]
