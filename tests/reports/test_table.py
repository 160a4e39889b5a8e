"""Tables of scores: every number that was written is read back, and notes say what a row is of."""

import re
from dataclasses import replace

import numpy as np
import pytest

from encoder_lab.reports.correlation import scores_of
from encoder_lab.reports.evidence import evidence_of
from encoder_lab.reports.models import models_of
from encoder_lab.reports.published import SCORES_FILE as PUBLISHED_SCORES
from encoder_lab.reports.published import SOURCES, published
from encoder_lab.reports.runs import mean_of_seeds
from encoder_lab.reports.scores import read_runs
from encoder_lab.reports.table import TableCell, group_cells, probing_table
from encoder_lab.reports.terminal import table_text
from encoder_lab.reports.training_table import training_table
from encoder_lab.storage.csv_files import read_csv
from probes.results import Answers, read_rows, write_rows
from probes.statistics import mean_of_runs
from report import main
from tests.reports.small_runs import (
    SCORES,
    evaluation_of,
    models,
    of_a_run,
    run_of,
    score_row,
    with_rows,
    with_settings,
)

PROBES = "probes:\n  classifier:\n    protocol: modern\n"


@pytest.mark.parametrize(("epoch", "dev", "named"), [
    ("9", (5.0, 9.0, 7.0), True), ("best", (1.0, 2.0, 3.0, 4.0), True), ("last", (4.0, 3.0, 2.0, 1.0), True),
    *((epoch, (5.0, 9.0, 7.0), False) for epoch in ("best", "last", "2")),
])  # fmt: skip
def test_a_model_that_has_no_scores_of_an_epoch_is_named_and_no_other(tmp_path, epoch, dev, named) -> None:
    notes = probing_table(models(run_of(tmp_path / "a", dev=dev)), "probing", epoch).notes
    sentence = "At epoch 3, as the requested one has no scores: BiLSTM-max, NMT En-Fr."
    assert [note for note in notes if note.startswith("At epoch")] == [sentence] * named


def test_an_evaluation_of_what_has_no_epochs_lacks_none(tmp_path) -> None:
    evaluated = [evaluation_of(tmp_path / name, name, "probing", epoch=0, task="WC") for name in ("bov", "majority")]
    notes = probing_table(models(run_of(tmp_path / "a"), *evaluated), "probing", "2").notes
    assert not [note for note in notes if note.startswith("At epoch")]


def test_a_table_without_the_requested_classifier_names_the_one_it_has(tmp_path) -> None:
    notes = probing_table(models(run_of(tmp_path / "a")), "probing", classifier="logreg").notes
    assert notes[0] == "Test scores in %, by MLP (none by logistic regression), best epoch of each run."
    assert not [note for note in notes if note.startswith("By ")]


def test_where_one_model_alone_has_no_such_classifier_it_is_named(tmp_path) -> None:
    lacking, having = run_of(tmp_path / "a"), run_of(tmp_path / "b", encoder="bilstm_last")
    write_rows(having / "probes.csv", [score_row("WC", 1, reader="logreg")])
    notes = probing_table(models(lacking, having), "probing", classifier="logreg").notes
    assert notes[1:3] == ["By MLP: SentLen, BShift.", "By MLP: WC (BiLSTM-max, NMT En-Fr)."]


def test_of_two_protocols_each_is_named_with_its_models_and_a_baseline_has_none(tmp_path) -> None:
    texts = {"bilstm_max": PROBES, "bilstm_last": PROBES.replace("modern", "senteval"), "baseline": PROBES}
    reported = models(*(with_settings(run_of(tmp_path / name, encoder=name), text) for name, text in texts.items()))
    both = "protocol=modern (BiLSTM-max, NMT En-Fr), protocol=senteval (BiLSTM-last, NMT En-Fr)"
    for count, ours in ((1, "protocol=modern"), (3, both)):
        notes = probing_table(reported[:count], "probing").notes
        assert f"Our classifiers: {ours}; the papers': protocol=senteval." in notes


def test_scores_that_no_classifier_makes_have_no_protocol(tmp_path) -> None:
    for name, suite, reader in (("a", "geometry", "dimensions"), ("b", "coherence", "surprisal")):
        row = score_row("TwoNN", 9, suite=suite, reader=reader)
        folder = with_rows(with_settings(run_of(tmp_path / name), PROBES), row)
        notes = " ".join(probing_table(models(folder), suite, published_names=[]).notes)
        assert "classifiers" not in notes


def test_notes_name_changed_settings_and_folds_and_the_papers_only_next_to_their_scores(tmp_path) -> None:
    text = f"{PROBES}    batch: 128\n    tenacity: 5\n    l2: [0.1]\n".replace("modern", "senteval")
    reported = models(evaluation_of(tmp_path / "a", "hf:name", settings=text))
    ours = "Our classifiers: protocol=senteval, l2=[0.1], batch=128, 10 folds"
    assert f"{ours}; the papers': protocol=senteval." in probing_table(reported, "downstream").notes
    assert f"{ours}." in probing_table(reported, "downstream", published_names=[]).notes


def test_dev_scores_are_in_the_printed_table_where_dev_chose(tmp_path) -> None:
    chosen = score_row("Tense", 60, dev_accuracy=61.24)
    rows = [chosen, replace(chosen, task="WC", classifier="majority", dev_accuracy=99.0)]
    folder = with_rows(run_of(tmp_path / "a"), *rows)
    printed = table_text(probing_table(models(folder), "probing", published_names=[])).splitlines()
    (dev,) = [line for line in printed if line.startswith("    on dev")]
    assert dev.split() == ["on", "dev", "61.2"]
    assert printed[0].index("Tense") + len("Tense") == len(dev)


@pytest.mark.parametrize(("task", "message"), [
    ("STSB", "STSB: Pearson's r times 100; the others: accuracy."),
    ("STS12", "STS12: Pearson's r times 100 (STS12: the mean of its parts' r); the others: accuracy."),
])  # fmt: skip
def test_a_correlation_among_the_downstream_scores_is_said_to_be_one(tmp_path, task, message) -> None:
    table = probing_table(models(evaluation_of(tmp_path / "a", "hf:name", task=task)), "downstream")
    assert table.notes[0] == "Test scores in %, as evaluated."
    assert message in table.notes


def test_baselines_do_not_compete_and_of_them_a_bag_of_vectors_alone_is_an_embedding(tmp_path) -> None:
    reported = models(*(run_of(tmp_path / name, encoder=name) for name in ("bilstm_max", "baseline", "bov")))
    table = probing_table(reported, "probing", published_names=[])
    assert [row.competes for row in table.rows] == [True, False, False]
    assert list(scores_of(table)) == ["BiLSTM-max NMT En-Fr", "BoV NMT En-Fr"]


def test_tables_and_findings_have_one_interval_of_the_mean_over_seeds(tmp_path) -> None:
    squares = [float(seed * seed) for seed in range(3)]
    runs = [run_of(tmp_path / str(s), seed=s, more=more, dev=(0.0, 52 + more)) for s, more in enumerate(squares)]
    _, low, high = mean_of_runs([(52 + more, 50 + more, 54 + more) for more in squares])
    begun = run_of(tmp_path / "begun", seed=3, dev=())
    probing = probing_table(models(*runs), "probing", published_names=[])
    (point,) = [points["WC"] for points in evidence_of(models(*runs)).probing.values()]
    assert probing.rows[0].cells["WC"][1:3] == (low, high)
    assert point.margin == pytest.approx((high - low) / 2)
    assert f"±{(high - low) / 2:.1f}" in table_text(probing)
    assert re.search("^Models with 3.*the test items and of the seeds \\(t\\)[.]$", "\n".join(probing.notes), re.M)
    # of the seeds that have a score; metrics.csv has no interval of the items
    notes = training_table(models(*runs, begun), []).notes
    assert notes[-1] == "Models with 3 seeds: their mean with its 95% interval, of the seeds (t)."


def test_bold_is_never_across_test_sets_or_classifiers_and_a_note_says_so(tmp_path) -> None:
    tests = [("t", "mlp"), ("t", "mlp"), ("u", "mlp"), ("t", "logreg")]
    for place, (test, classifier) in enumerate(tests):
        row = score_row("WC", 60 + place, reader=classifier, answers=Answers(test, np.arange(9) < 5 + place))
        with_rows(run_of(tmp_path / str(place), encoder=f"model{place}"), row)
    table = probing_table(models(*sorted(tmp_path.iterdir())), "probing", published_names=[])
    assert [table.best(row, "WC") for row in table.rows] == [False, True, False, False]
    notes = " ".join(table.notes)
    assert "WC: rows are of different test sentences, or by different classifiers: do not compare them" in notes
    assert "Bold or *: the best encoder" in notes
    scored = score_row("WC", 9, answers=Answers("v", np.ones(9, bool)))
    seeds = [with_rows(run_of(tmp_path / f"seed {k}", f"model{k}", 2), scored) for k in (0, 1)]
    for test, apart in (("t", False), ("u", True)):
        row = replace(scored, classifier="length", answers=Answers(test, np.ones(9, bool)))
        baseline = with_rows(run_of(tmp_path / f"baseline {test}", "baseline"), row)
        alike = probing_table(models(tmp_path / "0", tmp_path / "1", *seeds, baseline), "probing", published_names=[])
        assert ("do not compare" in " ".join(alike.notes)) == apart


def test_a_table_says_which_rows_are_not_of_the_last_epoch(tmp_path, capsys) -> None:
    early, late = run_of(tmp_path / "a"), run_of(tmp_path / "b", "bilstm_last", dev=(1.0, 2.0, 3.0))
    of_best = evaluation_of(tmp_path / "c", "RUN", "probing", objective="nli", epoch=1, settings=of_a_run(1))
    notes = probing_table(models(early, late), "probing").notes
    assert "Scores of an epoch before the last: BiLSTM-max, NMT En-Fr (epoch 2 of 3)." in notes
    assert main(["compare", str(early), str(late)]) == 0
    assert "Scores of an epoch before the last: BiLSTM-max, NMT En-Fr (epoch 2 of 3)." in capsys.readouterr().out
    notes = probing_table(models(of_best), "probing", "last").notes
    assert notes[0].endswith("as evaluated.")
    assert "Scores of an epoch before the last: BiLSTM-max, NLI (epoch 1 of 5)." in notes
    bag = evaluation_of(tmp_path / "d", "RUN", "probing", objective="untrained", epoch=0, settings=of_a_run(1))
    assert not any("before the last" in note for note in probing_table(models(bag), "probing", "last").notes)


def test_scores_with_a_unit_are_not_called_test_scores(tmp_path) -> None:
    loss = score_row("Tense", 9, "use", "loss")
    table = probing_table(models(with_rows(run_of(tmp_path / "a"), loss)), "use")
    assert table.notes[0] == "Scores in nats/1000, best epoch of each run."


def test_a_table_of_discoeval_has_the_mean_of_probing_and_groups_of_sentevals_tasks_where_all_are_scored(
    tmp_path,
) -> None:
    run = run_of(tmp_path / "run")
    scored = [evaluation_of(tmp_path / "discoeval", run, "discoeval", task="SProc")]
    tasks = {"STSB": 70, "SICK-E": 80, "SICK-R": 90, "STS12": 50, "STS13": 50}  # three of five tasks of USS lack
    scored += [evaluation_of(tmp_path / task, run, score=score, task=task) for task, score in tasks.items()]
    table = probing_table(models(run, *scored), "discoeval", epoch="last")
    cells = table.rows[0].cells
    assert list(cells) == ["SSS", "Probing", "SP"]
    assert (cells["SSS"].score, cells["Probing"].score) == (80, pytest.approx(63))  # 60 at epoch 0
    assert cells["Probing"].high - cells["Probing"].score == pytest.approx(2 / 3**0.5)
    assert "Probing: the mean over the tasks of suite=probing." in table.notes
    assert list(probing_table(models(run, scored[0]), "discoeval", epoch="last").rows[0].cells) == ["Probing", "SP"]
    assert probing_table(models(run), "probing").columns == list(SCORES)


def test_published_tables_are_complete_and_have_their_source() -> None:
    for number, size in ((2, 300), (3, 19), (5, 317)):
        scores = published(f"conneau2018_table{number}")
        assert len({(s.encoder, s.model, s.task) for s in scores}) == len(scores) == size
    assert set(SOURCES) == {row["table"] for row in read_csv(PUBLISHED_SCORES)}


@pytest.mark.parametrize(("suite", "task", "classifier", "asked", "source"), [
    ("probing", "Tense", "mlp", "mlp", "Conneau et al. 2018, Table 2"),
    ("probing", "Tense", "logreg", "logreg", "Conneau et al. 2018, Table 4"),
    ("probing", "Tense", "logreg", "mlp", "Conneau et al. 2018, Table 4"),
    ("probing", "WC", "logreg", "mlp", "Conneau et al. 2018, Table 2"),
    ("downstream", "MR", "logreg", "mlp", "Conneau et al. 2018, Table 5"),
    ("control", "Tense", "mlp", "mlp", None),
])  # fmt: skip
def test_published_scores_are_those_of_the_suite_by_our_classifier(
    tmp_path, suite, task, classifier, asked, source
) -> None:
    row = score_row(task, 60, suite, classifier)
    table = probing_table(models(with_rows(evaluation_of(tmp_path / "a", "hf:name"), row)), suite, classifier=asked)
    assert {SOURCES[row.source] for row in table.rows if row.source} == ({source} if source else set())
    assert (f"({source})" in table.notes[-1]) == (source is not None)


def test_where_the_numbers_of_seeds_differ_each_model_has_its_own(tmp_path) -> None:
    of = [run_of(tmp_path / f"{e}{s}", e, s) for e, n in (("bilstm_max", 2), ("bov", 3)) for s in range(n)]
    with_settings(of[0], "made_with: {commit: abc}\n")
    for made in (probing_table(models(*of), "probing", published_names=[]), training_table(models(*of), [])):
        assert "several (BiLSTM-max, NMT En-Fr: 2; BoV, NMT En-Fr: 3) seeds" in made.notes[-2]
        assert made.notes[-1] == "Seeds trained by different commits: BiLSTM-max, NMT En-Fr."
    with_rows(of[1], read_rows(of[1] / "probes.csv")[0])  # SentLen alone
    assert "BiLSTM-max, NMT En-Fr: 1-2; BoV" in probing_table(models(*of), "probing", published_names=[]).notes[-2]


def test_a_measure_is_of_the_items_of_its_task(tmp_path) -> None:
    made = [score_row("WC", 50, suite, epoch=1) for suite in ("probing", "selectivity")]
    for name, encoder in (("one", "bilstm_max"), ("other", "bilstm_last")):
        scored = replace(made[0], answers=Answers(name, np.ones(4, bool)))
        with_rows(run_of(tmp_path / name, encoder), scored, made[1])
    hard = replace(made[0], suite="hard", answers=Answers("hard", np.ones(2, bool)))
    scored = replace(made[0], answers=Answers("one", np.ones(4, bool)))
    with_rows(run_of(tmp_path / "more", "esn"), scored, made[1], hard)
    for others, apart in (("other", True), ("more", False)):
        table = probing_table(models(tmp_path / "one", tmp_path / others), "selectivity", published_names=[])
        assert any(note.startswith("WC: rows are of different test sentences") for note in table.notes) == apart
        assert not any(table.best(row, "WC") for row in table.rows) or not apart
        assert table.notes[0] == "Scores in points, best epoch of each run."


@pytest.mark.parametrize(("suite", "best"), [("probing", 1), ("selectivity", 1), ("control", 0), ("use", 0)])
def test_where_a_higher_score_is_no_better_one_none_is_the_best(tmp_path, suite, best) -> None:
    for encoder, score in (("bilstm_max", 50), ("bilstm_last", 60)):
        with_rows(run_of(tmp_path / encoder, encoder), score_row("WC", score, suite))
    table = probing_table(models(*tmp_path.glob("*")), suite, published_names=[])
    assert sum(table.best(row, "WC") for row in table.rows) == best


def test_the_interval_over_seeds_ends_where_the_scores_of_the_task_do() -> None:
    rows = [score_row("WC", score, half=1) for score in (99, 20)]
    counted, correlated = ([replace(row, answers=Answers("a", np.ones(n, bool))) for row in rows] for n in (4, 0))
    assert mean_of_seeds(counted) == (59.5, 0.0, 100.0)
    assert mean_of_seeds(rows) == mean_of_seeds(correlated) == (59.5, -100.0, 100.0)
    sizes = [replace(row, suite="geometry", classifier="dimensions") for row in rows]
    assert mean_of_seeds(sizes)[1] == mean_of_seeds([replace(row, task="IsoScore") for row in sizes])[1] == 0.0
    assert mean_of_seeds([replace(row, suite="selectivity") for row in rows]) == (59.5, -100.0, 100.0)
    nats = mean_of_seeds([replace(row, suite="use", classifier="loss") for row in rows])
    assert (nats[1] < -100, nats[2] > 100) == (True, True)
    seeds = [(99.0, 98.0, 99.5), (91.0, 90.0, 92.0)]
    cells = {task: TableCell(95.0, 40.0, 100.0, runs=seeds) for task in ("SProc", "SPwiki")}
    assert group_cells(cells, {"SP": "SP"})["SP"].high == 100  # 95 and 12.7 standard errors


@pytest.mark.parametrize(("scale", "named"), [("null", True), ("1", False)])
def test_a_table_says_where_untrained_encoders_read_other_word_vectors_than_the_papers(tmp_path, scale, named) -> None:
    folder = run_of(tmp_path / "untrained")
    config = (folder / "config.yaml").read_text().replace("nmt_enfr", "untrained")
    (folder / "config.yaml").write_text(f"{config}embeddings: {{scale: {scale}, freeze: true}}\n")
    assert main(["scores", str(folder), f"out={tmp_path / 'scores.csv'}"]) == 0
    for reported in (models(folder), models_of(read_runs([tmp_path / "scores.csv"]))):
        assert ("Word vectors with mean square 1" in " ".join(probing_table(reported, "probing").notes)) == named


def test_a_table_says_which_tasks_have_less_test_items_than_were_published(tmp_path) -> None:
    run = run_of(tmp_path / "a")
    rows = read_rows(run / "probes.csv")
    answers = {task: Answers(task, np.ones(items, dtype=bool)) for task, items in (("SentLen", 500), ("WC", 10_000))}
    write_rows(run / "probes.csv", [replace(row, answers=answers.get(row.task)) for row in rows])
    notes = probing_table(models(run), "probing").notes
    assert "500 test items, 10,000 published, so do not compare: SentLen." in notes
    assert "published, so" not in " ".join(probing_table(models(run), "probing", published_names=[]).notes)


def test_the_items_of_all_tasks_of_a_group_are_compared_with_the_published_ones(tmp_path) -> None:
    sizes = {"SParxiv": 4000, "SProc": 4000, "SPwiki": 4000, "BSOroc": 4000, "DCchat": 2418, "RST": 100}
    tests = {task: Answers(task, np.ones(items, dtype=bool)) for task, items in sizes.items()}
    run = with_rows(run_of(tmp_path / "a"), *(score_row(t, 50, "discoeval", answers=a) for t, a in tests.items()))
    notes = [n.partition(" test")[::2] for n in probing_table(models(run), "discoeval").notes if "published, so" in n]
    assert [(count, rest.split(": ")[1]) for count, rest in notes] == [
        ("4,000", "BSO."), ("2,418", "DC."), ("100", "RST-DT."),
    ]  # fmt: skip
