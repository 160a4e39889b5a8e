"""Every report of runs with odd numbers, names and settings in their files, and odd arguments."""

import io
import json
import warnings
from contextlib import redirect_stderr, redirect_stdout
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

import yaml
from hypothesis import strategies as st

import report
from encoder_lab.storage.csv_files import upsert_csv
from tests.attack.attack import Attack
from tests.fuzzing import limits

EPOCHS = ["0", "1", "2", "3", "0.25", "1.75", "99999999", "1000000000", "123456789", "7", "12"]
WHOLE = [epoch for epoch in EPOCHS if "." not in epoch]
VALUES = ["50.0", "61.25", "0.0", "100.0", "99.99", "-1.0", "1e9", "-1e9", "1e-320", "-0.0", "1e8"]
OWN = ["5.0", "9.0", "", "1e308", "-1e308", "nan", "inf", "-inf", "1e-320", "1e15", "9.99e14", "-1e14", "0", "1_0"]
REFUSED = [
    "9" * 30, "9" * 400, "-1", "-99999999", "²", "٣", "1_000", "0x10", "", " 1", "+1", "abc", "1e999", "9" * 5000,
    "x" * 6000, "\x1b[31m", "nan", "1e308",
]  # fmt: skip
NAMES = ["SentLen", "WC", "BShift", "MR", "SICK-R", "DCwiki", "SP", "story_cloze", "a b", "_", "_x", "$x^$", "é\u202e"]
NAMES += [
    "x" * 200, "<b>", "layer 3", "", " ", "\\", "a; b", "句" * 150, "SentLen without hidden layer", "DC avg.", "%",
]  # fmt: skip
SUITES = ["probing", "downstream", "discoeval", "coherence", "mine", ""]
OBJECTIVES = [
    "nmt_enfr", "layer 3", "layer 99999999999999999999", "layer ²", "discourse", "nli", "untrained", "x" * 6000,
]  # fmt: skip
SCORES = ["val/bleu", "val/loss", "val/perplexity", "val/accuracy", "val/", "bleu", "val/part/bleu", "x" * 6000, ""]
SETTINGS = ["encoder.dim", "objective.parts", "objective.select", "objective.losses", "labels.colour", "labels.encoder"]
SETTINGS += ["labels.objective", "seed", "model", "checkpoint", "begun_from", "probes.classifier.protocol", "run.seed"]
SETTINGS += ["best_by.score", "best_by.mode"]
SETTINGS += ["probes.classifier.widths", "probing.kfold", "encoder_name", "objective_name", "protocol", "run", "suites"]
ODD: list[Any] = [None, True, 0, -1, 1, 512, 2**70, 10**400, 0.5, 1e308, float("nan"), float("inf"), "", "abc", "#12"]
ODD += ["#0072B2", "x" * 6000, [], [1], ["a", "b"], [None], [["a"]], {}, {"a": 1}, {"objective": 5}, [{"objective": 5}]]
ODD += ["nsp", ["nsp", "nl"], "../..", ".", "senteval", "0.5", "none", "red", "\x1b[31m", ["nsp", {"a": 1}]]
LINES: list[Any] = [[], {}, 5, "a", None, [1, 2], {"a": 1}]
RECORD = {"suite": "story_cloze", "item": 3, "condition": "a", "text": "a b", "tokens": ["a", "b"], "margin": 0.5}
RECORD |= {"offsets": [[0, 1], [2, 3]], "regions": [0, 1], "surprisals": [1.0, None]}
ARGUMENTS = [
    "²", "0", "99999999", "9" * 30, "last", "-1", "1.5", "downstream", "discoeval", "coherence", "mine", "none",
]  # fmt: skip
ARGUMENTS += [
    "true", "a,,b", "logreg", "story_cloze:3", ",", "max_is_above_last", "html", "latex", "csv", "x" * 6000, "best",
]  # fmt: skip
COLUMNS = ["epoch", "step", "suite", "task", "classifier", "dev_accuracy", "test_accuracy", "test_low", "test_high"]
COLUMNS += ["hyperparameters", "seed", "seconds"]
FINDINGS = "findings"  # as text of an even number of runs, else as a picture
FIGURE = {"curves": "x.png", "correlation": "x.svg", "size": "x.png", "layers": "x.png", "html": "x.html"}
FIGURE |= {FINDINGS: "x.svg"}


def reported(case: Any, folder: Path) -> None:
    """The report is made, or refused in one line; at once, and without a warning of a library."""
    (name, arguments), runs = case
    folders = [_run(folder / str(number), number, run) for number, run in enumerate(runs)]
    drawn = name in FIGURE and (name != FINDINGS or len(runs) % 2)
    out = [f"out={folder / FIGURE[name]}"] if drawn else []
    output, errors = io.StringIO(), io.StringIO()
    with limits(), warnings.catch_warnings(), patch("encoder_lab.reports.figure.DPI", 30):
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        with redirect_stdout(output), redirect_stderr(errors):
            status = report.main([name, *map(str, folders), *arguments, *out])
    text = errors.getvalue()
    assert status in (0, 2), status
    assert all(len(line) < 3000 and line.isprintable() for line in text.split("\n")), text[:3000]
    assert status == 0 or text.split("\n")[-2].startswith("error: "), text
    assert status == 0 or text.count("\n") == 1 or text.startswith("left out"), text
    assert all(line.isprintable() for line in output.getvalue().split("\n"))
    if status == 0 and out:
        made = folder / FIGURE[name]
        assert made.stat().st_size < 30_000_000
        if made.suffix == ".svg":
            ElementTree.parse(made)


def _run(run: Path, number: int, case: Any) -> Path:
    """A run with these settings, scores, scores of its own, and lines of surprisals."""
    objective, settings, grid, refused, score, own_scores, record, line = case
    run.mkdir()
    config: dict[str, Any] = {"encoder_name": "bilstm_max", "objective_name": objective, "seed": number}
    config |= {"encoder": {"dim": 2**number}}
    for key, odd in settings:
        at, *more = reversed(key.split("."))
        value = {at: ODD[odd]}
        for above in more:
            value = {above: value | (config.get(above) if isinstance(config.get(above), dict) else {})}
        config |= value
    (run / "config.yaml").write_bytes(yaml.safe_dump(config, allow_unicode=True).encode())
    suites, tasks, epochs, values = grid
    cells = []
    for at, (suite, epoch, task) in enumerate(product(suites, epochs, tasks)):
        numbers = [values[(at + shift) % len(values)] for shift in (0, 0, 1, 2)]
        cells.append([epoch, "1", suite, task, "mlp", *numbers, "{}", "1", "0.1"])
    for row, column, text in refused if cells else ():
        cells[row % len(cells)][column] = text
    upsert_csv(run / "probes.csv", [dict(zip(COLUMNS, row, strict=True)) for row in cells], COLUMNS[:5])
    times = [epoch for epoch in epochs if epoch in WHOLE]
    own_rows = [{"epoch": epoch, score: text} for epoch, text in zip(times, own_scores, strict=False)]
    upsert_csv(run / "metrics.csv", own_rows, ("epoch",))
    if record is not None:
        key, value = record
        text = json.dumps(RECORD | {sorted(RECORD)[key]: (ODD + LINES)[value]})
        (run / "surprisals.jsonl").write_text(text + "\n")
    if line is not None:
        upsert_csv(run / "details.csv", [dict(zip(("task", "measure", "score"), line, strict=True))], ("task",))
    return run


_number = st.sampled_from([*EPOCHS, *VALUES, *OWN, *REFUSED])
_seldom = st.integers(0, 7).map(lambda number: number == 0)
_grid = st.tuples(
    st.sampled_from([["probing"], ["probing", "downstream"]]) | st.lists(st.sampled_from(SUITES), max_size=2),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True),
    st.sampled_from([["0", "1", "2"], ["1"]]) | st.lists(st.sampled_from(EPOCHS), min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=8),
)
_cell = st.tuples(st.integers(0, 40), st.integers(0, len(COLUMNS) - 1), st.sampled_from(REFUSED + NAMES))
_run_of = st.tuples(
    st.just("nmt_enfr") | st.sampled_from(OBJECTIVES),
    st.lists(st.tuples(st.sampled_from(SETTINGS), st.integers(0, len(ODD) - 1)), max_size=2),
    _grid,
    _seldom.flatmap(lambda seldom: st.lists(_cell, min_size=1, max_size=1) if seldom else st.just([])),
    st.just("val/bleu") | st.sampled_from(SCORES),
    st.lists(st.sampled_from(OWN), max_size=4),
    st.none() | st.tuples(st.integers(0, len(RECORD) - 1), st.integers(0, len(ODD + LINES) - 1)),
    st.none() | st.tuples(st.sampled_from(NAMES), st.sampled_from(["(a)", "f1", "(1) < (2)"]), _number),
)
_report = st.one_of(st.sampled_from(["table", "training", "findings"]), st.sampled_from(sorted(report.REPORTS)))


def _asked(name: str) -> st.SearchStrategy[Any]:
    """A report, mostly without settings of its own."""
    keys = [setting.key for setting in report.REPORTS[name].settings if setting.key != "out"]
    if not keys:
        return st.tuples(st.just(name), st.just([]))
    argument = st.builds("{}={}".format, st.sampled_from(keys), st.sampled_from(ARGUMENTS))
    return st.tuples(st.just(name), _seldom.flatmap(lambda some: st.lists(argument, min_size=some, max_size=some)))


ATTACKS = [Attack("report", st.tuples(_report.flatmap(_asked), st.lists(_run_of, min_size=1, max_size=3)), reported)]
