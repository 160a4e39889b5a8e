"""Code for a GPU leaves no tensor on the CPU and gives the same results. No GPU is needed."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch

from benchmarks.sequential import train_grid_alone
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.training.stops import StopsIfNotFinite
from encoders import FrozenEncoder
from encoders.embedding import WordEmbedding
from probes.bits.codes import description_length
from probes.classifiers.classifier import Grid, Labelled, as_tensors, probe
from probes.downstream.folds import score_nested
from probes.downstream.relatedness import fit_regression
from tests.commands import FORKS
from tests.silent import silent_trainer
from tests.test_every_encoder import CONFIGS, WIDTH, batch
from tests.test_every_encoder import build as encoder_of
from tests.test_every_objective import MODULES, built

WORDS = ["the", "a", "cat", "dog", "sees", "hears", "and"]
SENTENCES = ["the cat sees a dog", "a dog", "the dog hears the cat and a dog sees the cat", "and", "a dog", ""]
GRID = Grid(widths=(4, 9), dropouts=(0.0, 0.2), l2=(1e-5, 1e-2))
PUBLISHED = replace(GRID, protocol="senteval", block=2, max_passes=4)  # each step is slow on the pretended device


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Callable[..., Any]]:
    """A function of the other device's name and of more, called in a process that has the device."""
    with ProcessPoolExecutor(1, FORKS) as pool:
        yield lambda function, *more: pool.submit(_there, function, *more).result()


def _there(function: Callable[..., Any], *more: Any) -> Any:
    from tests.other_device import OTHER, other_device

    torch.set_num_threads(1)
    with other_device():
        return function(OTHER, *more)


def labelled(sentences: int, seed: int, classes: int) -> Labelled:
    """Vectors around the centres of their classes, far enough from each other to be told apart."""
    centres = np.random.default_rng(classes).normal(size=(classes, 12))
    labels = np.arange(sentences) % classes
    noise = 0.2 * np.random.default_rng(seed).normal(size=(sentences, 12))
    return Labelled((centres[labels] + noise).astype(np.float32), labels)


def parts(classes: int) -> list[Labelled]:
    size = max(60, 2 * classes)
    return [labelled(sentences, seed, classes) for seed, sentences in enumerate((2 * size, size, size))]


def scores(device: str, grid: Grid, classes: int) -> list[float]:
    return list(probe(*parts(classes), classes, grid, 1, device)[:2])


def scores_one_by_one(device: str, grid: Grid, classes: int) -> list[float]:
    return list(train_grid_alone(*(as_tensors(part, device) for part in parts(classes)), classes, grid, 1)[:2])


def bits(device: str) -> float:
    train, dev, _ = parts(3)
    with patch("probes.bits.codes.STRONG_L2", (1.0,)):
        return description_length(train, dev, 3, replace(GRID, l2=(1e-2,)), 1, device).bits


def folds(device: str, protocol: str) -> float:
    grid = Grid(protocol=protocol, l2=(1e-4, 1e-2)).logistic()
    return score_nested(as_tensors(parts(3)[0], device), 3, 2, grid, 1)[1]


def relatedness(device: str, protocol: str) -> float:
    splits = [as_tensors(part._replace(labels=part.labels % 5 + 1.0), device) for part in parts(5)]
    with patch("probes.downstream.relatedness.MAX_PASSES", 8):
        return 100 * fit_regression(*splits, (1.0, 5.0), Grid(protocol=protocol, l2=(1e-3,)).logistic(), 1)[0]


def vectors(device: str, name: str) -> np.ndarray:
    matrix = np.random.default_rng(1).normal(size=(len(Vocabulary(WORDS)), WIDTH)).astype(np.float32)
    frozen = FrozenEncoder(encoder_of(name).eval().to(device), WordEmbedding(matrix).to(device), Vocabulary(WORDS))
    return frozen.encode(SENTENCES)


def final_scores(device: str, objective: str, folder: Path) -> dict[str, float]:
    """What an epoch of training and validation ends with."""
    module, data = built(folder, f"objective={objective}")
    settings = {"max_epochs": 1, "callbacks": [StopsIfNotFinite(data, folder / "not_finite", every=50)]}
    if device == "cpu":
        trainer = silent_trainer(**settings)
    else:
        from tests.other_device import other_trainer

        trainer = other_trainer(**settings)
    trainer.fit(module, data)
    return {name: float(value) for name, value in trainer.callback_metrics.items()}


@pytest.mark.parametrize("classes", [3, 101])
@pytest.mark.parametrize("grid", [GRID, PUBLISHED, GRID.logistic(), PUBLISHED.logistic()])
def test_probing_scores_equal_those_of_the_cpu(elsewhere, grid, classes) -> None:
    assert elsewhere(scores, grid, classes) == pytest.approx(scores("cpu", grid, classes), abs=3)


def test_the_sequential_reference_scores_like_the_grid(elsewhere) -> None:
    few = replace(PUBLISHED, widths=(9,), dropouts=(0.0,), max_passes=4)
    assert elsewhere(scores_one_by_one, few, 3) == pytest.approx(scores("cpu", few, 3), abs=3)


def test_description_lengths_equal_those_of_the_cpu(elsewhere) -> None:
    assert elsewhere(bits) == pytest.approx(bits("cpu"), rel=0.01)


@pytest.mark.parametrize("protocol", ["modern", "senteval"])
@pytest.mark.parametrize("score", [folds, relatedness])
def test_downstream_scores_equal_those_of_the_cpu(elsewhere, score, protocol) -> None:
    assert elsewhere(score, protocol) == pytest.approx(score("cpu", protocol), abs=2)


@pytest.mark.parametrize("name", CONFIGS)
def test_vectors_equal_those_of_the_cpu(elsewhere, name) -> None:
    np.testing.assert_allclose(elsewhere(vectors, name), vectors("cpu", name), atol=1e-5)


@pytest.mark.parametrize("objective", MODULES.values())
def test_an_epoch_of_training_equals_one_on_the_cpu(elsewhere, objective, tmp_path) -> None:
    expected = final_scores("cpu", objective, tmp_path)
    assert elsewhere(final_scores, objective, tmp_path) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", CONFIGS)
def test_an_encoder_never_waits_for_a_gpu(elsewhere, name) -> None:
    assert elsewhere(waits_of, name) == []


def waits_of(device: str, name: str) -> list[str]:
    from tests.other_device import OtherTensor

    encoder, (words, lengths) = encoder_of(name).to(device), batch([3, 5])
    words = words.to(device).requires_grad_()
    OtherTensor.waits.clear()
    encoded = encoder(words, lengths.to(device))
    (encoded.vector.sum() + encoded.states.sum()).backward()
    return list(OtherTensor.waits)


@pytest.mark.parametrize("code", ["x[x > 0]", "float(x[0])", "x.cpu()", "x.nonzero()", "x.tolist()", "bool(x.any())"])
def test_what_makes_a_gpu_wait_is_noticed(elsewhere, code) -> None:
    assert elsewhere(waits_in, code)


def waits_in(device: str, code: str) -> list[str]:
    from tests.other_device import OtherTensor

    x = torch.ones(3, device=device)
    OtherTensor.waits.clear()
    eval(code, {"x": x})
    return list(OtherTensor.waits)


def test_a_tensor_left_on_the_cpu_is_detected(elsewhere) -> None:
    with pytest.raises(RuntimeError, match="tensors on two devices"):
        elsewhere(_mixed)


def _mixed(device: str) -> torch.Tensor:
    return torch.ones(3, device=device) + torch.ones(3)
