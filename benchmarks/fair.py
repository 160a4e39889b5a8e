"""Our speed next to what people would run (benchmarks/peers.py): training, encoding, logistic regression.

python benchmarks/fair.py                             everything, on one thread
python benchmarks/fair.py parts=[encoding] rounds=5

Both sides take turns on one thread, and their processor time is compared, so that other work on the machine disturbs
little. A ratio above 1 says that ours is faster; worst, median and best of the rounds are shown. The peer runs as it
comes, in a process of its own, and again on equal terms: in our process, with the settings of memory of train.py
(encoder_lab/compute/start.py) and the library for matrix products that we choose (encoder_lab/compute/matmul.py), in
bfloat16 where we encode so, and with the tolerance at which scikit-learn comes as near to the optimum as we do.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import PRECISIONS, benchmark, measure
from benchmarks.tables import PARTS
from encoder_lab.compute.start import give_back_large_blocks
from encoder_lab.settings.command_line import COUNT, Setting, list_of, one_of

SETTINGS = [
    Setting("parts", "what to compare", list_of(one_of(*PARTS)), PARTS),
    Setting("steps", "training steps of a round", COUNT, 3),
    Setting("precision", "of translation on both sides, and of encoding", list_of(one_of(*PRECISIONS)), PRECISIONS),
    Setting("rounds", "how often both sides take turns", COUNT, 3),
]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

if __name__ == "__main__":
    os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")  # also of scikit-learn
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # it compares processor time

import numpy as np
import torch

from benchmarks import encoding, fair_regression
from benchmarks.machine import DEVICE, in_precision
from benchmarks.peers import CLIP, RATE, PlainInferSent, PlainInferSentNLI, PlainNLI, WholeTarget
from benchmarks.sides import Sides, compare, use_one_thread
from benchmarks.steps import (
    FULL,
    WIDTH,
    WORDS,
    Scale,
    amounts,
    by_length,
    encoder_of,
    generate,
    our_loss,
    our_module,
    our_step,
    training_step,
    word_embedding,
)
from datamodules.arrays import Ragged
from encoder_lab.compute.matmul import multiplies_in_bfloat16
from encoders import FrozenEncoder
from encoders.bilstm import BiLSTM
from objectives.nli import NLI

DIMS = (512, 4096)
SENTENCES = {512: (100, 300, 1000, 3000), 4096: (100, 300)}


def translation(precision: str, batches: int, scale: Scale = FULL) -> Sides:
    """A step of translation to 40,000 codes against the fair plain step on the same sorted batches.

    Theirs stays in 32 bits where the processor's LSTM has no bfloat16: PyTorch then raises an error.
    """
    text = generate("nmt", scale)
    chosen = by_length(text, batches, scale.batch)
    padded = [text.batch(rows) for rows in chosen]
    module = our_module("bilstm_max", text, **scale.encoder)
    ours = our_step(module, precision)
    peer = WholeTarget(encoder_of("bilstm_max", **scale.encoder), text.symbols, 256, 512, 2, 0.2).to(DEVICE)
    bf16 = precision == "bf16-mixed" and (DEVICE != "cpu" or torch.ops.mkldnn._is_mkldnn_bf16_supported())
    peer_precision = "bf16-mixed" if bf16 else "32-true"
    optimizer = torch.optim.Adam(peer.parameters(), fused=True)
    theirs = training_step(partial(peer.loss, word_embedding()), optimizer, peer_precision)
    small = text.batch(np.arange(8))
    ours(small), theirs(small)
    name = f"translation step, {precision}: fair plain step, {peer_precision}"
    return Sides(name, run_steps(ours, padded), run_steps(theirs, padded), more=amounts(module, text, chosen))


def run_steps(step: Callable[[Any], None], batches: Sequence[Any]) -> Callable[[], None]:
    """A step for each batch, when called."""

    def work() -> None:
        for batch in batches:
            step(batch)

    return work


def entailment(dim: int, batches: int, scale: Scale = FULL) -> Sides:
    """A step of NLI as experiment=conneau2017/infersent_linear has it, against InferSent's loop."""
    text = generate("nli", scale)
    embedding = word_embedding()
    encoder = BiLSTM(WIDTH, dim, 1, None, 0.0)
    module = NLI(encoder, embedding, text, None, 1, head="linear", hidden=512).to(DEVICE)  # type: ignore
    optimizer = torch.optim.SGD([p for p in module.parameters() if p.requires_grad], RATE)
    step = training_step(partial(our_loss, module), optimizer, max_norm=CLIP)
    peer, table = PlainInferSentNLI(WIDTH, dim).to(DEVICE), embedding.table.cpu().numpy()

    def ours(rows: np.ndarray) -> None:
        step(text.batch(rows))

    def theirs(rows: np.ndarray) -> None:
        first, second = (words_in(side, rows) for side in (text.source, text.target))
        peer.step(first, second, torch.from_numpy(rows % 3), lambda word: table[word])

    size, random = scale.batch, np.random.default_rng(1).permutation(scale.sentences)
    chosen = by_length(text, batches, size)
    in_random_order = [random[first : first + size] for first in range(0, batches * size, size)]
    for step_of_side in (ours, theirs):
        step_of_side(np.arange(min(8, size)))
    share = sum(map(text.tokens, chosen)) / sum(map(text.tokens, in_random_order))
    name, more = f"NLI step, {dim:,} dimensions: InferSent's loop", amounts(module, text, chosen)
    return Sides(name, run_steps(ours, chosen), run_steps(theirs, in_random_order), share, more=more)


def plain_entailment(dim: int, batches: int, scale: Scale = FULL) -> Callable[[], None]:
    """The steps of `entailment` as a plain one: the library's packed LSTM on sorted batches, ids on the device."""
    text = generate("nli", scale)
    peer = PlainNLI(BiLSTM(WIDTH, dim, 1, None, 0.0), 512).to(DEVICE)
    optimizer = torch.optim.SGD(peer.parameters(), RATE)
    step = training_step(partial(peer.loss, word_embedding()), optimizer, max_norm=CLIP)
    return run_steps(step, [text.batch(rows) for rows in by_length(text, batches, scale.batch)])


def words_in(texts: Ragged, rows: np.ndarray) -> list[np.ndarray]:
    """The words of these sentences."""
    return [texts.ids[texts.offsets[row] : texts.offsets[row + 1]] for row in rows]


def sentences(dim: int, count: int, precision: str) -> Sides:
    """Encoding of `count` different sentences against InferSent's encode with the same weights."""
    texts = encoding.distinct_sentences(count)
    encoder = BiLSTM(WIDTH, dim, 1, None, 0.0)
    in_float32 = encoding.frozen_encoder(encoder)
    bfloat16 = precision == "bf16-mixed"
    ours = FrozenEncoder(encoder, in_float32.embedding, in_float32.vocabulary, bfloat16=bfloat16)
    peer = PlainInferSent(WIDTH, dim).to(DEVICE)
    for direction, layer in (("", encoder.lstm.forward_layers[0]), ("_reverse", encoder.lstm.backward_layers[0])):
        for name, weight in layer.named_parameters():
            getattr(peer.lstm, name + direction).data.copy_(weight.data)
    table = in_float32.embedding.table.cpu().numpy()
    vectors = {str(i): table[in_float32.vocabulary.rows(str(i))[0]] for i in range(WORDS)}
    split = [text.split() for text in texts]
    sample = slice(0, 100)
    difference = np.abs(in_float32.encode(texts[sample]) - peer.encode(split[sample], vectors.__getitem__)).max()
    assert difference < (1e-4 if DEVICE == "cpu" else 1e-2), f"vectors differ by {difference}"  # TF32 on a GPU

    def theirs(precision: str) -> np.ndarray:
        with in_precision(precision):
            return peer.encode(split, vectors.__getitem__)

    name = f"encoding, {dim:,} dim., {count:,} sentences, {precision}: InferSent's encode"
    read, weights = sum(map(len, split)), sum(weight.numel() for weight in encoder.parameters() if weight.ndim > 1)
    more = {"gflop": 2e-9 * read * weights, "gigabytes": 4e-9 * (read * WIDTH + count * dim)}
    in_our_precision = partial(theirs, precision)
    return Sides(name, partial(ours.encode, texts), partial(theirs, "32-true"), 1.0, in_our_precision, more)


def cases(part: str, steps: int, precisions: list[str]) -> Sequence[Callable[[], Sides]]:
    """How to prepare each comparison of a part; `steps`: training steps of a round."""
    if part == "translation":
        return [partial(translation, precision, steps) for precision in precisions]
    if part == "entailment":
        return [partial(entailment, dim, steps if dim < 1000 else 1) for dim in DIMS]
    if part == "encoding":
        bf16 = multiplies_in_bfloat16(torch.device(DEVICE))
        possible = [precision for precision in precisions if bf16 or precision == "32-true"]
        return [partial(sentences, dim, count, how) for how in possible for dim in DIMS for count in SENTENCES[dim]]
    return fair_regression.cases()


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    compared = []
    for part in settings.parts:
        for prepare in cases(part, settings.steps, settings.precision):
            compared.append({"part": part, **compare(prepare, settings.rounds)})
            yield {"rounds": settings.rounds, "cases": compared}


if __name__ == "__main__":
    give_back_large_blocks()
    use_one_thread()
    sys.exit(measure(COMMAND, run_benchmark))
