"""Files of downstream tasks: as the toolkit reads them, the user's own, and broken ones."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from encoder_lab.errors import InputError
from encoder_lab.settings.build import SuiteSettings
from probes.classifiers.classifier import Grid
from probes.downstream.data import PUBLISHED_SIZES, TASKS, canonical_names, read_downstream
from probes.downstream.scoring import Downstream
from probes.downstream.tasks import DownstreamSettings
from probes.downstream.tasks import tasks as downstream_tasks
from probes.suites import Context, suites_of
from tests.probes.downstream.small_files import folder_of_tasks
from tests.tiny_corpus import TinyCorpus

MODERN = Grid().logistic()
PUBLISHED = Grid(l2=(1e-4, 1e-2), protocol="senteval", max_passes=12).logistic()


@pytest.fixture
def root(tmp_path) -> Path:
    return folder_of_tasks(tmp_path)


def own_scores(path: Path, splits: tuple[str, ...], most: int = 4) -> DownstreamSettings:
    rows = (f"{split}\t{i % most + 1}\twords {'x ' * i}.\tothers {'y ' * i}.\n" for split in splits for i in range(12))
    path.write_text("split\tscore\tsentence\tsentence2\n" + "".join(rows))
    return DownstreamSettings(more=[str(path)])


@pytest.mark.parametrize(("splits", "grid", "method"), [
    (("train", "dev", "test"), MODERN, "relatedness"),
    (("test",), MODERN, "similarity"),
    (("test",), PUBLISHED, "similarity"),
])  # fmt: skip
def test_scored_pairs_of_the_users_own_are_a_regression_or_cosines(tmp_path, splits, grid, method) -> None:
    context, settings = Context(grid, 1, tmp_path, TinyCorpus()), own_scores(tmp_path / "own.tsv", splits)
    with pytest.raises(InputError, match=r"downstream\.root= is missing"):
        downstream_tasks(context, replace(settings, tasks="MR"))
    (task,) = downstream_tasks(context, settings)
    assert isinstance(task, Downstream)
    assert (task.name, task.method) == ("own", method)
    assert task.parts["test"].gold.tolist() == [1, 2, 3, 4] * 3
    assert method == "similarity" or task.rated == (1, 4)


@pytest.mark.parametrize("name", ["two\nlines", 201 * "x"])
def test_a_task_with_a_name_that_no_row_can_have_is_refused(tmp_path, name) -> None:
    path = own_scores(tmp_path / f"{name}.tsv", ("test",)).more
    suite = SuiteSettings("probes.downstream.tasks.tasks", "downstream", {"more": path})
    with pytest.raises(InputError, match="the name of a task is one line of at most 200 characters"):
        suites_of({"downstream": suite}, MODERN, 1, TinyCorpus(), tmp_path)


@pytest.mark.parametrize(("splits", "grid", "most", "message"), [
    (("train", "test"), MODERN, 4, "lines of train and test alone"),
    (("train", "dev", "test"), PUBLISHED, 4, "protocol=senteval reads scores from 1 to 5 only"),
    (("train", "dev", "test"), MODERN, 1, "the train lines have only one score, 1;"),
    (("test",), MODERN, 1, "the test lines have only one score, 1;"),
])  # fmt: skip
def test_scored_pairs_that_cannot_be_read_are_refused(tmp_path, splits, grid, most, message) -> None:
    with pytest.raises(InputError, match=message):
        downstream_tasks(Context(grid, 1, tmp_path, TinyCorpus()), own_scores(tmp_path / "own.tsv", splits, most))


def test_latin_1_files_end_lines_where_the_toolkit_does(root) -> None:
    text = "one\x85two\x0bthree\n\nfour\x85\n"
    (root / "downstream" / "MR" / "rt-polarity.pos").write_text(text, encoding="latin-1")
    ((task,), _) = read_downstream(root, ["MR"])
    positive = [s for s, gold in zip(task.parts["all"].sentences, task.parts["all"].gold, strict=True) if gold]
    assert sorted(positive) == sorted(text.splitlines())


@pytest.mark.parametrize("name", ["SICK-E", "SICK-R", "SICK-R-cosine"])
def test_sick_in_one_file_is_that_of_three(name, tmp_path) -> None:
    (expected,), _ = read_downstream(folder_of_tasks(tmp_path), [name])
    lines = ["\t".join(["sentence_A", "sentence_B", "entailment_label", "relatedness_score", "SemEval_set"])]
    for file, part in zip(TASKS["SICK-E"].files, ("TRAIN", "TRIAL", "TEST"), strict=True):
        path = tmp_path / "downstream" / file
        for line in path.read_text().splitlines()[1:]:
            _, first, second, score, judgment = line.split("\t")
            lines.append("\t".join([first, second, judgment, score, part]))
        path.unlink()
    (tmp_path / "downstream" / "SICK" / "SICK.txt").write_text("".join(f"{line}\n" for line in reversed(lines[1:])))
    with pytest.raises(InputError, match="no column"):
        read_downstream(tmp_path, [name])
    (tmp_path / "downstream" / "SICK" / "SICK.txt").write_text("".join(f"{line}\n" for line in lines))
    (task,), _ = read_downstream(tmp_path, [name])
    subprocess.run(["gzip", tmp_path / "downstream" / "SICK" / "SICK.txt"], check=True)
    (packed,), _ = read_downstream(tmp_path, [name])
    assert task.fingerprint == packed.fingerprint == expected.fingerprint


@pytest.mark.parametrize("name", ["SUBJ", "TREC", "SICK-E", "STS13"])
def test_published_data_of_another_size_is_named(name, tmp_path, capsys) -> None:
    context = Context(MODERN, 1, tmp_path, TinyCorpus())
    (task,) = downstream_tasks(context, DownstreamSettings(str(folder_of_tasks(tmp_path)), [name]))
    size = sum(len(part.gold) for part in (task.parts.values() if isinstance(task.parts, dict) else task.parts))
    assert f"{name}: {size} items, but {PUBLISHED_SIZES[name]:,} are published" in capsys.readouterr().err


def test_folds_without_a_task_that_has_some_are_refused(tmp_path) -> None:
    context, root = Context(MODERN, 1, tmp_path, TinyCorpus()), str(folder_of_tasks(tmp_path))
    with pytest.raises(InputError, match=r"downstream\.kfold=3: no task here has folds; leave it out"):
        downstream_tasks(context, DownstreamSettings(root, ["SICK-E", "STSB"], kfold=3))


def test_a_page_of_the_web_in_place_of_data_is_recognised(root) -> None:
    for start in ("<!DOCTYPE html>\n<html>", "\ufeff  <HTML lang='en'>"):
        (root / "downstream" / "MR" / "rt-polarity.pos").write_text(f"{start}<body>404</body></html>\n")
        with pytest.raises(InputError, match=r"rt-polarity\.pos: a page of the web \(HTML\)"):
            read_downstream(root, ["MR"])


def test_items_are_sorted_by_length_and_label_as_in_the_toolkit_and_pairs_without_a_score_left_out(root) -> None:
    (task, pairs), _ = read_downstream(root, ["MR", "STS13"])
    items = task.parts["all"]
    keys = [(len(s.split()), gold) for s, gold in zip(items.sentences, items.gold, strict=True)]
    assert keys == sorted(keys)
    assert items.sentences[0] == "calm café 1"  # class 0 is the second file; of equal keys the order of the file stays
    assert {len(part.gold) for part in pairs.parts.values()} == {5}


def test_the_first_pair_of_a_file_without_the_header_is_read(tmp_path) -> None:
    (expected,), _ = read_downstream(folder_of_tasks(tmp_path), ["MRPC"])
    for name in TASKS["MRPC"].files:
        path = tmp_path / "downstream" / name
        path.write_text(path.read_text().partition("\n")[2])
    (task,), _ = read_downstream(tmp_path, ["MRPC"])
    assert task.fingerprint == expected.fingerprint


def test_tasks_that_are_not_there_are_told_apart_from_those_that_are(root) -> None:
    (root / "downstream" / "MRPC" / "msr_paraphrase_test.txt").unlink()
    tasks, missing = read_downstream(root)
    assert (list(missing), missing["MRPC"].name) == (["MRPC"], "msr_paraphrase_test.txt")
    assert "MRPC" not in [task.name for task in tasks]


@pytest.mark.parametrize(("file", "text", "message"), [
    ("TREC/TREC_10.label", "HUM:x Who ?\nWHY:x Why ?\n", r"TREC_10.label:2: label 'WHY'"),
    ("SST/binary/sentiment-dev", "no label here\n", r"sentiment-dev:1: label ''|label 'no label here'"),
    ("SST/fine/sentiment-dev", "7 a film\n", r"sentiment-dev:1: label '7'"),
    ("MRPC/msr_paraphrase_train.txt", "head\n1\t2\n", r"train.txt:1: 1 columns, expected 5"),
    ("STS/STSBenchmark/sts-dev.csv", "a\tb\tc\td\t5.5\tx\ty\n", r"sts-dev.csv:1: score '5.5'"),
    ("STS/STSBenchmark/sts-dev.csv", "a\tb\tc\td\tnan\tx\ty\n", r"score 'nan' is no number from 0 to 5"),
    ("STS/STS12-en-test/STS.gs.MSRpar.txt", "1\n", r"1 scores for the 6 pairs of .*STS.input.MSRpar.txt"),
    ("SICK/SICK_trial.txt", "a\tb\n", r"SICK_trial.txt:1: no column sentence_A"),
])  # fmt: skip
def test_a_broken_file_is_named_with_its_line(root, file, text, message) -> None:
    (root / "downstream" / file).write_text(text)
    with pytest.raises(InputError, match=message):
        read_downstream(root)


@pytest.mark.parametrize(("name", "meant"), [
    ("mr", "MR"), ("SST2", "SST-2"), ("sst-5", "SST-5"), ("SICKEntailment", "SICK-E"), ("SICKRelatedness", "SICK-R"),
    ("STS-Benchmark", "STSB"), ("STS-B", "STSB"),
])  # fmt: skip
def test_a_task_is_found_by_the_names_that_people_give_it_and_an_unknown_one_lists_the_choices(name, meant) -> None:
    assert canonical_names([name, meant]) == [meant]
    with pytest.raises(InputError, match="SST: no such downstream task; did you mean SST-5"):
        canonical_names([name, "SST"])
