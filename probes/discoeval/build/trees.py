"""Rhetorical trees as items: a node's label and the EDUs of its two subtrees, from .dis, .rs3 and .rst.jsonl files."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import files_below, read_json_lines, without_copies, without_packed_suffix
from probes.discoeval.build.dis import read_dis
from probes.discoeval.build.rs3 import read_rs3
from probes.discoeval.build.subtrees import Subtree, TreeTooLargeError, join_subtrees, label_of
from probes.discoeval.items import SPLITS, with_frequent_labels
from probes.discoeval.rst_files import FileLimits, Node

SPLIT_NAMES = {"train": "train", "training": "train", "dev": "dev", "valid": "dev", "test": "test"}
DEV_SHARE = 10  # without dev, one of this many documents of train is dev
ENDINGS = (".dis", ".rs3", ".rst.jsonl")


def read_trees(paths: Sequence[Path]) -> dict[str, list[Node]]:
    """The nodes of each split, top down, of labels that train has at least 10 times. Raises InputError.

    The split is what the file or its folder is called (train, dev, test; TRAINING, TEST). Without dev, every tenth
    document of train is dev.
    """
    documents: dict[str, list[list[Node]]] = {split: [] for split in SPLITS}
    limits = {split: FileLimits() for split in SPLITS}
    for path in without_copies(sorted(file for root in paths for file in files_below(root, ENDINGS))):
        split = _split(path)
        try:
            for tree in _read_file(path):
                for node in tree:
                    edus = [*node.left, *node.right]
                    limits[split].count(str(path), len(edus), sum(map(len, edus)))
                documents[split].append(tree)
        except (RecursionError, TreeTooLargeError):
            raise InputError(f"{path}: a tree that is too deep or too wide; is it a rhetorical tree?") from None
    if not documents["dev"]:
        documents["dev"] = documents["train"][DEV_SHARE - 1 :: DEV_SHARE]
        documents["train"] = [d for i, d in enumerate(documents["train"], 1) if i % DEV_SHARE]
    nodes = {split: [node for tree in trees for node in tree] for split, trees in documents.items()}
    return with_frequent_labels(nodes, attrgetter("label"))


def _split(path: Path) -> str:
    for name in (path.name.split(".")[0], *(part.name for part in path.absolute().parents)):
        if name.lower() in SPLIT_NAMES:
            return SPLIT_NAMES[name.lower()]
    raise InputError(f"{path}: neither the file nor a folder above it is called train, dev or test")


def _read_file(path: Path) -> Iterator[list[Node]]:
    suffix = without_packed_suffix(path).suffix
    if suffix == ".dis":
        yield read_dis(path)
    elif suffix == ".rs3":
        yield read_rs3(path)
    else:
        for number, record in read_json_lines(path):
            yield read_json_tree(f"{path}:{number}", record)


def read_json_tree(location: str, record: dict[str, Any]) -> list[Node]:
    """GUM's: `edus`, and `tree`: a number of an EDU from 1, or [NS | SN | NN, relation, left, right]."""
    edus = record.get("edus")
    if not isinstance(edus, list) or not all(isinstance(edu, str) and edu.strip() for edu in edus):
        raise InputError(f"{location}: no list of edus, each a text")

    order: list[int] = []

    def read(tree: Any) -> Subtree:
        match tree:
            case int() if not isinstance(tree, bool) and 1 <= tree <= len(edus):
                order.append(tree)
                return Subtree([" ".join(edus[tree - 1].split())], [])
            case ["NS" | "SN" | "NN" as nuclearity, str(relation), left, right] if relation.strip():
                return join_subtrees(label_of(nuclearity, relation), [read(left), read(right)])
        raise InputError(f"{location}: {str(tree)[:40]!r} is neither an EDU's number nor [NS, relation, left, right]")

    root = read(record.get("tree"))
    if order != list(range(1, len(edus) + 1)):
        raise InputError(f"{location}: the leaves of the tree are not the EDUs 1 to {len(edus)} in their order")
    return root.nodes
