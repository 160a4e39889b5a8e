"""Generated text at paper size, batches of it, and the training steps that benchmarks/training.py compares.

Sentences are Zipfian words with lengths as in Europarl (median 22 words). `nmt`: 40,000 target codes, 1.1 a word.
`seq2tree`: 60 symbols, three a word. `nli`: pairs, the second half as long. `discourse`: all four losses, with
50,000 words in each bag.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from hydra.utils import instantiate
from lightning_fabric.utilities import move_data_to_device
from omegaconf import OmegaConf
from torch import Tensor, nn

from benchmarks.command import ROOT
from benchmarks.machine import DEVICE, in_precision
from benchmarks.peers import PlainDiscourse, PlainNLI, PlainSeq2Seq
from datamodules.arrays import Ragged, make_ragged
from datamodules.batches import InDocument, LabelledPair, Position, SentencePair
from datamodules.discourse import TARGETS, ClassCounts, pad_bags
from datamodules.samplers import LengthBatches, pad
from encoders.embedding import WordEmbedding
from objectives.discourse import Discourse
from objectives.nli import NLI
from objectives.sequence import SequenceObjective

WIDTH, WORDS, BATCH = 300, 50_000, 64
CODES, SYMBOLS = 40_000, 60
POOL = 8192  # sentences
PARAGRAPH, DOCUMENT = 8, 40  # sentences of a paragraph, paragraphs of a document


class Scale(NamedTuple):
    """How large texts and models are."""

    codes: int = CODES  # of translation
    sentences: int = POOL
    batch: int = BATCH
    encoder: Mapping[str, Any] = {}  # settings that differ from those in configs/encoder


FULL = Scale()
SMALL = Scale(60, 64, 4, {"dim": 16, "projection": 12, "layers": 1})  # a step takes no time

Step = Callable[[Any], None]
Loss = Callable[[Any], Tensor]


class GeneratedText(NamedTuple):
    """Generated sentences and targets, with the interface that objectives need of their datamodule."""

    objective: str
    source: Ragged
    target: Ragged  # codes, symbols, second sentences or titles
    symbols: int

    @property
    def bag_sizes(self) -> dict[str, int]:
        return dict.fromkeys(TARGETS, WORDS)

    @property
    def classes(self) -> ClassCounts:
        return ClassCounts()

    def has_targets(self, loss: str) -> bool:
        return True

    def target_counts(self) -> np.ndarray:
        return np.bincount(self.target.ids, minlength=self.symbols)

    def tokens(self, rows: np.ndarray) -> int:
        """The number of target tokens of these sentences; without a decoder, of words read."""
        sides = {"nli": (self.source, self.target), "discourse": (self.source,)}
        return _symbols(sides.get(self.objective, (self.target,)), rows)

    def batch(self, rows: np.ndarray) -> Any:
        """A padded batch on the device of the model."""
        if self.objective == "discourse":
            batch: Any = self._in_documents(rows)
        elif self.objective == "nli":
            batch = LabelledPair(pad(self.source, rows), pad(self.target, rows), torch.from_numpy(rows % 3))
        else:
            batch = SentencePair(pad(self.source, rows), pad(self.target, rows))
        return move_data_to_device(batch, torch.device(DEVICE))

    def _in_documents(self, rows: np.ndarray) -> InDocument:
        def position(index: np.ndarray, count: int) -> Position:
            return Position(torch.from_numpy(index % count), torch.full((len(index),), count))

        titles = pad_bags(self.target, rows)
        before, after = (pad_bags(self.source, shifted) for shifted in (rows - 1, (rows + 1) % POOL))
        positions = position(rows, PARAGRAPH), position(rows // PARAGRAPH, DOCUMENT)
        level = torch.from_numpy(rows % self.classes.levels)
        return InDocument(pad(self.source, rows), before, after, level, *positions, titles, titles)


def generate(objective: str, scale: Scale = FULL) -> GeneratedText:
    random = np.random.default_rng(1)
    lengths = np.clip(random.lognormal(np.log(22), 0.5, scale.sentences), 2, 100).astype(int)
    rows = [2 + (random.zipf(1.2, n) - 1) % (WORDS - 2) for n in lengths]
    source = make_ragged(row.tolist() for row in rows)
    if objective == "nli":
        return GeneratedText(objective, source, make_ragged(row[: max(2, len(row) // 2)].tolist() for row in rows), 3)
    if objective == "discourse":
        return GeneratedText(objective, source, make_ragged(row[: 1 + len(row) % 5].tolist() for row in rows), 0)
    symbols, per_word = (SYMBOLS, 3.0) if objective == "seq2tree" else (scale.codes, 1.1)
    codes = (3 + (random.zipf(1.2, int(per_word * n) + 1) - 1) % (symbols - 3) for n in lengths)
    return GeneratedText(objective, source, make_ragged([1, *row.tolist(), 2] for row in codes), symbols)


def by_length(text: GeneratedText, steps: int, batch: int = BATCH) -> list[np.ndarray]:
    """Training batches, evenly spaced from short to long sentences."""
    lengths = [np.diff(text.source.offsets), np.diff(text.target.offsets)]
    batches = sorted(LengthBatches(lengths, batch, seed=1), key=text.tokens)
    return [batches[(2 * i + 1) * len(batches) // (2 * steps)] for i in range(steps)]


def encoder_of(name: str, **settings: Any) -> Any:
    """The encoder of a configuration; of `settings` those that it has."""
    torch.manual_seed(1)
    config = OmegaConf.load(ROOT / "configs" / "encoder" / f"{name}.yaml")
    return instantiate(config, input_dim=WIDTH, **{key: value for key, value in settings.items() if key in config})


def word_embedding() -> WordEmbedding:
    return WordEmbedding(np.random.default_rng(1).normal(size=(WORDS, WIDTH)).astype(np.float32)).to(DEVICE)


def our_module(encoder: str, text: Any, **settings: Any) -> Any:
    """The project's objective, as train.py builds it."""
    parts = encoder_of(encoder, **settings), word_embedding(), text, None, 1
    if text.objective == "nli":
        return NLI(*parts).to(DEVICE)
    if text.objective == "discourse":
        return Discourse(*parts, losses=("nsp", "spp", "nl", "sdt")).to(DEVICE)
    return SequenceObjective(*parts).to(DEVICE)


def amounts(module: Any, text: GeneratedText, batches: list[np.ndarray]) -> dict[str, float]:
    """What these steps multiply and move at least."""
    return {
        "gflop": sum(operations(module, text, rows) for rows in batches) / 1e9,
        "gigabytes": sum(bytes_moved(module, text, rows) for rows in batches) / 1e9,
    }


def operations(module: Any, text: GeneratedText, rows: np.ndarray) -> float:
    """Operations of the matrix products of a step: two per weight and position forward, twice as many backward."""
    sentences = (text.source, text.target) if text.objective == "nli" else (text.source,)
    total = _weights(module.encoder) * _symbols(sentences, rows)
    if text.objective in ("nmt", "seq2tree"):
        return 6.0 * (total + _weights(module.decoder) * (_symbols((text.target,), rows) - len(rows)))
    return 6.0 * (total + _weights(module.head if text.objective == "nli" else module.heads) * len(rows))


def bytes_moved(module: Any, text: GeneratedText, rows: np.ndarray) -> float:
    """Bytes that a 32-bit step moves at least: it writes and reads gradients, Adam reads and writes three arrays, and
    each logit is written, read and written by the softmax, and read by two products.
    """
    numbers = 8 * sum(p.numel() for p in module.parameters() if p.requires_grad)
    if text.objective in ("nmt", "seq2tree"):
        numbers += 5 * text.symbols * (_symbols((text.target,), rows) - len(rows))
    return 4.0 * numbers


def _weights(module: nn.Module) -> int:
    """The number of weights in matrix products: no biases, no embedding tables."""
    layers = (layer for layer in module.modules() if not isinstance(layer, nn.Embedding))
    return sum(p.numel() for layer in layers for p in layer.parameters(recurse=False) if p.ndim > 1)


def _symbols(sides: tuple[Ragged, ...], rows: np.ndarray) -> int:
    return int(sum((side.offsets[rows + 1] - side.offsets[rows]).sum() for side in sides))


def our_loss(module: Any, batch: Any) -> Tensor:
    """The loss of a training step, without logging."""
    if isinstance(module, NLI):
        return torch.nn.functional.cross_entropy(module(batch), batch.label)
    if isinstance(module, Discourse):
        means = {name: term.nats.sum() / term.targets.sum() for name, term in module(batch).items()}
        return module.weighted_sum(means)  # type: ignore
    vector, memory = module.encode_source(batch.source)
    nats, tokens = module.decoder.loss(vector, batch.target.ids, memory)
    return nats / tokens


def our_step(module: Any, precision: str = "32-true", compiled: bool = False) -> Step:
    """One training step of our module, with the optimiser of configs/objective."""
    loss = partial(our_loss, module)
    optimizer = torch.optim.Adam([p for p in module.parameters() if p.requires_grad], fused=True)
    return training_step(torch.compile(loss, dynamic=True) if compiled else loss, optimizer, precision)


def plain_step(encoder: str, text: GeneratedText) -> Step:
    """One training step of the reference."""
    embedding, plain_encoder = word_embedding(), encoder_of(encoder)
    if text.objective == "nli":
        module: Any = PlainNLI(plain_encoder, 100)
    elif text.objective == "discourse":
        module = PlainDiscourse(plain_encoder, text, 300)
    else:
        module = PlainSeq2Seq(plain_encoder, text.symbols, 256, 512, 2, 0.2)
    module.to(DEVICE)
    return training_step(partial(module.loss, embedding), torch.optim.Adam(module.parameters()))


def training_step(
    loss: Loss, optimizer: torch.optim.Optimizer, precision: str = "32-true", max_norm: float | None = None
) -> Step:
    """Loss, gradient, its norm at most `max_norm`, and a step of the optimiser."""

    def step(batch: Any) -> None:
        optimizer.zero_grad()
        with in_precision(precision):
            value = loss(batch)
        value.backward()
        if max_norm is not None:
            nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], max_norm)
        optimizer.step()

    return step
