"""A model's vectors of the distinct sentences, and the features of items made of them, portion by portion."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import log_note_once
from probes.task import Items, Texts

MAX_STORED_BYTES = 512 << 20  # bytes; larger features are computed again at each reading instead of being stored
MAX_NUMBER = 1e18  # of a vector: products of two numbers must be finite in float32
ROUNDING = 1e-5  # of the largest number: vectors that differ by less are one vector, computed in other batches
PORTION_BYTES = 32 << 20  # bytes of features formed at a time


class EncodesSentences(Protocol):
    """The only method of a model that probing uses."""

    def encode(self, sentences: list[str]) -> Any:
        """Whitespace-tokenised sentences to vectors (N, D), in the given order: an array, a tensor or lists."""
        ...


FeatureMaker = Callable[[Sequence[Tensor]], Tensor]  # k columns (n, D) to features (n, F)


def distinct(sentences: Iterable[str]) -> list[str]:
    """Each sentence once, in the order of first appearance."""
    return list(dict.fromkeys(sentences))


def sentence_vector(columns: Sequence[Tensor]) -> Tensor:
    """The vector u (n, D) of a sentence."""
    return columns[0]


def pair_features(columns: Sequence[Tensor]) -> Tensor:
    """|u - v| and u * v (n, 2D) of a pair (Tai et al. 2015; SentEval)."""
    u, v = columns
    return torch.cat([(u - v).abs(), u * v], 1)


class Vectors:
    """The vectors (N, D) of distinct sentences, found by sentence."""

    def __init__(self, matrix: np.ndarray, sentences: Sequence[str], bfloat16: bool = False) -> None:
        """`bfloat16`: made by products in bfloat16."""
        self.bfloat16 = bfloat16
        self.matrix = torch.from_numpy(np.ascontiguousarray(matrix, dtype=np.float32))
        self.sentences = sentences
        self._row = {sentence: row for row, sentence in enumerate(sentences)}

    def column_of(self, texts: Texts) -> "Column":
        """One vector for each text; for a list of texts the mean of theirs."""
        if len(texts) and not isinstance(texts[0], str):
            lengths = torch.tensor([len(group) for group in texts])
            return Column(self.matrix, self._row_indices([text for group in texts for text in group]), lengths)
        return Column(self.matrix, self._row_indices(texts))  # type: ignore[arg-type]

    def features(
        self, items: Items, make: FeatureMaker, device: str = "cpu", max_bytes: int = MAX_STORED_BYTES
    ) -> "Features":
        """The features (N, F) of items: a tensor up to `max_bytes` bytes, otherwise formed at each reading."""
        formed = StreamedFeatures([self.column_of(column) for column in items.texts], make, device)
        return formed if 4 * formed.shape[0] * formed.shape[1] > max_bytes else formed[:]

    def _row_indices(self, sentences: Sequence[str]) -> Tensor:
        rows = np.fromiter((self._row[sentence] for sentence in sentences), dtype=np.int64, count=len(sentences))
        return torch.from_numpy(rows)


class Column:
    """One vector for each of N items, (N, D): of one of its texts, or the mean over several."""

    def __init__(self, matrix: Tensor, rows: Tensor, lengths: Tensor | None = None) -> None:
        """`rows (N,)` of the matrix; with `lengths (N,)`, the number of rows of each item."""
        self.matrix, self.rows, self.lengths = matrix, rows, lengths
        self.ends = None if lengths is None else torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)])

    def __len__(self) -> int:
        return len(self.rows if self.lengths is None else self.lengths)

    def __getitem__(self, items: Tensor) -> Tensor:
        """The vectors (B, D) of some items, `items (B,)`."""
        if self.lengths is None or self.ends is None:
            return self.matrix.index_select(0, self.rows[items])
        lengths = self.lengths[items]
        begins = self.ends[items] - lengths.cumsum(0) + lengths  # minus the position in `indices`
        indices = begins.repeat_interleave(lengths) + torch.arange(int(lengths.sum()))
        return torch.segment_reduce(self.matrix.index_select(0, self.rows[indices]), "mean", lengths=lengths)


class StreamedFeatures:
    """Features (N, F) float32 that are formed in portions of items when they are read.

    `shift`, `scale` and `axes` are applied to each portion: (x - shift) * scale @ axes.
    """

    shift: Tensor | None = None
    scale: Tensor | None = None
    axes: Tensor | None = None

    def __init__(self, columns: Sequence[Column], make: FeatureMaker, device: str) -> None:
        self.columns, self.make, self.device = columns, make, torch.device(device)
        width = make([torch.zeros(1, column.matrix.shape[1]) for column in columns]).shape[1]
        self.shape = (len(columns[0]), width)

    def __len__(self) -> int:
        return self.shape[0]

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """The features (B, F) of some items, `rows (B,)`, as `Tensor.index_select(0, rows)`."""
        features = self.make([column[rows.cpu()].to(self.device) for column in self.columns])
        if self.shift is not None and self.scale is not None:
            features = features.sub_(self.shift).mul_(self.scale)
        return features if self.axes is None else features @ self.axes

    def __getitem__(self, items: slice) -> Tensor:
        """The features of neighbouring items, formed in portions."""
        rows = torch.arange(*items.indices(len(self)))
        features = torch.empty(len(rows), self.shape[1], device=self.device)
        size = portion_rows(self.shape[1], len(rows))
        for into, part in zip(features.split(size), rows.split(size), strict=True):
            into.copy_(self.index_select(0, part))
        return features

    def split(self, size: int) -> Iterator[Tensor]:
        """All items in portions of `size`, in order."""
        return (self.index_select(0, part) for part in torch.arange(len(self)).split(size))

    def __matmul__(self, axes: Tensor) -> "StreamedFeatures":
        product = copy(self)
        product.axes, product.shape = axes if self.axes is None else self.axes @ axes, (len(self), axes.shape[1])
        return product

    def standardise(self, mean: Tensor, scale: Tensor) -> "StreamedFeatures":
        """(x - mean) * scale, formed when it is read."""
        standard = copy(self)
        standard.shift, standard.scale = mean, scale
        return standard

    def deviation_and_mean(self) -> tuple[Tensor, Tensor]:
        """The standard deviation and the mean (F,) of each feature over all items."""
        mean, squares = torch.zeros(2, self.shape[1], dtype=torch.double, device=self.device)
        size = portion_rows(self.shape[1], len(self))
        for x in self.split(size):
            mean += x.double().sum(0)
        mean /= len(self)
        for x in self.split(size):
            squares += x.double().sub_(mean).square_().sum(0)
        return (squares / len(self)).sqrt().float(), mean.float()


Features = Tensor | StreamedFeatures  # of N items, (N, F): what a classifier reads


def portion_rows(width: int, limit: int) -> int:
    """The number of items of `width` features to form or read at once: at most `limit`, and `PORTION_BYTES`."""
    return max(1, min(limit, PORTION_BYTES // (4 * width)))


def vectors_of(encode: Callable[[list[str]], Any], sentences: list[str], model: str = "the model") -> np.ndarray:
    """Vectors (N, D) float32 of sentences, of an array, a tensor or lists. Raises InputError that names the `model`."""
    vectors = _to_float32(encode(sentences), model)
    if vectors.ndim != 2 or len(vectors) != len(sentences):
        expected = f"({len(sentences)}, D)"
        raise InputError(f"{model} gave an array {vectors.shape} for {len(sentences)} sentences, not {expected}")
    if len(sentences) and not vectors.shape[1]:
        raise InputError(f"{model} gave vectors of no numbers, {vectors.shape}; give at least one for each sentence")
    if not len(sentences):
        return vectors
    low, high = vectors.min(0), vectors.max(0)
    largest = np.abs([low, high]).max()
    if not largest < MAX_NUMBER:
        index = int((~(np.abs(vectors) < MAX_NUMBER).all(1)).argmax())
        limit = f"is not finite, or has numbers of {MAX_NUMBER:g} or more; it cannot be probed"
        raise InputError(f"{model}: the vector of {sentences[index]!r} {limit}")
    if len(sentences) > 1 and (high - low).max() <= ROUNDING * largest:
        log_note_once(
            f"{model}: all {len(sentences)} sentences have the same vector, so its scores are those of chance"
        )
    return vectors


def _to_float32(vectors: Any, model: str) -> np.ndarray:
    """Numbers of any type and on any device as float32; larger ones become infinite."""
    try:
        if isinstance(vectors, torch.Tensor) and not vectors.is_complex():
            return vectors.detach().to("cpu", torch.float32).numpy()
        numbers = np.asarray(np.ma.filled(vectors, np.nan) if np.ma.isMaskedArray(vectors) else vectors)
        if numbers.dtype.kind == "c":
            raise TypeError("complex numbers; give their real parts, or real and imaginary parts as two numbers")
        with np.errstate(over="ignore"):
            return numbers.astype(np.float32, copy=False)
    except (RuntimeError, TypeError, ValueError) as error:  # RuntimeError: a list of tensors that require gradients
        raise InputError(f"{model} gave no matrix of numbers but {type(vectors).__name__}: {error}") from None
