"""evaluate.py with suite=coherence: language models on disk, counts and controls, next to the published scores."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from encoder_lab.errors import InputError
from encoder_lab.evaluation.open_models import complete_models
from encoder_lab.reports.evaluations import WrittenScores
from encoder_lab.settings.evaluate import EvaluationSettings
from encoder_lab.storage.csv_files import read_csv
from evaluate import evaluate, print_tables
from probes.coherence.ngram import length_logprobs
from probes.coherence.suite_file import Item, TestSuite, write_suite
from probes.coherence.world import world_suites
from probes.results import read_rows
from report import main
from tests.asked import evaluation
from tests.encoders.small_language_models import gpt2
from tests.probes.test_share import surprising_tasks
from tests.probes.test_share import tasks as classified_tasks
from tests.tiny_corpus import TinyCorpus

SMALL = ["suite=coherence", "coherence.items=6", "corpus.size=200"]
PROBING = ["probes.train_size=50", "corpus.size=200"]
CALLED = f"model=call:{__name__}:characters"
SMALL_PROBES = ["probes.tasks=[BShift]", "probes.train_size=60", "probes.dev_size=30", "probes.test_size=30"]


def settings(*more: str) -> EvaluationSettings:
    return evaluation(*(PROBING if "suite=probing" in more else SMALL), *more)


def scored(folder: Path, *more: str) -> list[WrittenScores]:
    return evaluate(settings(f"cache={folder / 'cache'}", f"out={folder / 'out'}", *more))


@pytest.fixture(scope="module")
def lm(tmp_path_factory) -> Path:
    return gpt2(tmp_path_factory.mktemp("gpt2"), 128)


class Once(NamedTuple):
    """The language model scored on the embedded suites, for all tests that only read it."""

    folder: Path  # with the cache
    written: WrittenScores


@pytest.fixture(scope="module")
def once(lm, tmp_path_factory) -> Once:
    folder = tmp_path_factory.mktemp("once")
    (written,) = scored(folder, f"model=lm:{lm}")
    return Once(folder, written)


def characters(pairs: list[tuple[str, str]]) -> list:
    """A callable to be scored: the lengths of words."""
    return length_logprobs(pairs)


def test_a_language_model_counts_and_controls_stand_next_to_the_published_scores(lm, once, capsys) -> None:
    asked = [f"model=[lm:{lm},ngram,unigram,length,call:{__name__}:characters]"]
    done = scored(once.folder, *asked)
    print_tables(done, settings(*asked))
    printed = capsys.readouterr().out
    for text in (
        *("language model", "N-gram", "Unigram", "Length", "DialoGPT", "Beyer et al. 2021, Tables 1 to 5"),
        "shuffle_narration_all: 50.0 [18.8, 81.2] of 6 items, 6 ties counted half; published GPT-2 86, DialoGPT 78",
        "    4 predictions, each 50 by chance; the score above is of all together, 20.0 by chance",
        *("(3;%cause%) < (3;%contrast%): 50.0 [18.8, 81.2], 6 ties counted half", "p, Holm", "±"),
    ):
        assert text in printed
    assert re.search("^ {4}condition +1 sum +1 mean +2 sum +2 mean$", printed, re.M)
    assert "protocol=" not in printed  # no classifier has read anything
    length, called = (d.main for d in done[3:])
    assert [e.row.test_accuracy for e in length] == [e.row.test_accuracy for e in called]


def test_a_report_has_the_rows_of_the_folder(once, tmp_path) -> None:
    done = once.written
    scores = {row.task: row.test_accuracy for row in read_rows(done.folder / "probes.csv")}
    assert scores == {e.row.task: round(e.row.test_accuracy, 2) for e in done.main}
    out = tmp_path / "table.md"
    assert main(["table", str(done.folder), "suite=coherence", f"out={out}"]) == 0
    assert "| shuffle_narration_all |" in out.read_text()
    assert "GPT-2" in out.read_text()
    page = tmp_path / "page.html"
    assert main(["html", str(done.folder), "item=story_cloze:2", f"out={page}"]) == 0
    assert page.read_text().count("<div class=row>") == 2
    assert main(["html", str(done.folder), "item=story_cloze:99", f"out={page}"]) == 2


def test_the_bits_of_each_token_are_kept_and_give_the_details(once) -> None:
    done = once.written
    lines = [json.loads(line) for line in (done.folder / "surprisals.jsonl").read_text().splitlines()]
    assert len(lines) == sum(len(s.items) * len(s.conditions) for s in world_suites(6, seed=1))
    ours = [line for line in lines if (line["suite"], line["condition"]) == ("shuffle_narration_all", "shuffled")]
    bits = [sum(line["surprisals"]) for line in ours]
    details = {(row["task"], row["measure"]): float(row["score"]) for row in read_csv(done.folder / "details.csv")}
    assert details["shuffle_narration_all", "sum shuffled 1"] == pytest.approx(np.mean(bits), abs=0.01)


def test_scoring_a_model_again_scores_no_text(lm, once, monkeypatch) -> None:
    monkeypatch.setattr("probes.evaluation.score_pairs", lambda *_: pytest.fail("scored again"))
    (repeated,) = scored(once.folder, f"model=lm:{lm}")
    assert [e.row for e in repeated.main] == [e.row for e in once.written.main]


def test_the_tokens_that_begin_and_end_a_text_make_another_model(lm, once) -> None:
    others = [scored(once.folder, f"model=lm:{lm}", setting)[0] for setting in ("bos=false", "eos=true")]
    done = [once.written, *others]
    assert len({d.folder for d in done}) == 3
    sums = [d.main[0].details["sum original 1"] for d in done]
    assert sums[1] < sums[0] < sums[2]  # the first token has no surprisal; the last one more


def test_the_setting_of_the_authors_has_no_bos_reads_sep_as_written_and_counts_no_tie(lm, once) -> None:
    """One name for what the wrappers of Beyer et al. 2021 do."""
    (ours,) = scored(once.folder, f"model=lm:{lm}", "bos=false", "coherence.compat=syntaxgym")
    (theirs,) = scored(once.folder, f"model=lm:{lm}", "coherence.compat=beyer2021")
    assert theirs.folder != ours.folder
    by_name, expected = ({e.row.task: e for e in done.main} for done in (theirs, ours))
    for name, evaluated in by_name.items():  # [SEP] is in one suite alone
        assert (evaluated.details == pytest.approx(expected[name].details, rel=1e-5)) == (name != "speaker_commitment")
    same, change = (f"mean {condition} 2" for condition in ("same", "change"))
    speakers = by_name["speaker_commitment"].details, expected["speaker_commitment"].details
    assert speakers[0][same] == pytest.approx(speakers[1][same])
    assert speakers[0][change] != pytest.approx(speakers[1][change])
    with pytest.raises(InputError, match="scores no token that ends a text; leave one of them out"):
        scored(once.folder, f"model=lm:{lm}", "coherence.compat=beyer2021", "eos=true")


def test_suites_in_files_are_scored_as_those_in_memory(lm, once, tmp_path) -> None:
    for suite in world_suites(6, seed=1):
        write_suite(suite, tmp_path / "suites" / f"{suite.name}.json")
    (from_files,) = scored(once.folder, f"model=lm:{lm}", f"coherence.paths=[{tmp_path / 'suites'}]")
    by_name = {e.row.task: e.row for e in from_files.main}
    assert all(by_name[e.row.task] == e.row for e in once.written.main)


@pytest.mark.parametrize(("more", "message"), [
    (["model=majority"], "model=majority: has no language model, which suite=coherence needs; give a run of"),
    (["model=lm:no/such"], "no such folder"),
    (["model=ngram", "suite=probing", *SMALL_PROBES], "a baseline of other suites; suite=probing has majority"),
    ([CALLED, "suite=[probing,coherence]", *SMALL_PROBES], "gives vectors or surprisals, not both"),
    (["write_sentences=all.txt"], "suite=coherence needs none"),
    (["model=ngram", "control=true"], "apply only to probing tasks"),
])  # fmt: skip
def test_a_model_that_does_not_give_what_a_suite_needs_is_refused(once, more, message) -> None:
    with pytest.raises(InputError, match=message):
        scored(once.folder, "embeddings.dim=4", "embeddings.words=5000", *more)


@pytest.mark.parametrize(("tasks", "impossible"), [
    (surprising_tasks(1), ["bov", "untrained/bilstm_max", "hf:a", "vectors:a.npy", "majority"]),
    (classified_tasks(1), ["ngram", "lm:a"]),
])  # fmt: skip
def test_a_model_that_cannot_do_a_task_by_its_name_is_refused_before_any_is_made(tasks, impossible) -> None:
    for name in impossible:
        opened: Any = [(other, lambda *_: 1 / 0) for other in ("run", name)]
        with pytest.raises(InputError, match=f"^model={name}: "):
            next(iter(complete_models(opened, TinyCorpus(), tasks)))


def test_a_run_with_a_decoder_of_translations_and_a_language_model_for_vectors_are_refused(
    lm, once, finished_run
) -> None:
    with pytest.raises(InputError, match="which suite=coherence needs: its decoder writes a translation"):
        scored(once.folder, "embeddings.dim=4", "embeddings.words=5000", f"model={finished_run}")
    with pytest.raises(InputError, match="has no vectors, which suite=probing needs"):
        scored(once.folder, f"model=lm:{lm}", "suite=[probing,coherence]", *SMALL_PROBES)


@pytest.fixture(scope="module")
def of_paper(tmp_path_factory) -> list[str]:
    """Suites with the names of the paper's tables."""
    folder = tmp_path_factory.mktemp("suites")
    words = ("as", "although", "yet")
    rows = [(("He left", word, "she came."),) for word in words], [(("We ran", word, "it rained."),) for word in words]
    items = [Item(number, tuple(text for (text,) in row), "a") for number, row in enumerate(rows, 1)]
    predictions = tuple(f"(3;%as%) < (3;%{other}%)" for other in words[1:])
    made = TestSuite("connectives_as_causal", "sum", ("a", "b", "c"), words, predictions, tuple(items))
    write_suite(made, folder / "connectives.json")
    pair = Item(1, (("A man came.", "He left."), ("A man came.", "The man left.")), "b")
    suite = TestSuite("remention", "mean", ("a", "b"), ("x", "y"), ("(2;%x%) < (2;%y%)",), (pair,))
    write_suite(suite, folder / "remention.json")
    return [CALLED, f"coherence.paths=[{folder}]"]


def test_the_tables_of_connectives_and_rementions_stand_next_to_ours(of_paper, tmp_path, capsys) -> None:
    done = scored(tmp_path, *of_paper)
    print_tables(done, settings(*of_paper))
    printed = capsys.readouterr().out
    ours = "(3;%as%) < (3;%although%): 50.0 [9.5, 90.5], 2 ties counted half"
    assert f"{ours}; published GPT-2 44, DialoGPT 64" in printed
    assert "2 predictions, each 50 by chance; the score above is of all together, 33.3 by chance" in printed
    assert "of 1 items; published GPT-2 wsj 53, DialoGPT wsj 44, GPT-2 vpc 56" in printed
    assert "remention_fiction" in printed
    out = tmp_path / "table.csv"
    more = ["suite=coherence", "published=beyer2021_table4", "format=csv", f"out={out}"]
    assert main(["table", str(done[0].folder), *more]) == 0
    columns = [name for name in read_csv(out)[0] if not name.endswith((" low", " high"))]
    assert columns[-3:] == ["remention", "connectives_as_causal although", "connectives_as_causal yet"]
    capsys.readouterr()
    assert main(["table", str(done[0].folder), "suite=coherence", "published=conneau2018_table2"]) == 2
    assert capsys.readouterr().err.startswith("error: published=conneau2018_table2: it has no score of these tasks")


def test_a_published_table_of_other_tasks_is_refused_before_scoring(of_paper, tmp_path) -> None:
    with pytest.raises(InputError, match="published=chen2019_readme: it has no score of these tasks"):
        scored(tmp_path, *of_paper, "published=chen2019_readme")
    scored(tmp_path, *of_paper, "published=beyer2021_table4")


def test_texts_longer_than_the_context_are_counted_also_from_the_cache(lm, tmp_path, capsys) -> None:
    item = Item(1, (("a b " * 99 + "a",), ("b",)), "c")
    long = TestSuite("long", "sum", ("a",), ("x", "y"), ("(1;%x%) < (1;%y%)",), (item,))
    write_suite(long, tmp_path / "long.json")
    for _ in range(2):
        (done,) = scored(tmp_path, f"model=lm:{lm}", f"coherence.paths=[{tmp_path / 'long.json'}]")
        print_tables([done], settings(f"model=lm:{lm}"))
        assert "of 1 items, 1 texts longer than the model's context" in capsys.readouterr().out
