"""Subtrees put together: which nodes there are, and the EDUs on their two sides."""

from collections.abc import Sequence
from typing import NamedTuple

from probes.discoeval.build.relations import coarse
from probes.discoeval.rst_files import Node


class Subtree(NamedTuple):
    """A subtree while it is read."""

    edus: list[str]
    nodes: list[Node]


def label_of(nuclearity: str, relation: str) -> str:
    """NS-Elaboration: which side is the nucleus, and the coarse relation."""
    return f"{nuclearity}-{coarse(relation)}"


def joined(label: str, parts: Sequence[Subtree]) -> Subtree:
    """Parts under one node; more than two branch to the right (Chen et al. 2019, section 3.1). Top down."""
    nodes = []
    for i in range(len(parts) - 1):
        rest = [edu for part in parts[i + 1 :] for edu in part.edus]
        nodes += [Node(label, parts[i].edus, rest), *parts[i].nodes]
    return Subtree([edu for part in parts for edu in part.edus], [*nodes, *parts[-1].nodes])


def attached(nucleus: Subtree, left: Sequence[tuple[str, Subtree]], right: Sequence[tuple[str, Subtree]]) -> Subtree:
    """A nucleus with its satellites (relation and subtree, the nearest first), those on the right before the left."""
    for relation, satellite in right:
        nucleus = joined(label_of("NS", relation), [nucleus, satellite])
    for relation, satellite in left:
        nucleus = joined(label_of("SN", relation), [satellite, nucleus])
    return nucleus
