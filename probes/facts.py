"""Facts about a suite that reports need and scores do not contain; each suite states them in its `__init__.py`."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from math import inf
from typing import NamedTuple

NO_CLASSIFIER = {"cosine", "surprisal", "dimensions", "percent"}  # readers that are not trained


class Facts(NamedTuple):
    """Facts of a suite, all of which have a default."""

    axis: str = ""  # the label of the axis of its scores in percent; empty: "SUITE score on test (%)"
    published: Mapping[str, str] = {}  # by reader, or "" for all: the papers' table that is printed next to our scores
    reference: tuple[str, ...] = ()  # published tables with people, shown too
    groups: Mapping[str, str] = {}  # how the names of tasks begin, and the column of tables with their mean
    means: Mapping[str, tuple[str, tuple[str, ...]]] = {}  # columns with the mean over tasks of another suite; (): all
    one_reader: frozenset[str] = frozenset()  # tasks that have the same reader with every requested classifier
    controls: bool = False  # whether control tasks and description lengths are defined for its tasks
    curves: tuple[str, ...] = ()  # of the numbers next to its scores, those that are curves too
    choice: bool = True  # whether its other tasks are read by the classifier that the user chooses
    units: Mapping[str, str] = {}  # by reader: what its scores count, where that is not percent
    ranked: bool = True  # whether a higher score is a better one
    lowest: Mapping[str, float] = {}  # by task or reader: the lowest score that there can be, where it is known
    sign: int = 1  # of its scores where more is learnt as they rise; -1: as they fall


def column_of(task: str, groups: Mapping[str, str]) -> str:
    """The table column of a task: its own, or that of its group."""
    name, space, variant = task.partition(" ")
    return next((column for start, column in groups.items() if name.startswith(start)), name) + space + variant


def unit_of(suite: str, reader: str) -> str:
    """The unit of a suite's scores by this reader; empty: percent."""
    return facts_of(suite).units.get(reader, "")


def bounds_of(suite: str, task: str, reader: str) -> tuple[float, float]:
    """The lowest and the highest score that there can be; of percent and points -100, as a correlation, and 100."""
    lowest, percent = facts_of(suite).lowest, unit_of(suite, reader) in ("", "points")
    return lowest.get(task, lowest.get(reader, -100.0 if percent else -inf)), 100.0 if percent else inf


def facts_of(suite: str) -> Facts:
    """The facts of the suite in `probes/SUITE/`; defaults for a suite that this version does not have."""
    if not suite.isidentifier() or find_spec(f"probes.{suite}") is None:
        return Facts()
    facts = getattr(import_module(f"probes.{suite}"), "FACTS", None)
    return facts if isinstance(facts, Facts) else Facts()
