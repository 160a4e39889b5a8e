"""What erasing a property does to an objective or to a task, and how sure that is: a paired bootstrap."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from encoder_lab.errors import InputError
from encoder_lab.model import Examined, Model, VectorChange
from probes.task import Task
from probes.use.eraser import RotatingErasers, Whitening, erase_random
from probes.vectors import Vectors

BOOTSTRAP_SAMPLES = 1000  # bootstrap samples
MAX_TURNS = 32  # draws that share the examples of an objective, at most: no more than a batch of them


class Effect(NamedTuple):
    """The loss of an objective after an erasure, in thousandths of a nat, or the error of a task, in percent."""

    value: float
    samples: np.ndarray  # (SAMPLES,) bootstrap values; every erasure uses the same resampled examples
    scores: Mapping[str, float] = {}  # further scores of the same predictions, such as BLEU


class Erasures:
    """Measures the effect of erasures on a model's objective or on tasks. Random directions are measured once."""

    def __init__(self, vectors: Vectors, model: Model) -> None:
        self.vectors, self.model = vectors, model
        self._dev: dict[int, Any] = {}
        self._effects: dict[tuple[str, int, int], Effect] = {}  # by objective part or task, rank and draw

    @cached_property
    def whitening(self) -> Whitening:
        """The whitening of the vectors of all sentences in the tasks."""
        return Whitening.of(self.vectors.matrix)

    def effect(self, on: Task | str, examples: int, change: VectorChange | None = None, decode: bool = False) -> Effect:
        """The loss of part `on` of the objective with changed vectors, or the error of task `on`, trained again."""
        if isinstance(on, str):
            return self._objective_effect(on, examples, change, decode)
        return self._task_effect(on, change)

    def unchanged_effect(self, on: Task | str, examples: int) -> Effect:
        """The loss or error with the vectors as they are."""
        return self._measure_once((_name_of(on), 0, 0), lambda: self.effect(on, examples, None, True))

    def random_effects(self, on: Task | str, examples: int, rank: int, draws: int) -> list[Effect]:
        """The effects of erasing `rank` random directions of the whitened space; one list for all properties.

        A task gives one effect for each draw. An objective gives one for each part of at most `MAX_TURNS` draws, all of
        about the same size: a draw is measured on its share of the examples.
        """
        erasers = [erase_random(self.whitening, rank, draw) for draw in range(draws)]
        turns = -(-draws // MAX_TURNS)
        shared = [RotatingErasers(erasers[first::turns]) for first in range(turns)]
        changes: Sequence[VectorChange] = shared if isinstance(on, str) else erasers
        return [
            self._measure_once((_name_of(on), rank, number), lambda change=change: self.effect(on, examples, change))  # type: ignore[misc]
            for number, change in enumerate(changes, start=1)
        ]

    def _measure_once(self, key: tuple[str, int, int], measure: Callable[[], Effect]) -> Effect:
        if key not in self._effects:
            self._effects[key] = measure()
        return self._effects[key]

    def _objective_effect(self, part: str, examples: int, change: VectorChange | None, decode: bool) -> Effect:
        if examples not in self._dev:
            self._dev[examples] = self.model.loss(examples)
        examined: Examined = self._dev[examples].examine(part, change, decode)
        names, counts = list(examined.counts), np.stack(list(examined.counts.values()), 1)

        def scores(sums: np.ndarray) -> Mapping[str, float]:
            return examined.scores_of(dict(zip(names, sums.tolist(), strict=True)))

        total = scores(counts.sum(0))
        samples = [1000 * scores(sums)["val/loss"] for sums in resample_sums(counts)]
        further = {name.removeprefix("val/"): total[name] for name in {examined.score} & total.keys() - {"val/loss"}}
        return Effect(1000 * total["val/loss"], np.array(samples), further)

    def _task_effect(self, task: Task, change: VectorChange | None) -> Effect:
        vectors = self.vectors if change is None else change_vectors(self.vectors, list(task.sentences), change)
        outcome = task.score(vectors, self.model.device)
        if not len(outcome.correct):
            raise InputError(f"use.on={task.suite}: {task.name} has no right and wrong answers; leave it out")
        errors = 100.0 * (~outcome.correct).reshape(len(outcome.correct), -1).mean(1, keepdims=True)
        return Effect(float(errors.mean()), resample_sums(errors)[:, 0] / len(errors))


def _name_of(on: Task | str) -> str:
    return on if isinstance(on, str) else on.name


def change_vectors(vectors: Vectors, sentences: Sequence[str], change: Callable[[Tensor], Tensor]) -> Vectors:
    """The changed vectors of some of the sentences."""
    distinct = list(dict.fromkeys(sentences))
    column = vectors.column_of(distinct)
    return Vectors(change(column.matrix[column.rows]).numpy(), distinct, vectors.bfloat16)


def resample_sums(counts: np.ndarray) -> np.ndarray:
    """Sums (SAMPLES, S) of counts (N, S) over examples drawn with replacement; equal N gives equal draws."""
    return _draw_counts(len(counts)) @ counts.astype(np.float64)


@lru_cache(maxsize=4)
def _draw_counts(size: int) -> np.ndarray:
    """The number of times that each example is drawn, (SAMPLES, N)."""
    return np.random.default_rng(size).multinomial(size, np.full(size, 1 / size), BOOTSTRAP_SAMPLES)


def excess_over_controls(effect: Effect, controls: Sequence[Effect]) -> tuple[float, float, float]:
    """Difference to the mean of control effects, with its 95% interval over examples and over these effects."""
    choices = np.random.default_rng(len(controls)).integers(0, len(controls), (BOOTSTRAP_SAMPLES, len(controls)))
    samples = np.stack([control.samples for control in controls], 1)
    means = samples[np.arange(BOOTSTRAP_SAMPLES)[:, None], choices].mean(1)
    low, high = np.quantile(effect.samples - means, (0.025, 0.975))
    return effect.value - float(np.mean([control.value for control in controls])), float(low), float(high)
