"""A run's objective is scored on the test split of its own corpus, with the weights of its best checkpoint."""

import shutil
from pathlib import Path

from encoder_lab.reports.metrics import read_metrics
from encoders.load import open_run
from tests import commands
from tests.conftest import Lab


def test_a_run_gets_a_row_of_test_scores(lab: Lab, finished_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    done = commands.finish("evaluate.py", f"model={run}", "suite=objective", f"cache={lab.cache}")
    assert done.returncode == 0, done.stderr
    (row,) = read_metrics(run / "test.csv")
    dev = read_metrics(run / "metrics.csv")[open_run(run).epoch - 1]
    assert row["epoch"] == dev["epoch"]
    scores = [name for name in row if name.startswith("val/")]
    assert scores == [name for name in dev if name.startswith("val/")]
    assert row["val/loss"] != dev["val/loss"]
    assert f"perplexity {float(row['val/perplexity']):.2f}" in done.stdout


def test_what_is_no_trained_run_is_refused(tmp_path: Path) -> None:
    done = commands.finish("evaluate.py", f"model={tmp_path}", "suite=objective")
    assert done.returncode == 2
    assert "no config.yaml" in done.stderr
    done = commands.finish("evaluate.py", "model=tests/golden_run", "suite=objective", "probes=none")
    assert done.returncode == 2
    assert "may change, not probes=none" in done.stderr
