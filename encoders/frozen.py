"""A frozen encoder: sentences in, vectors out, in three lines and from the run folder alone."""

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
from common.matmul import whole_products
from datamodules.arrays import ragged
from datamodules.batches import UNKNOWN, Sentences
from datamodules.samplers import pad
from datamodules.text.vocabulary import Vocabulary
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder

BATCH_WORDS = 2048  # padded words that pass through the encoder at a time: a CPU likes what fits its caches,
GPU_BATCH_WORDS = 1 << 16  # a GPU what fills it
CHUNK = 1 << 15  # sentences that are sorted by length together; bounds the memory
LONGEST = 10_000  # words; what a longer line has behind them is left out, counted and reported
REMEMBERED = 1 << 16  # unknown words whose composed vectors are kept


class Coverage(NamedTuple):
    """What a call of `encode` met; a sentence counts once however often it was given."""

    sentences: int = 0  # distinct
    empty: int = 0  # without a word, so their vector is zero
    cut: int = 0  # longer than LONGEST words
    words: int = 0
    unknown: int = 0  # words without any vector

    @property
    def warning(self) -> str:
        """One line for people; empty where nothing was wrong."""
        said = [f"{self.empty:,} empty sentence(s) got the zero vector"] if self.empty else []
        said += [f"{self.cut:,} sentence(s) were cut after {LONGEST:,} words"] if self.cut else []
        return "; ".join(said)


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
        self.oov = lru_cache(REMEMBERED)(oov) if oov else None
        self.tokenize = tokenize
        self.dim = encoder.dim
        self.coverage = Coverage()  # of the last call of `encode`

    def encode(self, sentences: Sequence[str], tokenized: bool = True, out: Path | None = None) -> np.ndarray:
        """Vectors (N, D) float32 of sentences, in their order; an empty sentence gets zeros.

        `tokenized`: words are what whitespace separates; else the corpus's own tokenisation comes first.
        `out`: write the vectors to this .npy file and return it memory-mapped; memory stays flat. Raises OSError
        before anything is encoded where the disk has no room for them.
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
        beside = out.with_name(f".{out.name}.tmp")
        try:
            with room_for(out):
                np.lib.format.open_memmap(beside, "w+", np.float32, (len(which), self.dim)).flush()
                with beside.open("r+b") as file:  # all of it now: a map that finds the disk full kills the process
                    os.posix_fallocate(file.fileno(), 0, beside.stat().st_size)
            # opened for each chunk anew: the pages of a closed map no longer count as our memory
            self._fill(partial(np.lib.format.open_memmap, beside, "r+"), distinct, which)
            beside.replace(out)
        finally:
            beside.unlink(missing_ok=True)
        return np.load(out, mmap_mode="r")

    @whole_products()
    def _fill(self, target: Callable[[], np.ndarray], distinct: list[str], which: np.ndarray) -> None:
        """Row i of the target becomes the vector of sentence `distinct[which[i]]`."""
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
        """Vectors (N, D), through batches of like length, the longest first."""
        word_rows = [self.vocabulary.rows(sentence) for sentence in sentences]
        texts = ragged(row[:LONGEST] for row in word_rows)
        lengths = np.diff(texts.offsets)
        order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
        device = self.embedding.table.device
        vectors = torch.zeros(len(sentences), self.dim, device=device)  # a GPU need not wait for us after every batch
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
    """Rows, the longest first, in batches of at most so many padded words."""
    batches, start = [], 0
    while start < len(order):
        size = max(1, words // int(lengths[order[start]]))
        batches.append(order[start : start + size])
        start += size
    return batches
