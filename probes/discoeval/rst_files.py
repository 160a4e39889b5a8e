"""RST's files: the published pickles, and the same as JSON lines, which a reader can look at."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common.errors import InputError
from common.files import atomic_write
from common.text_files import read_json_lines
from probes.discoeval.rst_pickle import read_pickle
from probes.task import Items

NAMES = ("RST_TRAIN", "RST_DEV", "RST_TEST")
MOST_EDUS = 20_000_000  # in one file, each as often as it stands there


class Node(NamedTuple):
    """An inner node of a rhetorical tree."""

    label: str  # nuclearity and relation: NS-Elaboration
    left: list[str]  # EDUs, whitespace-tokenised
    right: list[str]


def rst_paths(folder: Path) -> list[Path]:
    """The three files in a folder: JSON lines where they are there, else the published pickles."""
    return [path if (path := folder / f"{name}.jsonl").is_file() else folder / f"{name}.pkl" for name in NAMES]


def rst_file(path: Path) -> list[Node]:
    """All nodes of a file. Raises InputError naming file and item; nothing in the file is run."""
    if path.suffix == ".pkl":
        found = read_pickle(path)
        if not isinstance(found, list) or not found:
            raise InputError(f"{path}: holds no list of items; is it one of the RST files?")
        rows = ((f"{path}: item {number}", item) for number, item in enumerate(found, 1))
    else:
        rows = ((f"{path}:{n}", _fields(f"{path}:{n}", record)) for n, record in read_json_lines(path))
    nodes, edus = [], 0
    for place, item in rows:
        node = _node(place, item)
        edus += len(node.left) + len(node.right)
        if edus > MOST_EDUS:
            raise InputError(f"{place}: more than {MOST_EDUS:,} EDUs up to here; is it one of the RST files?")
        nodes.append(Node(node.label, *(_texts(place, part) for part in (node.left, node.right))))
    if not nodes:
        raise InputError(f"{path}: no item in it")
    return nodes


def _fields(place: str, record: dict[str, Any]) -> tuple[Any, ...]:
    if missing := [key for key in Node._fields if key not in record]:
        raise InputError(f"{place}: no {missing[0]}; expected label, left and right")
    return tuple(record[key] for key in Node._fields)


def _node(place: str, item: Any) -> Node:
    if not isinstance(item, list | tuple) or len(item) != 3 or not isinstance(item[0], str) or not item[0].strip():
        raise InputError(f"{place}: expected a label, the EDUs of the left subtree and those of the right one")
    for part in item[1:]:
        if not isinstance(part, list | tuple) or not part:
            raise InputError(f"{place}: a subtree that is no list of EDUs, or an empty one")
    return Node(item[0].strip(), item[1], item[2])


def _texts(place: str, edus: Sequence[Any]) -> list[str]:
    if not all(isinstance(edu, str) and edu.strip() for edu in edus):
        raise InputError(f"{place}: an EDU that is empty or no text")
    return [" ".join(edu.split()) for edu in edus]


def rst_items(nodes: Sequence[Node], classes: Sequence[str]) -> Items:
    """Nodes as items: two columns of lists of EDUs, and the labels as places in `classes`."""
    index = {label: i for i, label in enumerate(classes)}
    gold = np.array([index[node.label] for node in nodes], dtype=np.int64)
    return Items(([node.left for node in nodes], [node.right for node in nodes]), gold)


def write_rst(nodes: Sequence[Node], path: Path) -> None:
    """Nodes as JSON lines."""
    with atomic_write(path) as file:
        for node in nodes:
            file.write(json.dumps(node._asdict(), ensure_ascii=False) + "\n")
