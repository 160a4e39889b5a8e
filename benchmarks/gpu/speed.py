"""Times at published sizes, ours and what a competent person would run."""

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import torch

from benchmarks import fair
from benchmarks.command import PRECISIONS
from benchmarks.gpu.rows import Row, Time
from benchmarks.gpu.sizes import Sizes
from benchmarks.machine import DEVICE, hardware, seconds_per_call, synchronised_time
from benchmarks.peers import scikit_learn
from benchmarks.probing import Shape, make_vectors, measure_fused, measure_modern, measure_sequential
from benchmarks.sides import Sides
from benchmarks.steps import WIDTH, by_length, generate, our_module, our_step
from probes.classifiers import recorded
from probes.classifiers.blocks import split_into_blocks
from probes.classifiers.cells import Cells
from probes.classifiers.classifier import Grid, as_tensors

TIMED_PASSES = 1  # of each width and dropout, from which the seconds of one classifier after another are calculated
L2 = 1e-3


def limits(sizes: Sizes) -> Iterator[dict[str, Any] | Row]:
    """What limits the rest: the hardware with its rates, then copies to the device and an LSTM in each precision."""
    machine = hardware(sizes.product, sizes.megabytes)
    yield {name: machine[name] for name in machine if name != "command"}  # the whole record has that of all parts
    numbers = torch.zeros(sizes.megabytes << 18)
    gigabytes = numbers.nbytes / 1e9
    pinned = numbers.pin_memory() if DEVICE == "cuda" else numbers
    for name, tensor in (("pageable", numbers), ("pinned", pinned)):
        seconds = seconds_per_call(partial(tensor.to, DEVICE, non_blocking=True), sizes.times)
        yield Time(f"copy of {sizes.megabytes:,} MB, {name}", seconds, gigabytes=gigabytes)
    for dim in sizes.dims:
        yield from _recurrent(dim, sizes)


def _recurrent(dim: int, sizes: Sizes) -> Iterator[Time]:
    """A bidirectional LSTM forward and back, with and without TF32, and in bfloat16."""
    steps, batch = 25, sizes.scale.batch
    for name, tf32, dtype in (
        ("float32", False, torch.float32),
        ("TF32", True, torch.float32),
        ("bfloat16", True, torch.bfloat16),
    ):
        layer = torch.nn.LSTM(WIDTH, dim // 2, bidirectional=True).to(DEVICE, dtype)
        words = torch.randn(steps, batch, WIDTH, device=DEVICE, dtype=dtype)
        gflop = 6e-9 * steps * batch * sum(weight.numel() for weight in layer.parameters() if weight.ndim > 1)

        def step(layer: torch.nn.Module = layer, words: torch.Tensor = words) -> None:
            layer(words)[0].sum().backward()

        with torch.backends.cudnn.flags(allow_tf32=tf32):
            seconds = seconds_per_call(step, sizes.times)
        precision = "bf16-mixed" if dtype == torch.bfloat16 else "32-true"
        yield Time(f"LSTM of {dim:,} dimensions, {name}", seconds, {}, gflop, 0.0, precision)


def time_of(sides: Sides, times: int, precision: str = "32-true", **others: Callable[[], Any]) -> Time:
    """Ours next to the peer of the sides, and to others on the same sentences as ours."""
    ours = seconds_per_call(sides.ours, times)
    what, _, peer = sides.name.partition(": ")
    seconds = {peer: seconds_per_call(sides.theirs, 1) * sides.share}
    seconds |= {name: seconds_per_call(other, 1) for name, other in others.items()}
    return Time(what, ours, seconds, sides.more["gflop"], sides.more["gigabytes"], precision)


def translation(sizes: Sizes) -> Iterator[Time]:
    """Steps of translation to 40,000 codes, and the plain step with the library's packed LSTM on sorted batches."""
    for precision in PRECISIONS:
        yield time_of(fair.translation(precision, sizes.steps, sizes.scale), sizes.times, precision)


def entailment(sizes: Sizes) -> Iterator[Time]:
    """Steps of NLI, InferSent's loop, and a plain step with the library's packed LSTM."""
    for dim in sizes.dims:
        plain = fair.plain_entailment(dim, sizes.steps, sizes.scale)
        yield time_of(fair.entailment(dim, sizes.steps, sizes.scale), sizes.times, plain=plain)


def encoding(sizes: Sizes) -> Iterator[Time]:
    """Sentences through a frozen encoder, and InferSent's encode with the same weights."""
    for dim in sizes.dims:
        for precision in PRECISIONS:
            yield time_of(fair.sentences(dim, sizes.sentences, precision), 1, precision)


def probing(sizes: Sizes) -> Iterator[Time]:
    """A task under both protocols, one classifier after another, and scikit-learn with one L2 value."""
    shape = sizes.probed
    yield step_of_a_grid(shape, sizes.times)
    published = measure_fused(shape, 0)
    alone = measure_sequential(shape, published["toolkit_passes"], TIMED_PASSES)["seconds"]
    started = synchronised_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scikit_learn(*make_vectors(shape), shape.classes, [L2])
    peers = {"one classifier after another": alone, "scikit-learn, one L2 value": synchronised_time() - started}
    for protocol, result in (("senteval", published), ("modern", measure_modern(shape))):
        yield Time(f"{shape.train:,} sentences, {protocol}", result["seconds"], peers, result["gflop"])


def step_of_a_grid(shape: Shape, times: int) -> Time:
    """A step of all classifiers of the published grid, recorded and kernel by kernel."""
    data, seconds = as_tensors(make_vectors(shape)[0], DEVICE), []
    [cells] = split_into_blocks(shape.dim, shape.classes, Grid(protocol="senteval"), "cuda")
    for plain in (recorded.WARM_UP_CALLS, sys.maxsize):
        model = Cells(shape.dim, shape.classes, cells, 1, DEVICE)
        with patch.object(recorded, "WARM_UP_CALLS", plain):
            batches = list(data.batches(torch.arange(64 * 100, device=DEVICE) % shape.train, 64))
            steps = lambda model=model, batches=batches: [model.step(*batch) for batch in batches]  # noqa: E731
            seconds.append(seconds_per_call(steps, times))
    return Time(f"100 steps of {len(cells)} classifiers", seconds[0], {"kernel by kernel": seconds[1]})


def compiled(sizes: Sizes) -> Iterator[Time]:
    """Steps of the Gated ConvNet, ours as it is and compiled: its parts are not fused by a library."""
    text = generate("nli", sizes.scale)
    batches = [text.batch(rows) for rows in by_length(text, sizes.steps, sizes.scale.batch)]
    seconds = []
    for is_compiled in (False, True):
        step = our_step(our_module("gated_convnet", text), compiled=is_compiled)
        seconds.append(seconds_per_call(fair.run_steps(step, batches), sizes.times))
    yield Time("NLI step, gated_convnet", seconds[0], {"torch.compile": seconds[1]})
