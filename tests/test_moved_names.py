"""A run folder made before modules moved still loads, resumes and reports."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from common.moved_names import MOVED
from encoders import load_encoder
from encoders.load import class_in
from probes.results import read_rows
from reports.models import models_of
from reports.runs import read_run
from tests.conftest import Lab

BEFORE = Path(__file__).parent / "run_before_the_house_moved"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return shutil.copytree(BEFORE, tmp_path / "run")


def test_it_loads() -> None:
    vectors = load_encoder(BEFORE).encode(["the dog sleeps .", "a cat"])
    assert vectors.shape == (2, 8)
    assert np.isfinite(vectors).all()


def test_it_resumes_and_is_probed_on_the_same_tasks(lab: Lab, run: Path) -> None:
    before = read_rows(run / "probes.csv")
    settings = (run / "config.yaml").read_text().replace("cache: .cache", f"cache: {lab.cache}")
    (run / "config.yaml").write_text(settings)
    done = lab.finish(f"resume={run}", "trainer.max_epochs=2", "trainer.enable_progress_bar=false")
    assert done.returncode == 0, done.stderr
    after = read_rows(run / "probes.csv")
    assert after[: len(before)] == before
    assert [(row.epoch, row.suite, row.task) for row in after[len(before) :]] == [
        (2, "probing", "SentLen"),
        (2, "probing", "BShift"),
    ]


def test_it_is_reported(run: Path) -> None:
    (model,) = models_of([read_run(run)])
    assert model.title == "BiLSTM-max, NMT En-Fr"
    assert model.runs[0].score == "val/bleu"


@pytest.mark.parametrize("name", MOVED.values())
def test_every_new_name_is_there(name: str) -> None:
    assert class_in([name.partition(".")[0]], name, object) is not None
