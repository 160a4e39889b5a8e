import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from common.errors import InputError
from datamodules.corpus import LABELS
from datamodules.nli import InferencePairs
from encoders.bilstm import BiLSTM
from encoders.embedding import WordEmbedding
from objectives.layers import classifier
from objectives.nli import NLI, features
from tests.silent import silent_trainer, validation_scores
from tests.tiny_corpus import TinyCorpus


@pytest.fixture
def data(tmp_path: Path) -> InferencePairs:
    return InferencePairs(TinyCorpus(), tmp_path, seed=1, batch_size=8)


def objective(data: InferencePairs, rate: float = 1e-4, **settings: object) -> NLI:
    torch.manual_seed(0)
    embedding = WordEmbedding(np.random.default_rng(0).normal(size=(len(data.vocabulary), 6)))
    encoder = BiLSTM(6, dim=8, layers=1, projection=5, dropout=0.0)
    return NLI(encoder, embedding, data, lambda weights: torch.optim.SGD(weights, lr=rate), 1, **settings)


def test_features_are_both_vectors_their_distance_and_their_product() -> None:
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 5.0]])
    assert features(u, v).tolist() == [[1, -2, 3, 5, 2, 7, 3, -10]]


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
    kinds = [type(layer).__name__ for layer in classifier("nonlinear", 4, 5, 3, 0.5)]
    assert kinds == ["Dropout", "Linear", "Tanh"] * 2 + ["Dropout", "Logits"]


def test_an_unknown_head_or_schedule_is_refused(data: InferencePairs) -> None:
    with pytest.raises(InputError, match="mlp, linear, nonlinear"):
        objective(data, head="deep")
    with pytest.raises(InputError, match="constant or infersent"):
        objective(data, schedule="cosine")


def test_accuracy_is_the_share_of_right_labels(data: InferencePairs) -> None:
    module = objective(data)
    always = LABELS.index("neutral")
    module.forward = lambda batch: torch.eye(3)[torch.full((len(batch.label),), always)]
    scores = validation_scores(module, data)
    assert scores["val/accuracy"] == pytest.approx(100 / 3)
    assert scores["val/loss"] == pytest.approx(math.log(math.e + 2) - 1 / 3, abs=1e-6)


def test_the_learning_rate_falls_each_epoch_and_more_without_gain(data: InferencePairs) -> None:
    module, run, rates = objective(data, rate=0.1, schedule="infersent"), silent_trainer(max_epochs=5), []
    accuracies = iter([50.0, 60.0, 60.004, 70.0, 65.0])
    module.on_validation_epoch_end = lambda: module.log_score("val/accuracy", next(accuracies))
    falls = module.on_train_epoch_end

    def fall_and_note() -> None:
        falls()
        rates.append(run.optimizers[0].param_groups[0]["lr"])

    module.on_train_epoch_end = fall_and_note
    run.fit(module, data)
    steps = np.cumprod([0.99, 0.99, 0.99 / 5, 0.99, 0.99 / 5])
    assert rates == pytest.approx(0.1 * steps)


def test_a_too_small_learning_rate_ends_a_run_and_a_resumed_run(data: InferencePairs, tmp_path: Path) -> None:
    module, run = objective(data, rate=3e-5, schedule="infersent"), silent_trainer(max_epochs=9)
    module.on_validation_epoch_end = lambda: module.log_score("val/accuracy", 40.0)
    run.fit(module, data)
    assert run.current_epoch == 2  # the second epoch is no better: 3e-5 * 0.99 * 0.99 / 5 < 1e-5
    run.save_checkpoint(tmp_path / "last.ckpt")
    again = silent_trainer(max_epochs=9)
    again.fit(module, data, ckpt_path=tmp_path / "last.ckpt", weights_only=True)
    assert again.global_step == run.global_step
