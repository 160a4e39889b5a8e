"""The suite of use: how much an objective, or a task, loses when a property is erased from the vectors."""

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from encoder_lab.errors import InputError
from encoder_lab.settings.types import Count, NonEmpty
from encoder_lab.storage.code import code_of
from probes.classification import Classification
from probes.probing.controls import control_task
from probes.suites import Context
from probes.task import NO_ITEMS, DerivedTask, Outcome, Task, content_hash
from probes.use.effects import Erasures, change_vectors, excess_over_controls
from probes.use.eraser import Eraser, Whitening, erase_classes
from probes.vectors import sentence_vector

ON_OBJECTIVE = "objective"


@dataclass(frozen=True)
class Use(DerivedTask):
    """The rise of a loss when the property of a task is erased, next to two controls.

    LEACE erases the property, fitted to the training items of its task. The controls erase random directions of the
    whitened space, of the same rank, in `draws` draws, and the labels of the control task (Hewitt and Liang 2019).
    `used` is 1 if the rise is above zero and both controls, by 95% intervals of the paired bootstrap.
    """

    task: Classification  # the property: the classes of this task
    _: KW_ONLY
    reading: Task | None = None  # measure the error of this task; None: the loss of the objective
    part: str = ""  # the part of objective=multitask
    draws: int = 10
    examples: int = 50  # dev examples of the objective
    suite: str = "use"

    @property
    def name(self) -> str:
        measured = self.reading.name if self.reading else self.part
        return f"{self.task.name} in {measured}" if measured else self.task.name

    @property
    def needs(self) -> Literal["loss", "use"]:
        return "use" if self.reading else "loss"

    @property
    def reader(self) -> str:
        return "error" if self.reading else "loss"

    @property
    def sentences(self) -> list[str]:
        """The sentences of the property and of the task that is measured."""
        return [*self.task.sentences, *(self.reading.sentences if self.reading else ())]

    @property
    def data(self) -> str:
        return content_hash(self.task.data, self.reading and self.reading.data)

    @property
    def fingerprint(self) -> str:
        fingerprints = self.task.fingerprint, self.reading and self.reading.fingerprint
        return content_hash(*fingerprints, self.part, self.draws, self.examples, code_of(Use))

    def score(self, erasures: Erasures, device: str) -> Outcome:
        """The rise of the loss, in thousandths of a nat, or of the error, in points, with its 95% interval."""
        vectors = erasures.vectors.features(self.task.train, sentence_vector)[:]
        (items, width), problems = vectors.shape, []
        if items <= width:
            problems = [f"{items} vectors of {width} numbers: their covariance is mostly its prior; give more items"]
        whitening = Whitening.of(vectors)
        erase = erase_classes(vectors, self.task.train.gold, whitening)
        control = erase_classes(vectors, control_task(self.task, "word", self.task.seed).train.gold, whitening)
        if erase.rank == width:
            problems += [f"its classes span all {width} directions, so all that is left is the mean vector"]
        on, size = self.reading or self.part, self.examples
        unchanged = erasures.unchanged_effect(on, size)
        effect = erasures.effect(on, size, erase, decode=True)
        random = erasures.random_effects(on, size, erase.rank, self.draws)
        rise, low, high = excess_over_controls(effect, [unchanged])
        controls = random, [erasures.effect(on, size, control)]
        above_controls = [excess_over_controls(effect, effects) for effects in controls]
        least = min(low, above_controls[0][1], above_controls[1][1])
        numbers: dict[str, float] = {
            "rank": erase.rank,
            "random": rise - above_controls[0][0],
            "control": rise - above_controls[1][0],
            "used": int(round(least, 2) > 0),  # as printed: two erasers of all that varies differ by rounding
            **{name: effect.scores[name] - before for name, before in unchanged.scores.items()},
            **self._mlp_accuracies(erasures, erase, device),
        }
        numbers = {name: round(value, 4) for name, value in numbers.items()}
        messages = [f"suite=use: {self.task.name}: {problem}" for problem in problems]
        return Outcome(rise, rise, low, high, NO_ITEMS, {**numbers}, numbers, warnings=messages)

    def _mlp_accuracies(self, erasures: Erasures, erase: Eraser, device: str) -> dict[str, float]:
        """The accuracy of an MLP on the erased vectors, with the widest layer of the grid; empty for other grids."""
        grid = self.task.grid
        if grid.is_logistic:
            return {}
        narrow = replace(grid, widths=(max(grid.widths),), dropouts=(min(grid.dropouts),))
        vectors = change_vectors(erasures.vectors, self.task.sentences, erase)
        accuracy = replace(self.task, grid=narrow, second=None).score(vectors, device).test
        return {"mlp": accuracy, "majority": self.task.baseline("majority").test}


@dataclass(frozen=True)
class UseSettings:
    """The settings of `suite=use`."""

    on: Annotated[NonEmpty, "measured: objective, or the tasks of an earlier suite, as downstream"] = ON_OBJECTIVE
    draws: Annotated[
        int, Field(ge=10, le=10_000, title="10 or more"), "random directions, as many times, as control"
    ] = 10
    examples: Annotated[Count, "dev examples of the objective, at most"] = 50


def tasks(context: Context, settings: UseSettings) -> list[Use]:
    """The property of each classification of single sentences in the suites before this one.

    Raises InputError where there is none, and where no suite before it has the tasks of `use.on`.
    """
    on = settings.on
    reading = [task for task in context.earlier if task.suite == on and task.needs == "vectors"]
    if on != ON_OBJECTIVE and not reading:
        raise InputError(f"use.on={on}: no suite before it has this name and reads vectors, as suite=downstream does")
    others = [task for task in context.earlier if isinstance(task, Classification) and task.suite != on]
    properties = [task for task in others if len(task.train.texts) == 1]
    constant = [task.name for task in properties if len(np.unique(task.train.gold)) < 2]
    if constant:
        warnings.warn(f"suite=use: {', '.join(constant)}: one class, so nothing to erase; left out", stacklevel=2)
    properties = [task for task in properties if task.name not in constant]
    if not properties:
        requirement = "it erases the properties of classification tasks of single sentences"
        raise InputError(f"suite=use: {requirement}, and no suite before it has one; give suite=[probing,use]")
    readers: Sequence[Task | None] = reading or [None]
    use = partial(Use, draws=settings.draws, examples=settings.examples)
    return [use(task, reading=reader) for task in properties for reader in readers]
