"""Vectors that were made elsewhere, with their sentences."""

from pathlib import Path

import numpy as np
import pytest

from encoder_lab.errors import InputError
from encoders.sources import precomputed_model


def files(folder: Path, vectors: list[list[float]]) -> tuple[Path, Path]:
    np.save(folder / "v.npy", np.array(vectors, dtype=np.float32))
    (folder / "s.txt").write_text("a dog\na cat\na dog\n")
    return folder / "v.npy", folder / "s.txt"


def test_a_sentence_on_two_lines_has_one_vector(tmp_path) -> None:
    encode = precomputed_model(*files(tmp_path, [[1, 0], [0, 1], [1.0001, 0]])).encode
    assert encode(["a cat", "a dog"]).tolist() == [[0, 1], [1, 0]]


def test_a_sentence_with_two_vectors_is_refused(tmp_path) -> None:
    with pytest.raises(InputError, match=r"s\.txt:3: the sentence of line 1 with another vector; keep one"):
        precomputed_model(*files(tmp_path, [[1, 0], [0, 1], [1, 1]]))
