"""A frozen encoder: sentences in, vectors out, from the run folder alone."""

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from datamodules.arrays import make_ragged
from datamodules.text.languages import unspaced_script
from datamodules.text.vocabulary import SPECIALS, Vocabulary
from encoder_lab.compute.devices import evaluation_mode, to_device
from encoder_lab.compute.matmul import fast_exact_matmul, multiplies_in_bfloat16
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from encoder_lab.storage.files import disk_errors, refuse_link_or_device, temporary_path
from encoder_lab.storage.text_files import compose_unicode
from encoders.distinct_words import WordRows, windows
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from encoders.length_batches import length_batches

GPU_BATCH_WORDS = 1 << 16  # padded words of a batch, which should use all cores
CHUNK_SENTENCES = 1 << 15  # sorted by length at a time; bounds the memory
MAX_SENTENCE_WORDS = 10_000  # a longer sentence is cut, counted and reported
CACHED_WORDS = 1 << 16  # unknown words with a cached composed vector


class Coverage(NamedTuple):
    """Statistics of a call of `encode`. A repeated sentence counts once, but each empty one."""

    sentences: int = 0  # distinct
    empty: int = 0  # sentences without words; their vector is zero
    cut: int = 0  # sentences cut after MAX_SENTENCE_WORDS words
    words: int = 0
    unknown: int = 0  # words without any vector, also among those of the training text
    unspaced: int = 0  # sentences in a script without spaces that are not segmented into words

    @property
    def warning(self) -> str:
        """One line for the user; empty if there is nothing to report."""
        parts = [f"{self.empty:,} empty sentence(s) got the zero vector"] if self.empty else []
        parts += [f"{self.cut:,} sentence(s) were cut after {MAX_SENTENCE_WORDS:,} words"] if self.cut else []
        unspaced = (
            f"{self.unspaced:,} sentence(s) have no spaces between their words: segment them as the training text"
        )
        return "; ".join([*parts, unspaced] if self.unspaced else parts)

    @property
    def summary(self) -> str:
        """One line with the words without a vector, and the warning."""
        unknown = f"{self.unknown:,} of {self.words:,} words without a vector"
        return "; ".join(filter(None, [unknown, self.warning]))


class _EncodeOptions(NamedTuple):
    sentences: int | None  # in a batch, at most
    bar: bool | None  # None: in a terminal
    normalize: bool


class FrozenEncoder:
    """An encoder with its word vectors. Encoding changes neither modes nor random state. It can be pickled.

    It has the methods of a scikit-learn transformer, and those of `SentenceTransformer` that most code calls.
    """

    def __init__(
        self,
        encoder: Encoder,
        embedding: WordEmbedding,
        vocabulary: Vocabulary,
        oov: Callable[[str], np.ndarray | None] | None = None,
        tokenize: Callable[[str], str] | None = None,
        raw: bool = False,
        bfloat16: bool = False,
        lowercase: bool = False,
    ) -> None:
        """`raw`: sentences are tokenised by `tokenize` first, unless a call says that they are tokenised.

        `lowercase`: tokenised sentences are read in lower case.
        `bfloat16`: products in bfloat16 where the machine has them (`multiplies_in_bfloat16`); vectors stay float32.
        """
        self.encoder, self.embedding, self.vocabulary = encoder, embedding, vocabulary
        self.oov = lru_cache(CACHED_WORDS)(oov) if oov else None
        self.tokenize, self.raw = tokenize, raw
        self._bfloat16, self.lowercase = bfloat16, lowercase
        self.dim = encoder.dim
        self.coverage = Coverage()  # of the last call of `encode`

    @property
    def bfloat16(self) -> bool:
        """Whether products are in bfloat16 where the encoder is now."""
        return self._bfloat16 and multiplies_in_bfloat16(self.embedding.table.device)

    def __repr__(self) -> str:
        name, words = type(self.encoder).__name__, len(self.vocabulary) - len(SPECIALS)
        return f"FrozenEncoder({name}, {self.dim} dimensions, {words:,} words, on {self.embedding.table.device})"

    def __getstate__(self) -> dict[str, Any]:
        """Without the cache of composed word vectors, which cannot be pickled."""
        return self.__dict__ | {"oov": self.oov.__wrapped__ if self.oov else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.oov = lru_cache(CACHED_WORDS)(self.oov) if self.oov else None

    def get_sentence_embedding_dimension(self) -> int:
        """D, under the name that it has in sentence-transformers."""
        return self.dim

    def fit(self, sentences: Any = None, labels: Any = None) -> "FrozenEncoder":
        """Does nothing: the encoder is trained. A pipeline of scikit-learn calls it."""
        return self

    def transform(self, sentences: Sequence[str]) -> np.ndarray:
        """Vectors (N, D) of sentences, as `encode` gives them by default."""
        return self.encode(sentences)

    def fit_transform(self, sentences: Sequence[str], labels: Any = None) -> np.ndarray:
        """The same as `transform`."""
        return self.encode(sentences)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Nothing: a grid search has nothing to vary."""
        return {}

    def __sklearn_clone__(self) -> "FrozenEncoder":
        return self  # trained: a clone without its weights would be another model

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        reads = InputTags(one_d_array=True, two_d_array=False, string=True)
        return Tags("transformer", TargetTags(required=False), TransformerTags(), input_tags=reads, requires_fit=False)

    def encode(
        self,
        sentences: Sequence[str],
        tokenized: bool | None = None,
        out: Path | None = None,
        *,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
        normalize_embeddings: bool = False,
        convert_to_tensor: bool = False,
        convert_to_numpy: bool = True,
    ) -> Any:
        """Vectors (N, D) float32 of sentences, in their order; an empty sentence gets zeros.

        `sentences`: strings in a list, a tuple, an array, a column of a table or a generator.
        `tokenized`: words are separated by whitespace; otherwise the tokeniser of the corpus runs first. By default
        words are separated by whitespace unless the encoder was made with `raw`.
        `out`: write the vectors to this .npy file and return it memory-mapped; memory stays bounded. Raises OSError
        before encoding if the disk has too little space.
        `batch_size`: at most this many sentences at a time; by default as many as are fast.
        `show_progress_bar`: by default in a terminal. `normalize_embeddings`: to length 1; zeros stay zeros.
        `convert_to_tensor`: a tensor on the device of the encoder instead of an array, also with
        `convert_to_numpy`, which is the default.
        """
        if not (convert_to_numpy or convert_to_tensor):
            raise InputError("convert_to_numpy=False: vectors are an array, or a tensor with convert_to_tensor=True")
        if out is not None and convert_to_tensor:
            raise InputError(f"out={out}: the file is returned as an array; leave convert_to_tensor out")
        if batch_size is not None and batch_size < 1:
            raise InputError(f"batch_size={batch_size}: give at least 1")
        sentences = checked_texts(sentences)
        options = _EncodeOptions(batch_size, show_progress_bar, normalize_embeddings)
        tokenized = not self.raw if tokenized is None else tokenized
        assert tokenized or self.tokenize, "this encoder came without a tokenisation"
        texts = sentences if tokenized else map(self.tokenize, sentences)  # type: ignore[arg-type]
        texts = map(str.lower, texts) if self.lowercase else texts
        first: dict[str, int] = {}  # distinct sentences, by first appearance
        inverse = np.fromiter((first.setdefault(text, len(first)) for text in texts), np.int64, len(sentences))
        distinct = list(first)
        del first
        empty = [number for number, text in enumerate(distinct) if not text.strip()]
        if out is None:
            vectors = np.empty((len(sentences), self.dim), dtype=np.float32)
            counts = self._fill(lambda: vectors, distinct, inverse, options)
        else:
            counts = self._fill_file(Path(out), distinct, inverse, options)
            vectors = np.load(out, mmap_mode="r")
        coverage = counts._replace(sentences=len(distinct), empty=int(np.isin(inverse, empty).sum()))
        self.coverage = coverage  # at the end: other threads may encode meanwhile
        if coverage.warning:
            warnings.warn(coverage.warning, stacklevel=2)
        return torch.from_numpy(vectors).to(self.embedding.table.device) if convert_to_tensor else vectors

    def _fill_file(self, out: Path, distinct: list[str], inverse: np.ndarray, options: _EncodeOptions) -> Coverage:
        refuse_link_or_device(out)
        with temporary_path(out) as work:
            with disk_errors(out):
                np.lib.format.open_memmap(work, "w+", np.float32, (len(inverse), self.dim)).flush()
                with work.open("r+b") as file:  # allocate now: writing to a map on a full disk kills the process
                    os.posix_fallocate(file.fileno(), 0, work.stat().st_size)
            # reopened for each chunk: the pages of a closed map do not count as our memory
            counts = self._fill(partial(np.lib.format.open_memmap, work, "r+"), distinct, inverse, options)
            work.replace(out)
        return counts

    @fast_exact_matmul()
    def _fill(
        self, target: Callable[[], np.ndarray], distinct: list[str], inverse: np.ndarray, options: _EncodeOptions
    ) -> Coverage:
        """Write the vector of sentence `distinct[inverse[i]]` to row i of the target. Returns counts of words."""
        by_sentence = np.argsort(inverse, kind="stable")  # rows of the first sentence, of the second, ...
        begin = np.searchsorted(inverse[by_sentence], np.arange(0, len(distinct) + CHUNK_SENTENCES, CHUNK_SENTENCES))
        hide = None if options.bar is None else not options.bar  # None: shown in a terminal
        device, counts = self.embedding.table.device.type, Coverage()
        with (
            evaluation_mode(self.encoder),
            torch.inference_mode(),
            torch.autocast(device, torch.bfloat16, enabled=self.bfloat16),  # also where the caller's is on
            Progress(total=len(distinct), desc="encoding", unit=" sentences", disable=hide, leave=False) as bar,
        ):
            for chunk, start in enumerate(range(0, len(distinct), CHUNK_SENTENCES)):
                vectors, more = self._encode_distinct(distinct[start : start + CHUNK_SENTENCES], bar, options)
                counts = Coverage(*map(sum, zip(counts, more, strict=True)))
                rows = by_sentence[begin[chunk] : begin[chunk + 1]]
                for offset in range(0, len(rows), CHUNK_SENTENCES):
                    portion = rows[offset : offset + CHUNK_SENTENCES]
                    target()[portion] = vectors[inverse[portion] - start]
        return counts

    def _encode_distinct(
        self, sentences: list[str], bar: Progress, options: _EncodeOptions
    ) -> tuple[np.ndarray, Coverage]:
        """Vectors (N, D), in batches of similar length, the longest first; counts of words."""
        words = WordRows(self.vocabulary, self.embedding, self.oov)
        word_rows = [words.rows(sentence) for sentence in sentences]
        texts = make_ragged(row[:MAX_SENTENCE_WORDS] for row in word_rows)
        lengths = np.diff(texts.offsets)
        order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
        device = self.embedding.table.device
        # on the device, so that a GPU does not wait after each batch
        vectors = torch.zeros(len(sentences), self.dim, dtype=torch.float32, device=device)
        size = self.encoder.batch_words if device.type == "cpu" else GPU_BATCH_WORDS
        unknown = torch.zeros((), dtype=torch.int64, device=device)
        for window in windows(texts, list(length_batches(order, lengths, size, options.sentences))):
            word_vectors = words.vectors(window.rows)
            uses = torch.from_numpy(np.bincount(window.texts.ids, minlength=len(window.rows)))
            unknown += (to_device(uses, device) * (word_vectors == 0).all(1)).sum()
            encode = self.encoder.over(word_vectors)
            for rows, (ids, real) in window.batches():
                indices = to_device(torch.from_numpy(rows), device)
                vectors[indices] = encode(to_device(ids, device), to_device(real, device)).float()
                bar.update(len(rows))
        bar.update(len(sentences) - len(order))
        cut = sum(len(row) > MAX_SENTENCE_WORDS for row in word_rows)
        unspaced = sum(not text.isascii() and bool(unspaced_script(Counter(text.split()))) for text in sentences)
        counts = Coverage(cut=cut, words=len(texts.ids), unknown=int(unknown), unspaced=unspaced)
        if options.normalize:
            vectors = functional.normalize(vectors)
        return vectors.cpu().numpy(), counts


def checked_texts(sentences: Any) -> list[str]:
    """The sentences as a list, in composed Unicode. Raises InputError with the index of what is no text."""
    if isinstance(sentences, str):
        raise InputError(f"encode takes a list of sentences, not one string: encode([{sentences[:40]!r}])")
    if not isinstance(sentences, Iterable) or isinstance(sentences, bytes | Mapping | Set):
        raise InputError(f"encode takes a list of sentences, not {type(sentences).__name__}")
    if getattr(sentences, "ndim", 1) != 1:
        raise InputError(f"encode takes one column of sentences, not {type(sentences).__name__} {sentences.shape}")  # type: ignore[attr-defined]
    texts = []
    for index, text in enumerate(sentences.to_pylist() if hasattr(sentences, "to_pylist") else sentences):  # of Arrow
        if not isinstance(text, str):
            joined = "; join the words of a sentence with spaces" if isinstance(text, list | tuple) else ""
            raise InputError(f"sentences[{index}] is {str(text)[:40]!r} ({type(text).__name__}), not a text{joined}")
        texts.append(compose_unicode(text))
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        invalid = next(i for i, text in enumerate(texts) if any("\ud800" <= letter <= "\udfff" for letter in text))
        problem = "half of a character (a lone surrogate)"
        raise InputError(f"sentences[{invalid}] has {problem}; decode the text as UTF-8") from None
    return texts
