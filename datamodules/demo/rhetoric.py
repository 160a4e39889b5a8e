"""Small rhetorical trees of the demo world: what happens in turn, with causes, conditions, contrasts and details."""

from collections.abc import Iterator
from typing import NamedTuple

from datamodules.demo.chance import Chance
from datamodules.demo.relations import Narrator, clauses

LABELS = {
    "Contingency.Cause": "SN-Cause",
    "Contingency.Condition": "NS-Condition",
    "Comparison.Contrast": "NN-Contrast",
    "Temporal.Asynchronous": "NN-Temporal",
    "Expansion.Level-of-detail": "NS-Elaboration",
}


class RhetoricalTree(NamedTuple):
    """A node: nuclearity and relation, and two subtrees or clauses (EDUs)."""

    label: str
    left: "RhetoricalTree | str"
    right: "RhetoricalTree | str"

    def nodes(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Each node's label and the EDUs on its two sides, top down."""
        yield self.label, edus(self.left), edus(self.right)
        for part in (self.left, self.right):
            if isinstance(part, RhetoricalTree):
                yield from part.nodes()


def edus(tree: RhetoricalTree | str) -> list[str]:
    """The clauses of a subtree in their order."""
    return [tree] if isinstance(tree, str) else edus(tree.left) + edus(tree.right)


def rhetorical_tree(seed: int, split: str, number: int) -> RhetoricalTree:
    """The tree of (seed, split, number): two to four units, one after the other, branching to the right."""
    chance = Chance("rhetoric", seed, split, number)
    units = [_unit(chance) for _ in range(chance.between(2, 4))]
    tree = units[-1]
    for unit in reversed(units[:-1]):
        tree = RhetoricalTree("NN-Temporal", unit, tree)
    return tree


def _unit(chance: Chance) -> RhetoricalTree:
    """Two clauses in a relation."""
    narrator = Narrator(chance)
    sense = chance.choice(list(LABELS))
    first, second = clauses(narrator, sense)
    return RhetoricalTree(LABELS[sense], first, second)
