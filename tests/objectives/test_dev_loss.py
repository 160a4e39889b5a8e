"""The dev loss of every objective with vectors that are changed."""

from typing import Any

import numpy as np
import pytest
import torch

from encoder_lab.errors import InputError
from objectives.dev_loss import DevLoss
from objectives.nli import NLI, concat_batches, pair_features
from objectives.objective import Objective
from probes.use.eraser import RotatingErasers, Whitening, erase_random
from tests.silent import validation_scores
from tests.test_every_objective import TRAINED, build  # noqa: F401  the fixture


def scores(loss: DevLoss, change: Any = None, decode: bool = False) -> dict[str, float]:
    """Those of the dev examples, all parts of several objectives together."""
    measured, dev = {}, loss(10_000)
    for part in loss.parts:
        result = dev.examine(part, change, decode)
        sums = {name: float(counts.sum()) for name, counts in result.counts.items()}
        measured |= {f"{part} {name}".strip(): value for name, value in result.scores_of(sums).items()}
    return measured


@pytest.mark.parametrize("objective", TRAINED)
def test_without_a_change_it_is_the_validation_bit_for_bit(build, objective) -> None:  # noqa: F811
    module, data = build(f"objective={objective}")
    module.encoder.dropout.p = 0.5  # while training
    alone = scores(DevLoss(module, data, {}), decode=True)
    validated = validation_scores(module, data)
    for name, value in alone.items():
        part, _, score = name.rpartition(" ")
        logged = score.replace("val/", f"val/{part}/") if part else score
        assert value == pytest.approx(validated[logged], rel=1e-6), name
    nothing = erase_random(Whitening.of(torch.randn(9, module.encoder.dim)), 0, 0)
    assert scores(DevLoss(module, data, {}), nothing, decode=True) == alone


@pytest.mark.parametrize("objective", TRAINED)
def test_erasing_everything_gives_the_loss_of_the_mean_vector(build, objective) -> None:  # noqa: F811
    module, data = build(f"objective={objective}")
    loss, whitening = DevLoss(module, data, {}), Whitening.of(torch.randn(99, module.encoder.dim))
    everything = scores(loss, erase_random(whitening, module.encoder.dim, 0))
    mean = scores(loss, lambda vectors: whitening.mean.float().expand_as(vectors))
    assert everything == pytest.approx(mean, rel=1e-4)
    assert everything != scores(loss)


def test_both_sentences_of_a_pair_lose_the_same_random_directions_also_where_they_are_encoded_together(
    build,  # noqa: F811
) -> None:
    module, data = build("objective=nli")
    whitening = Whitening.of(torch.randn(99, module.encoder.dim))
    drawn = RotatingErasers([erase_random(whitening, module.encoder.dim // 2, draw) for draw in range(10)])
    apart = scores(DevLoss(module, data, {}), drawn)
    module.forward = lambda batch: module.head(  # as on a GPU
        pair_features(*module.encode(concat_batches(batch.premise, batch.hypothesis)).vector.chunk(2))
    )
    assert scores(DevLoss(module, data, {}), drawn) == pytest.approx(apart, rel=1e-5)


def test_fewer_examples_are_spread_over_all_lengths(build) -> None:  # noqa: F811
    module, data = build("objective=nmt_enfr")
    tokens = [DevLoss(module, data, {})(examples).examine("").counts["tokens"] for examples in (1000, 8)]
    assert len(tokens[1]) == 8
    assert np.mean(tokens[1]) == pytest.approx(np.mean(tokens[0]), abs=1)


def test_another_weight_of_a_loss_is_another_score_of_the_same_weights(build) -> None:  # noqa: F811
    module, data = build("objective=discourse")
    losses = [DevLoss(module, data, {"losses": ["nsp"], "weights": {"nsp": weight}}) for weight in (1, 2, 2)]
    first, second, repeated = (loss.fingerprint() for loss in losses)
    assert first != second == repeated


def test_an_objective_that_attends_over_states_is_refused(build) -> None:  # noqa: F811
    module, data = build("objective=nmt_enfr", "encoder=bilstm_att")
    with pytest.raises(InputError, match="reads the states of the words"):
        DevLoss(module, data, {})(9).examine("")


def test_an_objective_without_examine_is_refused_before_anything_is_built() -> None:
    assert "no method `examine`" in Objective.without_use({})
    assert NLI.without_use({}) == ""


def test_an_objective_that_passes_by_encode_is_refused(build) -> None:  # noqa: F811
    module, data = build("objective=nli")
    module.examine = lambda *_: {"nats": module.encoder(torch.zeros(1, 1, 12), torch.tensor([1])).vector}
    with pytest.raises(InputError, match=r"does not read vectors by `self\.encode`"):
        DevLoss(module, data, {})(9).examine("")
