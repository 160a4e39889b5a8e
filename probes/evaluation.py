"""Scores of a model on tasks of any suites: each distinct text encoded once, each score computed once."""

import json
import time
import warnings
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch

from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.progress import Progress
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import key_of
from encoder_lab.storage.files import atomic_write
from probes import correlations
from probes.classifiers.blocks import map_on_cores
from probes.results import Answers, ProbeRow, pack_correct, unpack_correct
from probes.share import SINGLE_PROCESS, Share
from probes.surprisals import Surprisals, score_pairs, surprisals_fingerprint
from probes.task import NO_ITEMS, Needs, Outcome, Task
from probes.use.effects import Erasures
from probes.vectors import Vectors, distinct, vectors_of


class Evaluated(NamedTuple):
    """The score of a model on one task, with its row of probes.csv."""

    row: ProbeRow
    details: Mapping[str, float] = {}  # other measures of the same predictions

    @property
    def correct(self) -> np.ndarray:
        """Which test items were right, (N_test,) bool; empty where the score is a correlation."""
        return self.row.answers.right if self.row.answers else NO_ITEMS


ScoreName = tuple[str, str, str]  # suite, task and reader
SMALL_TASK_BYTES = 32 << 20  # bytes of the vectors of all texts of a task that is scored next to others
DERIVED_NEEDS = ("scored", "bag")  # what a task needs that is made of other scores
Result = TypeVar("Result")


def score_name_of(task: Task) -> ScoreName:
    """The name of a task's score among the scores of a model: suite, task, reader."""
    return task.suite, task.name, task.reader


class Evaluation:
    """One model on some tasks, in one process or in several that share the work; all of them get all scores.

    Encodes only if a score is not in the `cache`. What a task needs of the model is the property of that name.
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        share: Share = SINGLE_PROCESS,
        cache: Path | None = None,
        seed: int | None = None,
        bag_cache: Path | None = None,
    ) -> None:
        """`bag_cache`: of the scores of the model's bag of vectors, which may stay the same while the model trains.

        `seed`: by default that of the tasks. Raises InputError where theirs is another one, or several.
        """
        self.model, self.tasks, self.share, self.cache = model, list(tasks), share, cache
        self.seed = seed_of(self.tasks, seed)
        self.bag_cache = bag_cache or cache
        self.scored: dict[ScoreName, Evaluated] = {}  # so far
        self.computed: set[ScoreName] = set()  # of these, the ones that were not in the cache
        # no cached_property where processes gather: before Python 3.12 its lock stops threads
        self._vectors: Vectors | None = None
        self._surprisal: Surprisals | None = None
        self._use: Erasures | None = None
        self._bag: Evaluation | None = None
        self._fingerprint = ""

    @cached_property  # nothing is gathered here
    def sentences(self) -> list[str]:
        """The sentences of which the tasks need vectors."""
        return distinct(s for task in self.tasks if task.needs != "surprisal" for s in task.sentences)

    @property
    def vectors(self) -> Vectors:
        """The vectors of all sentences of the tasks."""
        if self._vectors is None:
            assert self.model.encode is not None
            matrix = vectors_of(self.model.encode, self.sentences[self.share.indices], self.model.encoder)
            # of a GPU: the blocks of large batches, which no classifier needs, are free for other processes
            torch.cuda.empty_cache()
            self._vectors = Vectors(self.share.merge(matrix), self.sentences, self.model.bfloat16)
        return self._vectors

    @property
    def surprisal(self) -> Surprisals:
        """The surprisals of all texts of the tasks."""
        if self._surprisal is None:
            if self.model.logprobs is None:
                raise InputError(f"{self.model.encoder}: has vectors alone; leave out suites that need surprisals")
            texts = distinct_sentences(self.tasks, "surprisal")[self.share.indices]
            surprisals = score_pairs(self.model.logprobs, (("", text) for text in texts))
            # of one process they stay in their file
            self._surprisal = surprisals if self.share.world == 1 else ChainMap(*self.share.gather(dict(surprisals)))
        return self._surprisal

    @property
    def use(self) -> Erasures:
        """What suite=use needs: the vectors, and the tasks or the objective that read them."""
        if self._use is None:
            self._use = Erasures(self.vectors, self.model)
        return self._use

    loss = use

    @property
    def bag(self) -> tuple[Mapping[ScoreName, Evaluated], Mapping[ScoreName, Evaluated]]:
        """The model's scores so far, and the code lengths of a bag of its word vectors."""
        if self._bag is None:
            assert self.model.bag is not None
            codes = [task for task in self.tasks if task.suite == "bits"]
            model = self.model.bag._replace(device=self.model.device)
            self._bag = Evaluation(model, codes, self.share, self.bag_cache, self.seed)
            self._bag.scores()
            for name in self._bag.scored.keys() - self._bag.computed:  # they took no time in this epoch
                row = replace(self._bag.scored[name].row, seconds=0.0)
                self._bag.scored[name] = self._bag.scored[name]._replace(row=row)
        return self.scored, self._bag.scored

    @property
    def fingerprint(self) -> str:
        """A short text that identifies the outputs of the model."""
        if not self._fingerprint:
            fingerprint = self.model.fingerprint() if callable(self.model.fingerprint) else self.model.fingerprint
            if not fingerprint:  # what the tasks see of it
                digests = [sha256(self.vectors.matrix.numpy().tobytes()).hexdigest()] if self.model.encode else []
                digests += [surprisals_fingerprint(self.surprisal)] if self.model.logprobs else []
                fingerprint = " ".join(digests)
            self._fingerprint = self.share.gather(fingerprint)[0]
        return self._fingerprint

    def key(self, tasks: Iterable[Task], with_model: bool = True) -> str:
        """A short name for this model on these tasks, or for the tasks alone."""
        parts = [self.fingerprint if with_model else "", [task.fingerprint for task in tasks], self.seed]
        return sha256(json.dumps(parts).encode()).hexdigest()[:8]

    def scores(self, tasks: Sequence[Task] | None = None) -> list[Evaluated]:
        """One score for each task of the evaluation, or of some `tasks` that need no other texts, in their order.

        Each process computes its share of those that are not cached. What is made of other scores comes last.
        """
        all_tasks = [part for task in (self.tasks if tasks is None else tasks) for part in self._loss_parts(task)]
        tasks = [task for task in all_tasks if task.needs not in DERIVED_NEEDS]
        self._add_scores([task for task in tasks if _cell_of(task) is None])
        self._add_scores([self._with_cell(task) for task in tasks if _cell_of(task)])
        for task in all_tasks:
            if task.needs in DERIVED_NEEDS:
                self.scored[score_name_of(task)] = self._task_score(task, self._score(task))
        return [self.scored[score_name_of(task)] for task in all_tasks]

    def _add_scores(self, tasks: Sequence[Task]) -> None:
        """Score tasks that are not made of other scores."""
        if not tasks:
            return
        cached = [path and read_cached(path) for path in map(self._cache_path, tasks)]
        cached = self.share.gather(cached)[0]  # all processes must miss the same results
        missing = [task for task, result in zip(tasks, cached, strict=True) if result is None]
        self.computed |= set(map(score_name_of, missing))
        for needs in dict.fromkeys(task.needs for task in missing if not self._is_baseline(task)):
            getattr(self, needs)  # made by all processes together
        epoch, step = self.model.epoch, self.model.step
        moment = f", step {step}" if isinstance(epoch, float) else f", epoch {epoch}" if step else ""
        title = f"scores of {self.model.encoder or self.model.objective}{moment}"
        shard = missing[self.share.indices]
        computed = iter(self.share.merge(score_tasks(shard, self._score, self._is_small, self.model.device, title)))
        results = [next(computed) if result is None else result for result in cached]
        for task, result in zip(tasks, results, strict=True):
            self.scored[score_name_of(task)] = self._task_score(task, result)

    def _with_cell(self, task: Any) -> Task:
        """The task with the one cell that was chosen for another; a baseline has none."""
        if self._is_baseline(task):
            return task
        chosen = self.scored[score_name_of(task.cell_of)].row.hyperparameters
        cell = task.grid.cell(chosen["width"], chosen["dropout"], chosen["l2"])
        return replace(task, grid=cell, cell_of=None)

    @cached_property
    def _sentences_key(self) -> str:
        return key_of(self.sentences)  # the random directions of an erasure are of all

    @cached_property
    def _loss_key(self) -> str:
        return self.model.loss.fingerprint()

    def _cache_path(self, task: Task) -> Path | None:
        if self.cache is None or task.needs in DERIVED_NEEDS:
            return None
        key = [task.fingerprint, code_of(type(task)), self._reader_name(task), self.seed]
        if task.needs in ("loss", "use"):
            key += [self._sentences_key, self._loss_key if task.needs == "loss" else ""]
        name = key_of(self.fingerprint, self.model.bfloat16, self.model.device, *key)
        return self.cache / f"score-{name}.json"

    def _loss_parts(self, task: Any) -> Iterable[Task]:
        """The task itself; of what an objective loses, one for each of its parts; none that needs a bag without one."""
        if task.needs == "bag" and self.model.bag is None:
            return []
        return [replace(task, part=part) for part in self.model.loss.parts] if task.needs == "loss" else [task]

    def _is_baseline(self, task: Task) -> bool:
        return self.model.encode is None and task.needs not in ("surprisal", *DERIVED_NEEDS)

    def _is_small(self, task: Task) -> bool:
        reads = task.needs == "vectors" and not self._is_baseline(task)
        return reads and 4 * self.vectors.matrix.shape[1] * len(task.sentences) <= SMALL_TASK_BYTES

    def _reader_name(self, task: Task) -> str:
        return self.model.objective if self.model.encode is None and task.needs != "surprisal" else task.reader

    def _score(self, task: Task) -> dict[str, Any]:
        readings = None if self._is_baseline(task) else getattr(self, task.needs)
        started = time.monotonic()
        name, device = self.model.objective, self.model.device
        outcome = task.baseline(name) if readings is None else task.score(readings, device)
        if task.needs not in DERIVED_NEEDS:
            outcome = outcome._replace(seconds=time.monotonic() - started)
        long_texts = {text for _, text in self.model.long_texts} & set(task.sentences)
        details = {**outcome.details, **({"long texts": float(len(long_texts))} if long_texts else {})}
        result = outcome._asdict() | {"correct": pack_correct(outcome.correct), "details": details}
        if path := self._cache_path(task):
            write_cached(path, result)
        return result

    def _task_score(self, task: Task, result: dict[str, Any]) -> Evaluated:
        outcome = Outcome(**(result | {"correct": unpack_correct(result["correct"])}))
        for text in outcome.warnings:
            warnings.warn(text, stacklevel=2)
        domains = correlations.unpack_domains(outcome.domains)
        answers = Answers(task.test_items, outcome.correct, domains) if len(outcome.correct) or domains else None
        key = self.model.epoch, self.model.step, task.suite, task.name, self._reader_name(task)
        score = outcome.dev, outcome.test, outcome.low, outcome.high
        row = ProbeRow(*key, *score, outcome.hyperparameters, self.seed, outcome.seconds, answers, outcome.chance)
        return Evaluated(row, outcome.details)


def seed_of(tasks: Sequence[Task], seed: int | None) -> int:
    """The seed of classifiers and scores, 1 if nothing says it. Raises InputError where `seed` and `tasks` differ."""
    own = {task.seed for task in tasks if hasattr(task, "seed")}
    seeds = own if seed is None else {*own, seed}
    if len(seeds) > 1:
        seen = " and ".join(f"seed={own_seed}" for own_seed in sorted(seeds))
        raise InputError(f"{seen}: tasks and their scores have one seed; give the same to all, as to tasks_for")
    return next(iter(seeds), 1)


def _cell_of(task: Task) -> Task | None:
    return getattr(task, "cell_of", None)


def score_tasks(
    tasks: Sequence[Task], score: Callable[[Task], Result], is_small: Callable[[Task], bool], device: str, title: str
) -> list[Result]:
    """The result of `score` for each task, in order.

    On a CPU small tasks are scored side by side, one on each core: their products are too short for several cores.
    """
    parallel = [index for index, task in enumerate(tasks) if is_small(task)]
    parallel.sort(key=lambda index: tasks[index].reader == "logreg")  # the longest of a suite, such as WC, starts first
    with Progress(total=len(tasks), desc=title, leave=False, unit=" tasks") as bar:

        def score_index(index: int) -> Result:
            result = score(tasks[index])
            bar.update()
            return result

        jobs = parallel if len(parallel) > 1 else []
        results = dict(zip(jobs, map_on_cores(score_index, jobs, device), strict=True)) if jobs else {}
        return [results[index] if index in results else score_index(index) for index in range(len(tasks))]


def distinct_sentences(tasks: Iterable[Task], needs: Needs | None = None) -> list[str]:
    """The distinct sentences of tasks, in a fixed order: what a model must encode, or score; None is both."""
    return distinct(sentence for task in tasks if needs in (None, task.needs) for sentence in task.sentences)


def read_cached(path: Path) -> dict[str, Any] | None:
    """The cached result in a file; None if there is none or it is corrupt, so that it is computed again."""
    try:
        cached = json.loads(path.read_text(encoding="utf-8"))
        return cached["score"] if cached["sum"] == _checksum(cached["score"]) else None
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write_cached(path: Path, result: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        json.dump({"score": result, "sum": _checksum(result)}, file)


def _checksum(result: dict[str, Any]) -> str:
    return sha256(json.dumps(result).encode()).hexdigest()
