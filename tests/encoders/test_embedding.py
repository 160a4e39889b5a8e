import numpy as np
import torch

from encoders.embedding import WordEmbedding

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_frozen_vectors_are_data_and_not_weights() -> None:
    embedding = WordEmbedding(MATRIX)
    assert not embedding.state_dict()
    assert not list(embedding.parameters())
    assert embedding(torch.tensor([[2, 1]])).tolist() == [MATRIX[[2, 1]].tolist()]


def test_unfrozen_vectors_learn_but_padding_does_not() -> None:
    embedding = WordEmbedding(MATRIX, freeze=False)
    embedding(torch.tensor([[0, 3]])).sum().backward()
    assert embedding.table.grad is not None
    assert embedding.table.grad.sum(1).tolist() == [0, 0, 0, 3]
