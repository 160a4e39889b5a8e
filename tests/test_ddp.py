"""Two processes train as one process with the same global batch, and share the probing."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from datamodules.base import CachedData
from datamodules.batches import Bag
from datamodules.discourse import SentencesInDocuments
from datamodules.seq2seq import TextPairs
from datamodules.word_vectors.run_vectors import save_run_vectors
from datamodules.word_vectors.store import FromFile
from encoder_lab.errors import InputError
from encoder_lab.settings.run import Trainer
from encoder_lab.storage.csv_files import read_csv
from encoder_lab.training import run_folder
from encoder_lab.training.devices import choose_strategy
from encoder_lab.training.trainer import build_trainer
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from encoders.gated_convnet import GatedConvNet
from objectives.discourse import Discourse
from objectives.multitask import Multitask
from objectives.nli import NLI
from objectives.seq2seq import Seq2Seq
from probes.callback import ProbingCallback
from probes.results import read_rows
from tests import commands
from tests.asked import run_settings
from tests.conftest import Lab
from tests.objectives.test_multitask import build
from tests.tiny_corpus import TinyCorpus

# no dropout, as each process would drop out other units; several threads give other vectors each time, so there must
# be one training of them for all
SAME = ["encoder.dropout=0", "objective.dropout=0", "trainer.max_epochs=1", "probes.tasks=[SentLen,BShift]"]
SAME += ["embeddings.threads=2"]
LOG = ["logger=[csv]", "trainer.log_every_n_steps=1"]
PATIENT = "ddp_find_unused_parameters_true"
BOTH = ["trainer=ddp", "trainer.devices=2", "trainer.accelerator=cpu"]
TORCHRUN = ("-m", "torch.distributed.run", "--nproc_per_node=2")


def test_two_processes_have_the_loss_curve_and_the_scores_of_one(tmp_path) -> None:
    lab = Lab(tmp_path / "cache")
    alone, together = tmp_path / "one", tmp_path / "two"
    settings = lab.settings(together, *SAME, *BOTH, *LOG, "datamodule.batch_size=16")
    done = commands.finish(*TORCHRUN, "train.py", *settings, forking=True)  # both at once
    assert done.returncode == 0, done.stderr
    made = ["fasttext", "pairs", "probing", *["score"] * 2, "vectors"]
    cached = [path for path in lab.cache.iterdir() if path.suffix != ".lock"]
    assert sorted(path.name.split("-")[0] for path in cached) == made, "not each once"
    for path in lab.cache.glob("score-*"):
        path.unlink()
    lab.succeed(*lab.settings(alone, *SAME, *LOG, "datamodule.batch_size=32"))
    for mine, theirs in zip(read_csv(alone / "metrics.csv"), read_csv(together / "metrics.csv"), strict=True):
        assert mine["step"] == theirs["step"]
        for score in ("train/loss", "val/loss"):
            assert float(mine[score]) == pytest.approx(float(theirs[score]), abs=2e-4)
    logs = [read_csv(run / "csv" / "metrics.csv") for run in (alone, together)]
    steps = [[float(row["train/step_loss"]) for row in log if row["train/step_loss"]] for log in logs]
    assert len(steps[0]) > 2
    assert steps[0] == pytest.approx(steps[1], abs=2e-4)
    mine, theirs = (read_rows(run / "probes.csv") for run in (alone, together))
    assert [(row.epoch, row.task) for row in mine] == [(row.epoch, row.task) for row in theirs]
    # before training nothing was summed in another order
    assert [row.test_accuracy for row in mine if not row.epoch] == [r.test_accuracy for r in theirs if not r.epoch]


def test_two_processes_find_texts_as_surprising_as_one_does(lab, tmp_path) -> None:
    runs = tmp_path / "one", tmp_path / "two"
    more = ["objective=skipthought", "suite=coherence", "coherence.items=8", "corpus.size=60", *SAME[:3]]
    for run, where in zip(runs, (["datamodule.batch_size=64"], [*BOTH, "datamodule.batch_size=32"]), strict=True):
        small = [text for text in lab.settings(run, *more, *where) if not text.startswith("probes.")]
        lab.succeed(*small, forking=True)
    alone, together = (read_rows(run / "probes.csv") for run in runs)
    assert [(row.epoch, row.task) for row in alone] == [(row.epoch, row.task) for row in together]
    assert [row.test_accuracy for row in alone if not row.epoch] == [
        row.test_accuracy for row in together if not row.epoch
    ]


def test_the_first_of_two_processes_probes_an_untrained_encoder(lab, tmp_path) -> None:
    run = tmp_path / "run"
    settings = [text for text in lab.settings(run, *BOTH, "probes.tasks=[SentLen]") if "objective." not in text]
    # Lightning starts the second process when all is prepared
    done = lab.finish(*settings, "objective=untrained", forking=True)
    assert done.returncode == 0, done.stderr
    assert [row.epoch for row in read_rows(run / "probes.csv")] == [0]
    assert not (run / "checkpoints" / "previous.ckpt").exists(), "the last checkpoint was written twice"


def test_a_process_that_fails_ends_the_others(lab, tmp_path) -> None:
    run = tmp_path / "run"
    command = lab.start(*lab.settings(run, *BOTH), forking=True)
    while not (run / "config.yaml").exists():
        assert command.poll() is None, command.communicate()[1]
        time.sleep(0.01)
    (run / "metrics.csv").mkdir()  # the first process alone writes there
    assert "metrics.csv: not a file" in command.communicate(timeout=300)[1]
    assert command.returncode == 2
    end = time.monotonic() + 10
    while command.speaking():
        assert time.monotonic() < end, "the second process goes on"
        time.sleep(0.01)


def test_a_sweep_of_multi_process_runs_is_refused(lab, tmp_path) -> None:
    refusal = lab.refusal("-m", f"hydra.sweep.dir={tmp_path}", "trainer.devices=2")
    assert "trainer.devices=2: a sweep starts one process for each run" in refusal


def meet(rank: int, world: int, folder: Path) -> None:
    """Make processes known to each other."""
    at, limit = f"file://{folder}/meet", timedelta(seconds=60)
    torch.distributed.init_process_group("gloo", init_method=at, rank=rank, world_size=world, timeout=limit)


def test_only_gradients_are_sent_between_processes(tmp_path) -> None:
    module = NLI(GatedConvNet(6, 8), WordEmbedding(np.ones((5, 6))), None, None, seed=1)  # type: ignore[arg-type]
    module.setup("fit")
    meet(0, 1, tmp_path)
    try:
        assert not DistributedDataParallel(module).will_sync_module_buffers()
    finally:
        torch.distributed.destroy_process_group()


def test_a_step_of_one_part_does_not_wait_for_the_others(tmp_path) -> None:
    module, data = build(tmp_path)
    alone = ["trainer.devices=1", "trainer.accelerator=cpu", "trainer.max_epochs=1", "logger=[]"]  # so nothing is drawn
    alone += ["trainer.enable_progress_bar=false"]
    probing = ProbingCallback([], None, tmp_path / "probes.csv")  # type: ignore[arg-type]
    trainer = build_trainer(run_settings("trainer=ddp", *alone), tmp_path / "run", module, probing, data, Path)
    meet(0, 1, tmp_path)
    try:
        with patch.dict(os.environ):  # where Lightning leaves the process's place
            trainer.fit(module, data)
    finally:
        torch.distributed.destroy_process_group()
    assert {"train/nli/loss", "train/skipthought/loss"} <= trainer.callback_metrics.keys()


@pytest.mark.parametrize(("devices", "strategy"), [(1, "auto"), (2, PATIENT), ([0, 1], PATIENT), (-1, PATIENT)])
def test_multitask_needs_no_explicit_strategy(devices, strategy) -> None:
    assert choose_strategy("auto", Trainer(1, devices=devices).several_devices, Multitask) == strategy  # type: ignore[arg-type]


def in_processes(world: int, score: Callable[..., Any], folder: Path) -> list[Any]:
    """What `score` is in each of several processes."""
    with ProcessPoolExecutor(world, get_context("fork")) as pool:
        return list(pool.map(partial(score, world=world, folder=folder), range(world)))


def bleu_in_a_process(rank: int, world: int, folder: Path) -> float:
    """Of a decoder that knows the long references by heart and never says the last code of the short ones."""

    class Part(TextPairs):
        rank, world = property(lambda _: rank), property(lambda _: world)

    torch.set_num_threads(1)  # a forked process has none of its parent's
    data = Part(TinyCorpus(), "fr", folder / "cache", seed=1, codes=40)
    words = WordEmbedding(np.ones((len(data.vocabulary), 6)))
    module = Seq2Seq(GatedConvNet(6, 8), words, data, None, seed=1, decoder_embedding=4, decoder_hidden=4)
    if world > 1:
        meet(rank, world, folder)
    module.on_validation_epoch_start()
    for number, batch in enumerate(data.val_dataloader()):
        ids_of = [ids[1 : n - 1 if n > 6 else n - 2] for ids, n in zip(*map(Tensor.tolist, batch.target), strict=True)]
        module.decoder.greedy = lambda *_, ids_of=ids_of: ids_of  # type: ignore[method-assign]
        module.validation_step(batch, number)
    module.all_gather = lambda part: part  # type: ignore[method-assign]
    if world > 1:
        parts = [torch.zeros(len(module._sums._sums), dtype=torch.double) for _ in range(world)]
        module.all_gather = lambda part: torch.distributed.all_gather(parts, part) or torch.stack(parts)  # type: ignore[method-assign]
    return module.scores_of(module._sums.totals(module))["val/bleu"]


def test_two_processes_have_the_bleu_of_one(tmp_path) -> None:
    scores = [*in_processes(1, bleu_in_a_process, tmp_path), *in_processes(2, bleu_in_a_process, tmp_path)]
    assert 0 < scores[0] < 100
    assert scores == [scores[0]] * 3


def discourse_loss_in_a_process(rank: int, world: int, folder: Path) -> float:
    """Of titles; the first process has sentences with titles, the second has none with a title."""
    torch.set_num_threads(1)  # a forked process has none of its parent's
    torch.manual_seed(0)
    data = SentencesInDocuments(TinyCorpus(), folder / "cache", seed=1, sentence_positions=9, paragraph_positions=9)
    words = WordEmbedding(np.ones((len(data.vocabulary), 6)))
    module = Discourse(BagOfVectors(6), words, data, None, seed=1, losses=["sdt"], hidden=4)
    module.log_score = lambda *_, **__: None  # type: ignore[method-assign]
    module._trainer = SimpleNamespace(world_size=world)  # type: ignore[assignment]
    batch = next(iter(data.train_dataloader()))
    if rank:
        empty = Bag(batch.section_title.ids, torch.zeros_like(batch.section_title.sizes))
        batch = batch._replace(section_title=empty, document_title=empty)
    if world > 1:
        meet(rank, world, folder)
    return float(module.training_step(batch, 0))


def test_a_process_without_targets_does_not_change_the_loss(tmp_path) -> None:
    (alone,) = in_processes(1, discourse_loss_in_a_process, tmp_path)
    assert sum(in_processes(2, discourse_loss_in_a_process, tmp_path)) / 2 == pytest.approx(alone)


def discourse_epoch_in_a_process(rank: int, world: int, folder: Path) -> list[float]:
    """The sum and the weight of the training loss of two steps; two processes have unequal parts of the first."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = SentencesInDocuments(TinyCorpus(), folder / "cache", seed=1, sentence_positions=9, paragraph_positions=9)
    words = WordEmbedding(np.random.default_rng(0).normal(size=(len(data.vocabulary), 6)))
    module = Discourse(BagOfVectors(6), words, data, None, seed=1, losses=["nsp", "nl"], hidden=4)
    module.log = lambda *_, **__: None  # type: ignore[method-assign]
    module._trainer = SimpleNamespace(world_size=world)  # type: ignore[assignment]
    if world > 1:
        meet(rank, world, folder)
    for rows in (np.arange(3), np.arange(3, 11)):
        module.training_step(data._collate("train")(rows[rank::world]), 0)
    return [float(number) for number in module._train_sums["train/loss"]]


def test_unequal_parts_of_a_batch_do_not_change_the_training_loss_of_an_epoch(tmp_path) -> None:
    (alone,) = in_processes(1, discourse_epoch_in_a_process, tmp_path)
    together = np.sum(in_processes(2, discourse_epoch_in_a_process, tmp_path), 0)
    assert together[0] / together[1] == pytest.approx(alone[0] / alone[1], rel=1e-5)


@given(examples=st.integers(1, 300), processes=st.integers(1, 70), batch=st.integers(1, 64))
def test_every_process_has_something_to_validate_on(examples, processes, batch) -> None:
    class Part(CachedData):
        world, batch_size, trainer = processes, batch, None
        rank = property(lambda self: self.place)

        def __init__(self, place: int) -> None:
            self.place = place

    def batches(rank: int) -> list[np.ndarray]:
        return list(Part(rank).validation_loader(np.arange(examples), lambda rows: rows))

    if examples < processes:
        with pytest.raises(InputError, match="examples to validate on"):
            batches(0)
        return
    parts = [batches(rank) for rank in range(processes)]
    assert all(parts)
    assert sorted(row for mine in parts for rows in mine for row in rows.tolist()) == list(range(examples))


def test_other_processes_read_the_vectors_of_the_first(tmp_path, monkeypatch) -> None:
    data = TextPairs(TinyCorpus(), "same", tmp_path, seed=1, codes=40)
    written = np.full((len(data.vocabulary), 3), 7, np.float32)
    trained = tmp_path / "own.vec"
    trained.write_text("1 3\ndog 1 2 3\n")
    monkeypatch.setattr(run_folder, "is_rank_zero", lambda: False)
    first = partial(save_run_vectors, tmp_path / "run", data.vocabulary, written)
    monkeypatch.setattr(run_folder, "wait_for_file", lambda *_: first())
    vectors = run_folder.run_vectors(FromFile(str(trained)), tmp_path / "run", data, [], tmp_path, None)
    np.testing.assert_array_equal(vectors.matrix, written)
