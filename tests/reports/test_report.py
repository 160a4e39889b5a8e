"""report.py on small run folders: every number that was written is read back."""

import csv
import html
import io
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from encoder_lab.errors import InputError
from encoder_lab.reports.claims import CLAIMS
from encoder_lab.reports.commands import model_panel
from encoder_lab.reports.correlation import chart_of_correlations, correlate, holm_adjusted, scores_of
from encoder_lab.reports.curves import charts_by_task
from encoder_lab.reports.evidence import evidence_of, published_evidence
from encoder_lab.reports.findings import check_claims
from encoder_lab.reports.formats import as_csv, latex, markdown
from encoder_lab.reports.models import models_of
from encoder_lab.reports.page import TABLE_FORMATS, html_page
from encoder_lab.reports.published import SCORES_FILE as PUBLISHED_SCORES
from encoder_lab.reports.published import SOURCES, published
from encoder_lab.reports.runs import mean_of_seeds, read_run
from encoder_lab.reports.scores import read_runs
from encoder_lab.reports.sizes import SIZES, charts_by_size, group_by_size
from encoder_lab.reports.table import Table, TableCell, TableRow, group_cells, probing_table
from encoder_lab.reports.terminal import table_text
from encoder_lab.reports.training_table import training_table
from encoder_lab.storage.csv_files import read_csv
from probes.classifiers.grid import FRONT
from probes.results import Answers, ProbeRow, read_rows, write_rows
from probes.statistics import mean_of_runs
from report import FORMATS as OFFERED
from report import REPORTS, main
from tests.packages import ROOT
from tests.reports.small_runs import SCORES, evaluation_of, models, of_a_run, run_of, with_rows, with_settings

PROBES = "probes:\n  classifier:\n    protocol: modern\n"
RATE = "objective:\n  optimizer:\n    lr: {}\n"


@pytest.mark.parametrize(("epoch", "dev", "named"), [
    ("9", (5.0, 9.0, 7.0), True), ("best", (1.0, 2.0, 3.0, 4.0), True), ("last", (4.0, 3.0, 2.0, 1.0), True),
    *((epoch, (5.0, 9.0, 7.0), False) for epoch in ("best", "last", "2")),
])  # fmt: skip
def test_a_model_that_has_no_scores_of_an_epoch_is_named_and_no_other(tmp_path, epoch, dev, named) -> None:
    notes = probing_table(models(run_of(tmp_path / "a", dev=dev)), "probing", epoch).notes
    sentence = "At epoch 3, as the requested one has no scores: BiLSTM-max, NMT En-Fr."
    assert [note for note in notes if note.startswith("At epoch")] == [sentence] * named


def test_a_table_without_the_requested_classifier_names_the_one_it_has(tmp_path) -> None:
    notes = probing_table(models(run_of(tmp_path / "a")), "probing", classifier="logreg").notes
    assert notes[0] == "Test scores in %, by MLP (none by logistic regression), best epoch of each run."
    assert not [note for note in notes if note.startswith("By ")]


def test_where_one_model_alone_has_no_such_classifier_it_is_named(tmp_path) -> None:
    lacking, having = run_of(tmp_path / "a"), run_of(tmp_path / "b", encoder="bilstm_last")
    write_rows(having / "probes.csv", [ProbeRow(2, 2, "probing", "WC", "logreg", 1, 1, 1, 1, {}, 1, 0.1)])
    notes = probing_table(models(lacking, having), "probing", classifier="logreg").notes
    assert notes[1:3] == ["By MLP: SentLen, BShift.", "By MLP: WC (BiLSTM-max, NMT En-Fr)."]


def test_of_two_protocols_each_is_named_with_its_models_and_a_baseline_has_none(tmp_path) -> None:
    texts = {"bilstm_max": PROBES, "bilstm_last": PROBES.replace("modern", "senteval"), "baseline": PROBES}
    reported = models(*(with_settings(run_of(tmp_path / name, encoder=name), text) for name, text in texts.items()))
    both = "protocol=modern (BiLSTM-max, NMT En-Fr), protocol=senteval (BiLSTM-last, NMT En-Fr)"
    for count, ours in ((1, "protocol=modern"), (3, both)):
        notes = probing_table(reported[:count], "probing").notes
        assert f"Our classifiers: {ours}; the papers': protocol=senteval." in notes


def test_notes_name_changed_settings_and_folds_and_the_papers_only_next_to_their_scores(tmp_path) -> None:
    text = f"{PROBES}    batch: 128\n    tenacity: 5\n    l2: [0.1]\n".replace("modern", "senteval")
    reported = models(evaluation_of(tmp_path / "a", "hf:name", settings=text))
    ours = "Our classifiers: protocol=senteval, l2=[0.1], batch=128, 10 folds"
    assert f"{ours}; the papers': protocol=senteval." in probing_table(reported, "downstream").notes
    assert f"{ours}." in probing_table(reported, "downstream", published_names=[]).notes


def test_a_run_of_before_the_classifiers_settings_were_named_is_of_the_same_model(tmp_path) -> None:
    defaults = f"{PROBES}    batch: 64\n    optimiser: adam\n    block_mb: null\ncorpus: {{source_language: en}}\n"
    texts = [PROBES, defaults, f"{PROBES}    batch: 32\n"]
    reported = models(*(with_settings(run_of(tmp_path / str(s), seed=s), text) for s, text in enumerate(texts)))
    assert [len(model.runs) for model in reported] == [2, 1]


def test_dev_scores_are_in_the_printed_table_where_dev_chose(tmp_path) -> None:
    rows = [
        ProbeRow(2, 2, "probing", task, reader, dev, 60, 58, 62, {}, 1, 0.1)
        for task, reader, dev in (("Tense", "mlp", 61.24), ("WC", "majority", 99.0))
    ]
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


@pytest.mark.parametrize(("score", "highest"), [("val/bleu", 100.0), ("val/perplexity", 100.1)])
def test_an_interval_of_seeds_has_only_scores_that_can_be(tmp_path, score, highest) -> None:
    runs = [run_of(tmp_path / str(s), seed=s, dev=(float(s),) if s else (), score=score) for s in (0, 1, 99)]
    ((cell,),) = [row.cells.values() for row in training_table(models(*runs), []).rows]
    assert cell.low == 0
    assert min(cell.high, 100.1) == highest


def small_table() -> Table:
    ours = [
        TableRow("", "A_b", "one", {"WC": TableCell(50.04, 48.0, 52.0, "epoch 2")}),
        TableRow("", "A_b", "two __2__", {"WC": TableCell(50.0)}),
    ]
    quoted = [TableRow("paper", "", "Hum. Eval.", {"WC": TableCell(100.0)}, competes=False)]
    return Table("a title", ["WC", "SOMO"], [*ours, *quoted], ["A note."])


def test_each_format_holds_scores_intervals_and_bold_which_equal_ones_share_and_people_do_not_get() -> None:
    table = small_table()
    assert [table.best(row, "WC") for row in table.rows] == [True, True, False]
    diverged = replace(table, rows=[TableRow("", "A_b", "diverged", {"WC": TableCell(math.nan)}), *table.rows])
    assert [diverged.best(row, "WC") for row in diverged.rows] == [False, True, True, False]
    assert markdown(table).splitlines()[2:6] == [
        "| *A_b* | | |",
        "| one | **50.0**<br><sub>48.0–52.0</sub> |  |",
        r"| two \_\_2\_\_ | **50.0** |  |",
        "| *paper* | | |",
    ]
    lines = latex(table).splitlines()
    assert r"\multicolumn{3}{l}{\textit{A\_b}} \\" in lines
    assert lines[lines.index(r"one & \textbf{50.0} &  \\") + 1] == r" & {\tiny 48.0--52.0} &  \\"
    row, *_ = csv.DictReader(io.StringIO(as_csv(table)))  # has more digits
    assert (row["source"], row["WC"], row["WC high"], row["SOMO"]) == ("ours", "50.04", "52", "")
    assert 'title="48.0–52.0; epoch 2"><b>50.0</b>' in TABLE_FORMATS["html"](table)


@pytest.mark.parametrize("form", TABLE_FORMATS)
@pytest.mark.parametrize(("intervals", "count"), [("below", 1), ("inline", 1), ("none", 0)])
def test_intervals_stand_where_they_are_asked_for(form, intervals, count) -> None:
    interval = r"48,52" if form == "csv" else r"48\.0(?:--|–)52\.0"
    for turned in (False, True):
        text = TABLE_FORMATS[form](replace(small_table(), intervals=intervals, transposed=turned))
        assert len(re.findall(interval, re.sub('title="[^"]*"', "", text))) == count


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_a_transposed_table_has_a_row_for_each_task_and_the_same_scores(form) -> None:
    straight, turned = (TABLE_FORMATS[form](replace(small_table(), transposed=turned)) for turned in (False, True))
    score = r"50\.04|50\.0|100" if form == "csv" else r"(?<=[{>|& *])(?:50\.0|100\.0)(?=[}*<& ])"
    assert sorted(re.findall(score, straight)) == sorted(re.findall(score, turned))
    assert turned.index("WC") < turned.index("SOMO")
    assert turned.index("Hum. Eval.") < turned.index("WC")


@pytest.mark.parametrize(
    ("form", "minus"), [("markdown", "\u22121.5"), ("html", "\u22121.5"), ("latex", "$-$1.5"), ("csv", "-1.5")]
)
def test_a_score_below_zero_has_a_true_minus_sign_where_people_read_it(form, minus) -> None:
    table = Table("", ["SICK-R"], [TableRow("", "", "one", {"SICK-R": TableCell(-1.5, -3.0, 0.0)})])
    assert minus in TABLE_FORMATS[form](table)
    assert ("-1.5" in TABLE_FORMATS[form](table).replace('"-1.5000"', "")) == (form == "csv")
    zero = replace(table, rows=[TableRow("", "", "one", {"SICK-R": TableCell(-0.0, -0.0, 0.0)})])
    assert not re.search(r"((?<!-)-|\$-\$|\u2212)0", TABLE_FORMATS[form](zero).replace('"-0.0000"', ""))


def test_bold_is_never_across_test_sets_or_classifiers_and_a_note_says_so(tmp_path) -> None:
    tests = [("t", "mlp"), ("t", "mlp"), ("u", "mlp"), ("t", "logreg")]
    for place, (test, classifier) in enumerate(tests):
        answers = Answers(test, np.arange(9) < 5 + place)
        about = (2, 2, "probing", "WC", classifier, 1.0, 60.0 + place, 50, 70, {}, 1, 0.1)
        with_rows(run_of(tmp_path / str(place), encoder=f"model{place}"), ProbeRow(*about, answers))
    table = probing_table(models(*sorted(tmp_path.iterdir())), "probing", published_names=[])
    assert [table.best(row, "WC") for row in table.rows] == [False, True, False, False]
    notes = " ".join(table.notes)
    assert "WC: rows are of different test sentences, or by different classifiers: do not compare them" in notes
    assert "Bold or *: the best encoder" in notes
    scored = ProbeRow(2, 2, "probing", "WC", "mlp", 1, 9, 8, 10, {}, 1, 0.1, Answers("v", answers.right))
    seeds = [with_rows(run_of(tmp_path / f"seed {k}", f"model{k}", 2), scored) for k in (0, 1)]
    for test, apart in (("t", False), ("u", True)):
        row = replace(scored, classifier="length", answers=Answers(test, answers.right))
        baseline = with_rows(run_of(tmp_path / f"baseline {test}", "baseline"), row)
        alike = probing_table(models(tmp_path / "0", tmp_path / "1", *seeds, baseline), "probing", published_names=[])
        assert ("do not compare" in " ".join(alike.notes)) == apart


def test_chosen_tasks_are_the_columns_and_another_is_refused(tmp_path, capsys) -> None:
    runs = [str(run_of(tmp_path / str(dim), dim=dim)) for dim in (512, 1024)]
    more = ["published=none", "tasks=WC,SentLen", "intervals=none"]
    assert main(["table", *runs, *more]) == 0
    printed = capsys.readouterr().out
    assert "95%" not in printed
    assert printed.startswith("| model | WC | SentLen |")
    assert "| NMT En-Fr (dim=512) | 52.0 | 72.0 |" in printed.replace("**", "")
    assert main(["table", *runs, "tasks=Nonsense"]) == 2
    assert "tasks=Nonsense: not in this table; there are SentLen, WC, BShift" in capsys.readouterr().err
    write_rows(Path(runs[0]) / "probes.csv", [ProbeRow(2, 2, "probing", "Tense", "logreg", 1, 1, 1, 1, {}, 1, 0.1)])
    for tasks, named in (((), True), (["Tense", "WC"], True), (["WC"], False)):
        notes = probing_table(models(*map(Path, runs)), "probing", tasks=tasks).notes
        assert ("By logistic regression: Tense." in notes) == named


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
    assert not any("last epoch" in note for note in probing_table(models(bag), "probing", "last").notes)


def test_scores_with_a_unit_are_not_called_test_scores(tmp_path) -> None:
    loss = ProbeRow(2, 2, "use", "Tense", "loss", 9, 9, 8, 10, {}, 1, 0.1)
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
    row = ProbeRow(2, 2, suite, task, classifier, 1, 60, 58, 62, {}, 1, 0.1)
    table = probing_table(models(with_rows(evaluation_of(tmp_path / "a", "hf:name"), row)), suite, classifier=asked)
    assert {SOURCES[row.source] for row in table.rows if row.source} == ({source} if source else set())
    assert (f"({source})" in table.notes[-1]) == (source is not None)


@pytest.mark.parametrize("report", ["table", "training", "html"])
def test_published_scores_are_in_every_table_until_left_out(tmp_path, report) -> None:
    out = tmp_path / ("out.html" if report == "html" else "out.md")
    assert main([report, str(run_of(tmp_path / "a")), f"out={out}"]) == 0
    assert "Conneau et al. 2018, Table" in out.read_text()
    assert main([report, str(tmp_path / "a"), "published=none", f"out={out}"]) == 0
    assert "Conneau et al. 2018, Table" not in out.read_text()
    if report == "html":
        assert main(["html", str(tmp_path / "a"), "published=conneau2018_table3", f"out={out}"]) == 0
        assert set(re.findall(r"<small>(conneau2018_table\d)</small>", out.read_text())) == {"conneau2018_table3"}


def test_test_scores_of_the_best_epoch_stand_next_to_those_on_dev(tmp_path) -> None:
    run = run_of(tmp_path / "a")  # best at epoch 2
    (run / "test.csv").write_text("epoch,step,val/bleu\n0.5,1,3.0\n1,1,4.5\n2,2,8.25\n")
    first, *_, last = training_table(models(run)).rows
    scores = {name: cell.score for name, cell in first.cells.items()}
    assert scores == {"NMT En-Fr BLEU (dev)": 9.0, "NMT En-Fr BLEU": 8.25}
    assert last.cells["NMT En-Fr BLEU"].score == 39.1  # of the paper


def test_scores_on_other_corpora_are_not_compared(tmp_path) -> None:
    sizes = {"bilstm_max": 300, "bilstm_last": 300, "bov": 2000}
    runs = [run_of(tmp_path / encoder, encoder, dev=(1.0 + size,)) for encoder, size in sizes.items()]
    for run, size in zip(runs, sizes.values(), strict=True):
        with_settings(run, f"corpus: {{size: {size}}}\n")
    table = training_table(models(*runs), [])
    assert [table.best(row, *table.columns) for row in table.rows] == [True, True, False]
    assert "NMT En-Fr BLEU (dev): rows are of different corpora: do not compare them" in " ".join(table.notes)
    assert "corpora" not in " ".join(training_table(models(*runs[:2]), []).notes)
    corpora = "content: demo 300, size: 300", "content: demo 300"  # of a folder, of a file of scores
    runs = [with_settings(run_of(tmp_path / c, e), f"corpus: {{{c}}}\n") for e, c in zip(sizes, corpora, strict=False)]
    assert "corpora" not in " ".join(training_table(models(*runs), []).notes)


@pytest.mark.parametrize("dev", [(), (math.nan, math.nan)])
def test_a_model_without_a_finite_score_of_its_own_is_in_no_training_table(tmp_path, dev) -> None:
    runs = run_of(tmp_path / "a", dev=dev), run_of(tmp_path / "b", encoder="bilstm_last")
    assert [row.name for row in training_table(models(*runs), []).rows] == ["BiLSTM-last"]
    assert main(["html", str(runs[0]), f"out={tmp_path / 'page.html'}"]) == 0


def test_the_papers_own_numbers_show_its_findings() -> None:
    matrix = correlate(*(scores_of(probing_table([], suite)) for suite in ("probing", "downstream")))
    assert matrix.models.max() == 25
    assert (matrix.rho[matrix.probing.index("WC")] > 0).all()
    assert (matrix.rho[matrix.probing.index("SentLen")] < 0).mean() > 0.5  # most, says the paper
    signs = {matrix.probing[i]: np.sign(matrix.rho[i, j]) for i, j in np.argwhere(matrix.significant)}
    assert signs == {"WC": 1, "SentLen": -1}


def test_a_comparison_is_the_same_on_the_page_and_in_the_text() -> None:
    findings = check_claims(CLAIMS, published_evidence())
    page = html.unescape(html_page("", [], findings=findings))
    assert all(str(comparison) in page for finding in findings for comparison in finding.comparisons)


def test_insignificant_cells_have_no_colour() -> None:
    rng = np.random.default_rng(0)
    first = {f"m{i}": {"WC": float(i), "SOMO": float(rng.random())} for i in range(20)}
    matrix = correlate(first, {f"m{i}": {"MR": float(i) ** 2} for i in range(20)})
    assert matrix.significant.tolist() == [[True], [False]]
    assert chart_of_correlations(matrix).charts[0].shades.tolist() == [[1], [0.5]]


def test_a_correlation_says_of_how_many_models_it_is_and_needs_four() -> None:
    same = {f"m{i}": {"WC": float(i), "MR": float(i)} for i in range(5)}
    assert correlate(same, same).p_value[0, 0] == pytest.approx(2 / 120)
    with pytest.raises(InputError, match="needs 4"):
        correlate({"m": {"WC": 1.0}}, {"m": {"MR": 1.0}})
    scores = {f"m{i}": {"WC": float(i), **({"Tense": float(i)} if i else {})} for i in range(6)}
    scores["m6"] = {"WC": math.nan, "Tense": math.nan}
    matrix = correlate(scores, {name: {"MR": 1.0 * place} for place, name in enumerate(scores)})
    assert matrix.models.tolist() == [[6], [5]]
    (chart,) = chart_of_correlations(matrix).charts
    assert chart.title == "Spearman's ρ over 5 to 6 models"
    assert chart.hover[1] == ["ρ 1.00, p 0.0167, 5 models"]


def test_holm_rejects_step_by_step_and_counts_no_test_that_could_not_be_made() -> None:
    # limits .0125 .0167 .025 .05
    held = holm_adjusted(np.array([[0.010, 0.04, np.nan], [0.030, 0.005, np.nan]])) <= 0.05
    assert held.tolist() == [[True, False, False], [False, True, False]]


@pytest.mark.usefixtures("plain_layout")
@pytest.mark.parametrize("report", ["curves", "curves overlay=true", "size", "order"])
def test_figures_are_written_and_stopped_runs_are_named(tmp_path, report, capsys) -> None:
    runs = [str(run_of(tmp_path / str(dim), dim=dim)) for dim in (512, 1024)]
    for run in runs:
        with_settings(Path(run), "trainer: {max_epochs: 5}\n")
    assert main([*report.split(), *runs, f"out={tmp_path / 'figure.png'}"]) == 0
    assert "Training was stopped, or goes on: BiLSTM-max, NMT En-Fr (" in capsys.readouterr().err
    assert Image.open(tmp_path / "figure.png").width > 1000


def test_the_page_needs_nothing_but_itself_and_its_points_tell_their_values(tmp_path) -> None:
    out = tmp_path / "page.html"
    assert main(["html", str(run_of(tmp_path / "a")), f"out={out}"]) == 0
    text = out.read_text()
    claims, _, folded = text.partition("<h2>which published findings hold")[2].rpartition("<details>")
    assert "no scores for it" not in claims
    assert f"No scores for {folded.count('<li>')} of {len(CLAIMS)} claims" in folded
    head, _, data = text.partition("</script>")  # Plotly is before it
    assert not re.search(r'(src|href)="(?!#)', re.sub("<script>.*", "", head, flags=re.DOTALL) + data)
    assert "BiLSTM-max, NMT En-Fr\\u003cbr>epoch 3: 53.00 [51.00, 55.00]" in data
    assert text.count("<section") == text.count('<a href="#part')
    assert "1 of 1 models have one seed" in claims


def test_the_menu_of_runs_reaches_each_score_of_the_table_of_training(tmp_path) -> None:
    table = training_table(models(run_of(tmp_path / "a"), run_of(tmp_path / "b", objective="nmt_enfi")), [])
    page = html_page("", [table])
    assert all(f'data-model="BiLSTM-max, NMT {pair}" data-value=' in page for pair in ("En-Fr", "En-Fi"))


def test_the_page_of_models_without_epochs_has_no_section_by_epoch(tmp_path) -> None:
    bov = evaluation_of(tmp_path / "bov", "bov")
    assert main(["html", str(bov), f"out={tmp_path / 'page.html'}"]) == 0
    assert "by epoch" not in (tmp_path / "page.html").read_text()
    assert main(["curves", "overlay=true", str(bov), f"out={tmp_path / 'curves.png'}"]) == 2
    assert main(["html", str(bov), str(run_of(tmp_path / "a")), f"out={tmp_path / 'page.html'}"]) == 0
    assert "probing by epoch: each task" in (tmp_path / "page.html").read_text()


def test_the_page_has_what_the_runs_allow(tmp_path) -> None:
    out = tmp_path / "page.html"
    runs = [str(run_of(tmp_path / str(dim), dim=dim)) for dim in (512, 1024)]
    assert main(["html", *runs[:1], f"out={out}"]) == 0
    assert "by size" not in out.read_text()
    assert main(["html", *runs, f"out={out}"]) == 0
    text = out.read_text()
    assert "by size of the sentence vector" in text
    assert f"{SIZES} 1024: 52.00 [50.00, 54.00]" in text
    assert "probing against downstream" not in text  # nothing downstream was scored
    assert all(html.escape(finding.claim) in text for finding in check_claims(CLAIMS, published_evidence()))


def test_where_the_numbers_of_seeds_differ_each_model_has_its_own(tmp_path) -> None:
    of = [run_of(tmp_path / f"{e}{s}", e, s) for e, n in (("bilstm_max", 2), ("bov", 3)) for s in range(n)]
    with_settings(of[0], "made_with: {commit: abc}\n")
    for made in (probing_table(models(*of), "probing", published_names=[]), training_table(models(*of), [])):
        assert "several (BiLSTM-max, NMT En-Fr: 2; BoV, NMT En-Fr: 3) seeds" in made.notes[-2]
        assert made.notes[-1] == "Seeds trained by different commits: BiLSTM-max, NMT En-Fr."
    with_rows(of[1], read_rows(of[1] / "probes.csv")[0])  # SentLen alone
    assert "BiLSTM-max, NMT En-Fr: 1-2; BoV" in probing_table(models(*of), "probing", published_names=[]).notes[-2]


@pytest.mark.parametrize(("settings", "note"), [
    ("trainer: {max_epochs: 5}\n", "BiLSTM-max, NMT En-Fr (3 of 5 epochs)"),
    ("trainer: {max_epochs: 3}\n", ""),
    ("trainer: {max_epochs: -1}\n", ""),
    ("trainer: {max_epochs: 5, max_steps: 9}\n", ""),
    ("trainer: {max_epochs: 5}\nearly_stopping: {patience: 1}\n", ""),
])  # fmt: skip
def test_a_run_that_was_stopped_is_named_in_tables_and_findings(tmp_path, settings, note) -> None:
    run = models(with_settings(run_of(tmp_path / "run"), settings))
    tables = probing_table(run, "probing", published_names=[]), training_table(run, [])
    for notes in (*(table.notes for table in tables), evidence_of(run).notes):
        assert [n for n in notes if "stopped" in n] == ([f"Training was stopped, or goes on: {note}."] if note else [])


def test_models_told_apart_by_a_path_have_its_end_in_their_name(tmp_path) -> None:
    folders = [with_settings(run_of(tmp_path / n), f"text: /a/long/path/{n}.txt\n") for n in ("one", "two")]
    assert [model.variant for model in models(*folders)] == ["(text=one.txt)", "(text=two.txt)"]


def test_names_and_colours_of_new_parts_come_from_their_settings(tmp_path) -> None:
    labels = '{labels: {encoder: Gated mean, objective: SimCSE, colour: "#6A3D9A"}}'
    first = with_settings(run_of(tmp_path / "a"), f"{labels[1:-1]}\n")
    named, ours = models(first, run_of(tmp_path / "b", encoder="bilstm_last"))
    assert (named.title, ours.title) == ("Gated mean, SimCSE", "BiLSTM-last, NMT En-Fr")
    charts = charts_by_task([model_panel(model, "probing", "mlp", "") for model in (named, ours)]).charts
    assert [line.look[0] for line in charts[0].series] == ["#6A3D9A", "#D62728"]
    (scored,) = models(evaluation_of(tmp_path / "c", "gone", settings=f"run: {labels}\n"))
    assert (scored.title, scored.colour) == (named.title, named.colour)


@pytest.mark.parametrize("key", ["labels", "run: {labels"])
def test_a_colour_that_no_picture_can_draw_is_refused(tmp_path, key) -> None:
    run = with_settings(run_of(tmp_path / "a"), f'{key}: {{colour: "#6A3D9A\\n"}}{"}" * key.count("{")}\n')
    with pytest.raises(InputError, match=r"config.yaml: (run\.)?labels.colour is '#6A3D9A"):
        read_run(run)


def test_a_rate_may_follow_the_size_but_two_rates_of_a_size_are_two_models(tmp_path) -> None:
    rates = {512: 0.001, 1024: 0.0005}
    runs = [with_settings(run_of(tmp_path / str(dim), dim=dim), RATE.format(rate)) for dim, rate in rates.items()]
    assert [model.sizes for model in group_by_size(map(read_run, runs))] == [[512, 1024]]
    other = with_settings(run_of(tmp_path / "other", dim=512), RATE.format(0.0005))
    sized = group_by_size(map(read_run, [*runs, other]))
    assert sorted((model.sizes, model.title) for model in sized) == [
        ([512], "BiLSTM-max, NMT En-Fr (objective.optimizer.lr=0.001)"),
        ([512, 1024], "BiLSTM-max, NMT En-Fr (objective.optimizer.lr=0.0005)"),
    ]


def test_a_measure_is_of_the_items_of_its_task(tmp_path) -> None:
    made = [ProbeRow(1, 1, suite, "WC", "mlp", 50, 50, 49, 51, {}, 1, 0.1) for suite in ("probing", "selectivity")]
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


def test_the_interval_of_a_share_of_right_answers_stays_within_0_and_100() -> None:
    rows = [ProbeRow(1, 1, "probing", "WC", "mlp", 50, score, score - 1, score + 1, {}, 1, 0.1) for score in (99, 20)]
    low, high = mean_of_seeds(rows)[1:]
    assert (low < 0, high > 100) == (True, True)
    counted = [replace(row, answers=Answers("a", np.ones(4, bool))) for row in rows]
    assert mean_of_seeds(counted) == (59.5, 0.0, 100.0)
    assert mean_of_seeds([replace(row, answers=Answers("a", np.ones(0, bool))) for row in rows])[1:] == (low, high)
    seeds = [(99.0, 98.0, 99.5), (91.0, 90.0, 92.0)]
    cells = {task: TableCell(95.0, 40.0, 100.0, runs=seeds) for task in ("SProc", "SPwiki")}
    assert group_cells(cells, {"SP": "SP"})["SP"].high == 100  # 95 and 12.7 standard errors


def test_each_unit_of_a_suite_has_its_own_axis_of_sizes(tmp_path) -> None:
    units = {"EffRank": "dimensions", "IsoScore": "percent"}
    rows = [ProbeRow(1, 1, "geometry", task, unit, 300, 300, 299, 301, {}, 1, 0.1) for task, unit in units.items()]
    runs = [with_rows(run_of(tmp_path / str(dim), dim=dim), *rows) for dim in (512, 1024)]
    charts = charts_by_size(group_by_size(map(read_run, runs)), "geometry", "last", "mlp").charts
    names = {"dimensions": "EffRank", "geometry of the vectors (%)": "IsoScore"}
    assert {chart.y.label: chart.series[0].name for chart in charts} == names


def test_sizes_are_compared_on_a_suite_that_evaluations_scored(tmp_path, capsys) -> None:
    runs = [run_of(tmp_path / str(dim), dim=dim) for dim in (512, 1024)]
    scored = [evaluation_of(tmp_path / f"of {run.name}", run) for run in runs]
    bov = evaluation_of(tmp_path / "bov", "bov")
    paths = [str(path) for path in (*runs, *scored, bov)]
    assert main(["size", *paths, "suite=downstream", f"out={tmp_path / 'size.png'}"]) == 0
    early = "; ".join(f"BiLSTM-max, NMT En-Fr (dim={dim}) (epoch 2 of 3)" for dim in (512, 1024))
    assert capsys.readouterr().err == f"left out, no encoder.dim: {bov}\nScores of an epoch before the last: {early}.\n"


def test_evaluations_of_seeds_are_no_curve_though_their_epochs_differ(tmp_path) -> None:
    of_seeds = [evaluation_of(tmp_path / str(k), f"run_{k}", epoch=k, settings=of_a_run(k)) for k in (1, 2, 3)]
    runs = [run_of(tmp_path / f"run {k}", seed=k) for k in (1, 2, 3)]
    of_runs = [evaluation_of(tmp_path / f"of {k}", run, epoch=k) for k, run in enumerate(runs, 1)]
    for folders in (of_seeds, [*runs, *of_runs]):
        (line,) = model_panel(*models(*folders), "downstream", "mlp", "").lines
        assert (len(line.x), line.y[0][0]) == (1, 80)
    for k, run in enumerate(runs, 1):
        with_rows(run, *(row for row in read_rows(run / "probes.csv") if row.task != "BShift" or row.epoch == k))
    lines = model_panel(*models(*runs), "probing", "mlp", "").lines
    assert [(line.name, line.x) for line in lines] == [("SentLen", [0, 1, 2, 3]), ("WC", [0, 1, 2, 3]), ("BShift", [3])]


@pytest.mark.usefixtures("plain_layout")
@pytest.mark.parametrize("report", ["pareto", "size", "correlation"])
def test_a_picture_of_another_epoch_than_the_requested_one_says_so(tmp_path, report, capsys) -> None:
    runs = [run_of(tmp_path / f"{dim}", dim=dim) for dim in (512, 1024, 2048, 4096)]
    for at, run in enumerate(runs):
        items = Answers(f"test of {at // 2}", np.ones(9, bool))
        rows = read_rows(run / "probes.csv")
        with_rows(run, *(replace(row, hyperparameters={FRONT: [[9, 60.0]]}, answers=items) for row in rows))
        evaluation_of(tmp_path / f"of {run.name}", run)
    assert main([report, str(tmp_path), "epoch=9", f"out={tmp_path / 'picture.svg'}"]) == 0
    printed = capsys.readouterr().err
    assert printed.startswith("At epoch 3, as the requested one has no scores: BiLSTM-max, NMT En-Fr (")
    assert ("BShift: rows are of different test sentences" in printed) == (report == "correlation")


def test_reports_start_without_torch_and_matplotlib_and_offer_the_formats_that_there_are() -> None:
    assert set(OFFERED) == TABLE_FORMATS.keys()
    code = "import sys, report, encoder_lab.reports.commands; sys.exit(bool({'torch', 'matplotlib'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_of_nothing_asks_for_runs(capsys, report) -> None:
    assert main([report]) == 2
    assert "give run folders" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "message"), [
    (["table", "{none}"], "no such folder"),
    (["table", "{run}", "suite=nonsense"], "no scores of the suite 'nonsense'; there are probing"),
    (["table", "{run}", "suite=downstream"], "no scores of the suite 'downstream'; there are probing"),
    (["table", "{run}", "published=nonsense"], "no published table 'nonsense'"),
    (["training", "{run}", "published=conneau2018_table2"], "conneau2018_table2: it has no score of these tasks"),
    (["table", "{run}", "out=a.csv"], "out=a.csv: give a name that ends in .md or .txt, or another format= than mark"),
    (["correlation", "{run}"], "no scores of the suite 'downstream'"),
    (["size", "{run}"], "no runs differ only in encoder.dim"),
    (["training", "{untrained}"], "no run has a score"),
    (["use", "{run}"], "no run has scores of suite=use"),
    (["order", "{early}"], "no run has scores of suite=probing at three steps"),
    (["stability", "{run}"], "4 models in common; evaluate the same models again"),
    (["scores", "{begun}"], "no run has scores yet"),
    (["table", "{broken}"], "probes.csv:2: epoch is 'x'"),
    (["table", "{metrics}"], "metrics.csv:2: val/bleu is 'high'"),
    (["table", "{config}"], "config.yaml:2: not YAML"),
])  # fmt: skip
def test_errors_that_the_user_can_fix_are_one_line(tmp_path, capsys, arguments, message) -> None:
    names = ("run", "broken", "metrics", "config", "untrained", "begun", "early")
    runs = {name: run_of(tmp_path / name) for name in names}
    runs |= {"none": tmp_path / "none"}
    with_rows(runs["early"], *(row for row in read_rows(runs["early"] / "probes.csv") if row.epoch < 2))
    for file in (runs["untrained"] / "metrics.csv", runs["begun"] / "metrics.csv", runs["begun"] / "probes.csv"):
        file.unlink()
    header, row, *_ = (runs["broken"] / "probes.csv").read_text().splitlines()
    (runs["broken"] / "probes.csv").write_text(f"{header}\nx{row[1:]}\n")
    (runs["metrics"] / "metrics.csv").write_text("epoch,val/bleu\n1,high\n")
    (runs["config"] / "config.yaml").write_text("a: [1\n")
    assert main([text.format(**runs) for text in arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("name", ["a.docx", "a.PNG", "a"])
def test_no_report_has_the_name_of_another_format(report, name) -> None:
    with pytest.raises(InputError, match=rf"out={name}: give a name that ends in \.\w+"):
        REPORTS[report].read([".", f"out={name}"])


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
