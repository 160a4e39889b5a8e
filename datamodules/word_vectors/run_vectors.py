"""The vectors in a run folder: of its words, and of words that it does not have."""

import shutil
import warnings
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from datamodules.arrays import read_numbers
from datamodules.text.vocabulary import SPECIALS, Vocabulary
from datamodules.word_vectors.fasttext_file import open_lookup
from datamodules.word_vectors.store import WordVectors
from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.reads import refuse_changed_files

MAX_RUN_SUBWORDS_BYTES = 100 * 2**20  # a larger fastText .bin is not copied to the run folder
COMPARED_WORDS = 200  # compared to check that a run was made from a store
LOWERCASE_FILE = "lowercase.npy"  # in the vectors of a run that looks words up in lower case


class ComposedVectors:
    """Vectors of words that a run does not have. The fastText model is opened at the first of them."""

    def __init__(
        self, path: Path, scale: float, words: Vocabulary | None = None, matrix: np.ndarray | None = None
    ) -> None:
        """`words` and their vectors, `matrix`: of a run that looks words up in lower case."""
        self.path, self.scale, self.words, self.matrix = path, scale, words, matrix

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "model"}  # which cannot be pickled

    @cached_property
    def model(self) -> Any:
        return open_lookup(self.path)

    def __call__(self, word: str) -> np.ndarray | None:
        """The vector (E,) of the word in lower case, if that is how the run looks words up and it has that word; or
        composed of character n-grams; or None where the run has no subwords, and for a special word.
        """
        if self.words is not None and self.matrix is not None:
            if (word := word.lower()) in SPECIALS:
                return None
            if (vector := np.array(self.matrix[self.words.rows(word)[0]])).any():
                return vector
        if not self.path.exists():
            return None
        vector = np.asarray(self.model.get_word_vector(word), dtype=np.float32) * np.float32(self.scale)
        return vector if vector.any() else None


class RunVectors:
    """The word vectors of one run: everything that its encoder needs to read text."""

    def __init__(self, folder: Path) -> None:
        self.vocabulary = Vocabulary.load(folder / "words.txt")
        self.matrix = read_numbers(folder / "matrix.npy")
        seen = f"{len(self.vocabulary)} words but vectors {self.matrix.shape} of {self.matrix.dtype}"
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.vocabulary) or self.matrix.dtype != np.float32:
            raise InputError(f"{folder}: {seen}; copy the whole run folder")
        scale = read_numbers(folder / "scale.npy") if (folder / "scale.npy").exists() else np.ones(1)
        if scale.size != 1 or not np.isfinite([scale.sum(), self.matrix.sum(dtype=np.float64)]).all():
            raise InputError(f"{folder}: numbers that are not finite, or not one scale; copy the whole run folder")
        self.scale = float(scale.item())
        run_words = (self.vocabulary, self.matrix) if (folder / LOWERCASE_FILE).exists() else ()
        self.lookup_oov = ComposedVectors(folder / "subwords.bin", self.scale, *run_words)

    def extend_lookup(self, store: WordVectors) -> Callable[[str], np.ndarray | None]:
        """A lookup, in `store`, of words that are not in the run folder.

        Words are looked up in lower case where the run does that, first among its own. If the store has other vectors
        than the run was made from, it is not used, and a warning is given.
        """
        store = WordVectors(store.folder, store.subwords_bin, store.lowercase or self.lookup_oov.words is not None)
        shared = store.lookup(self.vocabulary.words[:COMPARED_WORDS])
        run_matrix = np.asarray(self.matrix[: len(shared.matrix)])
        common = shared.known & run_matrix.any(1)  # more words may have vectors with lowercase=auto
        if run_matrix.shape != shared.matrix.shape or not np.allclose(
            run_matrix[common], shared.matrix[common] * np.float32(self.scale), rtol=1e-3, atol=1e-4
        ):
            problem = "not the word vectors that this run was made from, so they are not used"
            warnings.warn(f"{self.lookup_oov.path.parent}: {store.folder.name} holds {problem}", stacklevel=2)
            return self.lookup_oov

        return partial(_lookup_in_run_or_store, self.lookup_oov, store)


def _lookup_in_run_or_store(run_lookup: ComposedVectors, store: WordVectors, word: str) -> np.ndarray | None:
    if (vector := run_lookup(word)) is None:
        vector = store.lookup([word]).matrix[0] * np.float32(run_lookup.scale)
    return vector if vector.any() else None


def save_run_vectors(
    run: Path,
    vocabulary: Vocabulary,
    matrix: np.ndarray,
    subwords_bin: Path | None = None,
    scale: float = 1.0,
    scaled: bool = False,
    lowercase: bool = False,
) -> None:
    """Write `vectors/` of a run folder: words, their vectors times `scale`, and a small enough subword model.

    `scaled`: the vectors are already times `scale`. `lowercase`: words are looked up in lower case.
    """
    folder = run / "vectors"
    vocabulary.save(folder / "words.txt")
    if subwords_bin and subwords_bin.stat().st_size <= MAX_RUN_SUBWORDS_BYTES:
        with atomic_write(folder / "subwords.bin", binary=True) as file, subwords_bin.open("rb") as source:
            shutil.copyfileobj(source, file)
    numbers: dict[str, Any] = {LOWERCASE_FILE: 1} if lowercase else {}
    numbers |= {"scale.npy": scale, "matrix.npy": matrix if scaled else matrix * np.float32(scale)}
    for name, values in numbers.items():  # the matrix last: where it is, the folder is complete
        with atomic_write(folder / name, binary=True) as file:
            np.save(file, values)


def load_run_vectors(run: Path) -> RunVectors:
    """Open `vectors/` of a run folder. Raises InputError when it is missing or damaged."""
    folder = run / "vectors"
    if not folder.is_dir():
        raise InputError(f"{folder}: missing; a run folder keeps its word vectors there, copy the whole folder")
    vectors = RunVectors(folder)
    refuse_changed_files(run, folder.name)
    return vectors
