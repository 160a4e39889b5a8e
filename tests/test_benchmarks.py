"""The reference models of the benchmarks compute what ours compute."""

import json
import os
import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import GPT2LMHeadModel

from benchmarks import discoeval, machine, peers, probing, sides, start_up
from benchmarks.coherence import LanguageModelSize, sample_texts, score_plainly, suites_of, write_model
from benchmarks.command import measure
from benchmarks.conllu import COMMAND
from benchmarks.fair_regression import L2, nats_above_optimum, our_optima
from benchmarks.memory import resources
from benchmarks.probing import Shape, make_vectors
from benchmarks.steps import BATCH, by_length, generate, our_loss
from benchmarks.tables import SECTIONS, conllu_tables, markdown_rows, print_new_rows
from datamodules.batches import Bag, Sentences
from datamodules.discourse import SentencesInDocuments
from datamodules.nli import InferencePairs
from datamodules.seq2seq import TextPairs
from encoder_lab.settings.command_line import INTERRUPTED
from encoders.bigru import BiGRU
from encoders.bilstm import BiLSTM
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from encoders.gated_convnet import GatedConvNet
from encoders.language_model import CausalLM
from encoders.recurrent import Bidirectional
from objectives.discourse import Discourse
from objectives.layers import LOSSES, bag_loss
from objectives.nli import NLI
from objectives.objective import Objective
from objectives.sequence import SequenceObjective
from probes.classifiers.classifier import as_tensors, probe, standardise
from probes.classifiers.grid import Grid
from probes.discoeval.features import READINGS
from tests.tiny_corpus import TinyCorpus

RATES = {"matrix_gflop_per_second": 100, "bf16_matrix_gflop_per_second": 100, "memory_gb_per_second": 10}


def tied(packed: peers.PackedEncoder) -> peers.PackedEncoder:
    """Copy the weights of the original encoder."""
    for ours in (module for module in packed.encoder.modules() if isinstance(module, Bidirectional)):
        for layer, both in enumerate(zip(ours.forward_layers, ours.backward_layers, strict=True)):
            for direction, suffix in zip(both, ("", "_reverse"), strict=True):
                for name, weight in direction.named_parameters():
                    getattr(packed.layers, name.replace("_l0", f"_l{layer}{suffix}")).data = weight.data
    return packed


@pytest.mark.parametrize("encoder", [
    BiLSTM(5, 8, projection=6), BiLSTM(5, 8, projection=6, pooling="last"), BiGRU(5, 8),
], ids=["max", "last", "mean"])  # fmt: skip
def test_the_packed_encoder_gives_the_same_vectors(encoder) -> None:
    packed = tied(peers.PackedEncoder(encoder)).eval()
    embedded, lengths = torch.randn(3, 7, 5), torch.tensor([7, 1, 4])
    vector, _ = packed(torch.nn.Identity(), Sentences(embedded, lengths))
    assert torch.allclose(vector, encoder(embedded, lengths).vector, atol=1e-6)


def pair_of(
    objective: str, encoder: Encoder, cache: Path, decodes: type[peers.PlainSeq2Seq] = peers.PlainSeq2Seq
) -> tuple[Objective, Any, Any]:
    """Our objective and the plain one without their dropout, with the same weights, and a batch of all sentences."""
    if objective == "nli":
        data: Any = InferencePairs(TinyCorpus(), cache, seed=1)
        ours: Any = NLI(encoder, words_of(data), data, None, 1, hidden=4)
        plain: Any = peers.PlainNLI(encoder, 4)
        shared = [(ours.head, plain.head)]
    elif objective == "discourse":
        data = SentencesInDocuments(TinyCorpus(), cache, seed=1, sentence_positions=9, paragraph_positions=9)
        ours = Discourse(encoder, words_of(data), data, None, 1, losses=list(LOSSES), hidden=4)
        plain = peers.PlainDiscourse(encoder, data, 4)
        shared = [(ours.heads, plain.heads)]
    else:
        data = TextPairs(TinyCorpus(), "fr", cache, seed=1, codes=40)
        ours = SequenceObjective(encoder, words_of(data), data, None, 1, decoder_embedding=3, decoder_hidden=4)
        plain = decodes(encoder, data.target_size, 3, 4, 2, 0.2)
        parts = ("embedding", "lstm", "output", *(["attention"] if encoder.attention else []))
        shared = [(getattr(ours.decoder, part), getattr(plain, part)) for part in parts]
    tied(plain.encoder)
    for module, plain_module in shared:
        for weight, other in zip(module.parameters(), plain_module.parameters(), strict=True):
            other.data = weight.data
    [batch] = data.train_dataloader()
    return ours.eval(), plain.eval(), batch


def words_of(data: Any) -> WordEmbedding:
    return WordEmbedding(np.random.default_rng(0).normal(size=(len(data.vocabulary), 6)))


@pytest.mark.parametrize("objective", ["nmt", "nli", "discourse"])
@pytest.mark.parametrize("encoder", [
    BiLSTM(6, 8, projection=5), BiLSTM(6, 8, projection=5, attention=True), GatedConvNet(6, 8),
], ids=["max", "attention", "convnet"])  # fmt: skip
def test_the_plain_objective_has_the_same_loss(encoder, objective, tmp_path) -> None:
    ours, plain, batch = pair_of(objective, encoder, tmp_path)
    torch.testing.assert_close(plain.loss(ours.embedding, batch), our_loss(ours, batch))


def test_the_fair_step_has_the_same_loss(tmp_path) -> None:
    ours, fair, batch = pair_of("nmt", BiLSTM(6, 8, projection=5, attention=True), tmp_path, peers.WholeTarget)
    torch.testing.assert_close(fair.loss(ours.embedding, batch), our_loss(ours, batch))


def test_a_fair_ratio_is_the_peers_time_over_ours_in_each_round(monkeypatch) -> None:
    times = {"ours": iter([1.0, 2.0, 4.0]), "theirs": iter(range(2, 12))}
    monkeypatch.setattr(sides, "cpu_seconds", lambda work, _: sides.CpuSeconds(next(times[work]), 0))
    both = sides.Sides("both", "ours", "theirs", 2.0)  # type: ignore[arg-type]
    record = sides.measure_in_turns(both, lambda: sides.CpuSeconds(next(times["theirs"]), 0), 3)
    # as it comes the peer takes 2, 4 and 7, on equal terms 3, 5 and 6: each round begins with the next way
    assert [record["ratios"], record["ratios_on_equal_terms"]] == [[3.5, 4.0, 4.0], [3.0, 5.0, 6.0]]


@pytest.mark.parametrize("function", [start_up.ARGUMENTS, *start_up.WORK])
def test_a_stage_of_a_start_ends_with_a_function_of_the_run(function) -> None:
    assert callable(pkgutil.resolve_name(function))


def test_infersents_way_to_encode_gives_the_same_vectors() -> None:
    encoder, peer = BiLSTM(4, 6, layers=1, projection=None).eval(), peers.PlainInferSent(4, 6)
    for direction, layer in (("", encoder.lstm.forward_layers[0]), ("_reverse", encoder.lstm.backward_layers[0])):
        for name, weight in layer.named_parameters():
            getattr(peer.lstm, name + direction).data = weight.data
    table = torch.randn(9, 4)
    sentences = [["1"], ["2", "3", "4"], ["5", "6"], ["7", "8", "1", "2", "3"]]
    vectors = peer.encode(sentences, lambda word: table[int(word)].numpy())
    for sentence, vector in zip(sentences, vectors, strict=True):
        words = table[[int(word) for word in sentence]][None]
        alone = encoder(words, torch.tensor([len(sentence)])).vector[0].detach()
        np.testing.assert_allclose(vector, alone, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_scikit_learn_finds_the_same_optimum(classes) -> None:
    splits = make_vectors(Shape(300, 100, 100, 8, classes))
    ours = probe(*splits, classes, Grid(widths=(0,), l2=(1e-3, 0.3)), 1)
    theirs = peers.scikit_learn(*splits, classes, (1e-3, 0.3))
    assert ours.dev_accuracy == pytest.approx(theirs.dev, abs=1.0)
    assert ours.test_accuracy == pytest.approx(theirs.test, abs=1.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_above_the_optimum_is_told_for_both_sides(classes) -> None:
    splits = make_vectors(Shape(300, 100, 100, 8, classes))
    (train,) = standardise(as_tensors(splits[0], "cpu"))
    exact = our_optima(train, classes, gap=1e-10)
    shifted = [(weight, bias + 0.1 * torch.eye(classes)[0]) for weight, bias in exact]
    theirs = peers.scikit_learn(*splits, classes, L2).weights
    same, other, peer = nats_above_optimum(train, classes, exact, shifted, theirs)
    assert abs(same) < 1e-6
    assert abs(peer) < 1e-3
    assert other > 1e-4


def test_what_a_process_holds_counts_open_files_and_the_cache(tmp_path) -> None:
    before = resources(os.getpid(), tmp_path)
    with (tmp_path / "file").open("wb") as file:
        file.write(bytes(3 << 20))
        file.flush()
        after = resources(os.getpid(), tmp_path)
    assert after["handles"] == before["handles"] + 1
    assert (before["cache_mb"], after["cache_mb"]) == (0, 3)
    assert after["peak_mb"] >= after["resident_mb"] > 0


def test_bags_as_counts_have_the_same_loss() -> None:
    logits, ids = torch.randn(3, 9), torch.tensor([[2, 2, 5], [0, 0, 0], [7, 0, 0]])
    bag = Bag(ids, torch.tensor([3, 0, 1]))
    term = bag_loss(logits, bag)
    assert torch.allclose(peers.counts_loss(logits, bag), term.nats.sum() / term.targets.sum())


def test_timed_batches_represent_all_lengths() -> None:
    text = generate("nli")
    tokens = [text.tokens(rows) for rows in by_length(text, 6)]
    assert tokens == sorted(tokens)
    everywhere = text.tokens(np.arange(8192)) / 8192
    assert sum(tokens) / (6 * BATCH) == pytest.approx(everywhere, rel=0.05)


def test_the_passes_of_the_toolkit_on_discoeval_are_at_least_those_of_its_stop_rule() -> None:
    assert sum(shape.domains for shape in discoeval.SHAPES) == 12
    passes = {
        group: discoeval.min_passes(reading.grid(Grid(protocol="senteval"))) for group, reading in READINGS.items()
    }
    assert passes == {"SP": 28, "BSO": 28, "DC": 150, "SSP": 28, "PDTB-E": 7, "PDTB-I": 7, "RST-DT": 7}


def test_the_seconds_of_a_pass_do_not_count_the_start(monkeypatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(discoeval, "synchronised_time", lambda: clock[0])

    def work(grid: Grid) -> None:
        clock[0] += 100 + 3 * (grid.max_passes + 1)

    assert discoeval.seconds_per_pass(work, Grid(protocol="senteval"), rounds=2.5) == 7.5


def test_all_three_sides_of_the_discoeval_benchmark_read_the_same_task(monkeypatch) -> None:
    monkeypatch.setattr(discoeval, "POOL", 300)
    shape = discoeval.TaskSize("RST", "RST-DT", 1, 400, 60, 60, 3)
    full = discoeval.measure_published(shape, 8, True)
    assert full["toolkit_passes"] >= 2 * 7
    assert min(full["test"], discoeval.measure_modern(shape, 8, False)["test"]) > 40  # of three classes
    squares = (tick**2 for tick in count())  # rounds take 1, 5 and 9 seconds, so that a pass takes 2
    monkeypatch.setattr(discoeval, "synchronised_time", lambda: next(squares))
    assert discoeval.measure_published(shape, 8, False)["seconds"] == 2 * 7
    squares = (tick**2 for tick in count())
    assert discoeval.measure_toolkit(shape, 8, full["toolkit_passes"])["seconds"] == 2 * full["toolkit_passes"]


def test_one_classifier_after_another_has_the_scores_of_all_as_one_to_the_end_or_its_seconds_by_calculation() -> None:
    shape = probing.Shape(60, 20, 20, 8, probing.MANY_CLASSES)
    ours = probing.measure_fused(shape, 0)
    theirs = probing.measure_sequential(shape, ours["toolkit_passes"], 0)
    assert (theirs["dev"], theirs["test"]) == (ours["dev"], ours["test"])
    calculated = probing.measure_sequential(shape, ours["toolkit_passes"], 1)
    assert calculated["calculated_from_passes"] == 1
    assert calculated["gflop"] == theirs["gflop"] == pytest.approx(1.25 * ours["gflop"], rel=0.25)
    assert set(probing.measure_modern(shape)) >= {"seconds", "dev", "test", "gflop", "memory_mb", "own_mb"}


def test_texts_one_at_a_time_have_the_same_bits(tmp_path) -> None:
    suites = suites_of(60)
    write_model(LanguageModelSize(1, 16, 400), suites, tmp_path)
    model, as_loaded = CausalLM(tmp_path, "cpu"), GPT2LMHeadModel.from_pretrained(tmp_path).eval()
    pairs = sample_texts(suites, 20)
    for scores, bits in zip(model.logprobs(pairs), score_plainly(model, as_loaded, pairs), strict=True):
        np.testing.assert_allclose(-scores.logprobs, bits, atol=1e-4)


def conllu_record(*sizes: int) -> dict[str, Any]:
    case = {"step": "build", "seconds": 3.0, "memory": {"memory_mb": 40.0, "own_mb": 30.0}}
    return {"cases": [{"sentences": size, **case} for size in sizes]}


def test_the_table_of_treebanks_gives_seconds_per_million() -> None:
    assert "| 20,000 | build | 3.0 | 150 | 40 | 30 |" in markdown_rows(*conllu_tables(conllu_record(20_000)))


def test_the_terminal_shows_the_head_once_and_each_row_when_it_is_measured(capsys) -> None:
    printed: set[str] = set()
    for sizes in ((20_000,), (20_000, 30_000)):
        print_new_rows(conllu_tables(conllu_record(*sizes)), printed)
    *_, head, first, second = capsys.readouterr().out.splitlines()
    assert [head.split()[0], first.split()[0], second.split()[0]] == ["sentences", "20,000", "30,000"]


def test_a_benchmark_replaces_no_results_unless_it_is_told_to(monkeypatch, capsys) -> None:
    monkeypatch.setattr(machine, "hardware", lambda: {"machine": "a CPU", "cores": 2, "threads": 1, **RATES})
    monkeypatch.setattr(machine, "write_json", lambda *_: pytest.fail("wrote a file"))
    monkeypatch.setattr(sys, "argv", ["conllu.py"])
    assert measure(COMMAND, lambda _: [conllu_record(20_000)]) == 0
    assert "20,000" in capsys.readouterr().out


def test_what_was_measured_stays_where_a_benchmark_is_stopped(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(machine, "hardware", lambda: {"machine": "a CPU", "cores": 2, "threads": 1, **RATES})
    monkeypatch.setattr(sys, "argv", ["conllu.py", f"json={tmp_path}/conllu.json"])

    def work(_: Any) -> Iterator[dict[str, Any]]:
        yield conllu_record(20_000)
        raise KeyboardInterrupt

    assert measure(COMMAND, work) == INTERRUPTED
    record = json.loads((tmp_path / "conllu.json").read_text())
    assert (record["machine"], record["cases"]) == ("a CPU", conllu_record(20_000)["cases"])


@pytest.mark.parametrize(("name", "arguments"), [
    ("building", "sizes=[200]"), ("conllu", "sizes=[200]"), ("data", "sizes=[300]"), ("coherence", "items=60 large=0"),
    ("downstream", "sentences=60 dim=8 folds=2 pairs=40,20,20"), ("encoding", "sentences=60 encoder=bov"),
    ("probing", "train=[100] dims=[8] classes=[100]"), ("training", "pairs=[bov:nli] steps=1"),
])  # fmt: skip
def test_a_benchmark_fills_its_table(name, arguments, monkeypatch) -> None:
    benchmark = import_module(f"benchmarks.{name}")
    monkeypatch.setattr(benchmark, "in_new_process", lambda function, *more: function(*more))
    monkeypatch.setattr("benchmarks.downstream.PAIR_DIMS", (8,))
    monkeypatch.setattr("benchmarks.coherence.ROUNDS", 1)
    monkeypatch.setattr("benchmarks.coherence.SAMPLE_ITEMS", 20)
    record = {**RATES, "cores": 2}
    for part in benchmark.run_benchmark(benchmark.COMMAND.read(arguments.split())):
        record |= part
    _, tables = SECTIONS[name]
    assert all(re.search(r"\d", markdown_rows(table)) for table in tables(record))
