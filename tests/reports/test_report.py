"""report.py on small run folders: what it prints and writes, and what it refuses."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from encoder_lab.errors import InputError
from encoder_lab.reports.commands import model_panel
from encoder_lab.reports.curves import charts_by_task
from encoder_lab.reports.evidence import evidence_of
from encoder_lab.reports.page import TABLE_FORMATS
from encoder_lab.reports.runs import read_run
from encoder_lab.reports.table import probing_table
from encoder_lab.reports.training_table import training_table
from probes.classifiers.grid import FRONT
from probes.results import Answers, read_rows, write_rows
from report import FORMATS as OFFERED
from report import REPORTS, main
from tests.packages import ROOT
from tests.reports.small_runs import evaluation_of, models, of_a_run, run_of, score_row, with_rows, with_settings


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
    assert main(["table", *runs, "format=csv", "intervals=inline"]) == 2
    assert "intervals=inline: a CSV table has columns for them" in capsys.readouterr().err
    write_rows(Path(runs[0]) / "probes.csv", [score_row("Tense", 1, reader="logreg")])
    for tasks, named in (((), True), (["Tense", "WC"], True), (["WC"], False)):
        notes = probing_table(models(*map(Path, runs)), "probing", tasks=tasks).notes
        assert ("By logistic regression: Tense." in notes) == named


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


@pytest.mark.usefixtures("plain_layout")
@pytest.mark.parametrize("report", ["curves", "curves overlay=true", "size", "order"])
def test_figures_are_written_and_stopped_runs_are_named(tmp_path, report, capsys) -> None:
    runs = [str(run_of(tmp_path / str(dim), dim=dim)) for dim in (512, 1024)]
    for run in runs:
        with_settings(Path(run), "trainer: {max_epochs: 5}\n")
    assert main([*report.split(), *runs, f"out={tmp_path / 'figure.png'}"]) == 0
    assert "Training was stopped, or goes on: BiLSTM-max, NMT En-Fr (" in capsys.readouterr().err
    assert Image.open(tmp_path / "figure.png").width > 1000


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


@pytest.mark.usefixtures("plain_layout")
@pytest.mark.parametrize("report", ["curves overlay=true", "order", "findings"])
def test_reports_of_models_that_were_probed_by_two_protocols_say_so(tmp_path, report, capsys) -> None:
    for encoder, protocol in (("bilstm_max", "modern"), ("bilstm_last", "senteval")):
        with_settings(run_of(tmp_path / encoder, encoder), f"probes: {{classifier: {{protocol: {protocol}}}}}\n")
    both = "protocol=senteval (BiLSTM-last, NMT En-Fr), protocol=modern (BiLSTM-max, NMT En-Fr)"
    for folder, said in ((tmp_path, True), (tmp_path / "bilstm_max", False)):
        assert main([*report.split(), str(folder), *([f"out={tmp_path / 'a.png'}"] * (report != "findings"))]) == 0
        assert (f"Our classifiers: {both}." in "".join(capsys.readouterr())) == said


@pytest.mark.usefixtures("plain_layout")
def test_figures_of_models_without_a_shared_test_item_say_so(tmp_path, capsys) -> None:
    """Of WC alone, as other tasks have the same items; a second seed with other items is no reason."""
    for encoder, seed, items in (("bilstm_max", 1, "a"), ("bilstm_max", 2, "b"), ("bilstm_last", 1, "c")):
        run = run_of(tmp_path / f"{encoder}{seed}", encoder, seed=seed)
        tests = {"WC": items, "SentLen": min(items, "b")}
        rows = [row for row in read_rows(run / "probes.csv") if row.task in tests]
        with_rows(run, *(replace(row, answers=Answers(tests[row.task], np.ones(4, bool))) for row in rows))
    for folder, said in ((tmp_path, 1), (tmp_path / "bilstm_last1", 0)):
        assert main(["curves", str(folder), f"out={tmp_path / 'a.png'}"]) == 0
        assert capsys.readouterr().err.count("WC: models are of different test sentences: do not compare") == said


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
        with_rows(run, *(replace(row, hyperparameters={FRONT: [[0, 50.0], [9, 60.0]]}, answers=items) for row in rows))
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
    (["table", "{run}", "published=nonsense"], "no published table 'nonsense'"),
    (["training", "{run}", "published=conneau2018_table2"], "conneau2018_table2: it has no score of these tasks"),
    (["table", "{run}", "out=a.csv"], "out=a.csv: give a name that ends in .md or .txt, or another format= than mark"),
    (["correlation", "{run}"], "no scores of the suite 'downstream'"),
    (["size", "{run}"], "no runs differ only in encoder.dim"),
    (["use", "{run}", "epoch=first"], "epoch=first: give best, last or a whole number"),
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
