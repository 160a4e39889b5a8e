"""Our speed next to what people would run (benchmarks/peers.py): training, encoding, logistic regression.

python benchmarks/fair.py                             everything, on one thread
python benchmarks/fair.py parts=[encoding] rounds=5

Both sides take turns on one thread, and their processor time is compared, so that other work on the machine disturbs
little. A ratio above 1 says that ours is faster; worst, median and best of the rounds are shown. The peer runs as it
comes, in a process of its own, and again on equal terms: in our process, with the settings of memory of train.py
(encoder_lab/compute/memory.py) and the library for matrix products that we choose (encoder_lab/compute/matmul.py), in
bfloat16 where we encode so, and with the tolerance at which scikit-learn comes as near to the optimum as we do.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from benchmarks.settings import PRECISIONS, json_setting
from encoder_lab.compute.memory import give_back_large_blocks
from encoder_lab.settings.command_line import COUNT, Command, Setting, one_of, read_or_end, run, several

PARTS = ("translation", "entailment", "encoding", "regression")
COMMAND = Command(
    "python benchmarks/fair.py",
    str(__doc__).strip(),
    [
        Setting("parts", "what to compare", several(one_of(*PARTS)), PARTS),
        Setting("steps", "training steps of a round", COUNT, 3),
        Setting("precision", "of translation on both sides, and of encoding", several(one_of(*PRECISIONS)), PRECISIONS),
        Setting("rounds", "how often both sides take turns", COUNT, 3),
        json_setting("fair"),
    ],
    most=0,
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports
    os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")  # also of scikit-learn
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # it compares processor time

import numpy as np
import torch

from benchmarks import encoding, fair_regression
from benchmarks.machine import DEVICE, hardware, write_json
from benchmarks.peers import RATE, PlainInferSent, PlainInferSentNLI, WholeTarget
from benchmarks.plain import PlainNLI
from benchmarks.sides import Sides, begin, compare
from benchmarks.steps import (
    FULL,
    WIDTH,
    GeneratedText,
    Scale,
    by_length,
    encoder_of,
    generate,
    moved,
    operations,
    our_module,
    our_step,
    words,
)
from datamodules.arrays import Ragged
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.compute.matmul import multiplies_in_bfloat16
from encoders import FrozenEncoder
from encoders.bilstm import BiLSTM
from encoders.embedding import WordEmbedding
from objectives.nli import NLI

DIMS = (512, 4096)
SENTENCES = {512: (100, 300, 1000, 3000), 4096: (100, 300)}


def amounts(module: Any, text: GeneratedText, batches: list[np.ndarray]) -> dict[str, float]:
    """What these steps multiply and move at least."""
    return {
        "gflop": sum(operations(module, text, rows) for rows in batches) / 1e9,
        "gigabytes": sum(moved(module, text, rows) for rows in batches) / 1e9,
    }


def translation(precision: str, batches: int, scale: Scale = FULL) -> Sides:
    """A step of translation to 40,000 codes against the fair plain step on the same sorted batches.

    Theirs stays in 32 bits where the processor's LSTM has no bfloat16: PyTorch then raises an error.
    """
    text = generate("nmt", scale)
    chosen = by_length(text, batches, scale.batch)
    rows = [text.batch(some) for some in chosen]
    module = our_module("bilstm_max", text, **scale.encoder)
    ours = our_step(module, precision)
    peer = WholeTarget(encoder_of("bilstm_max", **scale.encoder), text.symbols, 256, 512, 2, 0.2).to(DEVICE)
    table, optimizer = words(), torch.optim.Adam(peer.parameters(), fused=True)
    narrow = precision == "bf16-mixed" and (DEVICE != "cpu" or torch.ops.mkldnn._is_mkldnn_bf16_supported())

    def step(batch: Any) -> None:
        optimizer.zero_grad()
        with torch.autocast(DEVICE, torch.bfloat16, enabled=narrow):
            loss = peer.loss(table, batch)
        loss.backward()
        optimizer.step()

    small = text.batch(np.arange(8))
    ours(small), step(small)
    name = f"translation step, {precision}: fair plain step, {'bf16-mixed' if narrow else '32-true'}"
    more = amounts(module, text, chosen)
    return Sides(name, lambda: [ours(batch) for batch in rows], lambda: [step(batch) for batch in rows], more=more)


def entailment(dim: int, batches: int, scale: Scale = FULL) -> Sides:
    """A step of NLI as experiment=conneau2017/infersent_linear has it, against InferSent's loop."""
    text = generate("nli", scale)
    embedding = words()
    encoder = BiLSTM(WIDTH, dim, 1, None, 0.0)
    module = NLI(encoder, embedding, text, None, 1, head="linear", hidden=512).to(DEVICE)  # type: ignore
    weights = [p for p in module.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(weights, RATE)

    def step(rows: np.ndarray) -> None:
        batch = text.batch(rows)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(batch), batch.label).backward()
        torch.nn.utils.clip_grad_norm_(weights, 5.0)
        optimizer.step()

    peer, table = PlainInferSentNLI(WIDTH, dim).to(DEVICE), embedding.table.cpu().numpy()

    def theirs(rows: np.ndarray) -> None:
        first, second = (words_in(side, rows) for side in (text.source, text.target))
        peer.step(first, second, torch.from_numpy(rows % 3), lambda word: table[word])

    size, random = scale.batch, np.random.default_rng(1).permutation(scale.sentences)
    ours = by_length(text, batches, size)
    other = [random[first : first + size] for first in range(0, batches * size, size)]
    step(np.arange(min(8, size))), theirs(np.arange(min(8, size)))
    share = words_of(text, ours) / words_of(text, other)
    name, more = f"NLI step, {dim:,} dimensions: InferSent's loop", amounts(module, text, ours)
    return Sides(name, lambda: [step(r) for r in ours], lambda: [theirs(r) for r in other], share, more=more)


def plain_entailment(dim: int, batches: int, scale: Scale = FULL) -> Callable[[], Any]:
    """The steps of `entailment` as a plain one: the library's packed LSTM on sorted batches, ids on the device."""
    text, table = generate("nli", scale), words()
    peer = PlainNLI(BiLSTM(WIDTH, dim, 1, None, 0.0), 512).to(DEVICE)
    optimizer = torch.optim.SGD(peer.parameters(), RATE)

    def step(batch: Any) -> None:
        optimizer.zero_grad()
        peer.loss(table, batch).backward()
        torch.nn.utils.clip_grad_norm_(peer.parameters(), 5.0)
        optimizer.step()

    rows = [text.batch(some) for some in by_length(text, batches, scale.batch)]
    return lambda: [step(batch) for batch in rows]


def words_in(texts: Ragged, rows: np.ndarray) -> list[np.ndarray]:
    """The words of some sentences."""
    return [texts.ids[texts.offsets[row] : texts.offsets[row + 1]] for row in rows]


def words_of(text: GeneratedText, batches: list[np.ndarray]) -> int:
    return sum(map(text.tokens, batches))


def sentences(dim: int, count: int, precision: str) -> Sides:
    """Encoding of `count` different sentences against InferSent's encode with the same weights."""
    texts = encoding.different(count)
    vocabulary = Vocabulary(map(str, range(encoding.WORDS)))
    matrix = np.random.default_rng(1).normal(size=(len(vocabulary), WIDTH)).astype(np.float32)
    matrix[:2] = 0
    encoder, table = BiLSTM(WIDTH, dim, 1, None, 0.0).to(DEVICE), WordEmbedding(matrix).to(DEVICE)
    wide = FrozenEncoder(encoder, table, vocabulary)
    narrow = precision == "bf16-mixed"
    ours = FrozenEncoder(encoder, table, vocabulary, bfloat16=narrow)
    peer = PlainInferSent(WIDTH, dim).to(DEVICE)
    for direction, layer in (("", encoder.lstm.forward_layers[0]), ("_reverse", encoder.lstm.backward_layers[0])):
        for name, weight in layer.named_parameters():
            getattr(peer.lstm, name + direction).data.copy_(weight.data)
    known = {str(i): matrix[vocabulary.rows(str(i))[0]] for i in range(encoding.WORDS)}
    split = [text.split() for text in texts]
    few = slice(0, 100)
    apart = np.abs(wide.encode(texts[few]) - peer.encode(split[few], known.__getitem__)).max()
    assert apart < (1e-4 if DEVICE == "cpu" else 1e-2), f"vectors differ by {apart}"  # a GPU multiplies in TF32

    def theirs(bfloat16: bool) -> np.ndarray:
        with torch.autocast(DEVICE, torch.bfloat16, enabled=bfloat16):
            return peer.encode(split, known.__getitem__)

    name = f"encoding, {dim:,} dim., {count:,} sentences, {precision}: InferSent's encode"
    read, weights = sum(map(len, split)), sum(weight.numel() for weight in encoder.parameters() if weight.ndim > 1)
    more = {"gflop": 2e-9 * read * weights, "gigabytes": 4e-9 * (read * WIDTH + count * dim)}
    same = lambda: theirs(narrow)  # noqa: E731
    return Sides(name, lambda: ours.encode(texts), lambda: theirs(False), theirs_as_ours=same, more=more)


def cases(part: str, steps: int, precisions: list[str]) -> Sequence[Callable[[], Sides]]:
    """How to prepare each comparison of a part; `steps`: training steps of a round."""
    if part == "translation":
        return [partial(translation, precision, steps) for precision in precisions]
    if part == "entailment":
        return [partial(entailment, dim, steps if dim < 1000 else 1) for dim in DIMS]
    if part == "encoding":
        narrow = multiplies_in_bfloat16(torch.device(DEVICE))
        known = [how for how in precisions if narrow or how == "32-true"]
        return [partial(sentences, dim, count, how) for how in known for dim in DIMS for count in SENTENCES[dim]]
    return fair_regression.cases()


def work(given: SimpleNamespace) -> None:
    give_back_large_blocks()
    begin()
    print(f"  {'ours: the peer':<62}{'ratios | on equal terms':>40}   ours, theirs")
    record: dict[str, Any] = {**hardware(), "rounds": given.rounds, "cases": []}
    for part in given.parts:
        for sides in cases(part, given.steps, given.precision):
            record["cases"].append({"part": part, **compare(sides, given.rounds)})
            write_json(given.json, record)  # what was measured stays if a later case is stopped


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json))
