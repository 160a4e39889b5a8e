"""The ten tasks keep the paper's controls, on trees of the embedded corpus."""

import os
from collections import Counter
from itertools import islice, pairwise

import numpy as np
import pytest

from datamodules.demo import Demo
from datamodules.trees.penn import numbered, parse
from encoder_lab.errors import InputError
from probes.classification import Classification
from probes.probing.build.all_tasks import TASKS, build_tasks
from probes.probing.build.analysis import Analysis, analyse, analyse_all
from probes.probing.build.pool import Sizes
from probes.probing.build.tags import ENGLISH

SIZES = Sizes(240, 60, 60)


@pytest.fixture(scope="module")
def trees() -> list[str]:
    return list(islice(Demo(size=500).trees("probe"), 4000))


@pytest.fixture(scope="module")
def originals(trees: list[str]) -> dict[str, Analysis]:
    return {found.sentence: found for found in analyse_all(numbered(trees), ENGLISH)}


@pytest.fixture(scope="module")
def tasks(trees: list[str]) -> dict[str, Classification]:
    return {task.name: task for task in build_tasks(numbered(trees), SIZES, seed=1).tasks}


def splits(task: Classification) -> list[list[str]]:
    return [split.sentences for split in (task.train, task.dev, task.test)]


@pytest.mark.parametrize("name", TASKS)
def test_classes_are_balanced(tasks: dict[str, Classification], name: str) -> None:
    for split in (tasks[name].train, tasks[name].dev, tasks[name].test):
        counts = Counter(split.gold.tolist())
        assert set(counts) == set(range(len(tasks[name].classes)))
        assert len(set(counts.values())) == 1


@pytest.mark.parametrize("name", TASKS)
def test_no_sentence_is_in_two_splits_or_twice_in_one(tasks: dict[str, Classification], name: str) -> None:
    every = [sentence for split in splits(tasks[name]) for sentence in split]
    assert len(every) == len(set(every))


@pytest.mark.parametrize("name", TASKS)
def test_sentences_have_5_to_28_words(tasks: dict[str, Classification], name: str) -> None:
    assert all(5 <= len(s.split()) <= 28 for split in splits(tasks[name]) for s in split)


@pytest.mark.parametrize("name", ["BShift", "SOMO", "CoordInv"])
def test_no_sentence_is_there_both_changed_and_as_it_was(
    tasks: dict[str, Classification], originals: dict[str, Analysis], name: str
) -> None:
    task = tasks[name]
    original = task.classes.index("O")
    for split in (task.train, task.dev, task.test):
        labelled = zip(split.sentences, split.gold, strict=True)
        assert all((sentence in originals) == (label == original) for sentence, label in labelled)
    bags = Counter(" ".join(sorted(s.lower().split())) for split in splits(task) for s in split)
    if name != "SOMO":
        assert max(bags.values()) == 1


@pytest.mark.parametrize(("name", "field"), [("Tense", "tense"), ("SubjNum", "subject"), ("ObjNum", "object")])
def test_no_target_form_is_in_two_splits(
    tasks: dict[str, Classification], originals: dict[str, Analysis], name: str, field: str
) -> None:
    forms = [{getattr(originals[s], field).form for s in split} for split in splits(tasks[name])]
    assert not (forms[0] & forms[1] | forms[0] & forms[2] | forms[1] & forms[2])


def test_bigram_shift_swaps_two_neighbours(tasks: dict[str, Classification], originals: dict[str, Analysis]) -> None:
    task = tasks["BShift"]
    known = {tuple(s.words) for s in originals.values()}
    for sentence, label in zip(task.test.sentences, task.test.gold, strict=True):
        if task.classes[label] == "I":
            words = sentence.split()
            back = [(*words[:i], words[i + 1], words[i], *words[i + 2 :]) for i in range(len(words) - 1)]
            assert known & set(back)


def test_word_content_sentences_hold_exactly_one_target(tasks: dict[str, Classification]) -> None:
    targets = set(tasks["WC"].classes)
    for split in (tasks["WC"].train, tasks["WC"].test):
        for sentence, label in zip(split.sentences, split.gold, strict=True):
            assert [word for word in sentence.split() if word in targets] == [tasks["WC"].classes[label]]


def test_depth_says_less_of_length_than_in_the_corpus(
    tasks: dict[str, Classification], originals: dict[str, Analysis]
) -> None:
    task = tasks["TreeDepth"]
    labelled = zip(task.train.sentences, task.train.gold, strict=True)
    drawn = [(len(s.split()), int(task.classes[label])) for s, label in labelled]
    every = [(len(s.words), s.depth) for s in originals.values() if 5 <= s.depth <= 12]
    before, after = (np.corrcoef(np.array(pairs).T)[0, 1] for pairs in (every, drawn))
    assert after < before - 0.15


def test_an_odd_word_serves_one_split_only(tasks: dict[str, Classification], originals: dict[str, Analysis]) -> None:
    task = tasks["SOMO"]
    known = {frame for s in originals.values() for frame in frames(s.words)}
    odd: list[set[str]] = []
    for split in (task.train, task.dev, task.test):
        labelled = zip(split.sentences, split.gold, strict=True)
        changed = [s.split() for s, label in labelled if task.classes[label] == "C"]
        places = [[i for i, frame in enumerate(frames(words)) if frame in known] for words in changed]
        assert all(places)
        odd.append({words[at[0]].lower() for words, at in zip(changed, places, strict=True) if len(at) == 1})
    assert min(map(len, odd)) > 1
    assert not (odd[0] & odd[1] | odd[0] & odd[2] | odd[1] & odd[2])


def frames(words: list[str]) -> list[tuple[str, ...]]:
    """The sentence with each of its words left out."""
    return [(*words[:i], "_", *words[i + 1 :]) for i in range(len(words))]


def test_inverted_and_original_coordinations_have_the_same_clause_lengths(
    tasks: dict[str, Classification], originals: dict[str, Analysis]
) -> None:
    differences: dict[str, list[int]] = {"I": [], "O": []}
    for s in originals.values():
        if s.clauses and s.sentence in tasks["CoordInv"].train.sentences:
            differences["O"].append((s.clauses[1] - s.clauses[0]) - (s.clauses[3] - s.clauses[2]))
    assert abs(np.mean(differences["O"])) < 1.5


def test_the_same_seed_gives_the_same_tasks(trees: list[str], tasks: dict[str, Classification]) -> None:
    [again] = build_tasks(numbered(trees), SIZES, ["SOMO"], seed=1).tasks
    assert splits(again) == splits(tasks["SOMO"])


def test_too_few_trees_are_refused_by_the_tasks_name(trees: list[str]) -> None:
    with pytest.raises(InputError, match="CoordInv"):
        build_tasks(numbered(trees[:40]), SIZES, ["CoordInv"])


def test_an_unknown_task_is_answered_with_the_known_ones(trees: list[str]) -> None:
    with pytest.raises(InputError, match="SentLen"):
        build_tasks(numbered(trees), SIZES, ["Lenght"])


LABELLED = [
    ("(ROOT (S (NP (DT The) (NNS dogs)) (VP (VBD chased) (NP (DT the) (NN cat))) (. .)))", "PAST", "NNS", "NN"),
    ("(ROOT (S (NP (NN rain)) (VP (VBZ has) (VP (VBN filled) (NP (DT the) (NNS pots)))) (. .)))", "PRES", "NN", "NNS"),
    ("(ROOT (S (NP (NN rain)) (VP (MD may) (VP (VB come) (NP (DT the) (NN day)))) (. .)))", None, "NN", None),
    (
        "(ROOT (S (NP (NP (NN a)) (CC and) (NP (NN b))) (VP (VBP see) (NP (PRP it)) (ADVP (RB now))) (. .)))",
        "PRES",
        None,
        None,
    ),
    ("(ROOT (S (NP (DT the) (NN pot)) (VP (VBD was) (VP (VBN filled) (NP (NN water)))) (. .)))", "PAST", "NN", None),
]


@pytest.mark.parametrize(("tree", "tense", "subject", "object_"), LABELLED)
def test_labels_are_read_off_the_main_clause(
    tree: str, tense: str | None, subject: str | None, object_: str | None
) -> None:
    found = analyse(parse(tree))
    assert found is not None
    labels = [target.label if target else None for target in (found.tense, found.subject, found.object)]
    assert labels == [tense, subject, object_]


def test_analyses_come_in_the_order_of_the_trees_on_any_number_of_cores(
    trees: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(2))
    assert [found.sentence for found in analyse_all(numbered(trees[:2500]), ENGLISH)] == [
        found.sentence for tree in trees[:2500] if (found := analyse(parse(tree)))
    ]


def test_neighbouring_training_items_alternate_classes(tasks: dict[str, Classification]) -> None:
    labels = tasks["Tense"].train.gold.tolist()
    assert all(a != b for a, b in pairwise(labels))
