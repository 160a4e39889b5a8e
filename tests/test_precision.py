"""Half-precision products change the loss curve by little."""

from pathlib import Path

import pytest

from datamodules.files import read_csv
from tests.conftest import Lab


def test_bf16_has_nearly_the_loss_curve_of_32_bits(lab: Lab, finished_run: Path, tmp_path: Path) -> None:
    done = lab.finish(*lab.settings(tmp_path / "run", "trainer.precision=bf16-mixed"))
    assert done.returncode == 0, done.stderr
    runs = (finished_run, tmp_path / "run")
    wide, narrow = ([float(row["train/loss"]) for row in read_csv(run / "metrics.csv")] for run in runs)
    assert narrow != wide
    assert narrow == pytest.approx(wide, rel=0.005)
