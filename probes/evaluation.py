"""Scores of a frozen model on tasks of any suites: each distinct text encoded once, each score computed once."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from encoder_lab.model import Model
from encoder_lab.storage.code import code_of
from encoder_lab.storage.files import atomic_write
from probes.classification import Classification
from probes.classifiers.classifier import Labelled
from probes.description_length import description_length
from probes.results import Answers, Epoch, ProbeRow, packed, unpacked
from probes.side_by_side import is_small, score_each
from probes.surprisals import Surprisals, score_pairs
from probes.surprisals import fingerprint as surprisals_fingerprint
from probes.task import Needs, Outcome, Task
from probes.vectors import Vectors, distinct, vectors_of


class Evaluated(NamedTuple):
    """One score."""

    row: ProbeRow
    details: Mapping[str, float] = {}  # other measures of the same predictions

    @property
    def correct(self) -> np.ndarray:
        """Which test items were right, (N_test,) bool; empty where the score is a correlation."""
        return self.row.answers.right if self.row.answers else np.empty(0, dtype=bool)


class Evaluation:
    """One model on some tasks, with cached scores. Encodes only if a score is not in the cache."""

    def __init__(self, model: Model, tasks: Sequence[Task], cache: Path | None, seed: int, device: str) -> None:
        self.model, self.tasks, self.cache, self.seed, self.device = model, tasks, cache, seed, device
        self.sentences = distinct_sentences(tasks, "vectors")
        self._vectors: Vectors | None = None
        self._surprisals: Surprisals | None = None

    @property
    def vectors(self) -> Vectors:
        """The vectors of all sentences of the tasks, made when first needed."""
        if self._vectors is None:
            assert self.model.encode is not None
            matrix = vectors_of(self.model.encode, self.sentences, self.model.encoder)
            self._vectors = Vectors(matrix, self.sentences, self.model.bfloat16)
        return self._vectors

    @property
    def surprisals(self) -> Surprisals:
        """The surprisals of all texts of the tasks, made when first needed."""
        if self._surprisals is None:
            assert self.model.logprobs is not None
            texts = distinct_sentences(self.tasks, "surprisal")
            self._surprisals = score_pairs(self.model.logprobs, (("", text) for text in texts))
        return self._surprisals

    @cached_property
    def fingerprint(self) -> str:
        """A short text that stands for what the model gives."""
        if self.model.fingerprint:
            return self.model.fingerprint
        if self.model.encode:
            return sha256(self.vectors.matrix.numpy().tobytes()).hexdigest()
        return surprisals_fingerprint(self.surprisals)

    def key(self, tasks: Iterable[Task], of_model: bool = True) -> str:
        """A short name for this model on these tasks, or for the tasks alone."""
        made_of = [self.fingerprint if of_model else "", [task.fingerprint for task in tasks], self.seed]
        return sha256(json.dumps(made_of).encode()).hexdigest()[:8]

    def scores(self, tasks: Sequence[Task]) -> list[Evaluated]:
        """One score for each task; their sentences are among those of the evaluation's tasks."""
        if not tasks:
            return []
        title = f"{tasks[0].suite}: {self.model.encoder or self.model.objective}"
        return score_each(tasks, self._evaluated, self._is_small, self.device, title)

    def descriptions(self, tasks: Sequence[Classification]) -> list[dict[str, str | float]]:
        """The description length of each task's training labels."""
        shown = tqdm(tasks, f"description lengths: {self.model.encoder}", disable=None, leave=False)
        return [{"task": task.name, **self._description(task)} for task in shown]

    def _evaluated(self, task: Task) -> Evaluated:
        def compute() -> dict[str, Any]:
            if task.needs == "surprisal":
                return _as_json(self._noted(task, task.score(self.surprisals, self.device)))
            if self.model.encode is None:
                return _as_json(task.baseline(self.model.objective))
            return _as_json(task.score(self.vectors, self.device))

        reader = self._reader(task)
        found = _outcome_from(self._cached(self._made_of(task), compute))
        return Evaluated(row_of(task, found, reader, self.model.epoch, self.model.step, self.seed), found.details)

    def _reader(self, task: Task) -> str:
        return task.reader if self.model.encode or task.needs == "surprisal" else self.model.objective

    def _made_of(self, task: Task) -> list[Any]:
        return [task.fingerprint, code_of(type(task)), self._reader(task), self.seed]

    def _is_small(self, task: Task) -> bool:
        """Whether to score a task at the same time as others: it has no cached score and few vectors."""
        path = self._path(self._made_of(task))
        return not (path and path.exists()) and self.model.encode is not None and is_small(task, self.vectors)

    def _path(self, made_of: Sequence[Any]) -> Path | None:
        """Where a result is cached."""
        key = sha256(json.dumps([self.fingerprint, self.model.bfloat16, *made_of]).encode()).hexdigest()[:24]
        return self.cache / f"score-{key}.json" if self.cache else None

    def _noted(self, task: Task, found: Outcome) -> Outcome:
        """The outcome with how many of the task's texts are longer than the model's context."""
        long = {text for _, text in self.model.long_texts} & set(task.sentences)
        return found._replace(details=found.details | {"long texts": float(len(long))}) if long else found

    def _description(self, task: Classification) -> dict[str, float]:
        def compute() -> dict[str, float]:
            train, dev = (
                Labelled(self.vectors.features(part, task.features, self.device)[:], part.gold)
                for part in (task.train, task.dev)
            )
            found = description_length(train, dev, len(task.classes), task.grid, self.seed, self.device)
            return {"bits": found.bits, "uniform_bits": found.uniform_bits, "compression": found.compression}

        return self._cached(["mdl", task.data, code_of(description_length), list(task.grid.l2), self.seed], compute)

    def _cached(self, made_of: Sequence[Any], compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The result of `compute`, from the cache if it was computed before for the same model and `made_of`."""
        path = self._path(made_of)
        kept = _read_cached(path) if path and path.exists() else None
        if kept is not None:
            return kept
        made = compute()
        if path:
            with atomic_write(path) as file:
                json.dump({"score": made, "sum": _sum(made)}, file)
        return made


def distinct_sentences(tasks: Iterable[Task], needs: Needs | None = None) -> list[str]:
    """The distinct sentences of tasks, in a fixed order: what a model must encode, or score; None is both."""
    return distinct(sentence for task in tasks if needs in (None, task.needs) for sentence in task.sentences)


def row_of(task: Task, found: Outcome, reader: str, epoch: Epoch, step: int, seed: int) -> ProbeRow:
    """The score as a row of probes.csv."""
    return ProbeRow(
        epoch=epoch,
        step=step,
        suite=task.suite,
        task=task.name,
        classifier=reader,
        dev_accuracy=found.dev,
        test_accuracy=found.test,
        test_low=found.low,
        test_high=found.high,
        hyperparameters=found.hyperparameters,
        seed=seed,
        seconds=found.seconds,
        answers=Answers(task.test_items, found.correct) if len(found.correct) else None,
    )


def _read_cached(path: Path) -> dict[str, Any] | None:
    """The cached result in a file; None if the file is corrupt, so that it is computed again."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return found["score"] if found["sum"] == _sum(found["score"]) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _sum(made: dict[str, Any]) -> str:
    return sha256(json.dumps(made).encode()).hexdigest()


def _as_json(found: Outcome) -> dict[str, Any]:
    return found._asdict() | {"correct": packed(found.correct)}


def _outcome_from(found: dict[str, Any]) -> Outcome:
    return Outcome(**(found | {"correct": unpacked(found["correct"])}))
