"""How long a training step of a run takes on this machine, measured on generated text before there is a corpus."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
import torch
from lightning_fabric.utilities import move_data_to_device

from datamodules.base import default_batch_size
from datamodules.batches import Bag, InDocument, LabelledPair, Position, SentencePair, Sentences
from datamodules.discourse import TARGETS, ClassCounts
from encoder_lab.compute.matmul import fast_exact_matmul
from encoder_lab.progress import MeasuredStep
from encoder_lab.settings.build import build, import_object
from encoder_lab.settings.run_settings import CLASS_KEY
from encoder_lab.training.build import probing_device, trainable_optimizer
from encoders.embedding import WordEmbedding
from objectives.discourse import Discourse
from objectives.nli import NLI
from objectives.objective import Objective
from objectives.seq2tree import Seq2Tree

WORDS, WIDTH = 50_000, 300  # rows and width of the word vectors
SENTENCE_WORDS = 25  # words of a sentence: the mean of Europarl
CODES, SYMBOLS = 28, 75  # of a target sentence of that length, of its tree
# settings of the data of discourse losses
CLASS_COUNT_SETTINGS = ("levels", "sentence_positions", "paragraph_positions")
TREE_SYMBOLS = 60  # brackets and tags
SMALL_BATCH, LARGE_BATCH = 4, 12  # sentences; on a CPU the seconds of more are on the line through these
WORD_BYTES = 10  # of a word in the cache: its letters and its id


class GeneratedData:
    """What objectives ask of their data: the numbers of codes and classes."""

    def __init__(self, symbols: int, classes: ClassCounts, bag_words: int) -> None:
        self.symbols, self.classes, self.bag_sizes = symbols, classes, dict.fromkeys(TARGETS, bag_words)

    def target_counts(self) -> np.ndarray:
        return np.ones(self.symbols, dtype=np.int64)

    def has_targets(self, loss: str) -> bool:
        return True


@fast_exact_matmul()
def measure_step(config: Mapping[str, Any]) -> MeasuredStep:
    """A step of the composed settings of a run, with its encoder, objective and optimiser."""
    device = probing_device(config["trainer"]["accelerator"])
    module, data = _module_and_data(config, device)
    batch = config["datamodule"].get("batch_size") or default_batch_size(10**6)
    words = sum(int(side.lengths.sum()) for side in _make_batch(module, data, 1) if isinstance(side, Sentences))
    if tokens := config["datamodule"].get("batch_tokens"):
        batch = max(1, tokens // words)
    numbers = sum(p.numel() for p in module.parameters() if p.requires_grad)
    if device == "cuda":
        seconds = _step_seconds(module, data, batch)
    else:
        small, larger = (_step_seconds(module, data, size) for size in (SMALL_BATCH, LARGE_BATCH))
        seconds = small + max(0.0, larger - small) * (batch - SMALL_BATCH) / (LARGE_BATCH - SMALL_BATCH)
    return MeasuredStep(batch, seconds, 3 * 4 * numbers, WORD_BYTES * words)


def _module_and_data(config: Mapping[str, Any], device: str) -> tuple[Objective, GeneratedData]:
    sizes, described = config["datamodule"], config["objective"]
    symbols = TREE_SYMBOLS if issubclass(import_object(described[CLASS_KEY]), Seq2Tree) else sizes.get("codes", 0)
    classes = ClassCounts(*(sizes.get(n, d) for n, d in zip(CLASS_COUNT_SETTINGS, ClassCounts(), strict=True)))
    data = GeneratedData(symbols, classes, sizes.get("bag_words", 0))
    table = np.random.default_rng(1).normal(size=(WORDS, WIDTH)).astype(np.float32)
    embedding = WordEmbedding(table, freeze=config["embeddings"]["freeze"])
    encoder = build(config["encoder"], input_dim=WIDTH)
    optimizer = trainable_optimizer(described["optimizer"], device)
    module = build(described, encoder=encoder, embedding=embedding, seed=1, data=data, optimizer=optimizer).to(device)
    module.log_score = lambda *_, **__: None
    return module, data


def _step_seconds(module: Objective, data: GeneratedData, size: int) -> float:
    """Of the second step with `size` sentences."""
    batch = move_data_to_device(_make_batch(module, data, size), module.device)
    optimizer = module.configure_optimizers()
    started = 0.0
    for _ in range(2):
        started = perf_counter()
        optimizer.zero_grad()
        loss: Any = module.training_step(batch, 0)
        loss.backward()
        optimizer.step()
        if module.device.type == "cuda":
            torch.cuda.synchronize()
    return perf_counter() - started


def _make_batch(module: Objective, data: GeneratedData, size: int) -> Any:
    def text(symbols: int, length: int) -> Sentences:
        return Sentences(torch.randint(1, symbols, (size, length)), torch.full((size,), length))

    sentence = text(WORDS, SENTENCE_WORDS)
    if isinstance(module, NLI):
        return LabelledPair(sentence, text(WORDS, SENTENCE_WORDS // 2), torch.arange(size) % 3)
    if isinstance(module, Discourse):
        zeros, two = torch.zeros(size, dtype=torch.int64), torch.full((size,), 2)
        words = data.bag_sizes["source"]
        bags = [torch.randint(1, words, (size, n)) for n in (SENTENCE_WORDS, SENTENCE_WORDS, 3, 3)]
        before, after, section, document = (Bag(ids, torch.full((size,), ids.shape[1])) for ids in bags)
        positions = Position(zeros, two), Position(zeros, two)
        return InDocument(sentence, before, after, zeros, *positions, section, document)
    return SentencePair(sentence, text(data.symbols, 2 + (SYMBOLS if isinstance(module, Seq2Tree) else CODES)))
