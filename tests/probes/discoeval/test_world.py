"""The embedded world has all seven groups; nothing but the meaning of the sentences tells the answers."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from datamodules.demo.lexicon import WORDS
from datamodules.demo.relations import CONNECTIVES, edus, relation, rhetorical_tree
from datamodules.demo.world import CONTRASTS, EFFECTS, ORDERS
from probes.classification import Classification
from probes.discoeval.controls import controls
from probes.discoeval.items import group_of, keys_of
from probes.discoeval.world import world_tasks

SIZES = {"train": 200, "dev": 40, "test": 300}
GROUPS = ["SP", "BSO", "DC", "SSP", "PDTB-E", "PDTB-I", "RST-DT"]
NAMES = {"Comparison.Contrast": "Contrast", "Contingency.Cause": "Cause", "Contingency.Condition": "Condition"}
NAMES |= {"Expansion.Level-of-detail": "Elaboration", "Temporal.Asynchronous": "Temporal"}


@pytest.fixture(scope="module")
def tasks() -> dict[str, Classification]:
    return {group_of(task.name): task for task in world_tasks(SIZES, seed=3)}


FORMS = {
    form: verb.base
    for verb in (*WORDS.intransitive, *WORDS.transitive.values())
    for form in (verb.base, verb.past, verb.participle, verb.third_person, verb.progressive)
}
NOUNS = {form: (noun.lemma, category) for category, nouns in WORDS.nouns.items() for noun in nouns
         for form in (noun.lemma, noun.plural)}  # fmt: skip


def event_in(sentence: str) -> tuple[str, str, str, bool]:
    """Verb, object, its class, and whether it is told in general (a bare plural)."""
    words = sentence.split()
    for i, word in enumerate(words):
        general = i + 1 < len(words) and words[i + 1] in NOUNS
        noun = words[i + 1 if general else i + 2] if i + 2 < len(words) + general else ""
        if i and word in FORMS and noun in NOUNS and (general or words[i + 1] == "the"):
            lemma, category = NOUNS[noun]
            if category in ORDERS and FORMS[word] in ORDERS[category].split():
                return FORMS[word], lemma, category, general
    return "", "", "", False


def place_of(sentence: str) -> int:
    verb, _, category, _ = event_in(sentence)
    return ORDERS[category].split().index(verb) if verb else -1


def coherent(texts: Sequence[str]) -> bool:
    places, things = [place_of(text) for text in texts], {event_in(text)[1] for text in texts}
    who = {text.split()[0] + text.split()[1] * (text.split()[0] == "The") for text in texts}
    return len(things) == 1 and places == sorted(set(places)) and len(who - {"He", "She", "They", "It"}) <= 1


def state_in(clause: str) -> str:
    words = clause.split()
    copula = {"is", "was"} & set(words)
    return next((word for word in words if copula and word in EFFECTS), "")


def how(first: str, second: str) -> str:
    """The relation between two clauses, as the world has it."""
    state, end = state_in(first), state_in(second)
    if (state, end) in CONTRASTS:
        return "Contrast"
    if state or end:
        return "Cause" if state else "Condition"
    return "Elaboration" if event_in(first)[:2] == event_in(second)[:2] else "Temporal"


def oracle(group: str, item: tuple) -> object:
    if group == "SP":
        return str(sorted(map(place_of, item)).index(place_of(item[0])))
    if group == "BSO":
        return "true order" if place_of(item[0]) < place_of(item[1]) else "swapped"
    if group == "DC":
        return "1" if coherent(item) else "0"
    if group == "SSP":
        return "1" if event_in(item[0])[3] else "0"
    if group == "RST-DT":
        left, right = item
        name = how(left[0], right[0]) if len(left) == len(right) == 1 else "Temporal"
        return {"Contrast": "NN-", "Temporal": "NN-", "Cause": "SN-"}.get(name, "NS-") + name
    return next(sense for sense, name in NAMES.items() if name == how(*item))


@pytest.mark.parametrize("group", GROUPS)
def test_an_oracle_that_knows_the_world_is_nearly_always_right(group, tasks) -> None:
    task = tasks[group]
    answers = [oracle(group, item) for item in keys_of(task.test)]
    assert np.mean([answer == task.classes[y] for answer, y in zip(answers, task.test.gold, strict=True)]) > 0.97


@pytest.mark.parametrize("group", GROUPS)
def test_lengths_and_places_tell_nothing(group, tasks) -> None:
    task = tasks[group]
    measured = controls(task)
    most = measured["majority"] / 100
    chance = 100 * (most + 4 * math.sqrt(most * (1 - most) / len(task.test.gold)))
    assert max(measured["position only"], measured["length only"]) < chance
    assert measured["ceiling"] > 99


def test_every_group_has_its_size_and_splits_share_few_sentences(tasks) -> None:
    assert list(tasks) == GROUPS
    for group, task in tasks.items():
        sizes = [len(part.gold) for part in task.parts]
        assert sizes == [(2 if group == "BSO" else 1) * size for size in SIZES.values()]
        assert len(set(task.train.gold.tolist())) == len(task.classes)
        train, test = set(task.train.sentences), set(task.test.sentences)
        assert len(train & test) < 0.02 * len(test)


def test_the_seed_alone_decides() -> None:
    tiny = {"train": 20, "dev": 4, "test": 4}
    first, second, other = (world_tasks(tiny, seed) for seed in (1, 1, 2))
    assert [t.train.texts for t in first] == [t.train.texts for t in second]
    assert all(a.train.texts != b.train.texts for a, b in zip(first, other, strict=True))


def test_a_connective_stands_between_the_clauses_of_an_explicit_relation() -> None:
    for number in range(20):
        explicit, implicit = (relation(1, "train", number, form) for form in (True, False))
        assert f" , {CONNECTIVES[explicit.sense]} {explicit.second} ." in explicit.text
        assert explicit.text.lower().startswith(explicit.first.lower())
        assert (implicit.connective, implicit.text.count(" .")) == ("", 2)


def test_the_nodes_of_a_tree_are_told_top_down() -> None:
    tree = rhetorical_tree(1, "train", 4)
    (label, left, right), *others = tree.nodes()
    assert (label, left + right) == (tree.label, edus(tree))
    assert len(others) == len(edus(tree)) - 2
