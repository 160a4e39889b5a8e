"""A suite of probing tasks: encode each distinct sentence once, then train every task's classifier."""

from collections.abc import Iterable, Sequence

import numpy as np
from tqdm import tqdm

from probes.classifier import Grid, Labelled, Score, probe
from probes.intervals import wilson
from probes.results import ProbeRow
from probes.task import EncodesSentences, Split, Task

LOGISTIC_ONLY = frozenset({"WC"})  # Conneau et al. 2018, appendix: too many classes for the MLP


class Suite:
    """Probing tasks and the classifier grid that reads them out of a model's vectors."""

    def __init__(self, name: str, tasks: Sequence[Task], grid: Grid, seed: int) -> None:
        self.name, self.tasks, self.grid, self.seed = name, list(tasks), grid, seed
        every = (s for task in tasks for split in (task.train, task.dev, task.test) for s in split.sentences)
        self.sentences = list(dict.fromkeys(every))  # distinct, in a fixed order
        self._row = {sentence: row for row, sentence in enumerate(self.sentences)}

    def run(self, model: EncodesSentences, epoch: int, step: int) -> list[ProbeRow]:
        """Score a model on every task; one row each, with the 95% interval of the test accuracy."""
        if not self.tasks:
            return []
        vectors = model.encode(self.sentences)
        progress = tqdm(self.tasks, f"probing epoch {epoch}", disable=None, leave=False, unit=" tasks")
        return [self._row_of(task, vectors, epoch, step) for task in progress]

    def _row_of(self, task: Task, vectors: np.ndarray, epoch: int, step: int) -> ProbeRow:
        logistic = task.name in LOGISTIC_ONLY
        score = self._probe(task, vectors, self.grid.logistic() if logistic else self.grid)
        low, high = wilson(int(score.test_correct.sum()), len(score.test_correct))
        return ProbeRow(
            epoch=epoch,
            step=step,
            suite=self.name,
            task=task.name,
            classifier="logreg" if logistic or self.grid.is_logistic else "mlp",
            dev_accuracy=score.dev_accuracy,
            test_accuracy=score.test_accuracy,
            test_low=low,
            test_high=high,
            hyperparameters=score.hyperparameters,
            seed=self.seed,
            seconds=score.seconds,
        )

    def _probe(self, task: Task, vectors: np.ndarray, grid: Grid) -> Score:
        def labelled(split: Split) -> Labelled:
            return Labelled(vectors[self._rows(split.sentences)], split.labels)

        splits = labelled(task.train), labelled(task.dev), labelled(task.test)
        return probe(*splits, classes=len(task.classes), grid=grid, seed=self.seed)

    def _rows(self, sentences: Iterable[str]) -> np.ndarray:
        return np.fromiter((self._row[s] for s in sentences), dtype=np.int64)
