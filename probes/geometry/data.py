"""The sentences of the geometry suite: held-out text of the corpus."""

import itertools

import numpy as np

from datamodules.corpus import Corpus
from encoder_lab.errors import InputError
from probes.probing.data import held_out_text
from probes.vectors import distinct

FEWEST = 40  # sentences: four in each group of the jackknife
SPREAD = 20  # sentences that are read for each that is drawn


def sentences_of(corpus: Corpus, size: int, seed: int) -> list[str]:
    """`size` distinct sentences that no objective trains on, or as many as there are. Raises InputError for too few."""
    read = distinct(itertools.islice(held_out_text(corpus), SPREAD * size))
    if len(read) < FEWEST:
        raise InputError(f"suite=geometry needs {FEWEST} held-out sentences; this corpus= has {len(read)}")
    drawn = np.random.default_rng(seed).choice(len(read), min(size, len(read)), replace=False)
    return [read[place] for place in sorted(drawn)]
