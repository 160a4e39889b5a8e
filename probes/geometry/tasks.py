"""The geometry suite: each measure of the shape of the vectors is a task."""

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from datamodules.corpus import Corpus, held_out_text
from encoder_lab.errors import InputError
from encoder_lab.storage.code import code_of
from probes.geometry import measures
from probes.statistics import Interval
from probes.suites import Context
from probes.task import NO_ITEMS, Outcome, WithoutBaselines, content_hash
from probes.vectors import Vectors, distinct

MIN_SENTENCES = 40  # sentences: four in each group of the jackknife
CANDIDATES_PER_SENTENCE = 20  # sentences that are read for each that is drawn


DIMENSIONS, PERCENT = "dimensions", "percent"
MEASURES: dict[str, tuple[Callable[[Tensor], Interval], str]] = {
    "EffRank": (measures.effective_rank, DIMENSIONS),
    "PartRatio": (measures.participation_ratio, DIMENSIONS),
    "TwoNN": (measures.two_nn, DIMENSIONS),
    "IsoScore": (measures.iso_score, PERCENT),
    "MeanCos": (measures.mean_cosine, PERCENT),
}


@dataclass(frozen=True)
class Shape(WithoutBaselines):
    """One measure of the vectors of some sentences, in `reader`: dimensions or percent."""

    name: str
    sentences: list[str]
    suite: str = "geometry"
    needs: Literal["vectors"] = "vectors"

    @property
    def reader(self) -> str:
        return MEASURES[self.name][1]

    @property
    def data(self) -> str:
        return content_hash(self.sentences)

    @property
    def fingerprint(self) -> str:
        return content_hash(self.name, self.data, code_of(MEASURES[self.name][0]))

    @property
    def test_items(self) -> str:
        return self.data

    def score(self, vectors: Vectors, device: str) -> Outcome:
        """The measure. Nothing is trained, so dev and test have the same score."""
        matrix = matrix_of(vectors, self.sentences)
        size, width = matrix.shape
        at_most = f"EffRank of {size} vectors of {width} numbers is at most {size - 1}"
        notes = [f"{at_most}; more geometry.sentences= raise it"] if size <= width and self.name == "EffRank" else []
        value, low, high = MEASURES[self.name][0](matrix)
        return Outcome(value, value, low, high, NO_ITEMS, {}, warnings=notes)


@dataclass(frozen=True)
class GeometrySettings:
    """The settings of `suite=geometry`."""

    sentences: Annotated[
        int,
        Field(ge=MIN_SENTENCES, le=5000, title=f"a whole number from {MIN_SENTENCES} to 5000"),
        "held-out sentences of the corpus that are measured",
    ] = 1000


def tasks(context: Context, settings: GeometrySettings) -> list[Shape]:
    """Every measure, of the same sentences."""
    sentences = draw_sentences(context.corpus, settings.sentences, context.seed)
    return [Shape(name, sentences) for name in MEASURES]


def draw_sentences(corpus: Corpus, size: int, seed: int) -> list[str]:
    """`size` distinct sentences that no objective trains on, or as many as there are. Raises InputError for too few."""
    candidates = distinct(itertools.islice(held_out_text(corpus), CANDIDATES_PER_SENTENCE * size))
    if len(candidates) < MIN_SENTENCES:
        raise InputError(f"suite=geometry needs {MIN_SENTENCES} held-out sentences; this corpus= has {len(candidates)}")
    if len(candidates) < size:
        message = f"suite=geometry has {len(candidates):,} of {size:,} sentences"
        print(f"{message}: the text that is read gives no more", file=sys.stderr)
    indices = np.random.default_rng(seed).choice(len(candidates), min(size, len(candidates)), replace=False)
    return [candidates[index] for index in sorted(indices)]


def matrix_of(vectors: Vectors, sentences: list[str]) -> Tensor:
    """The vectors (N, D) of sentences."""
    return vectors.column_of(sentences)[torch.arange(len(sentences))]
