"""The embedded world has all six phenomena: who knows it is always right, and who sees no context is so by chance."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest

from datamodules.demo.lexicon import WORDS
from datamodules.demo.relations import CONNECTIVES
from datamodules.demo.world import EFFECTS, ORDERS
from datamodules.text.sentences import SEPARATOR
from probes.coherence.build.report import controls
from probes.coherence.scoring import pairs_of, prediction_score, score_suite
from probes.coherence.world import world_suites
from probes.surprisals import Pair, TokenLogprobs, score_pairs
from tests.probes.discoeval.test_world import FORMS, NAMES, event_in, how, place_of

ITEMS = 80
SUITES = {suite.name: suite for suite in world_suites(ITEMS, seed=3)}
PEOPLE = {noun.lemma: noun for noun in WORDS.nouns["person"]}
SENSES = {word: sense for sense, word in CONNECTIVES.items()}


def told_in_order(text: str) -> bool:
    """One thing, and each step of its script before those that follow it."""
    sentences = text.removesuffix(" .").split(" . ")
    places = [place_of(sentence) for sentence in sentences]
    return places == sorted(set(places)) and len({event_in(sentence)[1] for sentence in sentences}) == 1


def states_in(words: Sequence[str]) -> dict[str, str]:
    """People and how they are."""
    return {who: how for how, who in pairwise(words) if how in EFFECTS and who in PEOPLE}


def follows(state: str, words: Sequence[str]) -> bool:
    return any(FORMS.get(word) in EFFECTS[state].split() for word in words)


def does_what_follows(text: str) -> bool:
    before, _, after = text.partition(" , and the ")
    who, *done = after.split()
    return follows(states_in(before.split())[who], done[:1])


def form_that_fits(text: str) -> bool:
    """The pronoun means the person of the sentence before; the phrase is for another; who it is, does what follows."""
    *before, sentence = text.removesuffix(" .").split(" . ")
    last, other = (states_in(part.split()) for part in reversed(before))
    who, *done = sentence.removeprefix("The ").split()
    if who in ("He", "She"):
        return follows(*last.values(), done[:1])
    return who in other and follows(other[who], done[:1])


def connected(text: str) -> bool:
    for word, sense in SENSES.items():
        first, connective, second = text.partition(f" , {word} ")
        if connective:
            return how(first, second.removesuffix(" .")) == NAMES[sense]
    raise AssertionError(text)


def contradict(first: str, second: str) -> bool:
    words, others = first.split(), second.split()
    pairs = zip([w for w in words if w in WORDS.opposites], [w for w in others if w in WORDS.opposites], strict=False)
    opposites = any(WORDS.opposites[a] == b for a, b in pairs)
    places = [text.rpartition(" in the ")[2] for text in (first, second) if " in the " in text]
    return ("not" in others) > ("not" in words) or opposites or len(set(places)) == 2


def consistent(text: str) -> bool:
    """Two speakers, or nothing that contradicts."""
    first, _, second = text.removesuffix(" .").partition(" . ")
    return text.count(SEPARATOR) == 1 or not contradict(first, second)


KNOWS: dict[str, Callable[[str], bool]] = {
    "shuffle": told_in_order, "story": told_in_order, "winograd": does_what_follows, "mention": form_that_fits,
    "connectives": connected, "speaker": consistent,
}  # fmt: skip


def oracle(name: str) -> Callable[[Sequence[Pair]], list[TokenLogprobs]]:
    """A word costs a bit in a coherent text, and two in another one."""
    coherent = KNOWS[name.partition("_")[0]]

    def logprobs(pairs: Sequence[Pair]) -> list[TokenLogprobs]:
        answers = []
        for _, text in pairs:
            words = text.split(" ")
            ends = np.cumsum([len(word) + 1 for word in words]) - 1
            offsets = np.stack([ends - [len(word) for word in words], ends], 1)
            answers.append(TokenLogprobs(words, offsets, np.full(len(words), -1.0 if coherent(text) else -2.0)))
        return answers

    return logprobs


def test_all_six_phenomena_are_there() -> None:
    assert {name.partition("_")[0] for name in SUITES} == set(KNOWS)
    assert {len(suite.items) for suite in SUITES.values()} == {ITEMS}


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_who_knows_the_world_is_always_right(suite) -> None:
    scores = score_suite(suite, score_pairs(oracle(suite.name), pairs_of(suite)))
    wrong = [suite.items[at] for score in scores.predictions for at in np.flatnonzero(score.truths < 1)]
    assert not wrong, wrong[0]


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_without_a_context_one_is_right_by_chance(suite) -> None:
    for model in controls(suite).values():
        for score in score_suite(suite, score_pairs(model, pairs_of(suite))).predictions:
            score = prediction_score("", score.truths, 0)
            assert score.low <= 50 <= score.high
            assert score.percent == 50 or suite.name == "story_cloze"


def test_both_texts_of_an_item_have_the_same_words_where_what_is_scored_can() -> None:
    for name in ("shuffle_narration_all", "shuffle_narration_context"):
        for item in SUITES[name].items:
            assert len({tuple(sorted(" ".join(text).split())) for text in item.texts}) == 1
    for name in ("winograd_partial", "speaker_commitment", *(name for name in SUITES if name.startswith("connect"))):
        assert all(len({text[-1] for text in item.texts}) == 1 for item in SUITES[name].items)


def test_every_verb_follows_from_one_state_alone_or_from_states_that_never_meet() -> None:
    for item in SUITES["winograd_partial"].items:
        states = states_in(item.texts[0][0].split())
        assert len(states) == 2
        assert sum(follows(state, item.texts[0][2].split()[:1]) for state in states.values()) == 1


def test_endings_are_exchanged_between_stories_about_different_things() -> None:
    for item in SUITES["story_cloze"].items:
        right, wrong = (event_in(text[1])[1] for text in item.texts)
        assert right != wrong
        assert {right, wrong} <= {noun.lemma for category in ORDERS for noun in WORDS.nouns[category]}
