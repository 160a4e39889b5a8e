"""The claims of Beyer et al. 2021 about incoherent texts, a function each, as in claims.py."""

import math
from collections.abc import Iterator

from encoder_lab.reports.evidence import Evidence, Point, Points
from encoder_lab.reports.findings import Comparison, above, claims_in, within

CHANCE = Point(50, 0)  # of two texts
NEAR = 10  # points
CONTROLS = "Baselines"  # unigram, length and other models that no claim is about


def the_order_of_a_whole_text_is_noticed(e: Evidence) -> Iterator[Comparison]:
    """Models perform well where all sentences are shuffled (Beyer et al. 2021, section 4.1 and Table 1).

    On each suite with all sentences shuffled, each language model is above 60%.
    """
    for name, points in _models(e):
        for task in ("shuffle_narration_all", "shuffle_dialogue_all"):
            if task in points:
                yield above(points[task], Point(50 + NEAR, 0), f"{name}, {task} over {50 + NEAR}%")


def the_order_before_the_end_of_a_story_is_not(e: Evidence) -> Iterator[Comparison]:
    """Whether the sentences before the last one of a story are shuffled hardly changes that sentence (Table 1).

    With the context of a story shuffled, each language model is within 10 points of 50%.
    """
    for name, points in _models(e):
        if score := points.get("shuffle_narration_context"):
            yield within(score, CHANCE, NEAR, f"{name}: {NEAR} points minus the distance from 50%")


def dialogue_is_easier_than_narration(e: Evidence) -> Iterator[Comparison]:
    """Shuffled dialogues are told apart better than shuffled stories (Table 1).

    For each language model, dialogue is above narration, with all sentences shuffled and with the context shuffled.
    """
    for name, points in _models(e):
        for part in ("all", "context"):
            dialogue, narration = points.get(f"shuffle_dialogue_{part}"), points.get(f"shuffle_narration_{part}")
            if dialogue and narration:
                yield above(dialogue, narration, f"{name}, {part}: dialogue over narration")


def endings_are_told_apart(e: Evidence) -> Iterator[Comparison]:
    """The right ending of a story is less surprising than a wrong one, with room for improvement (section 4.2).

    On story cloze, each language model is above 50%.
    """
    yield from _above_chance(e, "story_cloze")


def what_follows_the_referent_says_more_than_the_whole(e: Evidence) -> Iterator[Comparison]:
    """In Winograd schemas the difference is more obvious in the region after the referent (section 4.3, Table 2).

    For each language model, the partial score is above the full one.
    """
    for name, points in _models(e):
        if "winograd_full" in points and "winograd_partial" in points:
            yield above(points["winograd_partial"], points["winograd_full"], f"{name}, partial over full")


def pronouns_are_not_preferred_to_repeated_phrases(e: Evidence) -> Iterator[Comparison]:
    """Models fail to pick up that a pronoun suits a salient entity better than its repetition (section 4.4, Table 3).

    On each suite of re-mentions, each language model is below 60%.
    """
    for name, points in _models(e):
        for task, score in points.items():
            if task.startswith("remention"):
                yield above(Point(50 + NEAR, 0), score, f"{name}, {task}: below {50 + NEAR}%")


def connectives_differ_by_sense(e: Evidence) -> Iterator[Comparison]:
    """Not all relations that connectives express are equally difficult (section 4.5, Table 4).

    For each language model, the best of the connective suites is more than 10 points above the worst, by the ends of
    their intervals. Suites without a known number of items are left out.
    """
    for name, points in _models(e):
        named = {task: point for task, point in points.items() if task.startswith("connectives_")}
        known = {task: point for task, point in named.items() if math.isfinite(point.half)}
        if len(known) > 1:
            worst = min(known, key=lambda task: known[task].score + known[task].half)
            best = max(known, key=lambda task: known[task].score - known[task].half)
            limit = known[worst]._replace(score=known[worst].score + NEAR, answers=())
            yield above(known[best]._replace(answers=()), limit, f"{name}: {best} over {worst} plus {NEAR} points")


def a_speaker_who_contradicts_himself_is_surprising(e: Evidence) -> Iterator[Comparison]:
    """A dialogue model finds a contradiction by the same speaker the more surprising one (section 4.6, Table 5).

    On speaker commitment, each language model is above 50%.
    """
    yield from _above_chance(e, "speaker_commitment")


def _above_chance(e: Evidence, task: str) -> Iterator[Comparison]:
    for name, points in _models(e):
        if score := points.get(task):
            yield above(score, CHANCE, f"{name}, {task} over 50%")


def _models(e: Evidence) -> Iterator[tuple[str, Points]]:
    """The language models by name, without the controls."""
    for (encoder, objective), points in e.coherence.items():
        if encoder != CONTROLS:
            yield " ".join(filter(None, [encoder, objective])), points


COHERENCE_CLAIMS = claims_in(globals())
