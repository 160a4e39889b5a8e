"""A run folder belongs to one run, from its first checkpoint on."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

import train
from datamodules.discourse import SentencesInDocuments
from datamodules.word_vectors.store import FromFile
from encoder_lab.errors import InputError
from encoder_lab.settings.run_settings import read_settings
from encoder_lab.storage.made_with import made_with
from encoder_lab.training.initial import InitialRun, init_history
from encoder_lab.training.run_folder import (
    locked_run,
    resume_command,
    run_summary,
    run_vectors,
    settings_to_resume,
    threads_note,
)
from probes.correlations import make_domain
from probes.results import Answers, ProbeRow, write_rows
from tests import asked
from tests.conftest import Lab
from tests.settings.test_config_check import composed
from tests.tiny_corpus import TinyCorpus

SHORT = ("probes=none", "trainer.max_epochs=1")


def settings(lab: Lab, run: Path) -> list[str]:
    return [text for text in lab.settings(run, *SHORT) if "probes.t" not in text and "probes.d" not in text]


def test_the_folder_of_a_run_that_failed_before_its_first_checkpoint_may_be_used_again(lab, tmp_path) -> None:
    run = tmp_path / "run"
    without = [text for text in settings(lab, run) if "embeddings." not in text]
    run.mkdir()
    (run / "notes.txt").write_text("mine")  # a folder of the run alone would be deleted
    lab.refusal(*without, "embeddings=file", "embeddings.path=nowhere.vec")
    assert (run / "config.yaml").exists()
    (run / "decoder").mkdir()  # as skipthought writes before it trains: of other text than the new run's
    lab.succeed(*settings(lab, run))
    assert read_settings(run / "config.yaml")["embeddings"]["source"]["dim"] == 10
    assert (run / "notes.txt").read_text() == "mine"
    assert not (run / "decoder").exists()
    for _ in range(2):
        assert "a run is already there" in lab.refusal(*settings(lab, run))
        (run / "config.yaml").unlink(missing_ok=True)  # nor may another run go on with its checkpoint


def test_a_folder_with_settings_of_another_program_is_left_alone(lab, tmp_path) -> None:
    (tmp_path / "config.yaml").write_text("encoder: {}\nembeddings: {}\ncorpus: {}\n")
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "mine").touch()
    lab.refusal(*settings(lab, tmp_path))
    assert (tmp_path / "vectors" / "mine").exists()


@pytest.mark.parametrize("alias", ["link", "dangling link", "second name"])
def test_a_file_of_a_run_that_is_also_elsewhere_is_refused_and_left_alone(alias, tmp_path) -> None:
    run, mine = tmp_path / "run", tmp_path / "mine"
    (run / "tensorboard" / "SentLen").mkdir(parents=True)
    mine.write_text("mine")
    inside = run / "tensorboard" / "SentLen" / "hparams.yaml"
    if alias == "second name":
        inside.hardlink_to(mine)
    else:
        inside.symlink_to(mine if alias == "link" else tmp_path / "new")
    with pytest.raises(InputError, match="copy the whole run folder"), locked_run(run):
        pass
    assert mine.read_text() == "mine"


def test_links_within_a_run_are_left_to_its_loggers(tmp_path) -> None:
    (tmp_path / "wandb" / "offline-run-1").mkdir(parents=True)
    (tmp_path / "wandb" / "latest-run").symlink_to("offline-run-1")
    with locked_run(tmp_path):
        assert (tmp_path / "wandb" / "latest-run").is_dir()


def test_another_number_of_threads_is_reported() -> None:
    now = torch.get_num_threads()
    assert threads_note({"made_with": {"threads": now}}) == ""
    assert threads_note({"seed": 1}) == ""  # of a run from before
    assert f"resume with OMP_NUM_THREADS={now + 1}" in threads_note({"made_with": {"threads": now + 1}})
    assert made_with()["threads"] == now


def test_runs_that_begin_in_the_same_second_have_folders_of_their_own() -> None:
    """The jobs of one sweep, which may share the time, by their number."""
    folders = []
    for number in range(2):
        HydraConfig.instance().set_config(asked.composed("train", f"hydra.job.num={number}"))
        job = HydraConfig.get()
        time, _, job_number = job.sweep.subdir.rpartition("_")
        assert job_number == str(number)
        folders += [job.run.dir, time]
    assert len(set(folders)) == 4


def test_hints_are_complete_and_name_no_file_that_is_not_there(tmp_path) -> None:
    assert resume_command(Path("it's (1)"), ["mine"]).endswith(r"""'resume='"'"'it\'"'"'s (1)'"'"'' allow=[mine]""")
    assert "load_encoder" not in run_summary(tmp_path, [])
    (tmp_path / "checkpoints").mkdir()
    torch.save({"state_dict": {}, "epoch": 1, "global_step": 1}, tmp_path / "checkpoints" / "last.ckpt")
    assert f"load_encoder('{tmp_path}/checkpoints/last.ckpt', allow=['mine'])" in run_summary(tmp_path, ["mine"])


def test_the_last_scores_of_a_run_stand_with_their_units(tmp_path) -> None:
    row = ProbeRow(4, 9, "probing", "WC", "logreg", 50.0, 51.0, 49.0, 53.0, {}, 1, 0.1)
    related = Answers("t", np.zeros(0, bool), (make_domain(0.51, np.arange(9.0)),))
    more = replace(row, suite="use", classifier="loss"), replace(row, suite="downstream", answers=related)
    write_rows(tmp_path / "probes.csv", [row, *more])
    lines = run_summary(tmp_path, []).splitlines()
    assert lines[1:3] == ["probing scores after epoch 4 (test, %)", "  WC          51.0  [49.0, 53.0]"]
    assert lines[4:6] == ["use scores after epoch 4", "  WC          51.0  [49.0, 53.0] nats/1000"]
    assert lines[8] == "  WC          51.0  [49.0, 53.0] r × 100"


def test_a_stopped_resume_is_continued_with_what_its_run_does_not_keep(tmp_path, monkeypatch, capsys) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "train", stopped)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # Ctrl-C goes on to end the tests
    (tmp_path / "config.yaml").write_text(OmegaConf.to_yaml(composed("objective=nli"), resolve=True))
    with pytest.raises(SystemExit):
        train.resume_run(tmp_path, ["trainer.max_epochs=9", "cache=my data"])
    assert f"resume={tmp_path} trainer.max_epochs=9 'cache=my data'\n" in capsys.readouterr().err


@pytest.mark.parametrize("plus", ["", "+", "++"])
def test_an_argument_of_the_trainer_is_added_on_resume_with_any_sign(tmp_path, plus) -> None:
    (tmp_path / "config.yaml").write_text(OmegaConf.to_yaml(composed("objective=nli"), resolve=True))
    assert settings_to_resume(tmp_path, [f"{plus}trainer.max_steps=20"]).trainer.written["max_steps"] == 20


def test_a_wrong_setting_is_of_the_file_or_of_the_command(tmp_path, capsys) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(OmegaConf.to_yaml(composed("objective=nli"), resolve=True))
    with pytest.raises(SystemExit):
        settings_to_resume(tmp_path, ["trainer.max_epochs=x"])
    assert capsys.readouterr().err.startswith("error: trainer.max_epochs=x: give a whole number")
    path.write_text(re.sub("  dim: [0-9]+", "  dim: x", path.read_text()))
    with pytest.raises(InputError, match=rf"^{path}: encoder\.dim=x: give a whole number .*copy the whole run folder"):
        settings_to_resume(tmp_path, ["trainer.max_epochs=9"])


def test_a_run_without_suites_is_resumed(tmp_path) -> None:
    (tmp_path / "config.yaml").write_text(OmegaConf.to_yaml(composed("suite=[]"), resolve=True))
    assert settings_to_resume(tmp_path, ["trainer.max_epochs=9"]).trainer.max_epochs == 9


@pytest.mark.parametrize("before", ["null", "5", "[3]", "[{objective: nsp}]"])
def test_a_run_begins_with_one_that_says_wrongly_what_it_began_with(tmp_path, before) -> None:
    parts = "encoder: {}\nembeddings: {}\ncorpus: {}\nobjective_name: nli\n"
    (tmp_path / "config.yaml").write_text(f"{parts}begun_from: {before}\n")
    names = [run["objective"] for run in init_history(str(tmp_path))]
    assert names == [*(["nsp"] if "nsp" in before else []), "nli"]


def test_runs_that_begin_with_other_epochs_or_other_training_of_a_run_are_other_models(tmp_path) -> None:
    def model(run: str, checkpoint: str, trainer: str = "") -> str:
        path = tmp_path / run / "checkpoints" / checkpoint
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        parts = f"seed: {run[-1]}\nencoder: {{}}\nembeddings: {{}}\ncorpus: {{}}\n"
        (tmp_path / run / "config.yaml").write_text(f"{parts}trainer: {{{trainer}}}\n")
        return str(init_history(str(path)))

    other = [model("a1", "epoch-1.ckpt"), model("a1", "best.ckpt"), model("b1", "best.ckpt", "max_epochs: 2")]
    assert len({*other}) == 3
    assert model("c2", "best.ckpt", "accelerator: gpu") == other[1]


@pytest.mark.parametrize("lowercase", [False, True])
def test_a_run_keeps_the_vectors_of_the_words_that_its_encoder_reads_in_tasks(tmp_path, lowercase) -> None:
    data = SentencesInDocuments(TinyCorpus(), tmp_path, seed=1, lowercase=lowercase)
    (tmp_path / "own.vec").write_text("".join(f"{word} 1 2\n" for word in ["house", *data.vocabulary.words[2:]]))
    vectors = run_vectors(FromFile(str(tmp_path / "own.vec")), tmp_path / "run", data, ["House"], tmp_path, None)
    assert ("House" in vectors.vocabulary.words) != lowercase
    assert vectors.lookup_oov("HOUSE") is not None  # the file has no capitals, and the task may come in any case


def test_a_run_that_begins_with_another_looks_new_words_up_in_lower_case_too(tmp_path) -> None:
    data = SentencesInDocuments(TinyCorpus(), tmp_path, seed=1)
    (tmp_path / "own.vec").write_text("".join(f"{word} 1 2\n" for word in ["house", *data.vocabulary.words[2:]]))
    source = FromFile(str(tmp_path / "own.vec"))
    first = run_vectors(source, tmp_path / "first", data, [], tmp_path, None)
    begun = run_vectors(source, tmp_path / "second", data, ["House"], tmp_path, InitialRun("first", {}, first))
    assert [first.lookup_oov("HOUSE"), begun.lookup_oov("HOUSE").tolist()] == [None, begun.matrix[2].tolist()]
