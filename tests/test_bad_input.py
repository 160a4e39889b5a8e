"""Bad input gets one clear line and exit status 2, never a traceback."""

import gzip
import shutil
from pathlib import Path

import pytest
import torch

from tests.conftest import Lab
from tests.encoders.test_load import Malicious


@pytest.fixture
def parallel(tmp_path) -> Path:
    """A corpus folder in the format of Multi30k: twenty pairs per split."""
    folder = tmp_path / "multi30k"
    folder.mkdir()
    for split in ("train", "val", "test_2016_flickr"):
        for language, text in (("en", "A dog runs .\n"), ("fr", "Un chien court .\n")):
            with gzip.open(folder / f"{split}.{language}.gz", "wt", encoding="utf-8") as file:
                file.write(text * 20)
    return folder


def of_pairs(lab: Lab, folder: Path, corpus: Path) -> list[str]:
    """A run without probing on such a corpus."""
    return lab.settings(folder / "r", "corpus=multi30k", f"corpus.root={corpus}", "probes=none")


def test_a_limit_that_leaves_no_batch_is_one_line(lab, tmp_path) -> None:
    said = lab.refusal(*lab.settings(tmp_path / "r"), "probes=none", "trainer.limit_val_batches=0.01")
    assert "limit_val_batches" in said


def test_a_missing_corpus_folder_says_how_to_get_it(lab, tmp_path) -> None:
    said = lab.refusal("corpus=multi30k", f"corpus.root={tmp_path / 'nowhere'}", f"hydra.run.dir={tmp_path / 'r'}")
    assert "nowhere" in said
    assert "python -m datamodules.download multi30k" in said


def test_invalid_utf8_names_file_and_line(lab, parallel, tmp_path) -> None:
    with gzip.open(parallel / "train.fr.gz", "wb") as file:
        file.write(b"Un chien .\n" * 6 + b"caf\xe9 .\n" + b"Un chat .\n" * 13)
    said = lab.refusal(*of_pairs(lab, tmp_path, parallel), "corpus.size=null")
    assert "train.fr.gz:7" in said


@pytest.mark.parametrize(("location", "text", "settings"), [
    ("trees.mrg:2", "(ROOT (NP (NN rain)) (VP (VBZ falls)))\n(ROOT (S))))\n", "probes=trees probes.paths=[{0}]"),
    ("sentence_length.txt:2", "tr\t0\ta b\nxx\t0\ta\n", "probes=senteval probes.root={1} probes.tasks=[SentLen]"),
    ("words.vec:3", "2 3\na 1 2 3\nb 1 2\n", "embeddings=file embeddings.path={0}"),
])  # fmt: skip
def test_a_malformed_line_is_named_with_its_file(lab, tmp_path, location, text, settings) -> None:
    path = tmp_path / location.partition(":")[0]
    path.write_text(text)
    unread = "_size=" if "senteval" in settings else "embeddings."
    own = [each for each in lab.settings(tmp_path / "r") if unread not in each]
    assert location in lab.refusal(*own, *settings.format(path, tmp_path).split())


def test_a_checkpoint_of_another_project_is_refused(lab, finished_run, tmp_path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    for name in ("last", "previous"):
        torch.save({"state_dict": {"other.weight": torch.zeros(2)}}, run / "checkpoints" / f"{name}.ckpt")
    assert "last.ckpt" in lab.refusal(f"resume={run}", "trainer.max_epochs=3")


def test_a_checkpoint_that_carries_code_is_refused_and_the_code_not_run(lab, finished_run, tmp_path) -> None:
    run, made = shutil.copytree(finished_run, tmp_path / "run"), tmp_path / "made"
    checkpoint = torch.load(run / "checkpoints" / "last.ckpt", weights_only=True)
    for name in ("last", "previous"):
        torch.save(checkpoint | {"more": Malicious(made)}, run / "checkpoints" / f"{name}.ckpt")
    assert "not only tensors" in lab.refusal(f"resume={run}", "trainer.max_epochs=3")
    assert not made.exists()


@pytest.mark.parametrize("more", ["checkpoints.every_n_steps=1", "trainer.limit_train_batches=1"])
def test_a_loss_that_is_not_finite_writes_the_sentences_of_its_batch(lab, tmp_path, more) -> None:
    run = tmp_path / "r"
    said = lab.refusal(*lab.settings(run), "objective.optimizer.lr=1e38", more)
    (saved,) = (run / "not_finite").iterdir()
    assert str(saved) in said
    assert "smaller objective.optimizer.lr" in said
    assert saved.read_text().startswith("source\t")
    assert not list(run.glob("checkpoints/*.ckpt"))
    assert not (run / "metrics.csv").exists()


def test_a_run_folder_without_its_vectors_is_refused(lab, finished_run, tmp_path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    shutil.rmtree(run / "vectors")
    assert "vectors" in lab.refusal(f"resume={run}")


@pytest.mark.parametrize("settings", [b"a: [", b"seed: \xff", b"a: 1", b"{encoder: {}, embeddings: {}, corpus: {}}"])
def test_resuming_on_broken_settings_names_the_file(lab, tmp_path, settings) -> None:
    assert "config.yaml" in lab.refusal(f"resume={tmp_path}")
    (tmp_path / "config.yaml").write_bytes(settings)
    assert str(tmp_path / "config.yaml") in lab.refusal(f"resume={tmp_path}")


def test_two_runs_never_share_a_folder(lab, finished_run) -> None:
    assert "resume=" in lab.refusal(f"hydra.run.dir={finished_run}")


def test_empty_and_over_long_sentences_are_counted_and_reported(lab, parallel, tmp_path) -> None:
    for language, word in (("en", "dog "), ("fr", "chien ")):
        text = ["Un ." if language == "fr" else "A .", word * 150, "" if language == "en" else "Un ."]
        lines = text + ["Un chien court ."] * 60
        (parallel / f"train.{language}.gz").write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))
    printed = lab.succeed(*of_pairs(lab, tmp_path, parallel))
    assert "1 empty" in printed
    assert "1 too long" in printed
