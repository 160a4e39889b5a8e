"""RST's files: the published pickles, and the same as JSON lines, which a reader can look at."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.text_files import compose_unicode, read_json_lines
from probes.discoeval.items import items_from_rows
from probes.discoeval.rst_pickle import read_pickle
from probes.task import Items

FILE_NAMES = ("RST_TRAIN", "RST_DEV", "RST_TEST")
MAX_EDUS = 20_000_000  # in one file, each as often as it stands there
MAX_CHARACTERS = 200_000_000  # of all labels and EDUs of a file together; RST-DT's train set has a tenth of it


class Node(NamedTuple):
    """An inner node of a rhetorical tree."""

    label: str  # nuclearity and relation: NS-Elaboration
    left: list[str]  # EDUs, whitespace-tokenised
    right: list[str]


def rst_paths(folder: Path) -> list[Path]:
    """The three files in a folder: JSON lines where they are there, else the published pickles."""
    return [path if (path := folder / f"{name}.jsonl").is_file() else folder / f"{name}.pkl" for name in FILE_NAMES]


def read_rst(path: Path) -> list[Node]:
    """All nodes of a file. Raises InputError naming file and item; nothing in the file is run."""
    if path.suffix == ".pkl":
        items = read_pickle(path)
        if not isinstance(items, list) or not items:
            raise InputError(f"{path}: holds no list of items; is it one of the RST files?")
        rows = ((f"{path}: item {number}", item) for number, item in enumerate(items, 1))
    else:
        rows = ((f"{path}:{n}", _node_fields(f"{path}:{n}", record)) for n, record in read_json_lines(path))
    limits = FileLimits()
    nodes = [_checked_node(location, item, limits) for location, item in rows]
    if not nodes:
        raise InputError(f"{path}: no item in it")
    return nodes


def _node_fields(location: str, record: dict[str, Any]) -> tuple[Any, ...]:
    if missing := [key for key in Node._fields if key not in record]:
        raise InputError(f"{location}: no {missing[0]}; expected label, left and right")
    return tuple(record[key] for key in Node._fields)


class FileLimits:
    """Counts over all nodes of a file: a few bytes of a pickle may expand to many long lists."""

    def __init__(self) -> None:
        self.edus = self.characters = 0

    def count(self, location: str, edus: int, characters: int) -> None:
        """Add to the counts. Raises InputError where they are too large."""
        self.edus += edus
        self.characters += characters
        if self.edus > MAX_EDUS:
            raise InputError(f"{location}: more than {MAX_EDUS:,} EDUs up to here; is it an RST file?")
        if self.characters > MAX_CHARACTERS:
            raise InputError(f"{location}: more than {MAX_CHARACTERS:,} characters up to here; is it an RST file?")


def _checked_node(location: str, item: Any, limits: FileLimits) -> Node:
    if not isinstance(item, list | tuple) or len(item) != 3 or not isinstance(item[0], str):
        raise InputError(f"{location}: expected a label, the EDUs of the left subtree and those of the right one")
    label, *sides = item
    for side in sides:
        if not isinstance(side, list | tuple) or not side:
            raise InputError(f"{location}: a subtree that is no list of EDUs, or an empty one")
    limits.count(location, sum(map(len, sides)), 0)
    left, right = ([_checked_text(location, edu, "an EDU", limits) for edu in side] for side in sides)
    return Node(_checked_text(location, label, "a label", limits), left, right)


def _checked_text(location: str, text: Any, noun: str, limits: FileLimits) -> str:
    """A text with single spaces; equal ones are stored once, as a pickle may refer to a long one many times."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{location}: {noun} that is empty or no text")
    limits.count(location, 0, len(text))
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no file can hold
        raise InputError(f"{location}: half of a surrogate pair, which is no character; correct the text") from None
    return sys.intern(compose_unicode(" ".join(text.split())))


def rst_items(nodes: Sequence[Node], classes: Sequence[str]) -> Items:
    """Nodes as items: two columns of lists of EDUs, and the labels as indices in `classes`."""
    index = {label: i for i, label in enumerate(classes)}
    return items_from_rows([(node.left, node.right) for node in nodes], [index[node.label] for node in nodes])


def write_rst(nodes: Sequence[Node], path: Path) -> None:
    with atomic_write(path) as file:
        for node in nodes:
            file.write(json.dumps(node._asdict(), ensure_ascii=False) + "\n")
