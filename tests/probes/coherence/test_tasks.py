"""The tasks of the coherence suite: scores, answers, details, and where their items come from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.model import Model
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.coherence.ngram import NgramModel, length_logprobs
from probes.coherence.scoring import pairs_of
from probes.coherence.suite_file import Item, TestSuite, read_suite, write_suite
from probes.coherence.tasks import PAIRS_DETAIL, Coherence, tasks, which_hold
from probes.coherence.world import world_suites
from probes.evaluation import Evaluation
from probes.statistics import wilson_interval
from probes.suites import Context, settings_as_declared
from probes.surprisals import score_pairs
from probes.task import Outcome, single
from tests.tiny_corpus import TinyCorpus

TEXTS = ((("a bb", "ccc"), ("aaa", "b")), (("a", "bb"), ("aaaa", "bb")), (("a", "b"), ("b", "ccc ddd")))
SETTINGS = {"paths": None, "items": 4, "metric": None, "compat": None}


def suite(*formulas: str, metric: str = "sum") -> TestSuite:
    items = tuple(Item(number, pair) for number, pair in enumerate(TEXTS, 1))
    return TestSuite("lengths", metric, ("one", "two"), ("a", "b"), formulas, items)


def outcome(task: Coherence) -> Outcome:
    return task.score(score_pairs(length_logprobs, pairs_of(task.items)), "cpu")


def tasks_of(cache: Path, **settings: object) -> list[Coherence]:
    declared = settings_as_declared(tasks, SETTINGS | settings, "coherence")
    return tasks(Context(Grid(), 1, cache, TinyCorpus()), declared)


def test_a_score_is_the_share_of_items_with_ties_counted_half_and_details_are_of_each_region() -> None:
    score = outcome(Coherence(suite("(2;%a%) < (2;%b%)")))  # 3 and 1 bits, 2 and 2, 1 and 6
    assert score.test == score.dev == pytest.approx(50)
    assert (score.low, score.high) == (wilson_interval(1, 3)[0], wilson_interval(2, 3)[1])
    assert (score.details["ties"], score.details["undefined"]) == (1, 0)
    assert score.correct.tolist() == [False, False, True]
    assert score.details["sum a 2"] == pytest.approx((3 + 2 + 1) / 3)
    assert score.details["mean b 2"] == pytest.approx((1 + 2 + 3) / 3)


def test_an_item_holds_where_each_of_its_predictions_does() -> None:
    both = outcome(Coherence(suite("(2;%a%) < (2;%b%)", "(1;%a%) = (1;%b%)")))  # 3 and 3, 1 and 4, 1 and 1 bits
    assert both.correct.tolist() == [False, False, True]
    assert both.details["(1;%a%) = (1;%b%)"] == pytest.approx(200 / 3)
    assert both.details[PAIRS_DETAIL] == pytest.approx((50 + 200 / 3) / 2)  # each prediction of each item by itself


def test_every_second_item_that_ties_holds_the_same_ones_for_all_models() -> None:
    assert which_hold(np.array([0.5, 0.5, 1, 0.5, 0.5, 0])).tolist() == [True, False, True, False, True, False]


def test_another_metric_another_formula_and_another_reading_are_another_task() -> None:
    task = Coherence(suite("(2;%a%) < (2;%b%)"))
    others = Coherence(suite("(2;%a%) > (2;%b%)")), Coherence(suite("(2;%a%) < (2;%b%)", metric="max"))
    assert len({each.fingerprint for each in [task, *others, replace(task, syntaxgym=True)]}) == 4
    assert task.test_items == Coherence(suite("(2;%a%) < (2;%b%)")).test_items


def test_the_embedded_world_is_the_same_each_time_and_larger_sizes_only_add() -> None:
    assert world_suites(6, seed=1) == world_suites(6, seed=1) != world_suites(6, seed=2)
    for small, large in zip(world_suites(4, seed=1), world_suites(6, seed=1), strict=True):
        if small.name != "story_cloze":  # which endings are exchanged depends on all stories
            assert small.items == large.items[:4]


def test_a_file_and_a_folder_of_suites_are_read_with_the_metric_asked_for(tmp_path) -> None:
    write_suite(suite("(2;%a%) < (2;%b%)"), tmp_path / "one" / "lengths.json")
    (of_file,) = tasks_of(tmp_path, paths=str(tmp_path / "one" / "lengths.json"))
    (of_folder,) = tasks_of(tmp_path, paths=[str(tmp_path)], metric="max", compat="syntaxgym")
    assert of_file.items == read_suite(tmp_path / "one" / "lengths.json")
    assert of_folder.items.metric == "max"
    assert of_folder.syntaxgym


@pytest.mark.parametrize(("settings", "message"), [
    ({"paths": ["no/such"]}, "no such file or folder; build suites with python -m probes.coherence.build"),
    ({"paths": []}, "give files or folders"),
    ({"metric": "most"}, "give sum, mean"),
    ({"compat": "lmzoo"}, "give syntaxgym or beyer2021"),
    ({"items": 1}, "2 or more"),
    ({"items": True}, "2 or more"),
])  # fmt: skip
def test_settings_that_cannot_work_are_answered_with_what_can(tmp_path, settings, message) -> None:
    with pytest.raises(InputError, match=message):
        tasks_of(tmp_path, **settings)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 12), st.floats(), st.text(max_size=6), st.just("a\0b"), st.just(""),
    st.lists(st.one_of(st.text(max_size=4), st.integers(), st.none()), max_size=2), st.just({"a": None}),
)  # fmt: skip


@given(st.sampled_from(["paths", "metric", "compat", "items"]), VALUES)
def test_any_setting_works_or_is_refused_in_one_line(tmp_path, key, value) -> None:
    message = ""
    try:
        assert tasks_of(tmp_path, **{"items": 2, key: value})
    except InputError as error:
        message = str(error)
    assert "\n" not in message


def test_a_folder_without_suites_and_two_suites_of_one_name_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match=r"no files there that end in \.json, \.jsonl"):
        tasks_of(tmp_path, paths=[str(tmp_path)])
    for name in ("one", "two"):
        write_suite(suite("(2;%a%) < (2;%b%)"), tmp_path / f"{name}.json")
    with pytest.raises(InputError, match="the suite lengths is also in"):
        tasks_of(tmp_path, paths=[str(tmp_path)])


def test_a_model_without_a_fingerprint_is_known_by_its_surprisals() -> None:
    task = Coherence(suite("(2;%a%) < (2;%b%)"))
    same, other = length_logprobs, NgramModel([["a b"]], 1).logprobs
    for encode in (None, lambda texts: np.zeros((len(texts), 2))):  # it may have both
        models = [Model("m", "lm", encode, logprobs=logprobs) for logprobs in (same, same, other)]
        prints = [Evaluation(model, [task]).fingerprint for model in models]
        assert prints[0] == prints[1] != prints[2]


def test_length_is_a_baseline_of_vectors_and_a_control_of_surprisals_in_one_evaluation() -> None:
    labelled = single(["a", "a b"] * 10, np.array([0, 1] * 10))
    probing = Classification("SentLen", ["0", "1"], labelled, labelled, labelled)
    both = [probing, Coherence(suite("(2;%a%) < (2;%b%)"))]
    model = Model("baseline", "length", None, "baseline", logprobs=length_logprobs)
    rows = [e.row for e in Evaluation(model, both).scores()]
    assert [(row.classifier, row.test_accuracy) for row in rows] == [("length", 100), ("surprisal", 50)]
