"""The coherence suite: is the incoherent text of a pair the more surprising one (Beyer et al. 2021)?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from encoder_lab.settings.run import names_of
from encoder_lab.settings.types import MAX_ITEMS
from probes.coherence.formula import chance
from probes.coherence.scoring import SuiteScore, compared_name, pairs_of, prediction_score, score_suite, token_records
from probes.coherence.suite_file import TestSuite, read_suites, suite_fingerprint
from probes.coherence.world import world_suites
from probes.suites import Context
from probes.surprisals import Surprisals
from probes.task import Outcome, WithoutBaselines, content_hash

TIES_PREFIX = "ties of "  # before a formula, among the details
PAIRS_DETAIL = "pairs"  # each prediction of each item counts by itself


@dataclass(frozen=True)
class Coherence(WithoutBaselines):
    """One test suite. Its score is the share of items for which all predictions hold, ties counted half."""

    items: TestSuite
    syntaxgym: bool = False  # read formulas as the published toolkit does
    suite: str = "coherence"
    needs: Literal["surprisal"] = "surprisal"
    reader: str = "surprisal"

    @property
    def name(self) -> str:
        return self.items.name

    @property
    def sentences(self) -> list[str]:
        """The text of every condition, item by item."""
        return [text for _, text in pairs_of(self.items)]

    @property
    def data(self) -> str:
        return suite_fingerprint(self.items)

    @property
    def fingerprint(self) -> str:
        return content_hash(self.data, self.syntaxgym)

    @property
    def test_items(self) -> str:
        return self.fingerprint

    def score(self, surprisals: Surprisals, device: str) -> Outcome:
        """The share of items that hold. Nothing is trained, so dev and test have the same score."""
        scored = score_suite(self.items, surprisals, self.syntaxgym)
        combined = prediction_score("", np.min([prediction.truths for prediction in scored.predictions], axis=0), 0)
        details = dict(self._details(scored)) | {"ties": float(combined.ties)}
        percents = combined.percent, combined.percent, combined.low, combined.high
        return Outcome(*percents, which_hold(combined.truths), {}, details, chance=self.chance)

    @property
    def chance(self) -> float | None:
        """The percentage of items in which all predictions hold without any knowledge."""
        return chance(self.items.predictions, self.syntaxgym)

    @property
    def compared(self) -> list[str]:
        """The names of its predictions as the paper's table of connectives has them: the suite, and the other word."""
        return [name for formula in self.items.predictions if (name := compared_name(self.name, formula))]

    def records(self, surprisals: Surprisals) -> Iterator[dict[str, Any]]:
        """The tokens of every text with their regions and bits."""
        return token_records(self.items, surprisals, score_suite(self.items, surprisals, self.syntaxgym).margins)

    def _details(self, scored: SuiteScore) -> Iterator[tuple[str, float]]:
        """Scores of single predictions, and the mean over items of the sum and of the mean of each region."""
        yield "undefined", float(max(prediction.undefined for prediction in scored.predictions))
        if len(scored.predictions) > 1:
            yield PAIRS_DETAIL, float(np.mean([prediction.percent for prediction in scored.predictions]))
            for prediction in scored.predictions:
                yield prediction.formula, prediction.percent
                if prediction.ties:
                    yield f"{TIES_PREFIX}{prediction.formula}", float(prediction.ties)
        for measure, values in (("sum", scored.sums), ("mean", scored.means)):
            for index, condition in enumerate(self.items.conditions):
                for region in range(len(self.items.regions)):
                    defined = values[:, index, region][~np.isnan(values[:, index, region])]
                    if len(defined):
                        yield f"{measure} {condition} {region + 1}", float(defined.mean())


def which_hold(truths: np.ndarray) -> np.ndarray:
    """Which items (N,) bool hold. Of ties every second item counts, the same ones for all models."""
    return (truths == 1) | ((truths == 0.5) & (np.arange(len(truths)) % 2 == 0))


@dataclass(frozen=True)
class CoherenceSettings:
    """The settings of `suite=coherence`."""

    paths: Annotated[
        str | Annotated[Sequence[str], Field(min_length=1)] | None,
        Field(title="files or folders of suites, or leave it out"),
        "files, or folders of files, in SyntaxGym's JSON; null is the embedded world",
    ] = None
    items: Annotated[
        int, Field(ge=2, le=MAX_ITEMS, title="the number of items, 2 or more"), "of each suite of the embedded world"
    ] = 200
    metric: Annotated[
        Literal["sum", "mean", "median", "range", "max", "min"] | None,
        "sum, mean, median, range, max or min of a region's bits; null is what each file says",
    ] = None
    compat: Annotated[
        Literal["syntaxgym", "beyer2021"] | None,
        "syntaxgym: formulas as that toolkit reads them; beyer2021: also no BOS, and [SEP] in word pieces, of lm:PATH",
    ] = None


def tasks(context: Context, settings: CoherenceSettings) -> list[Coherence]:
    """A task for each suite of `coherence.paths`, without it for each of the embedded world."""
    paths, metric, syntaxgym = settings.paths, settings.metric, settings.compat is not None
    if paths is None:
        suites = world_suites(settings.items, context.seed)
    else:
        suites = read_suites(list(map(Path, names_of(paths))), syntaxgym)
    if metric:
        suites = [suite._replace(metric=metric) for suite in suites]
    return [Coherence(suite, syntaxgym) for suite in suites]
