"""A run's objective is scored on the test split of its own corpus, with the weights of its best checkpoint."""

import shutil

import pytest

import evaluate
from encoder_lab.reports.run_files import read_metrics
from encoders.load import open_run
from tests import commands


def test_a_run_gets_a_row_of_test_scores(lab, finished_run, tmp_path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    printed = commands.succeed("evaluate.py", f"model={run}", "suite=objective", f"cache={lab.cache}")
    (row,) = read_metrics(run / "test.csv")
    dev = read_metrics(run / "metrics.csv")[open_run(run).epoch - 1]
    assert row["epoch"] == dev["epoch"]
    assert [name for name in row if name.startswith("val/")] == [name for name in dev if name.startswith("val/")]
    assert row["val/loss"] != dev["val/loss"]
    assert f"perplexity {float(row['val/perplexity']):.2f}" in printed


@pytest.mark.parametrize(("arguments", "message"), [
    (["suite=objective", "model={empty}"], "no config.yaml"),
    (["suite=objective", "model=bov"], "bov: no such run"),
    (["suite=[objective]", "model=tests/golden_run", "probes=none"], "suite=objective keeps the run's settings"),
    (["suite=objective", "model=tests/golden_run", "trainer.limit_val_batches=1"], "only trainer.accelerator=,"),
    (["suite=[probing,objective]", "model=tests/golden_run"], "give it alone"),
])  # fmt: skip
def test_what_cannot_be_scored_is_refused_in_one_line(arguments, message, tmp_path, capfd) -> None:
    with pytest.raises(SystemExit) as ended:
        evaluate.main([text.format(empty=tmp_path) for text in arguments])
    assert ended.value.code == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert message in line
