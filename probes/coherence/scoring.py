"""Which predictions of a suite hold, and how surprising each region is."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from probes.coherence.formula import Operation, Value, evaluate, margin, parse, values_in
from probes.coherence.regions import regions_of, segment_values, text_of
from probes.coherence.suite_file import Item, TestSuite
from probes.statistics import interval_with_ties
from probes.surprisals import Pair, TokenLogprobs


class PredictionScore(NamedTuple):
    """One prediction over the N items of a suite."""

    formula: str
    truths: np.ndarray  # (N,) 1 where it holds, 0 where not, 0.5 where the two sides tie
    percent: float  # the coherence detection score (Beyer et al. 2021, section 3): share of items where it holds
    low: float  # Wilson's 95% interval; of the whole numbers on both sides where ties leave a half
    high: float
    ties: int
    undefined: int  # items in which a region of the formula has no token: its sum is 0, other comparisons are false


class SuiteScore(NamedTuple):
    """A suite as one model sees it, in bits."""

    predictions: list[PredictionScore]
    values: np.ndarray  # (N, C, R) the suite's metric
    sums: np.ndarray  # (N, C, R)
    means: np.ndarray  # (N, C, R) per token; NaN where a region has none
    margins: np.ndarray  # (N,) by how many bits all predictions hold; negative where one fails, NaN without a value


def pairs_of(suite: TestSuite) -> list[Pair]:
    """The texts that a model has to score, item by item, each as a whole without a context."""
    return [("", text_of(regions)) for item in suite.items for regions in item.texts]


def score_suite(suite: TestSuite, scored: Mapping[Pair, TokenLogprobs], syntaxgym: bool = False) -> SuiteScore:
    """Score every prediction from the tokens of `pairs_of(suite)`.

    `(*;%condition%)` is the metric over all tokens of the text; with `syntaxgym`, as in the published toolkit, the sum
    over regions of the metric of each, and 0 for a condition that does not exist.
    """
    shape = len(suite.items), len(suite.conditions), len(suite.regions)
    metrics = list(dict.fromkeys([suite.metric, "sum", "mean"]))
    by_region = {metric: np.empty(shape) for metric in metrics}
    text_values = np.empty(shape[:2])
    for number, item in enumerate(suite.items):  # so that the tokens of all items are never in memory together
        surprisals, segments = _tokens_and_segments(item, scored)
        for metric, out in by_region.items():
            out[number] = segment_values(metric, surprisals, segments, shape[1] * shape[2]).reshape(shape[1:])
        text_values[number] = segment_values(suite.metric, surprisals, segments // shape[2], shape[1])
    region_values = by_region[suite.metric]
    if syntaxgym:
        text_values = region_values.sum(2)

    def operand_values(operand: Value) -> np.ndarray:
        if operand.condition not in suite.conditions:
            return np.zeros(shape[0])
        condition = suite.conditions.index(operand.condition)
        return text_values[:, condition] if operand.region is None else region_values[:, condition, operand.region - 1]

    filled = np.array([[[bool(text) for text in regions] for regions in item.texts] for item in suite.items])
    lost = np.isnan(by_region["mean"]) & filled  # without a token, as the model gave too few

    def is_undefined(operand: Value) -> np.ndarray:
        no_value = np.isnan(operand_values(operand))
        if operand.region is None or operand.condition not in suite.conditions:
            return no_value
        return no_value | lost[:, suite.conditions.index(operand.condition), operand.region - 1]

    predictions, margins = [], []
    for text in suite.predictions:
        tree = parse(text, syntaxgym)
        margins.append(np.broadcast_to(margin(tree, operand_values), shape[:1]))
        truths = np.broadcast_to(evaluate(tree, operand_values, syntaxgym), shape[:1])
        undefined = int(np.any([np.zeros(shape[0]), *map(is_undefined, values_in(tree))], axis=0).sum())
        predictions.append(prediction_score(text, truths, undefined))
    return SuiteScore(predictions, region_values, by_region["sum"], by_region["mean"], np.min(margins, axis=0))


def _tokens_and_segments(item: Item, scored: Mapping[Pair, TokenLogprobs]) -> tuple[np.ndarray, np.ndarray]:
    """The bits of all tokens of an item (T,), and the segment of each: its condition, and the region in it (T,)."""
    tokens = [scored["", text_of(regions)] for regions in item.texts]
    segments = [
        number * len(regions) + regions_of(part.offsets[:, 0], regions)
        for number, (part, regions) in enumerate(zip(tokens, item.texts, strict=True))
    ]
    return np.concatenate([-part.logprobs for part in tokens]), np.concatenate(segments).astype(np.int64)


def prediction_score(formula: str, truths: np.ndarray, undefined: int) -> PredictionScore:
    """The share of items where it holds, `truths (N,)` as in PredictionScore, with its interval."""
    holds, total = float(truths.sum()), len(truths)
    ties = int((truths == 0.5).sum())
    return PredictionScore(formula, truths, 100 * holds / total, *interval_with_ties(holds, total), ties, undefined)


def compared_name(suite: str, formula: str) -> str:
    """`connectives_as_causal since` for `(3;%as%) < (3;%since%)`; empty unless it is `a < b` of one region."""
    match parse(formula, syntaxgym=True):
        case Operation("<", Value() as left, Value() as right) if left.region == right.region:
            return f"{suite} {right.condition}"
    return ""


def score_line(score: PredictionScore) -> str:
    """A score as a reader needs it: `62.5 [30.6, 86.3] of 8 items, 1 tie counted half`."""
    line = f"{score.percent:.1f} [{score.low:.1f}, {score.high:.1f}] of {len(score.truths)} items"
    return line + note_on_ties(score.ties, score.undefined)


def note_on_ties(ties: float, undefined: float) -> str:
    """The number of items that tie or have no value, as `, 1 tie counted half`."""
    text = f", {ties:.0f} {'tie' if ties == 1 else 'ties'} counted half" if ties else ""
    return text + (f", {undefined:.0f} with a region that has no token" if undefined else "")


def token_records(
    suite: TestSuite, scored: Mapping[Pair, TokenLogprobs], margins: np.ndarray
) -> Iterator[dict[str, Any]]:
    """One record for each item and condition: its tokens, their characters, regions from 1 and bits.

    `margins (N,)`: by how many bits all predictions of an item hold.
    """
    for item, holds_by in zip(suite.items, margins.tolist(), strict=True):
        for condition, regions in zip(suite.conditions, item.texts, strict=True):
            text = text_of(regions)
            tokens, offsets, logprobs = scored["", text]
            yield {
                "suite": suite.name,
                "metric": suite.metric,
                "item": item.number,
                "margin": round(holds_by, 6) if math.isfinite(holds_by) else None,
                "condition": condition,
                "text": text,
                "tokens": tokens,
                "offsets": offsets.tolist(),
                "regions": (regions_of(offsets[:, 0], regions) + 1).tolist(),
                "surprisals": [round(bits, 6) if bits < math.inf else None for bits in (-logprobs).tolist()],
            }
