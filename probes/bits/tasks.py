"""A code of a task's training labels as a task of its own, for each of the codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, Literal

import numpy as np
import scipy  # which imports its parts at their first use

from encoder_lab.storage.code import code_of
from probes.bits.codes import STRONG_L2, CodeLength, description_length, variational_length
from probes.classification import Classification
from probes.classifiers.examples import Labelled
from probes.classifiers.grid import Grid
from probes.statistics import Z95, Interval, bounded_mean_of_runs
from probes.task import NO_ITEMS, DerivedTask, Outcome, content_hash
from probes.vectors import Vectors

ORDERS = 3  # of the sentences, over which the online codes are averaged
Code = Literal["logreg", "mlp", "variational"]
MEASURED_CODES: dict[str, Code] = {"bits": "logreg", "bits_mlp": "mlp", "bits_variational": "variational"}


@dataclass(frozen=True)
class Bits(DerivedTask):
    """The length of a code of the task's training labels, in percent of that of the uniform code."""

    task: Classification
    reader: Code
    suite: str = "bits"
    needs: Literal["vectors"] = "vectors"

    @property
    def grid(self) -> Grid:
        """The classifiers of an online code, trained as `modern` does."""
        base = self.task.grid
        grid = Grid(base.widths, base.dropouts, base.l2, block_mb=base.block_mb, memory_mb=base.memory_mb)
        return grid.logistic() if self.reader == "logreg" else grid

    @property
    def fingerprint(self) -> str:
        settings = self.reader, self.grid.settings(), self.grid.l2, code_of(self.task.features), self.task.seed, ORDERS
        return content_hash(self.data, *settings, code_of(Bits))

    def score(self, vectors: Vectors, device: str) -> Outcome:
        """The mean over `ORDERS`; the interval is over orders and labels. Chance: a code that knows the frequencies."""
        task = self.task
        parts = [(vectors.features(part, task.features, device)[:], part.gold) for part in (task.train, task.dev)]
        train, dev = (Labelled(*part) for part in parts)
        size = len(task.classes)
        if self.reader == "variational":
            values = sorted({*filter(None, task.grid.l2), *STRONG_L2})  # a penalty of 0 has no prior
            codes = [variational_length(train, size, values, task.seed, device)]
        else:
            codes = [description_length(train, dev, size, self.grid, task.seed + i, device) for i in range(ORDERS)]
        share = bounded_mean_of_runs([_percent_of_uniform(code) for code in codes], inf)
        bits = float(np.mean([code.bits for code in codes]))
        numbers: dict[str, Any] = {"bits": round(bits, 1), "compression": round(codes[0].uniform_bits / bits, 3)}
        frequencies = 100 * float(scipy.stats.entropy(np.bincount(task.train.gold), base=size))
        return Outcome(share[0], *share, NO_ITEMS, numbers, chance=frequencies)


def _percent_of_uniform(code: CodeLength) -> Interval:
    """The length in percent of the uniform one, with the interval of a mean over labels."""
    scale = 100 / code.uniform_bits
    half_width = Z95 * float(code.label_bits.std()) * sqrt(len(code.label_bits))
    return scale * code.bits, scale * (code.bits - half_width), scale * (code.bits + half_width)


def codes_of(task: Classification, measures: Sequence[str]) -> list[Bits]:
    """The codes that `probes.measures` asks for; the MLP's where the task is read by one."""
    readers = (reader for measure, reader in MEASURED_CODES.items() if measure in measures)
    return [Bits(task, reader) for reader in readers if reader != "mlp" or not task.grid.is_logistic]
