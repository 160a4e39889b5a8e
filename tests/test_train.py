"""The main path: one command trains, probes after every epoch, draws curves and saves a frozen encoder."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from encoder_lab.storage.made_with import MADE_WITH_KEYS
from encoder_lab.training.run_folder import loadable_path
from encoders import load_encoder
from probes.results import ProbeRow, read_rows


def weights(run: Path, name: str = "last") -> dict[str, torch.Tensor]:
    return torch.load(run / "checkpoints" / f"{name}.ckpt", weights_only=True)["state_dict"]


def assert_same_weights(a: Path, b: Path) -> None:
    """Of the last and of the best checkpoint."""
    for checkpoint in ("last", "best"):
        ours, theirs = weights(a, checkpoint), weights(b, checkpoint)
        assert ours.keys() == theirs.keys()
        assert not [name for name in ours if not torch.equal(ours[name], theirs[name])], checkpoint


def test_a_run_folder_holds_everything(finished_run) -> None:
    parts = ["config.yaml", "metrics.csv", "probes.csv", "answers.csv", "curves.png", "vectors", "tensorboard"]
    checkpoints = ["checkpoints/best.ckpt", "checkpoints/last.ckpt"]
    assert [part for part in parts + checkpoints if not (finished_run / part).exists()] == []


def test_a_run_says_which_commit_and_versions_made_it(finished_run) -> None:
    assert tuple(OmegaConf.load(finished_run / "config.yaml").made_with) == MADE_WITH_KEYS


def test_every_epoch_and_task_has_one_row_and_epoch_0_is_before_training(finished_run) -> None:
    keys = [(row.epoch, row.task) for row in read_rows(finished_run / "probes.csv")]
    assert sorted(keys) == [(e, t) for e in (0, 1, 2) for t in ("BShift", "SentLen", "SubjNum")]


def test_tensorboard_has_curves_of_tasks_scores_and_losses_a_chart_of_each_suite_and_pictures(finished_run) -> None:
    rows, folder = read_rows(finished_run / "probes.csv"), finished_run / "tensorboard"
    events = EventAccumulator(str(folder)).Reload()
    for task in ("SentLen", "BShift", "SubjNum"):
        assert [point.step for point in events.Scalars(f"probing/{task}")] == [0, 1, 2]
        points = EventAccumulator(str(folder / task)).Reload().Scalars("all tasks/probing")
        expected = [(row.epoch, pytest.approx(row.test_accuracy, abs=0.01)) for row in rows if row.task == task]
        assert [(point.step, point.value) for point in points] == expected
    for tag, steps in {"val/bleu": [1, 2], "train/step_loss": [4, 8], "train/loss": [1, 2]}.items():
        assert [point.step for point in events.Scalars(tag)] == steps
    assert [picture.step for picture in events.Images("curves")] == [1, 2]


def test_a_corrupt_best_checkpoint_error_names_the_last_one(finished_run, tmp_path, caplog) -> None:
    assert loadable_path(finished_run) == finished_run
    run = shutil.copytree(finished_run, tmp_path / "run")
    best = run / "checkpoints" / "best.ckpt"
    best.write_bytes(best.read_bytes()[:-1000])
    assert load_encoder(loadable_path(run)).encode(["a dog ."]).shape == (1, 16)
    assert f"{best}: damaged" in caplog.text


def test_probing_never_changes_training(lab, finished_run, tmp_path) -> None:
    lab.succeed(*lab.settings(tmp_path / "run"), "probes=none")
    assert_same_weights(tmp_path / "run", finished_run)


@pytest.mark.usefixtures("finished_run")  # its cache has all but the scores
def test_an_untrained_encoder_that_a_run_has_scored_is_not_scored_again(lab, tmp_path) -> None:
    def scored(name: str, cache: Path, *more: str) -> list[ProbeRow]:
        others = shutil.ignore_patterns("score-*", ".*", "*.lock")
        if not cache.exists():
            shutil.copytree(lab.cache, cache, ignore=others, copy_function=os.link)
        small = "trainer=smoke", "probes.tasks=[SentLen]", f"cache={cache}"
        lab.finish(*lab.settings(tmp_path / name, *small, *more)).check_returncode()
        return [replace(row, seconds=0.0) for row in read_rows(tmp_path / name / "probes.csv") if row.epoch == 0]

    first = scored("first", tmp_path / "cache")
    written = {path: path.stat().st_mtime_ns for path in tmp_path.glob("cache/score-*.json")}
    assert len(written) == len(first)
    assert scored("again", tmp_path / "cache", "objective.optimizer.lr=0.01") == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("cache/score-*.json")} == written
    assert scored("elsewhere", tmp_path / "other") == first


def test_an_untrained_encoder_is_probed_once_on_all_its_suites_and_loads(lab, tmp_path) -> None:
    sizes = [f"discoeval.{split}_size=20" for split in ("train", "dev", "test")]
    settings = [s for s in lab.settings(tmp_path / "run") if not s.startswith("objective.")]
    suites = ["objective=untrained", "suite=[probing,discoeval]", "discoeval.tasks=[SP,PDTB-I]"]
    lab.succeed(*settings, *suites, *sizes)
    rows = read_rows(tmp_path / "run" / "probes.csv")
    assert [(row.suite, row.task) for row in rows[-2:]] == [("discoeval", "SPdemo"), ("discoeval", "PDTB-I")]
    assert ({row.suite for row in rows}, {row.epoch for row in rows}) == ({"probing", "discoeval"}, {0})
    assert load_encoder(tmp_path / "run").encode(["a dog ."]).shape == (1, 16)


def test_help_names_every_group_and_what_each_choice_means(lab) -> None:
    text = lab.finish("-h").stdout
    for line in ("encoder=", "objective=", "corpus=", "embeddings=", "probes=", "trainer=", "NMT English-French"):
        assert line in text


def test_trained_word_vectors_are_in_the_checkpoint(lab, tmp_path) -> None:
    run = tmp_path / "run"
    lab.succeed(*lab.settings(run), "embeddings.freeze=false", "probes=none", "trainer.max_epochs=1")
    learned = weights(run, "best")["embedding.table"].numpy()
    assert not np.array_equal(learned, np.load(run / "vectors" / "matrix.npy"))
    np.testing.assert_array_equal(load_encoder(run).embedding.table.numpy(), learned)
