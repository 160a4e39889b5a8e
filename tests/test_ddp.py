"""Two processes train as one process with the same global batch, and share the probing."""

from pathlib import Path

import pytest

from datamodules.files import read_csv
from probes.results import read_rows
from tests.conftest import Lab

SAME = [
    "encoder.dropout=0",  # each process would drop out other units
    "objective.dropout=0",
    "embeddings.threads=2",  # every training gives other vectors; so there must be one, for all
]


LAUNCHERS = {
    "by Lightning": (),  # the second process starts when all is prepared
    "by torchrun": (
        "-m",
        "torch.distributed.run",
        "--nproc_per_node=2",
    ),  # both at once
}


@pytest.mark.parametrize("launcher", LAUNCHERS.values(), ids=LAUNCHERS.keys())
def test_two_processes_have_the_loss_curve_and_the_scores_of_one(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    lab = Lab(tmp_path / "cache")
    one, two = tmp_path / "one", tmp_path / "two"
    both = ["trainer=ddp", "trainer.devices=2", "trainer.accelerator=cpu", "datamodule.batch_size=16"]
    done = lab.finish(*lab.settings(two, *SAME, *both), launcher=launcher)
    assert done.returncode == 0, done.stderr
    done = lab.finish(*lab.settings(one, *SAME, "datamodule.batch_size=32"))
    assert done.returncode == 0, done.stderr
    for mine, theirs in zip(read_csv(one / "metrics.csv"), read_csv(two / "metrics.csv"), strict=True):
        assert mine["step"] == theirs["step"]
        for score in ("train/loss", "val/loss", "val/bleu"):
            assert float(mine[score]) == pytest.approx(float(theirs[score]), abs=2e-4)
    mine, theirs = (read_rows(run / "probes.csv") for run in (one, two))
    assert [(row.epoch, row.task) for row in mine] == [(row.epoch, row.task) for row in theirs]
    # before training nothing was summed in another order
    assert [row.test_accuracy for row in mine if not row.epoch] == [r.test_accuracy for r in theirs if not r.epoch]
