"""A checkpoint has vectors of an example, so that other code of its encoder is noticed."""

import shutil
import warnings

import pytest
import torch

from encoder_lab.training.checkpoints import AtomicCheckpoints
from encoder_lab.training.initial import InitialRun, take_weights
from encoders import load_encoder
from encoders.bilstm import BiLSTM
from encoders.example import EXAMPLE_KEY, example_vectors
from encoders.load import read_checkpoint
from encoders.pooling import mean_pool

MESSAGE = "the encoder gave other vectors when this was saved"


def test_an_encoder_with_other_code_than_when_its_checkpoint_was_saved_warns(finished_run, monkeypatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_encoder(finished_run)
    forward = BiLSTM.forward

    def with_other_pooling(encoder, embedded, lengths):
        encoded = forward(encoder, embedded, lengths)
        return encoded._replace(vector=mean_pool(encoded.states, lengths))

    monkeypatch.setattr(BiLSTM, "forward", with_other_pooling)
    with pytest.warns(UserWarning, match=MESSAGE):
        load_encoder(finished_run)


def test_a_resumed_run_with_an_encoder_of_other_vectors_says_so(lab, finished_run, tmp_path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    for path in (run / "checkpoints").glob("*.ckpt"):
        checkpoint = read_checkpoint(path)
        checkpoint[EXAMPLE_KEY] *= 1.05
        AtomicCheckpoints().save_checkpoint(checkpoint, path)
    ended = lab.finish(f"resume={run}", "trainer.max_epochs=3")
    assert ended.returncode == 0
    assert MESSAGE in " ".join(ended.stderr.split())


def test_a_run_that_begins_with_an_encoder_of_other_vectors_says_so() -> None:
    encoder = BiLSTM(input_dim=6, dim=8, projection=4)
    weights = {f"encoder.{name}": weight for name, weight in encoder.state_dict().items()}
    weights["embedding.table"] = torch.zeros(2, 6)
    with pytest.warns(UserWarning, match=f"first: {MESSAGE}"):
        take_weights(InitialRun("first", weights, None, 2 * example_vectors(encoder, 6)), encoder)


@pytest.mark.parametrize("example", [None, torch.zeros(3), torch.zeros(3, dtype=torch.bool)])
def test_a_checkpoint_without_an_example_is_loaded_without_a_word(finished_run, tmp_path, example) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    checkpoint = read_checkpoint(run / "checkpoints" / "best.ckpt")
    AtomicCheckpoints().save_checkpoint({**checkpoint, EXAMPLE_KEY: example}, run / "checkpoints" / "best.ckpt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_encoder(run)


def test_the_example_is_the_same_while_training_and_leaves_dropout_as_it_was() -> None:
    encoder = BiLSTM(input_dim=6, dim=8, projection=4, dropout=0.5).train()
    first = example_vectors(encoder, 6)
    assert encoder.training
    torch.testing.assert_close(example_vectors(encoder.eval(), 6), first)
