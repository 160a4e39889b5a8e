"""What a run takes of the one that it begins with."""

import numpy as np
import torch

from datamodules.text.vocabulary import Vocabulary
from datamodules.word_vectors.store import load_run_vectors, save_run_vectors
from encoder_lab.training.initial import InitialRun, extend_vocabulary


def test_a_new_word_gets_the_trained_vector_of_its_lower_case(tmp_path) -> None:
    save_run_vectors(tmp_path, Vocabulary(["red"]), np.ones((3, 2), np.float32), lowercase=True)
    trained = torch.tensor([[0.0, 0], [0, 0], [7, 8]])
    source = InitialRun("run", {}, {"embedding.table": trained}, load_run_vectors(tmp_path), 1)
    words, looked_up = extend_vocabulary(source, Vocabulary(["Red"]), None)
    assert dict(zip(words.words, looked_up.matrix.tolist(), strict=True))["Red"] == [7, 8]
