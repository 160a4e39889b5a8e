"""Reading DiscoEval as its authors publish it: seven groups of tasks, twelve tasks, one folder each."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import unknown_name_message
from encoder_lab.storage.text_files import read_lines
from probes.classification import Classification
from probes.discoeval.items import discourse_task, group_of, items_from_rows, keys_of, order_task
from probes.discoeval.rst_files import read_rst, rst_items, rst_paths
from probes.task import Items, name_key

SOURCE = "https://github.com/ZeweiChu/DiscoEval (data)"
SEED = 1111  # of the published toolkit by default: it decides the order of BSO's items
FILES = ("train.txt", "valid.txt", "test.txt")
LABELS = "labelset.txt"
POSITIONS, BINARY = ["0", "1", "2", "3", "4"], ["0", "1"]
PUBLISHED_DOMAINS = {"SP": ("arxiv", "rocstory", "wiki"), "BSO": ("arxiv", "rocstory", "wiki"), "DC": ("chat", "wiki"),
             "SSP": ("abs",)}  # fmt: skip
PUBLISHED_SIZES = {  # of all parts; BSO's are read in both orders
    **dict.fromkeys(("SParxiv", "SProc", "SPwiki", "DCwiki", "SSPabs"), 18_000),
    **dict.fromkeys(("BSOarxiv", "BSOroc", "BSOwiki"), 36_000),
    **{"DCchat": 10_068, "PDTB-E": 16_754, "PDTB-I": 14_689, "RST": 21_404},
}
SHORT_DOMAINS = {"rocstory": "roc"}  # as the toolkit calls a domain in a task's name
DOMAIN_PATTERN = re.compile(r"[\w.-]+")
PDTB = {"PDTB-E": "Explicit", "PDTB-I": "Implicit"}
MAX_SHARED = 0.05  # of the items of dev or test that may be in train too; the published files have far fewer
MAX_PARTLY_SHARED = 0.5  # of the items, with half of their texts: short utterances of dialogues are said often

Reader = Callable[[str, Sequence[Path]], Classification]


class PublishedTask(NamedTuple):
    """A task and the files that its reader takes."""

    name: str
    files: list[Path]
    read: Reader


def read_discoeval(root: Path, names: Sequence[str] = (), seed: int = SEED) -> tuple[list[Classification], dict]:
    """The named tasks or groups (all by default) in a folder, and by name the first file that each other one lacks.

    `root` is the toolkit's `data` or the folder above it. Raises InputError naming file and line.
    """
    folder = root / "data" if (root / "data").is_dir() else root
    if not folder.is_dir():
        raise InputError(f"{root}: no such folder; get DiscoEval from {SOURCE} and name its folder (discoeval.root=)")
    requested = select_tasks(list(published_tasks(folder, seed)), names)
    missing = {source.name: path for source in requested for path in reversed(source.files) if not path.is_file()}
    return [s.read(s.name, s.files) for s in requested if s.name not in missing], missing


def published_tasks(folder: Path, seed: int = SEED) -> Iterator[PublishedTask]:
    """Every task that a folder has or should have: the published domains, or those that somebody else put there."""
    readers: dict[str, Reader] = {
        "SP": partial(_read_labelled, classes=POSITIONS, texts=5),  # the first one was moved there from one of five
        "BSO": partial(_read_orders, seed=seed),
        "DC": partial(_read_labelled, classes=BINARY, texts=6),  # 0: one of six was replaced
        "SSP": partial(_read_labelled, classes=BINARY, texts=1),  # 1: a sentence of an abstract
    }
    for group, read in readers.items():
        for domain in domains_in(folder / group, PUBLISHED_DOMAINS[group]):
            yield PublishedTask(group + SHORT_DOMAINS.get(domain, domain), _split_files(folder / group / domain), read)
    for group, name in PDTB.items():
        subfolder = folder / "PDTB" / name
        yield PublishedTask(group, [subfolder / LABELS, *_split_files(subfolder)], _read_relations)
    yield PublishedTask("RST", rst_paths(folder / "RST"), _read_trees)


def domains_in(folder: Path, published: Sequence[str]) -> list[str]:
    """The domains of a group: those that have a folder, and all published ones unless only others have.

    A domain is part of a task's name, which stands in tables and messages: raises InputError for odd characters.
    """
    present = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for name in present:
        if not DOMAIN_PATTERN.fullmatch(name):
            problem = f"{name!r} is no name of a domain: only letters, digits, _, - and . may be in it"
            raise InputError(f"{folder}: {problem}; rename the folder or remove it")
    unpublished = [name for name in present if name not in published]
    return [*([] if unpublished and len(unpublished) == len(present) else published), *unpublished]


Named = TypeVar("Named", PublishedTask, Classification)


def select_tasks(available: list[Named], names: Sequence[str]) -> list[Named]:
    """The tasks with these names or groups; all tasks without names. Raises InputError with the choices."""
    requested = {name_key(name): name for name in names}
    choices = {name_key(key): key for task in available for key in (task.name, group_of(task.name))}
    if unknown := [requested[key] for key in requested if key not in choices]:
        raise InputError(f"{unknown[0]}: {unknown_name_message('DiscoEval task', unknown[0], list(choices.values()))}")
    keys = [{name_key(task.name), name_key(group_of(task.name))} for task in available]
    return [task for task, own in zip(available, keys, strict=True) if not requested or own & set(requested)]


def _split_files(folder: Path) -> list[Path]:
    return [folder / file for file in FILES]


def _read_labelled(name: str, files: Sequence[Path], classes: list[str], texts: int) -> Classification:
    return _checked_task(name, classes, files, [_read_file(path, classes, texts) for path in files])


def _read_orders(name: str, files: Sequence[Path], seed: int) -> Classification:
    """BSO: pairs in their true order, without labels."""
    pairs = [_read_file(path, [], 2) for path in files]
    in_one_order = [items_from_rows(map(sorted, zip(*part.texts, strict=True)), part.gold.tolist()) for part in pairs]
    _check_splits(files, in_one_order)  # as both orders become items
    return order_task(name, pairs, seed)


def _read_relations(name: str, files: Sequence[Path]) -> Classification:
    labelset, *texts = files
    classes = [line.strip() for _, line in read_lines(labelset)]
    for number, label in enumerate(classes, 1):
        if not label or label in classes[: number - 1]:
            problem = "the same label again" if label else "no label"
            raise InputError(f"{labelset}:{number}: {problem}; give one on each line")
    parts = [_read_file(path, [str(i) for i in range(len(classes))], 2) for path in texts]
    used = set(chain.from_iterable(part.gold.tolist() for part in parts))
    if unused := [i for i in range(len(classes)) if i not in used]:
        problem = f"{classes[unused[0]]!r} is the label of no item"
        raise InputError(f"{labelset}:{unused[0] + 1}: {problem}; is it the list of these files?")
    return _checked_task(name, classes, texts, parts)


def _read_trees(name: str, files: Sequence[Path]) -> Classification:
    """RST: the label of a node and the EDUs of its two subtrees. Classes: those of train sorted, then the others."""
    rows = [read_rst(path) for path in files]
    train_labels = sorted({row.label for row in rows[0]})
    classes = [*train_labels, *sorted({row.label for part in rows for row in part} - set(train_labels))]
    return _checked_task(name, classes, files, [rst_items(part, classes) for part in rows], complete=False)


def _read_file(path: Path, labels: Sequence[str], texts: int) -> Items:
    """A file of the published form: label, if there are labels, and texts between tabs."""
    rows, gold = [], []
    for number, line in read_lines(path):
        fields = line.split("\t")
        label = fields.pop(0) if labels else ""
        if labels and label not in labels:
            choices = f"{labels[0]} to {labels[-1]}" if len(labels) > 2 else " or ".join(labels)
            raise InputError(f"{path}:{number}: label {label[:40]!r}, expected {choices}")
        if len(fields) != texts:
            noun = "sentence" if texts == 1 else "sentences"
            raise InputError(f"{path}:{number}: {len(fields)} {noun}, expected {texts}; correct or remove the line")
        words = [" ".join(text.split()) for text in fields]
        if "" in words:
            raise InputError(f"{path}:{number}: sentence {words.index('') + 1} is empty; correct or remove the line")
        rows.append(words)
        gold.append(labels.index(label) if labels else 0)
    return items_from_rows(rows, gold)


def _checked_task(
    name: str, classes: list[str], files: Sequence[Path], parts: Sequence[Items], complete: bool = True
) -> Classification:
    """A task, checked: train has several classes, all of them if it is `complete`; the splits have different items."""
    counts = np.bincount(parts[0].gold, minlength=len(classes))
    if (counts > 0).sum() < 2:
        raise InputError(f"{files[0]}: every item has the label {classes[int(counts.argmax())]}; is it the whole file?")
    if complete and name not in PDTB and not counts.all():
        raise InputError(f"{files[0]}: no item has the label {classes[int(counts.argmin())]}; is it the whole file?")
    _check_splits(files, parts)
    return discourse_task(name, classes, *parts)


def _check_splits(files: Sequence[Path], parts: Sequence[Items]) -> None:
    """Raises InputError where dev or test have many items or texts of train, or test of dev.

    Of five or six sentences all but one make an item the same, as the windows of a document may overlap.
    """
    for first, second in ((0, 1), (0, 2), (1, 2)):
        items = parts[first], parts[second]
        whole, partly = shared_rows(*items), _rows_with_texts_of(*items, least=(len(items[0].texts) + 1) // 2)
        checks = (whole, MAX_SHARED, "items"), (partly, MAX_PARTLY_SHARED, "items with half of their texts or more")
        for pairs, limit, counted in checks:
            if len(pairs) > limit * len(parts[second].gold):
                row, other_row = pairs[0]
                problem = f"{len(pairs)} of {len(parts[second].gold)} {counted} are in {files[first]} too"
                problem = f"{files[second]}:{row + 1}: {problem} (as in line {other_row + 1})"
                raise InputError(f"{problem}; the splits must have different documents")


def shared_rows(first: Items, second: Items) -> list[tuple[int, int]]:
    """Rows of the second with texts that are in the first, and the first's row with them."""
    if (count := len(first.texts)) > 2:
        return _rows_with_texts_of(first, second, count - 1)
    rows = {key: row for row, key in reversed(list(enumerate(keys_of(first))))}
    return [(row, rows[key]) for row, key in enumerate(keys_of(second)) if key in rows]


def _rows_with_texts_of(first: Items, second: Items, least: int) -> list[tuple[int, int]]:
    """Rows of the second with `least` texts that are in the first, and a row of the first with one of them."""
    rows = {text: row for row, texts in enumerate(keys_of(first)) for text in texts}
    matches = [[rows[text] for text in texts if text in rows] for texts in keys_of(second)]
    return [(row, first_rows[0]) for row, first_rows in enumerate(matches) if len(first_rows) >= least]
