"""A dry run says what a study needs, and does nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from encoder_lab.progress import MeasuredStep
from encoder_lab.studies.plan import Study, StudyCell
from encoder_lab.studies.preview import preview, steps_of
from encoder_lab.studies.run import run_study
from encoder_lab.training.measure import measure_step
from train import CONFIGS


def test_a_dry_run_says_what_is_missing_and_does_nothing(tmp_path, capsys) -> None:
    arguments = [f"study_dir={tmp_path / 'results'}", "scale=paper", f"data={tmp_path}", "dry_run=true"]
    assert run_study(CONFIGS, "conneau2018/figure1", arguments) == 0
    assert f"missing: {tmp_path}/crawl-300d-2M.vec; {tmp_path}/probing; corpus.root=" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


def test_a_dry_run_says_steps_hours_and_disk_of_each_distinct_run(tmp_path, capsys) -> None:
    asked: list[str] = []

    def measure(config: Mapping[str, Any]) -> MeasuredStep:
        asked.append(config["datamodule"]["target"])
        return MeasuredStep(batch=64, seconds=0.5, checkpoint=10**9, text=500)

    arguments = [f"study_dir={tmp_path / 'results'}", "scale=paper", f"data={tmp_path}", "dry_run=true"]
    assert run_study(CONFIGS, "conneau2018/figure1", arguments, measure) == 0
    printed = capsys.readouterr().out
    assert asked == ["fr", "next"]  # NMT to another language has the same step
    assert "2,000,000 examples: 31,250 steps x 5 epochs, 21.7 hours, 4.0 GB" in printed
    assert "30,000,000 examples: 468,750 steps x 5 epochs, 325.5 hours, 18.0 GB" in printed
    assert "together 391 hours of training" in printed  # 3 x 21.7 + 325.5
    assert "  30 GB of checkpoints and cached text" in printed


def test_a_dry_run_has_no_estimate_of_several_objectives_and_of_none() -> None:
    overrides = {name: [f"objective={name}", "encoder=bov"] for name in ("multitask", "untrained", "nli")}
    cells = [StudyCell(name, settings, 1000) for name, settings in overrides.items()]
    text = preview(Study("own", "paper", cells, [], {}, []), Path("results"), measure_step)
    assert text.count("no estimate of its hours and bytes") == 2
    assert text.count("1,000 examples: 16 steps x 5 epochs") == 1


@pytest.mark.parametrize(("trainer", "steps", "text"), [
    ({}, 5000, "1,000 steps x 5 epochs"),
    ({"devices": 4}, 1250, "250 steps x 5 epochs"),
    ({"devices": [0, 1], "num_nodes": 2}, 1250, "250 steps x 5 epochs"),
    ({"limit_train_batches": 10}, 50, "10 steps x 5 epochs"),
    ({"limit_train_batches": 0.5}, 2500, "500 steps x 5 epochs"),
    ({"max_steps": 700}, 700, "700 steps"),
    ({"max_steps": 7000}, 5000, "1,000 steps x 5 epochs"),
    ({"max_steps": 7000, "max_epochs": -1}, 7000, "7,000 steps"),
    ({"max_epochs": -1}, 1000, "1,000 steps an epoch without end"),
])  # fmt: skip
def test_a_dry_run_counts_the_steps_that_the_trainer_would_take(trainer, steps, text) -> None:
    rate = MeasuredStep(batch=64, seconds=0.5, checkpoint=0, text=0)
    default = {"devices": 1, "limit_train_batches": 1.0, "max_epochs": 5}
    assert steps_of(default | trainer, 64_000, rate) == (steps, text)
