"""Subtrees put together: which nodes there are, and the EDUs on their two sides."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from probes.discoeval.rst_files import Node

RELATIONS = yaml.safe_load(Path(__file__).with_name("relations.yaml").read_text(encoding="utf-8"))
COARSE = {fine: name for name, fine_names in RELATIONS["rst_dt"].items() for fine in fine_names.split()}
MAX_EDUS = 2_000_000  # of all nodes of a document, each as often as it stands there; a long one of RST-DT has 10,000


class TreeTooLargeError(ValueError):
    """Nodes with too many EDUs: a node has all those below it, so a wide or deep tree has a multiple of its text."""


class Subtree(NamedTuple):
    """A subtree while it is read."""

    edus: list[str]
    nodes: list[Node]
    size: int = 0  # EDUs of its nodes


def label_of(nuclearity: str, relation: str) -> str:
    """NS-Elaboration: which side is the nucleus, and the coarse relation."""
    return f"{nuclearity}-{coarse_relation(relation)}"


def coarse_relation(relation: str) -> str:
    """Carlson et al. 2001's class of an RST-DT relation, GUM's of one of its own, else the relation as it is.

    RST-DT's endings are left out: -e (embedded), -n and -s (which side is meant).
    """
    name = relation.strip().lower()
    for ending in ("-e", "-n", "-s"):
        name = name.removesuffix(ending)
    first, hyphen, _ = name.partition("-")
    if name in COARSE:
        return COARSE[name]
    return first.capitalize() if hyphen and first in RELATIONS["gum"].split() else relation.strip()


def join_subtrees(label: str, parts: Sequence[Subtree]) -> Subtree:
    """Parts under one node; more than two branch to the right (Chen et al. 2019, section 3.1). Top down.

    Raises TreeTooLargeError before it makes too many lists.
    """
    size = sum(part.size + min(i, len(parts) - 1) * len(part.edus) for i, part in enumerate(parts, 1))
    if size > MAX_EDUS:
        raise TreeTooLargeError
    nodes = []
    for i in range(len(parts) - 1):
        rest = [edu for part in parts[i + 1 :] for edu in part.edus]
        nodes += [Node(label, parts[i].edus, rest), *parts[i].nodes]
    return Subtree([edu for part in parts for edu in part.edus], [*nodes, *parts[-1].nodes], size)


def attach_satellites(
    nucleus: Subtree, left: Sequence[tuple[str, Subtree]], right: Sequence[tuple[str, Subtree]]
) -> Subtree:
    """A nucleus with its satellites (relation and subtree, the nearest first), those on the right before the left."""
    for relation, satellite in right:
        nucleus = join_subtrees(label_of("NS", relation), [nucleus, satellite])
    for relation, satellite in left:
        nucleus = join_subtrees(label_of("SN", relation), [satellite, nucleus])
    return nucleus
