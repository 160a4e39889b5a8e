"""On the ten published suites, region surprisals and predictions equal those computed one sentence at a time."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from encoders.language_model import CausalLM
from probes.coherence.scoring import pairs_of, score_suite
from probes.coherence.suite_file import read_suite
from probes.surprisals import score_pairs
from tests.encoders.small_language_models import gpt2

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "syntaxgym"
NAMES = sorted(path.stem for path in PUBLISHED.glob("*.json"))
pytestmark = pytest.mark.skipif(not PUBLISHED.exists(), reason="needs the published suites")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> CausalLM:
    texts = [text for name in NAMES for _, text in pairs_of(read_suite(PUBLISHED / f"{name}.json"))]
    return CausalLM(gpt2(tmp_path_factory.mktemp("gpt2"), 128, texts), "cpu")


def region_sums(model: CausalLM, regions: tuple[str, ...]) -> list[float]:
    """A sentence on its own: walks along its characters, each with the region that it belongs to."""
    owner: list[int] = []
    for number, region in enumerate(regions):
        owner += [number] * (len(region) + (1 if owner and region else 0))
    text = " ".join(region for region in regions if region)
    encoded = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    with torch.inference_mode():
        logits = model.model(torch.tensor([[model.begin, *encoded["input_ids"]]])).logits[0].double()
    sums = [0.0] * len(regions)
    for at, (token, (start, _)) in enumerate(zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)):
        sums[owner[start]] -= float(logits[at].log_softmax(0)[token]) / math.log(2)
    return sums


def holds(formula: str, sums: dict[str, list[float]]) -> bool:
    """The formula as Python reads it."""
    python = re.sub(r"\((\d+);%([\w-]+)%\)", r"value(\1, '\2')", formula).replace("&", " and ")
    return eval(python, {"value": lambda region, condition: sums[condition][region - 1]})


@pytest.mark.parametrize("name", NAMES)
def test_a_published_suite_is_scored_as_one_sentence_at_a_time(model, name) -> None:
    suite = read_suite(PUBLISHED / f"{name}.json")
    suite = suite._replace(items=suite.items[::2])
    surprisals = score_pairs(model.logprobs, pairs_of(suite))
    ours, strict = score_suite(suite, surprisals), score_suite(suite, surprisals, syntaxgym=True)
    sums_alone = [[region_sums(model, regions) for regions in item.texts] for item in suite.items]
    np.testing.assert_allclose(ours.sums, sums_alone, atol=1e-4)
    twins = np.array([len(set(item.texts)) < len(item.texts) for item in suite.items])
    for score, published in zip(ours.predictions, strict.predictions, strict=True):
        truths = [holds(score.formula, dict(zip(suite.conditions, sums, strict=True))) for sums in sums_alone]
        assert published.truths.tolist() == truths
        tied = score.truths == 0.5
        np.testing.assert_array_equal(score.truths[~tied], published.truths[~tied])
        assert not tied[~twins].any()  # only where two conditions of an item are the same text, as in one of mvrr
        assert score.undefined == 0
