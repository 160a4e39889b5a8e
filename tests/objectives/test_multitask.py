from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from datamodules.multitask import Draws, Mixture
from datamodules.samplers import LengthBatches
from encoder_lab.errors import InputError
from encoders.bilstm import BiLSTM
from encoders.embedding import WordEmbedding
from objectives.multitask import Multitask
from objectives.nli import NLI
from tests.silent import silent_trainer
from tests.tiny_corpus import TinyCorpus

SIZES = {"decoder_embedding": 4, "decoder_hidden": 6, "decoder_layers": 1}
PAIRS = {"_target_": "datamodules.seq2seq.TextPairs", "codes": 40, "batch_size": 5}
SETTINGS: dict[str, Any] = {
    "autoencoder": {
        "objective": {"_target_": "objectives.seq2seq.Seq2Seq", **SIZES},
        "datamodule": PAIRS | {"target": "same"},
    },
    "skipthought": {
        "objective": {"_target_": "objectives.skipthought.SkipThought", **SIZES},
        "datamodule": PAIRS | {"target": "next"},
    },
    "nli": {
        "objective": {"_target_": "objectives.nli.NLI", "hidden": 5},
        "datamodule": {"_target_": "datamodules.nli.InferencePairs", "batch_size": 7},
    },
}
ADAM = partial(torch.optim.Adam, lr=0.01)


def draws(batches: tuple[int, ...], weights: list[float], steps: int | None = None) -> Draws:
    sampler = Draws([LengthBatches([np.ones(n)], 1, seed=3) for n in batches], weights, seed=5)
    sampler.steps = steps or sampler.steps
    return sampler


def drawn(sampler: Draws, epoch: int, start: int = 0) -> list[tuple[int, int]]:
    sampler.set_epoch(epoch)
    sampler.start = start
    return [(part, int(rows[0])) for part, rows in sampler]


@given(st.integers(0, 3), st.integers(0, 11))
def test_an_epoch_is_a_function_of_seed_epoch_and_step(epoch, start) -> None:
    whole = drawn(draws((3, 7, 2), [1.0, 2.0, 1.0]), epoch)
    assert len(whole) == 12
    assert drawn(draws((3, 7, 2), [1.0, 2.0, 1.0]), epoch, start) == whole[start:]


def test_a_part_goes_through_all_its_data_before_it_repeats() -> None:
    sampler = draws((3, 40), [1.0, 1.0])
    taken = [row for epoch in range(6) for part, row in drawn(sampler, epoch) if part == 1]
    assert (sorted(taken[:40]), sorted(taken[40:80])) == (list(range(40)), list(range(40)))


def test_parts_are_drawn_by_weight() -> None:
    counts = np.bincount([part for part, _ in drawn(draws((5, 5, 5), [6.0, 3.0, 1.0], steps=5000), 0)])
    np.testing.assert_allclose(counts / 5000, [0.6, 0.3, 0.1], atol=0.03)


def build(folder: Path, parts: tuple[str, ...] = ("autoencoder", "skipthought", "nli"), **more: Any) -> Any:
    data = Mixture(TinyCorpus(), folder, 1, parts, SETTINGS, more.pop("weights", None))
    torch.manual_seed(0)
    embedding = WordEmbedding(np.random.default_rng(0).normal(size=(len(data.vocabulary), 6)))
    encoder = BiLSTM(6, dim=8, layers=1, projection=5)
    return Multitask(encoder, embedding, data, ADAM, 1, parts, SETTINGS, **more), data


def test_parts_share_one_vocabulary(tmp_path) -> None:
    _, data = build(tmp_path)
    words = set(data.vocabulary.words)
    assert all(set(sentence.split()) <= words for sentence in data.source_sentences())
    ids = next(iter(data.parts["skipthought"].val_dataloader())).source.ids.flatten().tolist()
    assert {data.vocabulary.words[i].rstrip("0123456789") for i in ids} <= {"<pad>", "dog", "cat", "bird", "fish"}


def test_the_words_of_a_batch_come_from_its_part(tmp_path) -> None:
    _, data = build(tmp_path, ("nli", "autoencoder"))
    for batch in data.train_dataloader():
        lines = [line.split("\t") for line in data.readable_lines(batch)]
        first, second = ("premise", "hypothesis") if batch.part == 0 else ("source", "target")
        texts = {field: [text for name, text in lines if name == field] for field in (first, second)}
        assert len(texts[first]) == len(texts[second]) == len(lines) / 2
        assert batch.part == 0 or texts["source"] == texts["target"]


def test_the_selected_part_chooses_the_best_checkpoint(tmp_path, monkeypatch) -> None:
    first, selected = build(tmp_path)[0], build(tmp_path, select="skipthought")[0]
    assert (first.score, first.mode) == ("val/autoencoder/bleu", "max")
    assert (selected.score, selected.mode) == ("val/skipthought/perplexity", "min")
    monkeypatch.setattr(NLI, "score", "val/error")
    monkeypatch.setattr(NLI, "mode", "min")
    patched = build(tmp_path, select="nli")[0]
    assert (patched.score, patched.mode) == ("val/nli/error", "min")


def test_a_step_equals_the_step_of_its_part(tmp_path) -> None:
    module, data = build(tmp_path)
    module.log_score = lambda *_, **__: None
    module.eval()
    for batch in data.train_dataloader():
        alone = list(module.parts.values())[batch.part].training_step(batch.batch, 0)
        torch.testing.assert_close(module.training_step(batch, 0), alone)


def test_a_resumed_run_ends_with_the_same_weights(tmp_path) -> None:
    modules, path = [], tmp_path / "last.ckpt"
    for epochs, begin in ((2, None), (1, None), (2, path)):
        module, data = build(tmp_path)
        run = silent_trainer(max_epochs=epochs)
        run.fit(module, data, ckpt_path=begin, weights_only=True)
        modules.append(module)
        run.save_checkpoint(path) if epochs == 1 else None
    whole, _, resumed = (module.state_dict() for module in modules)
    assert all(torch.equal(weight, resumed[name]) for name, weight in whole.items())


def test_wrong_parts_weights_and_selections_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="autoencoder, skipthought, nli"):
        build(tmp_path, parts=("nli", "chess"))
    for weights in ([1.0, 0.0, 2.0], []):
        with pytest.raises(InputError, match="one number above zero"):
            build(tmp_path, weights=weights)
    with pytest.raises(InputError, match=r"objective\.select=chess"):
        build(tmp_path, select="chess")
