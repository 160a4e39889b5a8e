import math

import numpy as np
import pytest
import torch
from torch import nn

from datamodules.corpus import LABELS
from datamodules.nli import InferencePairs
from encoders.bilstm import BiLSTM
from encoders.embedding import WordEmbedding
from objectives.layers import classifier
from objectives.nli import NLI, concat_batches, pair_features
from tests.silent import validation_scores
from tests.tiny_corpus import TinyCorpus


@pytest.fixture
def data(tmp_path) -> InferencePairs:
    return InferencePairs(TinyCorpus(), tmp_path, seed=1, batch_size=8)


def objective(data: InferencePairs, rate: float = 1e-4, **settings: object) -> NLI:
    torch.manual_seed(0)
    embedding = WordEmbedding(np.random.default_rng(0).normal(size=(len(data.vocabulary), 6)))
    encoder = BiLSTM(6, dim=8, layers=1, projection=5, dropout=0.0)
    return NLI(encoder, embedding, data, lambda weights: torch.optim.SGD(weights, lr=rate), 1, **settings)


def test_features_are_both_vectors_their_distance_and_their_product() -> None:
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 5.0]])
    assert pair_features(u, v).tolist() == [[1, -2, 3, 5, 2, 7, 3, -10]]


def test_two_batches_read_together_have_the_vectors_of_each(data) -> None:
    module, batch = objective(data).eval(), next(iter(data.train_dataloader()))
    sides = batch.premise, batch.hypothesis
    vectors = module.encode(concat_batches(*sides)).vector.chunk(2)
    for vector, side in zip(vectors, sides, strict=True):
        torch.testing.assert_close(vector, module.encode(side).vector)


def weights(head: nn.Module) -> int:
    return sum(p.numel() for p in head.parameters())


def test_the_heads_have_the_published_sizes() -> None:
    assert weights(classifier("mlp", 2048, 100, 3, 0.0)) == 2048 * 100 + 100 + 100 * 3 + 3
    three_layers = 16384 * 512 + 512 + 512 * 512 + 512 + 512 * 3 + 3
    assert weights(classifier("linear", 16384, 512, 3, 0.0)) == three_layers
    assert weights(classifier("nonlinear", 16384, 512, 3, 0.1)) == three_layers


def test_the_linear_head_is_linear() -> None:
    head = classifier("linear", 4, 5, 3, 0.5)
    a, b, nothing = torch.randn(1, 4), torch.randn(1, 4), torch.zeros(1, 4)
    torch.testing.assert_close(head(a) + head(b) - head(nothing), head(a + b))


def test_the_nonlinear_head_is_the_one_of_infersent() -> None:
    layers = [type(layer).__name__ for layer in classifier("nonlinear", 4, 5, 3, 0.5)]
    assert layers == ["Dropout", "Linear", "Tanh"] * 2 + ["Dropout", "Logits"]


def test_accuracy_is_the_share_of_right_labels(data) -> None:
    module = objective(data)
    always = LABELS.index("neutral")
    module.forward = lambda batch: torch.eye(3)[torch.full((len(batch.label),), always)]
    scores = validation_scores(module, data)
    assert scores["val/accuracy"] == pytest.approx(100 / 3)
    assert scores["val/loss"] == pytest.approx(math.log(math.e + 2) - 1 / 3, abs=1e-6)
