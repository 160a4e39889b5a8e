"""Word vectors in memory-mapped stores.

A store is a cache folder built from a vector file: `matrix.npy` (V, E) float32 and `hashes.npy`, the sorted 64-bit
hashes of its words with their rows. A lookup is a binary search and never reads all words.
"""

import hashlib
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from datamodules.text.vocabulary import SPECIALS
from datamodules.word_vectors.fasttext_file import open_lookup
from datamodules.word_vectors.formats import form_of, read_vectors, unpack_vectors
from datamodules.word_vectors.skipgram import train_bin
from encoder_lab.errors import InputError
from encoder_lab.settings.types import AboveZero, Count, Grams, Width, ZeroOrMore
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import contents_of, key_of
from encoder_lab.storage.files import build_once, disk_errors, make_once, temporary_path
from encoder_lab.storage.text_files import log_note_once

ReadSentences = Callable[[], Iterable[str]]  # returns the source sentences of the run
SCALE_ROWS = 50_000  # rows of a store from which its scale is computed
MAX_CAPITALS_SHARE = 0.001  # of the words; a file with no more counts as lower-cased
SUBWORDS_FILE = "subwords.bin"  # of a store: the fastText model of a packed file
FREQUENT_WORDS = 10_000  # rare ones may be names and typing errors
MIN_COVERAGE = 0.1  # of the words of a text; with fewer, these are vectors of another text or language
INDEX_DTYPE = np.dtype([("hash", "<u8"), ("row", "<i8")])

VectorScale = Annotated[
    AboveZero | None, "factor of every entry; null makes their mean square 1; 1 leaves them as they are"
]


class LookupResult(NamedTuple):
    """The vectors of V words, and their origin."""

    matrix: np.ndarray  # (V, E) float32, zero for words without a vector
    present: np.ndarray  # (V,) bool, the word itself has a vector
    composed: np.ndarray  # (V,) bool, composed of character n-grams

    @property
    def known(self) -> np.ndarray:
        """Which words have a vector, (V,) bool."""
        return self.present | self.composed

    @property
    def coverage(self) -> str:
        """One line for the user, of the words of a vocabulary: its special rows are none."""
        words, present, composed = len(self.present), int(self.present.sum()), int(self.composed.sum())
        return (
            f"word vectors: {present - len(SPECIALS):,} of {words - len(SPECIALS):,} words found, "
            f"{composed:,} composed of subwords, {words - present - composed:,} without a vector"
        )


def refuse_low_coverage(looked_up: LookupResult, rows: slice | np.ndarray, source: str) -> None:
    """Raises InputError where less than a tenth of the words in `rows` have a vector, of the first 10,000.

    Warns where less than a tenth are words of the vectors, as most are composed of subwords.
    """
    known, present = (words[rows][:FREQUENT_WORDS] for words in (looked_up.known, looked_up.present))
    hint = "are these vectors of this language, and is the text tokenised and cased as theirs?"
    if len(known) and known.mean() < MIN_COVERAGE:
        raise InputError(f"{source}: only {100 * known.mean():.1f}% of the words have a vector; {hint}")
    if len(known) and present.mean() < MIN_COVERAGE:
        share = f"only {100 * present.mean():.1f}% of the words have a vector of their own"
        warnings.warn(f"{source}: {share}, others are composed of subwords; {hint}", stacklevel=2)


class WordVectors:
    """An open store: words to vectors."""

    def __init__(
        self, folder: Path, subwords_bin: Path | None = None, lowercase: bool = False, scale: float | None = None
    ) -> None:
        self.folder, self.lowercase, self.fixed_scale = folder, lowercase, scale
        self.matrix = np.load(folder / "matrix.npy", mmap_mode="r")
        self._index = np.load(folder / "hashes.npy", mmap_mode="r")
        self.subwords_bin = subwords_bin

    @property
    def repeats(self) -> int:
        """How many rows are of a word that an earlier row has."""
        hashes = self._index["hash"]  # sorted
        return int(np.count_nonzero(hashes[1:] == hashes[:-1]))

    def __reduce__(self) -> tuple[type["WordVectors"], tuple]:
        """Pickled as the names of its files, which stay where they are."""
        return WordVectors, (self.folder, self.subwords_bin, self.lowercase, self.fixed_scale)

    @cached_property
    def scale(self) -> float:
        """The factor of the vectors: the user's, or the one that makes the mean square of the entries 1 over the first
        vectors (the most frequent words).

        Weight initialisation assumes this scale. With smaller entries all sentence vectors are nearly equal at the
        start, and a decoder learns to ignore them.
        """
        if self.fixed_scale is not None:
            return self.fixed_scale
        frequent = self.matrix[:SCALE_ROWS]
        nonzero = frequent[np.any(frequent, axis=1)]
        return float(1 / np.sqrt(np.square(nonzero, dtype=np.float64).mean())) if len(nonzero) else 1.0

    def lookup(self, words: Sequence[str]) -> LookupResult:
        """The vectors of `words`; the special rows of a vocabulary are zero and count as present."""
        words = [word.lower() for word in words] if self.lowercase else words
        hashes = np.array([_hash(word) for word in words], dtype="<u8")
        positions = np.searchsorted(self._index["hash"], hashes).clip(max=len(self._index) - 1)
        present = self._index["hash"][positions] == hashes
        matrix = np.zeros((len(words), self.matrix.shape[1]), dtype=np.float32)
        rows = self._index["row"][positions[present]]
        by_row = np.argsort(rows)  # read the file in order
        matrix[np.flatnonzero(present)[by_row]] = self.matrix[rows[by_row]]
        special = np.array([word in SPECIALS for word in words])
        matrix[special] = 0
        composed = np.zeros(len(words), dtype=bool)
        unknown = np.flatnonzero(~present & ~special).tolist() if self.subwords_bin else []
        for i in unknown:
            matrix[i] = self._subwords.get_word_vector(words[i])
            composed[i] = matrix[i].any()
        return LookupResult(matrix, present | special, composed)

    @cached_property
    def _subwords(self) -> Any:
        assert self.subwords_bin
        return open_lookup(self.subwords_bin)


def open_store(path: Path, cache: Path) -> WordVectors:
    """The store of a file of word vectors (.vec, GloVe .txt, word2vec, fastText .bin; packed too), built at first use.

    Raises InputError naming the file, and the line where a text is malformed.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; give embeddings.path= a .vec, GloVe .txt or fastText .bin file")
    key = key_of(code_of(open_store), contents_of([path]), path.suffix)
    folder = cache / f"vectors-{path.name}-{key}"
    build_once(folder, lambda work: _write_store(work, path))
    unpacked_bin = folder / SUBWORDS_FILE
    packed = path.suffix in (".gz", ".bz2", ".zip")
    subwords = unpacked_bin if unpacked_bin.exists() else None
    return WordVectors(folder, subwords if packed or form_of(path) != "fasttext" else path)


def _write_store(work: Path, path: Path) -> None:
    plain = unpack_vectors(path, work)
    try:
        words = read_vectors(plain, work / "matrix.npy")
    except InputError as error:
        raise InputError(str(error).replace(str(plain), str(path))) from None
    if plain != path and form_of(plain) == "fasttext":
        plain.replace(work / SUBWORDS_FILE)
    elif plain != path:
        plain.unlink()
    index = np.empty(len(words), dtype=INDEX_DTYPE)
    index["hash"] = [_hash(word) for word in words]
    index["row"] = np.arange(len(words))
    index.sort(order=["hash", "row"])  # a lookup finds the first row of a repeated word
    np.save(work / "hashes.npy", index)
    np.save(work / "capitals.npy", sum(word != word.lower() for word in words) > MAX_CAPITALS_SHARE * len(words))


def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


class FromFile:
    """`embeddings=file`: pretrained vectors."""

    def __init__(
        self,
        path: Annotated[str | None, ".vec, GloVe .txt (or .gz), or fastText .bin, with subwords for unknown words"],
        lowercase: Annotated[
            bool | Literal["auto"],
            "true: words are looked up in lower case; auto: if the file has no words with capitals",
        ] = "auto",
        scale: VectorScale = None,
    ) -> None:
        if not path:
            raise InputError("embeddings=file needs embeddings.path=FILE (.vec, GloVe .txt or fastText .bin)")
        self.path, self.lowercase, self.scale = Path(path), lowercase, scale

    def vectors(self, sentences: ReadSentences, fingerprint: str, cache: Path) -> WordVectors:
        """The store of the file; the text of the run is not used."""
        store = open_store(self.path, cache)
        if repeats := store.repeats:
            log_note_once(f"{self.path}: {repeats:,} words are there again; of each the first vector counts")
        capitals = bool(np.load(store.folder / "capitals.npy"))
        store.lowercase = not capitals if self.lowercase == "auto" else bool(self.lowercase)
        store.fixed_scale = self.scale
        return store


class Trained:
    """`embeddings=train`: fastText skip-gram vectors trained on the source sentences of the run.

    With more threads than one they differ a little each time. With fewer than `words` words all remain similar.
    """

    def __init__(
        self,
        dim: Annotated[Width, "width E (Conneau et al. 2018, section 3.3)"],
        epochs: Annotated[Count, "passes over the text; more over a short text,"],
        words: Annotated[ZeroOrMore, "until this many words were read"],
        lr: Annotated[AboveZero, "the default of fastText is 0.05"],
        sampling: Annotated[AboveZero, "words with a larger share are subsampled; fastText's default is 0.0001"],
        bucket: Annotated[Count, "rows for character n-grams; the default of fastText is 2,000,000"],
        minn: Annotated[Grams, "shortest character n-gram"],
        maxn: Annotated[Grams, "longest character n-gram"],
        threads: Annotated[Annotated[int, Field(ge=1, le=1024)], "one thread gives the same vectors every time"],
        scale: VectorScale = None,
    ) -> None:
        self.epochs, self.words, self.scale = epochs, words, scale
        self.settings = {"dim": dim, "lr": lr, "t": sampling, "bucket": bucket, "minn": minn, "maxn": maxn}
        self.settings["thread"] = threads

    def vectors(self, sentences: ReadSentences, fingerprint: str, cache: Path) -> WordVectors:
        """The store of the trained vectors; cached by text and settings."""
        key = key_of(code_of(Trained), fingerprint, self.epochs, self.words, self.settings)
        path = cache / f"fasttext-{key}.bin"
        make_once(path, path.exists, lambda: self.write(sentences(), path))
        store = open_store(path, cache)
        store.fixed_scale = self.scale
        return store

    def write(self, sentences: Iterable[str], path: Path) -> None:
        """Train on tokenised sentences and write the model."""
        with disk_errors(path), temporary_path(path, folder=True) as work:
            text, count = work / "text", 0
            with text.open("w", encoding="utf-8") as file:
                for sentence in sentences:
                    words = sentence.split()  # fastText would not split at every space of Unicode
                    count += len(words)
                    file.write(f"{' '.join(words)}\n")
            passes = max(self.epochs, math.ceil(self.words / max(1, count)))
            train_bin(text, work / "model.bin", {**self.settings, "epoch": passes})
            (work / "model.bin").replace(path)
