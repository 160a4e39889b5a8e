"""What benchmarks say about memory, and that their reference trains the same model."""

import time
from multiprocessing import get_context

import numpy as np
import pytest
import torch

from benchmarks.machine import LOOKS, alone, grown_memory
from benchmarks.plain import PackedEncoder, counts_loss
from benchmarks.steps import BATCH, by_length, generate
from datamodules.batches import Bag, Sentences
from encoders.bigru import BiGRU
from encoders.bilstm import BiLSTM
from encoders.encoder import Encoder
from encoders.recurrent import Bidirectional
from objectives.heads import bag_loss

MEGABYTES = 100


def hold(megabytes: int, seconds: float = 0.0) -> None:
    block = np.ones(megabytes << 17)  # float64
    time.sleep(seconds)
    del block


def taken(before: int) -> dict[str, float]:
    hold(before)
    with grown_memory() as memory:
        hold(MEGABYTES, seconds=3 / LOOKS)
    return memory


def test_memory_is_that_of_the_work_whatever_was_held_before() -> None:
    hold(300)  # ru_maxrss would hand it on to the child
    memory = alone(taken, 200)
    assert memory["memory_mb"] == pytest.approx(MEGABYTES, rel=0.1)
    assert memory["own_mb"] == pytest.approx(MEGABYTES, rel=0.1)


def test_memory_of_workers_counts() -> None:
    with grown_memory() as memory:
        worker = get_context("fork").Process(target=hold, args=(MEGABYTES, 5 / LOOKS))
        worker.start()
        worker.join()
    assert memory["memory_mb"] < MEGABYTES / 2
    assert memory["own_mb"] == pytest.approx(MEGABYTES, rel=0.2)


@pytest.mark.parametrize(
    "encoder",
    [BiLSTM(5, 8, projection=6), BiLSTM(5, 8, projection=6, pooling="last"), BiGRU(5, 8)],
    ids=["max", "last", "mean"],
)
def test_the_packed_encoder_gives_the_vectors_of_ours(encoder: Encoder) -> None:
    packed = PackedEncoder(encoder).eval()
    ours = next(module for module in encoder.modules() if isinstance(module, Bidirectional))
    for layer, both in enumerate(zip(ours.ahead, ours.back, strict=True)):
        for direction, suffix in zip(both, ("", "_reverse"), strict=True):
            for name, weight in direction.named_parameters():
                getattr(packed.layers, name.replace("_l0", f"_l{layer}{suffix}")).data = weight.data
    embedded, lengths = torch.randn(3, 7, 5), torch.tensor([7, 1, 4])
    vector, _ = packed(torch.nn.Identity(), Sentences(embedded, lengths))
    assert torch.allclose(vector, encoder(embedded, lengths).vector, atol=1e-6)


def test_bags_as_counts_cost_what_ours_cost() -> None:
    logits, ids = torch.randn(3, 9), torch.tensor([[2, 2, 5], [0, 0, 0], [7, 0, 0]])
    bag = Bag(ids, torch.tensor([3, 0, 1]))
    term = bag_loss(logits, bag)
    assert torch.allclose(counts_loss(logits, bag), term.nats / term.targets)


def test_timed_batches_stand_for_all_lengths() -> None:
    text = generate("nli")
    tokens = [text.tokens(rows) for rows in by_length(text, 6)]
    assert tokens == sorted(tokens)
    everywhere = text.tokens(np.arange(8192)) / 8192
    assert sum(tokens) / (6 * BATCH) == pytest.approx(everywhere, rel=0.05)
