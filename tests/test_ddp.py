"""Two processes train as one process with the same global batch, and share the probing."""

from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

import train
from datamodules.files import read_csv
from datamodules.text_pairs import TextPairs
from datamodules.word_vectors import save_run_vectors
from probes.classifier import Grid
from probes.results import read_rows
from probes.suite import Suite
from tests.conftest import Lab
from tests.tiny_corpus import TinyCorpus

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
    made = ["fasttext", "pairs", "probing", "vectors"]
    assert sorted(path.name.split("-")[0] for path in lab.cache.iterdir()) == made, "not each once"
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


def test_every_process_but_the_first_takes_the_vectors_that_the_first_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = TextPairs(TinyCorpus(), "en", tmp_path, seed=1, codes=40)
    written = np.full((len(data.vocabulary), 3), 7, np.float32)
    trained = tmp_path / "own.vec"
    trained.write_text("1 3\ndog 1 2 3\n")
    source = {"_target_": "datamodules.word_vectors.FromFile", "path": str(trained)}
    monkeypatch.setattr(train, "is_first", lambda: False)
    monkeypatch.setattr(train, "wait_for", lambda *_: save_run_vectors(tmp_path / "run", data.vocabulary, written))
    config = OmegaConf.create({"embeddings": {"source": source}})
    vectors = train.run_vectors(config, tmp_path / "run", data, Suite("none", [], Grid(), 1), tmp_path)
    np.testing.assert_array_equal(vectors.matrix, written)
