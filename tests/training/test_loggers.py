"""Loggers of other tools get what TensorBoard gets, offline."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from common.csv_files import read_csv
from common.errors import InputError
from training.loggers import loggers_of

SCORES = {"probing/SentLen": 61.5, "val/bleu": 3.25}


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    for name in ("WANDB_PROJECT", "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)


def log(run: Path, name: str, epoch: int) -> None:
    (logger,) = loggers_of(OmegaConf.create({"logger": [name], "seed": 7}), run)
    logger.log_metrics(SCORES, step=epoch)
    logger.save()
    logger.finalize("success")


def test_an_unknown_logger_is_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="choose some of tensorboard, csv, wandb, mlflow"):
        log(tmp_path, "comet", 1)


def test_csv_has_a_row(tmp_path: Path) -> None:
    log(tmp_path, "csv", 3)
    (row,) = read_csv(tmp_path / "csv" / "metrics.csv")
    assert (row["step"], float(row["probing/SentLen"]), float(row["val/bleu"])) == ("3", 61.5, 3.25)


def test_mlflow_has_scores_and_settings_and_a_resumed_run_is_the_same_run(tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    for epoch in (1, 2):
        log(tmp_path, "mlflow", epoch)
    (metric,) = tmp_path.glob("mlruns/*/*/metrics/probing/SentLen")
    assert [line.split()[1:] for line in metric.read_text().splitlines()] == [["61.5", "1"], ["61.5", "2"]]
    (seed,) = tmp_path.glob("mlruns/*/*/params/seed")
    assert seed.read_text() == "7"


def test_wandb_writes_offline(tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb")
    log(tmp_path, "wandb", 3)
    wandb.finish()
    (record,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    written = record.read_bytes()
    assert b"probing/SentLen" in written
    assert b"61.5" in written
