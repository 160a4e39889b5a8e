"""The types of batches that datamodules give to objectives. B sentences of at most T words."""

from typing import NamedTuple

import numpy as np
from torch import Tensor

PADDING = 0  # row 0 of every vocabulary
UNKNOWN = 1  # row 1 of every vocabulary


class Sentences(NamedTuple):
    """A padded batch of sentences."""

    ids: Tensor  # (B, T) int64, PADDING after the end of each sentence
    lengths: Tensor  # (B,) int64, at least 1


class SingleSentences(NamedTuple):
    """Sentences and nothing to predict for them."""

    sentence: Sentences


class SentencePair(NamedTuple):
    """Source sentences and what a decoder must produce for them."""

    source: Sentences  # word ids
    target: Sentences  # target ids, each row [begin, t_1 .. t_n, end]
    rows: np.ndarray | None = None  # (B,) of the examples in their split


class LabelledPair(NamedTuple):
    """Premises, hypotheses and the labels of the pairs."""

    premise: Sentences
    hypothesis: Sentences
    label: Tensor  # (B,) int64, index into LABELS of datamodules/nli.py


class Bag(NamedTuple):
    """The words of one text per sentence, in any order; a missing text is an empty bag."""

    ids: Tensor  # (B, W) int64, PADDING after the end of each bag
    sizes: Tensor  # (B,) int64, 0 where there is nothing to predict


class Position(NamedTuple):
    """A position, and the number of possible positions."""

    value: Tensor  # (B,) int64, from 0
    total: Tensor  # (B,) int64, number of positions, larger than `value`


class InDocument(NamedTuple):
    """Sentences with the document information that discourse losses predict (Chen et al. 2019, section 4)."""

    sentence: Sentences
    previous: Bag  # the sentence before, in the same document
    next: Bag
    level: Tensor  # (B,) int64, nesting level of the section, -1 where unknown
    in_paragraph: Position  # the sentence in its paragraph
    in_document: Position  # the paragraph in its document
    section_title: Bag
    document_title: Bag


class PartBatch(NamedTuple):
    """A batch of one part of a multitask objective."""

    part: int  # number of the part
    batch: NamedTuple
