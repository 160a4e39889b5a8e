"""Tasks scored by several processes together: each encodes and scores its share."""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from probes.evaluation import distinct_sentences, row_of
from probes.results import Epoch, ProbeRow
from probes.side_by_side import is_small, score_each
from probes.surprisals import Logprobs, score_pairs
from probes.task import Task
from probes.vectors import EncodesSentences, Vectors, in_bfloat16, vectors_of


class Share(NamedTuple):
    """The place of a process among those that probe together."""

    rank: int
    world: int
    gather: Callable[[Any], list[Any]]  # all-gather: the objects of all processes, in the order of ranks

    def together(self, vectors: np.ndarray) -> np.ndarray:
        """All vectors (N, D); each process has every `world`-th one."""
        parts = self.gather(vectors)
        whole = np.empty((sum(map(len, parts)), vectors.shape[1]), vectors.dtype) if self.world > 1 else vectors
        for rank, part in enumerate(parts if self.world > 1 else []):
            whole[rank :: self.world] = part
        return whole


ALONE = Share(0, 1, lambda part: [part])


def score_together(
    tasks: Sequence[Task],
    model: EncodesSentences,
    epoch: Epoch,
    step: int,
    seed: int,
    device: str,
    share: Share = ALONE,
    logprobs: Logprobs | None = None,
) -> list[ProbeRow]:
    """Score a model on every task; one row each, in the order of the tasks. `logprobs`: for tasks of surprisals.

    Several processes each encode their share of the distinct sentences, score their share of the distinct texts and of
    the tasks; all get all rows.
    """
    sentences = distinct_sentences(tasks, "vectors")
    matrix = share.together(vectors_of(model.encode, sentences[share.rank :: share.world]))
    vectors = Vectors(matrix, sentences, in_bfloat16(model))
    texts = distinct_sentences(tasks, "surprisal")[share.rank :: share.world]
    mine = dict(score_pairs(logprobs, [("", text) for text in texts])) if logprobs else {}  # out of its file, to travel
    parts = share.gather(mine) if logprobs else []
    given = {"vectors": vectors, "surprisal": {pair: found for part in parts for pair, found in part.items()}}

    def row(task: Task) -> ProbeRow:
        return row_of(task, task.score(given[task.needs], device), task.reader, epoch, step, seed)

    own = tasks[share.rank :: share.world]
    rows = score_each(own, row, lambda task: is_small(task, vectors), device, f"probing epoch {epoch:.4g}")
    return [row for same in zip_longest(*share.gather(rows)) for row in same if row is not None]
