"""Downstream scores of a frozen model, remembered by what made them."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from tqdm import tqdm

from common.devices import device_for
from probes.classifiers.classifier import Grid
from probes.downstream.suite import CLASSIFIERS, Outcome, Vectors, score_downstream, score_majority, sentences_of
from probes.downstream.task import Downstream
from probes.evaluation import Encoded, Evaluated, Model
from probes.results import Answers, ProbeRow, packed, unpacked


class DownstreamEvaluation:
    """Scores one model task by task; encodes only when a score is not remembered, and then each sentence once.

    A model without vectors is the majority vote.
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Downstream],
        grid: Grid,
        folds: int,
        seed: int,
        cache: Path | None,
        device: str | None = None,
    ) -> None:
        """The classifiers run on `device`, by default the GPU if there is one."""
        self.model, self.tasks, self.grid, self.folds, self.seed = model, tasks, grid.logistic(), folds, seed
        self.device = device_for(device)
        self.encoded = Encoded(model, sentences_of(tasks), cache)

    def run(self) -> list[Evaluated]:
        """One score for each task."""
        shown = tqdm(self.tasks, f"downstream: {self.model.encoder}", disable=None, leave=False, unit=" tasks")
        return [self._evaluated(task) for task in shown]

    @property
    def key(self) -> str:
        """A short name for this model on these tasks with these settings."""
        return sha256(json.dumps([self.encoded.fingerprint, *map(self._made_of, self.tasks)]).encode()).hexdigest()[:8]

    def _made_of(self, task: Downstream) -> list[object]:
        settings = [asdict(self.grid), self.folds] if self.model.encode else [self.model.objective]
        return [digest(task), *settings, self.seed]

    def _evaluated(self, task: Downstream) -> Evaluated:
        def made() -> dict[str, object]:
            found = self._score(task)
            return found._asdict() | {"correct": packed(found.correct)}

        kept = self.encoded.remembered(self._made_of(task), made)
        found = Outcome(**(kept | {"correct": unpacked(kept["correct"])}))
        row = ProbeRow(
            epoch=self.model.epoch,
            step=self.model.step,
            suite="downstream",
            task=task.name,
            classifier=CLASSIFIERS.get(task.kind, "logreg") if self.model.encode else self.model.objective,
            dev_accuracy=found.dev,
            test_accuracy=found.test,
            test_low=found.low,
            test_high=found.high,
            hyperparameters=found.hyperparameters,
            seed=self.seed,
            seconds=found.seconds,
            answers=Answers(items_of(task), found.correct) if len(found.correct) else None,
        )
        return Evaluated(row, found.details)

    def _score(self, task: Downstream) -> Outcome:
        if self.model.encode is None:
            return score_majority(task)
        return score_downstream(task, self.vectors, self.grid, self.folds, self.seed, self.device)

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of all sentences of the tasks."""
        return Vectors(self.encoded.vectors, {sentence: row for row, sentence in enumerate(self.encoded.sentences)})


def items_of(task: Downstream) -> str:
    """A short text that stands for the test items: the same text, the same items."""
    items = task.parts["all" if "all" in task.parts else "test"]
    made = sha256(json.dumps([items.first, items.second]).encode() + items.gold.tobytes())
    return made.hexdigest()[:16]


def digest(task: Downstream) -> str:
    """What a task is made of, as a short text."""
    made = sha256(json.dumps([task.name, task.kind, task.rated, task.classes, list(task.parts)]).encode())
    for part in task.parts.values():
        made.update("\n".join(part.sentences).encode() + part.gold.tobytes())
    return made.hexdigest()
