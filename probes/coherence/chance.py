"""In how many items predictions hold where the values of regions say nothing."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from probes.coherence.formula import Formula, Number, Operation, evaluate, parse, values_in

EXACT = 7  # values; up to this many every order of them is tried (7! = 5,040)
DRAWS = 50_000
BITS = 1e4  # the standard deviation of drawn values: sides that `=` takes for equal are then rare


def chance(formulas: Sequence[str], syntaxgym: bool = False) -> float | None:
    """The percentage of items in which all formulas hold if each value is drawn from the same distribution.

    Exact where only the order of values counts; sums are of normal draws. None where a value is compared with a number
    other than 0: that depends on the model's bits.
    """
    trees = [parse(formula, syntaxgym) for formula in formulas]
    parts = [part for tree in trees for part in _parts(tree)]
    if any(isinstance(part, Number) and part.value for part in parts):
        return None
    names = list(dict.fromkeys(value for tree in trees for value in values_in(tree)))
    ordinal = not any(
        isinstance(part, Number) or (isinstance(part, Operation) and part.symbol in "+-") for part in parts
    )
    if ordinal and len(names) <= EXACT:
        drawn = np.array(list(permutations(range(len(names)))), dtype=float)
    else:
        half = np.random.default_rng(0).normal(0, BITS, (DRAWS, len(names)))
        drawn = np.concatenate([half, -half])  # so that one comparison holds in exactly a half
    columns = dict(zip(names, drawn.T, strict=True))
    truths = [np.broadcast_to(evaluate(tree, columns.__getitem__, syntaxgym), len(drawn)) for tree in trees]
    return 100 * float(np.min(truths, axis=0).mean())


def _parts(tree: Formula) -> list[Formula]:
    return [tree, *_parts(tree.left), *_parts(tree.right)] if isinstance(tree, Operation) else [tree]
