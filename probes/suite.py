"""A suite of probing tasks: encode each distinct sentence once, then train every task's classifier."""

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import torch
from tqdm import tqdm

from common.devices import device_for
from common.errors import InputError
from probes.classifiers.classifier import Grid, Labelled, Score, probe
from probes.results import Answers, ProbeRow
from probes.statistics import wilson
from probes.task import EncodesSentences, Split, Task, items_of

LOGISTIC_ONLY = frozenset({"WC"})  # Conneau et al. 2018, appendix: too many classes for the MLP


class Share(NamedTuple):
    """The place of a process among those that probe together."""

    rank: int
    world: int
    gather: Callable[[Any], list[Any]]  # what every process has, in the order of their ranks

    def together(self, vectors: np.ndarray) -> np.ndarray:
        """All vectors (N, D), from every process's every `world`-th."""
        parts = self.gather(vectors)
        whole = np.empty((sum(map(len, parts)), vectors.shape[1]), vectors.dtype) if self.world > 1 else vectors
        for rank, part in enumerate(parts if self.world > 1 else []):
            whole[rank :: self.world] = part
        return whole


class Suite:
    """Probing tasks and the classifier grid that reads them out of a model's vectors."""

    def __init__(self, name: str, tasks: Sequence[Task], grid: Grid, seed: int, device: str | None = None) -> None:
        """The classifiers run on `device`, by default the GPU if there is one."""
        self.name, self.tasks, self.grid, self.seed = name, list(tasks), grid, seed
        self.device = device_for(device)
        every = (s for task in tasks for split in (task.train, task.dev, task.test) for s in split.sentences)
        self.sentences = list(dict.fromkeys(every))  # distinct, in a fixed order
        self._row = {sentence: row for row, sentence in enumerate(self.sentences)}

    def run(self, model: EncodesSentences, epoch: int, step: int, share: "Share | None" = None) -> list[ProbeRow]:
        """Score a model on every task; one row each, with the 95% interval of the test accuracy.

        Several processes each encode their share of the sentences and score their share of the tasks; all get all rows.
        """
        mine = share or Share(0, 1, lambda part: [part])
        vectors = mine.together(vectors_of(model.encode, self.sentences[mine.rank :: mine.world]))
        tasks = self.tasks[mine.rank :: mine.world]
        progress = tqdm(tasks, f"probing epoch {epoch}", disable=None, leave=False, unit=" tasks")
        rows = [self.row(task, self.score(task, vectors, self.grid_of(task)), epoch, step) for task in progress]
        return [row for same in zip_longest(*mine.gather(rows)) for row in same if row is not None]

    def grid_of(self, task: Task) -> Grid:
        """The classifiers that compete on a task."""
        return self.grid.logistic() if task.name.split()[0] in LOGISTIC_ONLY else self.grid

    def classifier_of(self, task: Task) -> str:
        """Their name in tables."""
        return "logreg" if self.grid_of(task).is_logistic else "mlp"

    def score(self, task: Task, vectors: np.ndarray, grid: Grid) -> Score:
        """Read a task out of the vectors of the suite's distinct sentences."""

        def labelled(split: Split) -> Labelled:
            return Labelled(vectors[self.rows(split.sentences)], split.labels)

        train = in_published_order(task.train) if grid.protocol == "senteval" else task.train
        splits = labelled(train), labelled(task.dev), labelled(task.test)
        return probe(*splits, classes=len(task.classes), grid=grid, seed=self.seed, device=self.device)

    def row(self, task: Task, score: Score, epoch: int, step: int) -> ProbeRow:
        """The score as a row of probes.csv."""
        low, high = wilson(int(score.test_correct.sum()), len(score.test_correct))
        return ProbeRow(
            epoch=epoch,
            step=step,
            suite=self.name,
            task=task.name,
            classifier=self.classifier_of(task),
            dev_accuracy=score.dev_accuracy,
            test_accuracy=score.test_accuracy,
            test_low=low,
            test_high=high,
            hyperparameters=score.hyperparameters,
            seed=self.seed,
            seconds=score.seconds,
            answers=Answers(items_of(task), score.test_correct),
        )

    def rows(self, sentences: Iterable[str]) -> np.ndarray:
        """Where sentences stand among the distinct ones."""
        return np.fromiter((self._row[s] for s in sentences), dtype=np.int64)


def in_published_order(split: Split) -> Split:
    """By number of tokens, then label, as the published toolkit shows sentences to its classifier."""
    lengths = np.array([len(sentence.split()) for sentence in split.sentences])
    order = np.lexsort([split.labels, lengths])
    return Split([split.sentences[row] for row in order], split.labels[order])


def vectors_of(encode: Callable[[list[str]], Any], sentences: list[str]) -> np.ndarray:
    """Vectors (N, D) float32 of sentences, from an array, a tensor or lists. Raises InputError for anything else."""
    vectors = _as_floats(encode(sentences))
    if vectors.ndim != 2 or len(vectors) != len(sentences):
        wanted = f"({len(sentences)}, D)"
        raise InputError(f"the model gave an array {vectors.shape} for {len(sentences)} sentences, not {wanted}")
    if not np.isfinite(vectors).all():
        bad = int((~np.isfinite(vectors).all(1)).argmax())
        raise InputError(f"the model's vector of {sentences[bad]!r} is not finite in float32; it cannot be probed")
    return vectors


def _as_floats(given: Any) -> np.ndarray:
    """Numbers of any type and on any device as float32; what is too large for that becomes infinite."""
    try:
        if isinstance(given, torch.Tensor):
            return given.detach().to("cpu", torch.float32).numpy()
        with np.errstate(over="ignore"):
            return np.asarray(given, dtype=np.float32)
    except (RuntimeError, TypeError, ValueError) as error:  # RuntimeError: a list of tensors that require gradients
        raise InputError(f"the model gave no matrix of numbers but {type(given).__name__}: {error}") from None
