"""The paper's controls, checked from outside on trees of a tiny grammar."""

import math
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from datamodules.trees.penn import corpus_texts
from encoder_lab.errors import InputError
from probes.classification import Classification
from probes.probing.build.all_tasks import TASKS, BuiltTasks, build_tasks, from_trees
from probes.probing.build.analysis import Analysis, Clauses, analyse, analyse_all
from probes.probing.build.dependencies import analyse_dependencies
from probes.probing.build.odd_man_out import MAX_LOG_DIFFERENCE
from probes.probing.build.pool import Pool, Sizes, gather_pool
from probes.probing.build.sampling import plan_classes
from probes.probing.build.tags import ENGLISH
from probes.probing.build.universal import UD_TASKS, from_dependencies
from probes.probing.build.word_order import swap_clauses
from probes.task import Items
from tests.datamodules.trees.test_penn import parse_tree
from tests.probes.probing.tiny_treebank import tiny_treebank, trees_of
from tests.probes.probing.tiny_trees import NOUNS, task_named, tiny_trees

SIZES = Sizes(240, 60, 60)
TREES = tiny_trees(4000)
BUILDERS = pytest.mark.parametrize("tasks", ["english", "universal"], indirect=True)


@pytest.fixture(scope="module")
def built() -> BuiltTasks:
    return build_tasks(from_trees(corpus_texts(TREES)), SIZES)


@pytest.fixture(scope="module")
def analyses() -> dict[str, Analysis]:
    return {analysis.sentence: analysis for text in TREES if (analysis := analyse(parse_tree(text)))}


def labelled(task: Classification, split: Items) -> list[tuple[str, str]]:
    return [(s, task.classes[label]) for s, label in zip(split.sentences, split.gold, strict=True)]


def every(built: BuiltTasks) -> list[tuple[Classification, Items]]:
    return [(task, split) for task in built.tasks for split in task.parts]


@pytest.fixture(scope="module")
def tasks(request, built) -> BuiltTasks:
    """All tasks from phrase structure, or from dependencies."""
    if request.param == "english":
        return built
    trees = trees_of(tiny_treebank(3000, varied=True))
    return build_tasks(from_dependencies(analyse_dependencies(trees)), SIZES)


@BUILDERS
def test_every_task_is_built_in_the_order_of_the_paper_with_balanced_classes(tasks) -> None:
    assert tasks.failures == {}
    assert [task.name for task in tasks.tasks] in (list(TASKS), list(UD_TASKS))
    for task, split in every(tasks):
        counts = np.bincount(split.gold, minlength=len(task.classes))
        assert split.gold.dtype == np.int64
        assert 0 < counts.max() <= counts.min() + (task.name in UD_TASKS and task.name not in TASKS)


@BUILDERS
def test_a_sentence_is_in_one_split_in_all_tasks_and_once_in_a_task(tasks) -> None:
    parts = [{s for task in tasks.tasks for s in task.parts[i].sentences} for i in range(3)]
    assert not (parts[0] & parts[1] | parts[0] & parts[2] | parts[1] & parts[2])
    assert tasks.split_overlap() == 0
    assert all(len(set(split.sentences)) == len(split.sentences) for _, split in every(tasks))


@BUILDERS
def test_depth_does_not_depend_on_length_and_neighbouring_training_items_alternate_classes(tasks) -> None:
    assert all(a != b for a, b in pairwise(task_named(tasks, "Tense").train.gold.tolist()))
    depth = task_named(tasks, "TreeDepth")
    for split in depth.parts:
        by_depth = [Counter(len(s.split()) for s, label in labelled(depth, split) if label == c) for c in depth.classes]
        assert all(counts == by_depth[0] for counts in by_depth)


@BUILDERS
def test_no_target_form_is_in_two_splits(tasks) -> None:
    controls = [draft.controls for draft in tasks.drafts.values() if "target forms in two splits" in draft.controls]
    assert len(controls) >= 3
    assert all(each["target forms in two splits"] == 0 and each["target forms in train"] > 3 for each in controls)


@pytest.mark.parametrize("name", ["BShift", "SOMO", "CoordInv"])
def test_the_sentences_of_the_trees_are_the_unchanged_ones(built, analyses, name) -> None:
    task = task_named(built, name)
    for split in task.parts:
        assert all((sentence in analyses) == (label == "O") for sentence, label in labelled(task, split))


@BUILDERS
def test_no_sentence_is_there_both_changed_and_as_it_was(tasks) -> None:
    for name in ("BShift", "SOMO", "CoordInv"):
        assert tasks.drafts[name].controls["sentences in both forms"] == 0
        parts = task_named(tasks, name).parts
        bags = Counter(" ".join(sorted(s.lower().split())) for part in parts for s in part.sentences)
        assert name == "SOMO" or max(bags.values()) == 1


def texts(built: BuiltTasks, *names: str) -> list[list[tuple[list[str], list[int]]]]:
    tasks = [task for task in built.tasks if task.name in names]
    return [[(split.sentences, split.gold.tolist()) for split in task.parts] for task in tasks]


def test_neither_other_tasks_nor_the_order_of_the_trees_matter_and_the_seed_does(built) -> None:
    shuffled = list(TREES)
    Random(7).shuffle(shuffled)
    for trees, names in ((TREES, ["CoordInv", "WC"]), (shuffled, ["SentLen", "BShift", "SubjNum"])):
        assert texts(build_tasks(from_trees(corpus_texts(trees)), SIZES, names), *names) == texts(built, *names)
    assert texts(build_tasks(from_trees(corpus_texts(TREES)), SIZES, ["SentLen"], seed=1), "SentLen") != texts(
        built, "SentLen"
    )


def full_pool(analyses: Iterable[Analysis]) -> Pool:
    """A pool that has no space for all of the sentences."""
    return gather_pool(analyses, Sizes(20, 5, 5), 0, ENGLISH)


def test_the_order_of_more_trees_than_a_pool_takes_and_of_the_parses_of_a_sentence_does_not_matter(analyses) -> None:
    sentences = list(analyses.values())
    pool, other = full_pool(sentences), full_pool(reversed(sentences))
    assert sum(map(len, pool.splits)) < len(sentences)
    assert (pool.splits, pool.form_splits) == (other.splits, other.form_splits)
    parses = [replace(s, depth=s.depth % 9 + 4) for s in sentences]
    parses += [replace(s, classes=(("Passive", "passive"),), id="b") for s in sentences]
    pool, other = full_pool([*sentences, *parses]), full_pool([*parses, *sentences])
    assert (pool.splits, pool.form_splits) == (other.splits, other.form_splits)
    chosen = [s.sentence for s in pool.all()]
    assert len(chosen) == len(set(chosen))


def test_tasks_share_sentences_of_5_to_28_words(built) -> None:
    assert built.sentences() < 0.7 * sum(len(split.sentences) for task in built.tasks for split in task.parts)
    assert all(5 <= len(s.split()) <= 28 for _, split in every(built) for s in split.sentences)


def test_memory_is_bounded_by_the_sizes() -> None:
    pool = full_pool(analyse_all(corpus_texts(TREES), ENGLISH))
    assert sum(map(len, pool.splits)) < 3000
    assert pool.shape.sum() > 3000


def test_a_replacement_is_as_frequent_between_its_neighbours(built, analyses) -> None:
    somo = task_named(built, "SOMO")
    counts = Counter(pair for s in analyses for pair in pairwise(["", *s.split(), ""]))
    frames = {(*w[:i], None, *w[i + 1 :]): s for s in analyses for w in [s.split()] for i in range(len(w))}
    for sentence, label in labelled(somo, somo.train):
        words = sentence.split()
        candidates = [(i, frames.get((*words[:i], None, *words[i + 1 :]))) for i in range(len(words))]
        sources = [(i, source) for i, source in candidates if source]
        assert label == ("O" if sentence in analyses else "C")
        assert sources
        if label == "C":
            assert any(_comparable(counts, source.split(), words, i) for i, source in sources)


def _comparable(counts: Counter, old: list[str], new: list[str], i: int) -> bool:
    here = Counter(pairwise(["", *old, ""]))
    sides = [(["", *text, ""][i : i + 2], ["", *text, ""][i + 1 : i + 3]) for text in (old, new)]
    return all(
        abs(math.log1p(counts[tuple(a)] - here[tuple(a)]) - math.log1p(counts[tuple(b)])) <= MAX_LOG_DIFFERENCE
        for a, b in zip(*sides, strict=True)
    )


def test_no_capital_letter_inside_a_sentence_gives_a_replacement_away() -> None:
    trees = []
    for number in range(600):
        rare = "".join("abcdefghij"[int(digit)] for digit in f"{number}")
        first, second = NOUNS[number % 21].capitalize(), NOUNS[number % 20]
        rest = f"(VP (VBP see) (NP (JJ {rare}) (NNS {second})) (ADVP (RB {rare}ly)))"
        trees.append(f"(ROOT (S (NP (NNS {first})) {rest} (. .)))")
    somo = build_tasks(from_trees(corpus_texts(trees)), Sizes(60, 12, 12), ["SOMO"]).tasks[0]
    assert all(s[1:] == s[1:].lower() for s in somo.train.sentences)


def test_coordinations_are_balanced_in_clause_length(built) -> None:
    inverted, original = built.drafts["CoordInv"].samples["I"], built.drafts["CoordInv"].samples["O"]
    assert len(inverted) == len(original)
    for longer in (inverted > 0, inverted < 0), (original > 0, original < 0):
        assert abs(longer[0].mean() - longer[1].mean()) < 0.05
    assert abs(inverted.mean() - original.mean()) < 0.5


@pytest.mark.parametrize("name", ["SentLen", "BShift", "WC"])
def test_a_small_requested_size_is_reached(name) -> None:
    [small] = build_tasks(from_trees(corpus_texts(TREES[:2000])), Sizes(60, 12, 12), [name]).tasks
    assert len(small.train.sentences) == pytest.approx(60, abs=len(small.classes))


def test_a_reduced_task_has_a_note() -> None:
    built = build_tasks(from_trees(corpus_texts(TREES[:1500])), Sizes(2000, 400, 600), ["SubjNum"])
    [subject] = built.tasks
    got = [len(split.sentences) for split in subject.parts]
    assert got[0] < 2000
    assert got[1] / got[0] == pytest.approx(400 / 2000, abs=0.02)
    assert any("of 2,000/400/600 sentences" in note for note in built.drafts["SubjNum"].notes)


def test_a_class_that_would_shrink_all_others_is_left_out_and_a_somewhat_smaller_one_shrinks_all() -> None:
    pools = [{"a": ["x"] * n, "b": ["x"] * n, "c": ["x"] * n, "d": ["x"] * (n // 10)} for n in (400, 40, 40)]
    assert plan_classes("Test", pools, Sizes(400, 40, 40)) == (["a", "b", "c"], (133, 13, 13))
    pools = [{"a": ["x"] * n, "b": ["x"] * n, "c": ["x"] * (n // 4)} for n in (400, 40, 40)]
    assert plan_classes("Test", pools, Sizes(400, 40, 40))[1] == (100, 10, 10)


def sentence(text: str) -> Analysis:
    analysis = analyse(parse_tree(text))
    assert analysis is not None
    return analysis


LABELS = {  # tree below S: tense, subject, object
    "(NP (NN rain)) (VP (VBZ has) (VP (VBN hit) (NP (NNS pots))))": ("PRES", "NN", "NNS"),
    "(NP (NNS dogs)) (VP (VBD hit) (NP (DT the) (NN cat)))": ("PAST", "NNS", "NN"),
    "(NP (NN rain)) (VP (MD may) (VP (VB hit) (NP (NNS pots))))": (None, "NN", "NNS"),
    "(NP (NN pot)) (VP (VBD was) (VP (VBN hit) (NP (NN rain))))": ("PAST", "NN", None),
    "(NP (NN pot)) (VP (VBZ is) (NP (DT a) (NN cup)))": ("PRES", "NN", None),
    "(NP (NN pot)) (VP (VBD became) (NP (DT a) (NN cup)))": ("PAST", "NN", None),
    "(NP (PRP we)) (VP (VBD gave) (NP (NNS dogs)) (NP (NN rain)))": ("PAST", None, None),
    "(NP (PRP we)) (VP (VBD ran) (NP (DT a) (NN day)))": ("PAST", None, None),
    "(NP (PRP we)) (VP (VBD ran) (NP-TMP (DT a) (NN lap)))": ("PAST", None, None),
    "(NP (NP (NN rain)) (CC and) (NP (NN sun))) (VP (VBP hit) (NP (PRP us)))": ("PRES", None, None),
    "(NP (NN rain)) (VP (VP (VBD hit) (NP (NN pot))) (CC and) (VP (VBD ran)))": (None, "NN", None),
    "(NP (NP (NN man) (POS 's)) (NNS dogs)) (VP (VBP see) (NP (PRP it)))": ("PRES", "NNS", None),
    "(NP (NP (DT the) (NNS dogs)) (PP (IN of) (NP (NN rain)))) (VP (VBP run))": ("PRES", "NNS", None),
    "(NP (NP (DT a) (NN lot)) (PP (IN of) (NP (NNS dogs)))) (VP (VBD run))": ("PAST", None, None),
    "(NP (DT the) (NNS news)) (VP (VBZ hits) (NP (PRP us)) (ADVP (RB now)))": ("PRES", None, None),
    "(NP (NNP Ann) (NNP Lee)) (VP (VBZ has) (NP (DT the) (NN pot)))": ("PRES", None, "NN"),
    "(NP-TMP (DT this) (NN week)) (NP (NNS dogs)) (VP (VBD ran) (ADVP (RB off)))": ("PAST", "NNS", None),
    "(VP (VB take) (NP (DT the) (JJ old) (NNS pots)))": (None, None, "NNS"),
}


@pytest.mark.parametrize(("below", "expected"), LABELS.items())
def test_targets_are_found_by_structure(below, expected) -> None:
    analysis = sentence(f"(ROOT (S {below} (ADVP (RB then) (RB there)) (. .)))")
    assert tuple(t and t.label for t in (analysis.tense, analysis.subject, analysis.object)) == expected


@pytest.mark.parametrize(("tree", "spans"), [
    ("(S (S (NP (PRP I)) (VP (VBD ran))) (, ,) (CC but) (S (NP (PRP he)) (VP (VBD sat))) (. .))", (0, 2, 4, 6)),
    ("(S (S (NP (PRP I)) (VP (VBD ran) (, ,))) (CC but) (S (NP (PRP he)) (VP (VBD sat)) (. .)))", (0, 2, 4, 6)),
    ("(S (S (NP (PRP I)) (VP (VBD ran))) (, ,) (S (NP (PRP he)) (VP (VBD sat))) (. .))", None),
    ("(S (S (NP (PRP I) (CC or) (PRP we)) (VP (VBD ran))) (CC but) (S (VP (VBD sat))) (. .))", None),
    ("(S (S (NP (PRP I)) (VP (VBD ran))) (CC but) (S (NP (PRP he))) (. .) ('' ''))", None),
])  # fmt: skip
def test_clauses_are_two_full_ones_around_the_only_conjunction(tree, spans) -> None:
    assert sentence(f"(ROOT {tree})").clauses == (Clauses(*spans) if spans else None)


INVERSIONS = {
    ("They/PRP might/MD fade/VB , but/CC I/PRP can/MD stay/VB .", (0, 3, 5, 8)): "I can stay , but they might fade .",
    ("Ann/NNP ran/VBD and/CC dogs/NNS sat/VBD .", (0, 2, 3, 5)): "Dogs sat and Ann ran .",
    ("ICT/NN grew/VBD and/CC it/PRP fell/VBD .", (0, 2, 3, 5)): "It fell and ICT grew .",
    ("he/PRP ran/VBD and/CC she/PRP sat/VBD .", (0, 2, 3, 5)): "she sat and he ran .",
    ("Irish/JJ cats/NNS ran/VBD and/CC we/PRP sat/VBD .", (0, 3, 4, 6)): "We sat and Irish cats ran .",
}


@pytest.mark.parametrize(("tagged", "inverted"), INVERSIONS.items())
def test_the_new_first_word_gets_the_capital_letter(tagged, inverted) -> None:
    text, spans = tagged
    pairs = [token.split("/") if "/" in token else (token, token) for token in text.split()]
    words, tags = zip(*pairs, strict=True)
    made = Analysis(" ".join(words), " ".join(tags), 5, "", None, None, None, Clauses(*spans))
    other = replace(made, sentence="We saw Irish dogs and cats", tags="PRP VBD JJ NNS CC NNS")
    assert swap_clauses(made, gather_pool([made, other], Sizes(8, 1, 1), 0, ENGLISH).tags) == inverted


def test_bigram_shift_swaps_two_neighbours(built, analyses) -> None:
    shifted, originals = task_named(built, "BShift"), {tuple(s.words) for s in analyses.values()}
    for sentence, label in labelled(shifted, shifted.test):
        if label == "I":
            words = sentence.split()
            back = [(*words[:i], words[i + 1], words[i], *words[i + 2 :]) for i in range(len(words) - 1)]
            assert originals & set(back)


def test_word_content_sentences_hold_exactly_one_target(built) -> None:
    wc = task_named(built, "WC")
    assert all(word.islower() and len(word) >= 4 for word in wc.classes)
    assert built.drafts["WC"].controls["highest rank"] > 1
    for split in wc.parts:
        for sentence, label in labelled(wc, split):
            assert [word for word in sentence.split() if word in wc.classes] == [label]


def test_an_odd_word_serves_one_split_only(built, analyses) -> None:
    somo, originals = task_named(built, "SOMO"), {frame for s in analyses.values() for frame in frames(s.words)}
    odd: list[set[str]] = []
    assert built.drafts["SOMO"].controls["replacing words in two splits"] == 0
    for split in somo.parts:
        changed = [s.split() for s, label in labelled(somo, split) if label == "C"]
        places = [[i for i, frame in enumerate(frames(words)) if frame in originals] for words in changed]
        assert all(places)
        odd.append({words[at[0]].lower() for words, at in zip(changed, places, strict=True) if len(at) == 1})
    assert min(map(len, odd)) > 1
    assert not (odd[0] & odd[1] | odd[0] & odd[2] | odd[1] & odd[2])


def frames(words: list[str]) -> list[tuple[str, ...]]:
    """The sentence with each of its words left out."""
    return [(*words[:i], "_", *words[i + 1 :]) for i in range(len(words))]


def test_too_few_trees_are_refused_by_the_tasks_name() -> None:
    with pytest.raises(InputError, match="CoordInv"):
        build_tasks(from_trees(corpus_texts(TREES[:40])), SIZES, ["CoordInv"])


def test_analyses_come_in_the_order_of_the_trees_on_any_number_of_cores(analyses, monkeypatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(2))
    assert list(dict.fromkeys(each.sentence for each in analyse_all(corpus_texts(TREES), ENGLISH))) == list(analyses)


@pytest.mark.parametrize(("name", "field"), [("Tense", "tense"), ("SubjNum", "subject"), ("ObjNum", "object")])
def test_a_target_form_read_off_the_trees_is_in_one_split(built, analyses, name, field) -> None:
    forms = [{getattr(analyses[s], field).form for s in part.sentences} for part in task_named(built, name).parts]
    assert not (forms[0] & forms[1] | forms[0] & forms[2] | forms[1] & forms[2])
