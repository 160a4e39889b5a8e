"""The typed batches that travel from datamodules to objectives. B sentences of at most T words."""

from typing import NamedTuple

from torch import Tensor

PADDING = 0  # row 0 of every vocabulary
UNKNOWN = 1  # row 1 of every vocabulary


class Sentences(NamedTuple):
    """A padded batch of sentences."""

    ids: Tensor  # (B, T) int64, PADDING behind the end of each sentence
    lengths: Tensor  # (B,) int64, at least 1


class SentencePair(NamedTuple):
    """Source sentences and what a decoder must produce for them."""

    source: Sentences  # word ids
    target: Sentences  # target ids, each row [begin, t_1 .. t_n, end]
