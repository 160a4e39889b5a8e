"""Encoders, objectives, classifiers and a language model on the device against the same on the CPU.

The models are those of the tests, and so are their sizes. In 32 bits a GPU's recurrent layers multiply in TF32, as
PyTorch has it by default, with 11 bits where float32 has 24; bfloat16 has 8.
"""

import sys
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from lightning_fabric.utilities import move_data_to_device

from benchmarks.coherence import LanguageModelSize, sample_texts, suites_of, write_model
from benchmarks.command import PRECISIONS
from benchmarks.gpu.rows import Difference, difference
from benchmarks.gpu.sizes import TINY, Sizes
from benchmarks.machine import DEVICE, in_precision
from encoders.language_model import CausalLM
from probes.classifiers import recorded
from probes.classifiers.cells import Cell, Cells
from tests import test_every_encoder as each_encoder
from tests import test_every_objective as each_objective
from tests import test_other_device as each_classifier

RELATIVE_TOLERANCE = {"32-true": 0.005, "bf16-mixed": 0.05}  # of the largest number
MAX_PERCENT_DIFFERENCE = 3.0  # accuracy; the order of sums decides ties
MAX_BITS_DIFFERENCE = 0.01  # of a token


def encoders(_: Sizes) -> Iterator[Difference]:
    """Vectors of every encoder."""
    words, lengths = each_encoder.batch([2, 9, 5, 1] * 4)
    for name in each_encoder.CONFIGS:
        encoder = each_encoder.build(name).eval()
        expected = encoder(words, lengths).vector
        encoder.to(DEVICE)
        for precision in PRECISIONS:
            with in_precision(precision):
                vector = encoder(words.to(DEVICE), lengths.to(DEVICE)).vector
            yield difference(f"{name}, {precision}: vectors", vector, expected, RELATIVE_TOLERANCE[precision])


def objectives(_: Sizes) -> Iterator[Difference]:
    """The loss and the gradient of every objective."""
    with tempfile.TemporaryDirectory() as folder:
        for name in each_objective.MODULES.values():
            module, data = each_objective.built(Path(folder), f"objective={name}")
            module.log_score = lambda *_, **__: None  # type: ignore[method-assign]
            on_device = deepcopy(module).to(DEVICE)
            batch = next(iter(data.train_dataloader()))
            moved = move_data_to_device(batch, torch.device(DEVICE))
            loss, gradient = loss_and_gradient(module, batch)
            for precision in PRECISIONS:
                with in_precision(precision):
                    other, other_gradient = loss_and_gradient(on_device, moved)
                yield difference(f"{name}, {precision}: loss", other, loss, RELATIVE_TOLERANCE[precision])
                yield difference(
                    f"{name}, {precision}: gradient", other_gradient, gradient, 2 * RELATIVE_TOLERANCE[precision]
                )


def loss_and_gradient(module: Any, batch: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss of a batch, and the gradient of all weights."""
    module.zero_grad()
    torch.manual_seed(1)
    loss = module.training_step(batch, 0)
    loss.backward()
    return loss, torch.cat([weight.grad.flatten() for weight in module.parameters() if weight.grad is not None])


def classifiers(sizes: Sizes) -> Iterator[Difference]:
    """Accuracies of the classifiers of both protocols, with folds and for ratings."""
    grids = [each_classifier.GRID, each_classifier.PUBLISHED]
    for grid in [*grids, *(grid.logistic() for grid in grids)]:
        for classes in (3,) if sizes == TINY else (3, 101):
            scores, expected = (each_classifier.scores(device, grid, classes) for device in (DEVICE, "cpu"))
            largest = max(abs(a - b) for a, b in zip(scores, expected, strict=True))
            what = "logistic regression" if grid.is_logistic else "networks"
            yield Difference(
                f"{what}, {grid.protocol}, {classes} classes: accuracy, percent", largest, MAX_PERCENT_DIFFERENCE
            )
    for protocol in ("modern", "senteval"):
        for score in (each_classifier.folds, each_classifier.relatedness):
            largest = abs(score(DEVICE, protocol) - score("cpu", protocol))
            yield Difference(f"{score.__name__}, {protocol}: percent", largest, MAX_PERCENT_DIFFERENCE)
    for protocol in ("modern", "senteval"):
        graphs, plain = (weights_after_steps(protocol, calls) for calls in (recorded.WARM_UP_CALLS, sys.maxsize))
        yield difference(f"steps as graphs and kernel by kernel, {protocol}: weights", graphs, plain, 0.0)


def weights_after_steps(protocol: str, plain: int) -> torch.Tensor:
    """All weights of classifiers with dropout; `plain`: steps before they are recorded."""
    generator = torch.Generator().manual_seed(1)
    x, y = torch.randn(64, 12, generator=generator), torch.randint(3, (64,), generator=generator)
    grid = [Cell(width, dropout, l2) for width in (4, 9) for dropout in (0.0, 0.2) for l2 in (1e-5, 1e-2)]
    cells = Cells(12, 3, grid, 1, DEVICE, as_torch=protocol == "senteval")
    with patch.object(recorded, "WARM_UP_CALLS", plain):
        for step in range(20):
            cells.step(x.to(DEVICE), y.to(DEVICE), 1e-3 / (1 + step))
    return torch.cat([weight.flatten() for weight in cells.parameters])


def language_model(_: Sizes) -> Iterator[Difference]:
    """The bits of the tokens of coherence suites by a small causal model."""
    suites = suites_of(60)
    with tempfile.TemporaryDirectory() as folder:
        write_model(LanguageModelSize(2, 64, 400), suites, Path(folder))
        on_cpu, on_device = (CausalLM(Path(folder), device) for device in ("cpu", DEVICE))
        pairs = list(islice(sample_texts(suites, 60), 60))
        both = zip(on_cpu.logprobs(pairs), on_device.logprobs(pairs), strict=True)
        largest = max(float(abs(a.logprobs - b.logprobs).max(initial=0)) for a, b in both)
    yield Difference(f"{len(pairs)} texts: bits of a token", largest, MAX_BITS_DIFFERENCE)
