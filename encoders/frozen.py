"""A frozen encoder: sentences in, vectors out, from the run folder alone."""

import os
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from common.errors import InputError
from common.files import room_for
from common.matmul import fast_exact_matmul
from datamodules.arrays import ragged
from datamodules.batches import UNKNOWN, Sentences
from datamodules.samplers import pad
from datamodules.text.vocabulary import Vocabulary
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder

BATCH_WORDS = 2048  # padded words per batch: on a CPU a batch should fit the caches,
GPU_BATCH_WORDS = 1 << 16  # on a GPU it should use all cores
CHUNK = 1 << 15  # sentences sorted by length at a time; bounds the memory
LONGEST = 10_000  # words; a longer sentence is cut, counted and reported
CACHED_WORDS = 1 << 16  # unknown words with a cached composed vector


class Coverage(NamedTuple):
    """Statistics of a call of `encode`. A repeated sentence counts once."""

    sentences: int = 0  # distinct
    empty: int = 0  # sentences without words; their vector is zero
    cut: int = 0  # sentences cut after LONGEST words
    words: int = 0
    unknown: int = 0  # words without any vector

    @property
    def warning(self) -> str:
        """One line for the user; empty if there is nothing to report."""
        parts = [f"{self.empty:,} empty sentence(s) got the zero vector"] if self.empty else []
        parts += [f"{self.cut:,} sentence(s) were cut after {LONGEST:,} words"] if self.cut else []
        return "; ".join(parts)


class FrozenEncoder:
    """An encoder with its word vectors. Encoding changes neither modes nor random state."""

    def __init__(
        self,
        encoder: Encoder,
        embedding: WordEmbedding,
        vocabulary: Vocabulary,
        oov: Callable[[str], np.ndarray | None] | None = None,
        tokenize: Callable[[str], str] | None = None,
    ) -> None:
        self.encoder, self.embedding, self.vocabulary = encoder, embedding, vocabulary
        self.oov = lru_cache(CACHED_WORDS)(oov) if oov else None
        self.tokenize = tokenize
        self.dim = encoder.dim
        self.coverage = Coverage()  # of the last call of `encode`

    def encode(self, sentences: Sequence[str], tokenized: bool = True, out: Path | None = None) -> np.ndarray:
        """Vectors (N, D) float32 of sentences, in their order; an empty sentence gets zeros.

        `tokenized`: words are separated by whitespace; otherwise the tokeniser of the corpus runs first.
        `out`: write the vectors to this .npy file and return it memory-mapped; memory stays bounded. Raises OSError
        before encoding if the disk has too little space.
        """
        if isinstance(sentences, str):
            raise InputError(f"encode takes a list of sentences, not one string: encode([{sentences[:40]!r}])")
        assert tokenized or self.tokenize, "this encoder came without a tokenisation"
        texts = sentences if tokenized else map(self.tokenize, sentences)  # type: ignore[arg-type]
        first: dict[str, int] = {}  # distinct sentences, by first appearance
        which = np.fromiter((first.setdefault(text, len(first)) for text in texts), np.int64, len(sentences))
        distinct = list(first)
        del first
        self.coverage = Coverage(sentences=len(distinct))
        if out is None:
            vectors = np.empty((len(sentences), self.dim), dtype=np.float32)
            self._fill(lambda: vectors, distinct, which)
        else:
            vectors = self._fill_file(Path(out), distinct, which)
        if self.coverage.warning:
            warnings.warn(self.coverage.warning, stacklevel=2)
        return vectors

    def _fill_file(self, out: Path, distinct: list[str], which: np.ndarray) -> np.ndarray:
        temporary = out.with_name(f".{out.name}.tmp")
        try:
            with room_for(out):
                np.lib.format.open_memmap(temporary, "w+", np.float32, (len(which), self.dim)).flush()
                with temporary.open("r+b") as file:  # allocate now: writing to a map on a full disk kills the process
                    os.posix_fallocate(file.fileno(), 0, temporary.stat().st_size)
            # reopened for each chunk: the pages of a closed map do not count as our memory
            self._fill(partial(np.lib.format.open_memmap, temporary, "r+"), distinct, which)
            temporary.replace(out)
        finally:
            temporary.unlink(missing_ok=True)
        return np.load(out, mmap_mode="r")

    @fast_exact_matmul()
    def _fill(self, target: Callable[[], np.ndarray], distinct: list[str], which: np.ndarray) -> None:
        """Write the vector of sentence `distinct[which[i]]` to row i of the target."""
        by_sentence = np.argsort(which, kind="stable")  # rows of the first sentence, of the second, ...
        begin = np.searchsorted(which[by_sentence], np.arange(0, len(distinct) + CHUNK, CHUNK))
        modes = [(module, module.training) for module in self.encoder.modules()]
        self.encoder.eval()
        try:
            with torch.inference_mode(), tqdm(total=len(distinct), desc="encoding", disable=None, leave=False) as bar:
                for chunk, start in enumerate(range(0, len(distinct), CHUNK)):
                    vectors = self._encode_distinct(distinct[start : start + CHUNK], bar)
                    rows = by_sentence[begin[chunk] : begin[chunk + 1]]
                    for part in range(0, len(rows), CHUNK):
                        some = rows[part : part + CHUNK]
                        target()[some] = vectors[which[some] - start]
        finally:
            for module, training in modes:
                module.training = training

    def _encode_distinct(self, sentences: list[str], bar: tqdm) -> np.ndarray:
        """Vectors (N, D), in batches of similar length, the longest first."""
        word_rows = [self.vocabulary.rows(sentence) for sentence in sentences]
        texts = ragged(row[:LONGEST] for row in word_rows)
        lengths = np.diff(texts.offsets)
        order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
        device = self.embedding.table.device
        vectors = torch.zeros(
            len(sentences), self.dim, device=device
        )  # on the device, so that a GPU does not wait after each batch
        words = BATCH_WORDS if device.type == "cpu" else GPU_BATCH_WORDS
        for rows in _batches(order, lengths, words):
            vectors[torch.from_numpy(rows).to(device)] = self._encode_batch(pad(texts, rows), sentences, rows).float()
            bar.update(len(rows))
        bar.update(len(sentences) - len(order))
        self._count(
            empty=len(sentences) - len(order),
            cut=sum(len(row) > LONGEST for row in word_rows),
            words=int(lengths.sum()),
        )
        return vectors.cpu().numpy()

    def _encode_batch(self, batch: Sentences, sentences: list[str], rows: np.ndarray) -> Tensor:
        device = self.embedding.table.device
        embedded = self.embedding(batch.ids.to(device))
        unknown = (batch.ids == UNKNOWN).nonzero()
        if len(unknown):
            split = {place: sentences[rows[place]].split() for place in set(unknown[:, 0].tolist())}
            words = [split[place][step] for place, step in unknown.tolist()]
            composed = {i: self.oov(word) for i, word in enumerate(words)} if self.oov else {}
            known = {i: vector for i, vector in composed.items() if vector is not None}
            if known:
                place, step = unknown[list(known)].to(device).unbind(1)
                embedded[place, step] = torch.from_numpy(np.stack(list(known.values()))).to(embedded)
            self._count(unknown=len(words) - len(known))
        return self.encoder(embedded, batch.lengths.to(device)).vector

    def _count(self, **more: int) -> None:
        self.coverage = self.coverage._replace(**{k: getattr(self.coverage, k) + v for k, v in more.items()})


def _batches(order: np.ndarray, lengths: np.ndarray, words: int) -> list[np.ndarray]:
    """Split rows, the longest first, into batches of at most `words` padded words."""
    batches, start = [], 0
    while start < len(order):
        size = max(1, words // int(lengths[order[start]]))
        batches.append(order[start : start + size])
        start += size
    return batches
