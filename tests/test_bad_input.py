"""Bad input gets one clear line and exit status 2, never a traceback; the tests of each reader have its cases."""

import gzip
import shutil

import pytest
import torch

from tests.encoders.test_load import Malicious


@pytest.mark.parametrize("carries_code", [False, True])
def test_a_checkpoint_of_another_project_or_with_code_is_refused_and_the_code_not_run(
    lab, finished_run, tmp_path, carries_code
) -> None:
    run, made = shutil.copytree(finished_run, tmp_path / "run"), tmp_path / "made"
    checkpoint = torch.load(run / "checkpoints" / "last.ckpt", weights_only=True) | {"more": Malicious(made)}
    for name in ("last", "previous"):
        state = checkpoint if carries_code else {"state_dict": {"other.weight": torch.zeros(2)}}
        torch.save(state, run / "checkpoints" / f"{name}.ckpt")
    message = lab.refusal(f"resume={run}", "trainer.max_epochs=3")
    assert "last.ckpt" in message
    assert ("not only tensors" in message) == carries_code
    assert not made.exists()


@pytest.mark.parametrize("more", ["checkpoints.every_n_steps=1", "trainer.limit_train_batches=1"])
def test_a_loss_that_is_not_finite_writes_the_sentences_of_its_batch(lab, tmp_path, more) -> None:
    run = tmp_path / "r"
    message = lab.refusal(*lab.settings(run), "objective.optimizer.lr=1e38", more)
    (saved,) = (run / "not_finite").iterdir()
    assert str(saved) in message
    assert "smaller objective.optimizer.lr" in message
    assert saved.read_text().startswith("source\t")
    assert not list(run.glob("checkpoints/*.ckpt"))
    assert not (run / "metrics.csv").exists()


def test_a_run_folder_without_its_vectors_is_refused(lab, finished_run, tmp_path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    shutil.rmtree(run / "vectors")
    assert "vectors" in lab.refusal(f"resume={run}")


def test_resuming_without_or_on_broken_settings_names_the_file(lab, tmp_path) -> None:
    assert "config.yaml" in lab.refusal(f"resume={tmp_path}")
    (tmp_path / "config.yaml").write_text("{encoder: {}, embeddings: {}, corpus: {}}")
    assert str(tmp_path / "config.yaml") in lab.refusal(f"resume={tmp_path}")


def test_empty_and_over_long_sentences_are_counted_and_reported(lab, tmp_path) -> None:
    (folder := tmp_path / "multi30k").mkdir()
    for language, word in (("en", "dog "), ("fr", "chien ")):
        text = ["Un ." if language == "fr" else "A .", word * 150, "" if language == "en" else "Un ."]
        for split in ("train", "val", "test_2016_flickr"):
            lines = text * (split == "train") + ["Un chien court ."] * 60
            (folder / f"{split}.{language}.gz").write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))
    corpus = ["corpus=multi30k", f"corpus.root={folder}", "probes=none"]
    printed = lab.succeed(*lab.settings(tmp_path / "r", *corpus))
    assert "1 empty" in printed
    assert "1 too long" in printed
