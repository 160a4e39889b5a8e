"""Random choices that are the same on every machine and with every version of Python."""

import hashlib
import random
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import TypeVar

T = TypeVar("T")
ZIPF = 0.9  # frequency of the word at rank r is proportional to 1 / (r + 2) ** ZIPF


class Chance:
    """A stream of random choices, seeded by a key such as (seed, split, number)."""

    def __init__(self, *key: object) -> None:
        digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))

    def often(self, probability: float) -> bool:
        return self._random.random() < probability

    def choice(self, choices: Sequence[T]) -> T:
        """One of them, uniformly."""
        return choices[int(self._random.random() * len(choices))]

    def zipf(self, choices: Sequence[T], exponent: float = ZIPF) -> T:
        """One of them; earlier ones are more frequent, by Zipf's law."""
        edges = _edges(len(choices), exponent)
        point = self._random.random() * edges[-1]
        return choices[bisect_left(edges, point, hi=len(edges) - 1)]

    def weighted(self, choices: Sequence[tuple[T, float]]) -> T:
        """One of them, by weight: `(choice, weight)`."""
        point = self._random.random() * sum(weight for _, weight in choices)
        for choice, weight in choices:
            point -= weight
            if point < 0:
                return choice
        return choices[-1][0]

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def shuffled(self, items: Sequence[T]) -> list[T]:
        keyed = [(self._random.random(), i) for i in range(len(items))]
        return [items[i] for _, i in sorted(keyed)]


@cache
def _edges(n: int, exponent: float) -> list[float]:
    return list(accumulate((rank + 2) ** -exponent for rank in range(n)))
