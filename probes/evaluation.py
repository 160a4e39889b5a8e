"""Scores of a frozen model on a suite, remembered by what made them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from tqdm import tqdm

from common.files import atomic_write
from probes.classifiers.classifier import Grid, Labelled, Score
from probes.description_length import description_length
from probes.probing.baselines import score_baseline
from probes.probing.controls import control_task
from probes.results import ProbeRow, packed, unpacked
from probes.suite import Suite, vectors_of
from probes.task import Task

PER: tuple[Literal["word", "sentence"], ...] = ("word", "sentence")
FORMAT = 5  # raised when a change of the classifiers makes remembered scores stale


class Model(NamedTuple):
    """Anything that turns sentences into vectors, or predicts without any."""

    encoder: str  # as tables name it
    objective: str  # what it was trained for
    encode: Callable[[list[str]], np.ndarray] | None  # None: a baseline that reads the sentences themselves
    fingerprint: str | None = None  # the same text means the same vectors; None: the vectors themselves tell
    epoch: int = 0
    step: int = 0
    settings: Mapping[str, Any] = {}  # that made it, as reports are to know them


class Evaluated(NamedTuple):
    """One score."""

    row: ProbeRow
    details: Mapping[str, float] = {}  # other measures of the same predictions

    @property
    def correct(self) -> np.ndarray:
        """Which test items were right, (N_test,) bool; empty where the score is a correlation."""
        return self.row.answers.right if self.row.answers else np.empty(0, dtype=bool)


class Encoded:
    """A model's vectors of a suite's sentences, made when first needed, and what was computed from them, remembered."""

    def __init__(self, model: Model, sentences: list[str], cache: Path | None) -> None:
        self.model, self.sentences, self.cache = model, sentences, cache
        self._vectors: np.ndarray | None = None

    def remembered(self, made_of: Sequence[Any], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What `make` gives, from the cache where it was made before from the same model and `made_of`."""
        key = sha256(json.dumps([FORMAT, self.fingerprint, *made_of]).encode()).hexdigest()[:24]
        path = self.cache / f"score-{key}.json" if self.cache else None
        kept = _kept(path) if path and path.exists() else None
        if kept is not None:
            return kept
        made = make()
        if path:
            with atomic_write(path) as file:
                json.dump({"score": made, "sum": _sum(made)}, file)
        return made

    @property
    def fingerprint(self) -> str:
        """A short text that stands for the model's vectors."""
        return self.model.fingerprint or sha256(np.ascontiguousarray(self.vectors).tobytes()).hexdigest()

    @property
    def vectors(self) -> np.ndarray:
        """Vectors (N, D) of the distinct sentences."""
        if self._vectors is None:
            assert self.model.encode is not None
            self._vectors = vectors_of(self.model.encode, self.sentences)
        return self._vectors


class Evaluation:
    """Scores one model task by task; encodes only when a score is not remembered, and then each sentence once."""

    def __init__(self, model: Model, suite: Suite, cache: Path | None) -> None:
        self.model, self.suite = model, suite
        self.encoded = Encoded(model, suite.sentences, cache)

    def run(self, tasks: Sequence[Task], suite: str) -> list[Evaluated]:
        """One score for each task, whose sentences are all the suite's, as rows of the suite so named."""
        title = f"{suite}: {self.model.encoder or self.model.objective}"
        return [self._evaluated(task, suite) for task in tqdm(tasks, title, disable=None, leave=False, unit=" tasks")]

    def controls(self) -> list[Evaluated]:
        """Every task once more with labels that mean nothing, per word and per sentence."""
        return self.run([control_task(t, per, self.suite.seed) for t in self.suite.tasks for per in PER], "control")

    def descriptions(self) -> list[dict[str, str | float]]:
        """The description length of each task's training labels."""
        shown = tqdm(self.suite.tasks, f"description lengths: {self.model.encoder}", disable=None, leave=False)
        return [{"task": task.name, **self._description(task)} for task in shown]

    def _description(self, task: Task) -> dict[str, float]:
        suite, grid = self.suite, self.suite.grid

        def made() -> dict[str, float]:
            train, dev = (
                Labelled(self.encoded.vectors[suite.rows(s.sentences)], s.labels) for s in (task.train, task.dev)
            )
            found = description_length(train, dev, len(task.classes), grid, suite.seed, suite.device)
            return {"bits": found.bits, "uniform_bits": found.uniform_bits, "compression": found.compression}

        return self.encoded.remembered(["mdl", digest(task), grid.l2, suite.seed], made)

    @property
    def key(self) -> str:
        """A short name for this model on these tasks with these classifiers."""
        suite = self.suite
        made_of = [self.encoded.fingerprint, [digest(task) for task in suite.tasks], asdict(suite.grid), suite.seed]
        return sha256(json.dumps(made_of).encode()).hexdigest()[:8]

    def _evaluated(self, task: Task, name: str) -> Evaluated:
        suite, model = self.suite, self.model
        grid = suite.grid_of(task)
        kind = suite.classifier_of(task) if model.encode else model.objective
        made_of = [digest(task), asdict(grid) if model.encode else kind, suite.seed]
        score = _score_from(self.encoded.remembered(made_of, lambda: _score_as_json(self._score(task, grid))))
        row = suite.row(task, score, model.epoch, model.step)
        return Evaluated(ProbeRow(**(vars(row) | {"suite": name, "classifier": kind})))

    def _score(self, task: Task, grid: Grid) -> Score:
        if self.model.encode is None:
            return score_baseline(self.model.objective, task)
        return self.suite.score(task, self.encoded.vectors, grid)


def digest(task: Task) -> str:
    """What a task is made of, as a short text."""
    made = sha256(json.dumps([task.name, task.classes]).encode())
    for split in (task.train, task.dev, task.test):
        made.update("\n".join(split.sentences).encode() + split.labels.tobytes())
    return made.hexdigest()


def _kept(path: Path) -> dict[str, Any] | None:
    """What was remembered in a file; None where it is no longer what was written, so that it is made anew."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return found["score"] if found["sum"] == _sum(found["score"]) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _sum(made: dict[str, Any]) -> str:
    return sha256(json.dumps(made).encode()).hexdigest()


def _score_as_json(score: Score) -> dict[str, Any]:
    return score._asdict() | {"test_correct": packed(score.test_correct)}


def _score_from(found: dict[str, Any]) -> Score:
    return Score(**(found | {"test_correct": unpacked(found["test_correct"])}))
