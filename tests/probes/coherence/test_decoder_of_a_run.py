"""A run is its own language model: after every epoch while it trains, and later from its folder alone."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from encoder_lab.errors import InputError
from encoders import load
from encoders.load import open_run, read_checkpoint
from objectives.load import load_likelihood
from probes.results import ProbeRow, read_rows
from tests.conftest import TINY, Lab
from tests.probes.coherence.test_evaluate_coherence import scored
from tests.test_train import assert_same_weights

SUITES = ["suite=[probing,coherence]", "coherence.items=2"]
SMALL = [text for text in TINY if not text.startswith("objective.")]
SMALL += ["corpus.size=80", "probes.tasks=[SentLen]"]
SMALL += [f"probes.{split}_size={size}" for split, size in (("train", 60), ("dev", 40), ("test", 40))]
OBJECTIVES = {
    "skipthought": ["objective=skipthought", "objective.decoder_embedding=8", "objective.decoder_hidden=12"],
    "discourse": ["objective=discourse", "objective.losses=[nsp]", "objective.hidden=12"],
}


class Trained:
    """A finished run of an objective with the coherence suite, and how to make others like it."""

    def __init__(self, lab: Lab, objective: str, folder: Path) -> None:
        self.lab, self.objective, self.folder = lab, objective, folder

    def train(self, name: str, *more: str, suites: Sequence[str] = SUITES) -> Path:
        run = self.folder / name
        place = f"cache={self.lab.cache}", f"hydra.run.dir={run}"
        self.lab.succeed(*suites, *SMALL, *OBJECTIVES[self.objective], *place, *more)
        return run


@pytest.fixture(scope="module", params=OBJECTIVES)
def trained(request, lab, tmp_path_factory) -> Trained:
    made = Trained(lab, request.param, tmp_path_factory.mktemp(request.param))
    made.train("whole", "logger=[tensorboard]")
    return made


def rows(run: Path, suite: str = "coherence") -> list[ProbeRow]:
    return [replace(row, seconds=0.0) for row in read_rows(run / "probes.csv") if row.suite == suite]


def test_the_suite_has_a_row_a_task_and_epoch_and_its_curves(trained) -> None:
    run = trained.folder / "whole"
    names = [row.task for row in rows(run) if row.epoch == 0]
    assert "story_cloze" in names
    assert sorted((row.epoch, row.task) for row in rows(run)) == sorted((e, name) for e in (0, 1, 2) for name in names)
    events = EventAccumulator(str(run / "tensorboard")).Reload()
    assert [point.step for point in events.Scalars("coherence/story_cloze")] == [0, 1, 2]


@pytest.mark.parametrize("trained", ["skipthought"], indirect=True)  # the callback does not know the objective
def test_training_is_the_same_without_the_suite_and_so_is_a_resumed_run(trained) -> None:
    whole = trained.folder / "whole"
    assert_same_weights(trained.train("without", suites=["suite=[]"]), whole)
    begun = trained.train("begun", "trainer.max_epochs=1")
    trained.lab.succeed(f"resume={begun}", "trainer.max_epochs=2")
    assert_same_weights(begun, whole)
    assert rows(begun) == rows(whole)


def test_a_run_folder_alone_gives_the_scores_of_its_last_epoch(trained, tmp_path) -> None:
    run = shutil.copytree(trained.folder / "whole", tmp_path / "run")
    (done,) = scored(tmp_path, f"model={run / 'checkpoints' / 'last.ckpt'}", "coherence.items=2")
    scores = {e.row.task: round(e.row.test_accuracy, 2) for e in done.main}
    assert scores == {row.task: row.test_accuracy for row in rows(run) if row.epoch == 2}


@pytest.mark.parametrize("trained", ["skipthought"], indirect=True)
def test_a_run_without_the_files_of_its_decoder_says_how_to_get_them(trained, tmp_path) -> None:
    run = shutil.copytree(trained.folder / "whole", tmp_path / "run")
    shutil.rmtree(run / "decoder")
    with pytest.raises(InputError, match=f"missing, as in runs of earlier versions; python train.py resume={run}"):
        scored(tmp_path, f"model={run}")
    assert trained.lab.finish(f"resume={run}").returncode == 0
    assert scored(tmp_path, f"model={run}")


def test_a_run_is_read_once_for_its_encoder_and_its_decoder(trained, tmp_path, monkeypatch) -> None:
    reads: list[Path] = []
    monkeypatch.setattr(load, "read_checkpoint", lambda path: reads.append(path) or read_checkpoint(path))
    assert scored(tmp_path, f"model={trained.folder / 'whole'}")
    assert reads == [trained.folder / "whole" / "checkpoints" / "best.ckpt"]


def test_a_mark_that_a_decoder_does_not_have_is_refused(trained, tmp_path) -> None:
    run = trained.folder / "whole"
    with pytest.raises(InputError, match="bos=false"):
        scored(tmp_path, f"model={run}", "bos=false")
    if trained.objective == "discourse":
        with pytest.raises(InputError, match="eos=true"):
            scored(tmp_path, f"model={run}", "eos=true")
    else:
        with_end, without = (scored(tmp_path, f"model={run}", f"eos={eos}")[0] for eos in ("true", "false"))
        assert with_end.folder != without.folder
        sums = [model.main[0].details["sum original 1"] for model in (with_end, without)]
        assert sums[0] > sums[1]


@pytest.mark.parametrize(("damaged", "message"), [
    (lambda run: next((run / "decoder").iterdir()).write_bytes(b"no words"), "decoder/.* not as the run wrote it"),
    (lambda run: (run / "config.yaml").write_text("encoder: {}\nembeddings: {}\ncorpus: {}\n"), "config.yaml"),
])  # fmt: skip
def test_a_damaged_run_is_refused_in_one_line(trained, tmp_path, damaged, message) -> None:
    run = shutil.copytree(trained.folder / "whole", tmp_path / "run")
    damaged(run)  # type: ignore[operator]
    with pytest.raises(InputError, match=message) as error:
        load_likelihood(open_run(run))
    assert "\n" not in str(error.value)


def test_an_objective_without_a_decoder_refuses_the_suite_at_the_start(lab, tmp_path) -> None:
    line = lab.refusal(*lab.settings(tmp_path / "run", "suite=[probing,coherence]", "coherence.items=2"))
    assert "suite=coherence needs the surprisal of texts, and objective=nmt_enfr has none: its decoder writes" in line
    assert not (tmp_path / "run" / "checkpoints").exists()
