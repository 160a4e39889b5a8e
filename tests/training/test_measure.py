"""The time of a step is measured on the run's own encoder, objective and optimiser."""

from typing import Any

import pytest

from encoder_lab.progress import MeasuredStep
from encoder_lab.studies.compose import resolved_settings
from encoder_lab.studies.preview import MEASURED_GROUPS
from encoder_lab.training.measure import measure_step
from tests.asked import composed

SMALL = {
    "nmt_enfr": ["objective.decoder_hidden=8", "objective.decoder_embedding=4", "datamodule.codes=20"],
    "seq2tree": ["objective.decoder_hidden=8", "objective.decoder_embedding=4"],
    "nli": [],
    "discourse": ["objective.hidden=4", "datamodule.bag_words=20"],
}


def config(objective: str, *more: str) -> dict[str, Any]:
    settings = [f"objective={objective}", "encoder=bilstm_max", "encoder.dim=8", "encoder.projection=null", *more]
    composed_run = composed("train", *settings)
    return {group: resolved_settings(composed_run[group]) for group in MEASURED_GROUPS}


@pytest.mark.parametrize("objective", SMALL)
def test_every_objective_is_measured(objective) -> None:
    result = measure_step(config(objective, *SMALL[objective], "datamodule.batch_size=20"))
    assert result.batch == 20
    assert result.seconds > 0


@pytest.mark.parametrize(("objective", "tokens"), [("nli", 20 * (25 + 12)), ("discourse", 20 * 25)])
def test_a_batch_of_tokens_has_the_sentences_that_fill_it(objective, tokens) -> None:
    assert measure_step(config(objective, *SMALL[objective], f"datamodule.batch_tokens={tokens}")).batch == 20


def test_the_cached_text_of_an_example_is_that_of_all_its_sentences() -> None:
    assert measure_step(config("nli", *SMALL["nli"])).text == 10 * (25 + 12)


def test_a_checkpoint_has_the_weights_and_two_numbers_of_adam_for_each() -> None:
    encoder = 2 * (4 * 4 * (300 + 4 + 2) + 4 * 4 * (8 + 4 + 2))  # two layers of two directions of four units
    head = 100 * (4 * 8 + 1) + 3 * 101
    assert measure_step(config("nli")).checkpoint == 12 * (encoder + head)


def test_steps_hours_and_bytes_of_known_rates() -> None:
    rate = MeasuredStep(batch=64, seconds=1.8, checkpoint=100, text=10)
    assert (rate.steps(128), rate.steps(129)) == (2, 3)
    assert (rate.hours(5 * rate.steps(128_000)), rate.disk(7)) == (5.0, 370)
