"""Vectors made elsewhere; two encoders have the same fingerprint only if their vectors are the same."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from datamodules.text.vocabulary import Vocabulary
from encoder_lab.errors import InputError
from encoders import hugging_face
from encoders.bilstm import BiLSTM
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from encoders.frozen import FrozenEncoder
from encoders.sources import fingerprint, precomputed_model
from tests.encoders.test_frozen import MATRIX, WORDS, bilstm

SETTINGS = {"dim": 6}
SENTENCES = ["a new b", "d"]
CHANGES: dict[str, Callable[[FrozenEncoder], object]] = {
    "a weight": lambda made: next(made.encoder.parameters()).data.view(-1)[0].add_(1e-6),
    "a word vector": lambda made: made.embedding.table[2, 0].add_(1e-6),
    "the words": lambda made: setattr(made, "vocabulary", Vocabulary(WORDS[::-1])),
    "an unknown word": lambda made: setattr(made, "oov", lambda _: np.ones(3, np.float32)),
    "the class": lambda made: setattr(made, "encoder", BagOfVectors(3)),
}


def of(made: FrozenEncoder, **settings: int) -> str:
    return fingerprint(made, SETTINGS | settings, SENTENCES)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_of_what_makes_vectors_changes_it(change) -> None:
    made = bilstm()
    before = of(made)
    assert of(bilstm()) == before
    with torch.no_grad():
        change(made)
    assert of(made) != before


def test_a_setting_that_is_no_weight_changes_it() -> None:
    assert of(bilstm(), heads=2) != of(bilstm(), heads=4)


def test_a_weight_of_another_shape_with_the_same_bytes_changes_it() -> None:
    def made(matrix: np.ndarray) -> FrozenEncoder:
        return FrozenEncoder(BiLSTM(3, dim=6), WordEmbedding(matrix), Vocabulary(WORDS))

    torch.manual_seed(1)
    frozen = made(MATRIX)
    torch.manual_seed(1)
    assert of(frozen) != of(made(MATRIX.reshape(9, 2)))


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


def test_weights_in_a_folder_that_is_a_link_are_part_of_a_downloaded_model(tmp_path) -> None:
    weights, folder = tmp_path / "weights", tmp_path / "model"
    for path in (weights, folder):
        path.mkdir()
        (path / "model.bin").write_text("1")
    (folder / "2_Dense").symlink_to(weights)
    before = hugging_face._content_key(str(folder), SimpleNamespace())  # type: ignore[arg-type]
    (weights / "model.bin").write_text("2")
    assert hugging_face._content_key(str(folder), SimpleNamespace()) != before  # type: ignore[arg-type]
