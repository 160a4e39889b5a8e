"""How fast a training step is at paper size, next to the same step as one would write it first.

python benchmarks/training.py                                          the pairs of the table in docs/performance.md
python benchmarks/training.py --pairs bilstm_max:nmt gated_convnet:nmt --steps 20

Sentences are generated: Zipfian words, lengths like Europarl's (median 22 words); 40,000 target codes for nmt
(AutoEncoder and SkipThought are the same step), 60 symbols in sequences three times as long for seq2tree, pairs for
nli. Both sides make their own batches of the same sentences. Where the time of ours goes is measured part by part.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from hydra.utils import instantiate
from omegaconf import OmegaConf
from torch import Tensor, nn

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file runs as it is

from benchmarks.machine import alone, hardware, now, write_json  # noqa: E402
from benchmarks.plain import PlainNLI, PlainSeq2Seq  # noqa: E402
from datamodules.batches import LabelledPair, SentencePair  # noqa: E402
from datamodules.loading import LengthBatches, pad  # noqa: E402
from datamodules.ragged import Ragged, ragged  # noqa: E402
from encoders.embedding import WordEmbedding  # noqa: E402
from objectives.heads import classifier  # noqa: E402
from objectives.nli import features  # noqa: E402
from objectives.sequence import SequenceObjective  # noqa: E402
from objectives.softmax import cross_entropy_sum  # noqa: E402

WIDTH, WORDS, BATCH = 300, 50_000, 64
CODES, SYMBOLS = 40_000, 60
PAIRS = (
    "bilstm_max:nmt",
    "bilstm_last:nmt",
    "bilstm_att:nmt",
    "gated_convnet:nmt",
    "bigru_mean:nmt",
    "bov:nmt",
    "bilstm_max:seq2tree",
    "bilstm_max:nli",
    "gated_convnet:nli",
)
POOL = 8192  # sentences


class Text(NamedTuple):
    """Generated sentences and what they become."""

    source: Ragged
    target: Ragged
    symbols: int

    def target_counts(self) -> np.ndarray:
        return np.bincount(self.target.ids, minlength=self.symbols)


def generate(objective: str) -> Text:
    random = np.random.default_rng(1)
    lengths = np.clip(random.lognormal(np.log(22), 0.5, POOL), 2, 100).astype(int)
    source = [2 + (random.zipf(1.2, n) - 1) % (WORDS - 2) for n in lengths]
    if objective == "nli":
        return Text(ragged(map(list, source)), ragged([row[: max(2, len(row) // 2)].tolist() for row in source]), 3)
    symbols, times = (SYMBOLS, 3.0) if objective == "seq2tree" else (CODES, 1.1)
    codes = (3 + (random.zipf(1.2, int(times * n) + 1) - 1) % (symbols - 3) for n in lengths)
    return Text(ragged(map(list, source)), ragged([1, *row.tolist(), 2] for row in codes), symbols)


def batches(text: Text, objective: str, bucketed: bool, size: int = BATCH) -> Iterator[Any]:
    """Ours: like lengths together. Plain: the order of the file."""
    rows: Any = np.arange(POOL).reshape(-1, size)
    if bucketed:
        rows = LengthBatches([np.diff(text.source.offsets), np.diff(text.target.offsets)], size, seed=1)
    while True:
        for some in rows:
            pair = pad(text.source, some), pad(text.target, some)
            yield LabelledPair(*pair, torch.from_numpy(some % 3)) if objective == "nli" else SentencePair(*pair)


def encoder_of(name: str) -> Any:
    torch.manual_seed(1)
    return instantiate(OmegaConf.load(ROOT / "configs" / "encoder" / f"{name}.yaml"), input_dim=WIDTH)


def words() -> WordEmbedding:
    return WordEmbedding(np.random.default_rng(1).normal(size=(WORDS, WIDTH)).astype(np.float32))


class OurNLI(nn.Module):
    """The training step of objectives/nli.py without Lightning."""

    def __init__(self, encoder: Any, embedding: WordEmbedding) -> None:
        super().__init__()
        self.encoder, self.embedding = encoder, embedding
        self.head = classifier("mlp", 4 * encoder.dim, 100, 3, 0.0)

    def loss(self, batch: LabelledPair) -> Tensor:
        u, v = (self.encoder(self.embedding(s.ids), s.lengths).vector for s in (batch.premise, batch.hypothesis))
        return nn.functional.cross_entropy(self.head(features(u, v)), batch.label)


def our_step(encoder: str, objective: str, text: Text) -> tuple[Callable[[Any], None], Any]:
    """The project's modules and optimiser, as train.py builds them."""
    embedding = words()
    if objective == "nli":
        module: Any = OurNLI(encoder_of(encoder), embedding)
        loss: Callable[[Any], Tensor] = module.loss
    else:
        module = SequenceObjective(encoder_of(encoder), embedding, text, None, 1)  # type: ignore[arg-type]

        def loss(batch: SentencePair) -> Tensor:
            vector, memory = module.read(batch.source)
            nats, tokens = module.decoder.loss(vector, batch.target.ids, memory)
            return nats / tokens

    optimizer = torch.optim.Adam([p for p in module.parameters() if p.requires_grad], fused=True)
    return _stepping(loss, optimizer), module


def plain_step(encoder: str, objective: str, text: Text) -> Callable[[Any], None]:
    embedding, inner = words(), encoder_of(encoder)
    module: Any = PlainNLI(inner, 100) if objective == "nli" else PlainSeq2Seq(inner, text.symbols, 256, 512, 2, 0.2)

    def loss(batch: Any) -> Tensor:
        if objective == "nli":
            return module.loss((embedding(batch.premise.ids), embedding(batch.hypothesis.ids)), batch)
        return module.loss(embedding(batch.source.ids), batch)

    return _stepping(loss, torch.optim.Adam(module.parameters()))


def _stepping(loss: Callable[[Any], Tensor], optimizer: torch.optim.Optimizer) -> Callable[[Any], None]:
    def step(batch: Any) -> None:
        optimizer.zero_grad()
        loss(batch).backward()
        optimizer.step()

    return step


def timed(step: Callable[[Any], None], text: Text, objective: str, bucketed: bool, steps: int) -> dict[str, float]:
    """Sentences and tokens per second over some steps, batches included; a small first one does not count."""
    stream = batches(text, objective, bucketed)
    step(next(batches(text, objective, bucketed, size=8)))
    sentences = tokens = 0
    started = now()
    for _ in range(steps):
        batch = next(stream)
        step(batch)
        sentences += len(batch[0].lengths)
        tokens += int(batch[1].lengths.sum())
    seconds = now() - started
    return {"sentences_per_second": sentences / seconds, "tokens_per_second": tokens / seconds}


def ours(encoder: str, objective: str, steps: int) -> dict[str, float]:
    text = generate(objective)
    step, module = our_step(encoder, objective, text)
    found = timed(step, text, objective, True, steps)
    return found | {f"share_{part}": share for part, share in shares(module, text, objective).items()}


def plain(encoder: str, objective: str, steps: int) -> dict[str, float]:
    text = generate(objective)
    return timed(plain_step(encoder, objective, text), text, objective, False, steps)


def shares(module: Any, text: Text, objective: str, steps: int = 3) -> dict[str, float]:
    """The share of each part in a step: forward and backward of the part alone, on the same batches."""
    spent: dict[str, float] = {}
    stream = batches(text, objective, True)

    @contextmanager
    def part(name: str) -> Iterator[None]:
        started = now()
        yield
        spent[name] = spent.get(name, 0.0) + now() - started

    optimizer = torch.optim.Adam([p for p in module.parameters() if p.requires_grad], fused=True)
    for _ in range(steps):
        with part("data"):
            batch = next(stream)
        for side in batch[:2] if objective == "nli" else batch[:1]:
            embedded = module.embedding(side.ids)
            with part("encoder"):
                vector = module.encoder(embedded, side.lengths).vector
                if vector.requires_grad:
                    vector.sum().backward()
        if objective != "nli":
            _decode(module, batch, part)
        with part("optimiser"):
            optimizer.step()
    whole = sum(spent.values())
    return {name: seconds / whole for name, seconds in spent.items()}


def _decode(module: Any, batch: SentencePair, part: Callable[[str], Any]) -> None:
    decoder, targets = module.decoder, batch.target.ids
    with torch.no_grad():
        vector, memory = module.read(batch.source)
    with part("decoder"):
        hidden, _ = decoder(vector, targets[:, :-1], memory=memory)
        hidden.sum().backward()
    real = targets[:, 1:] != 0
    flat = hidden.detach()[real].requires_grad_()
    with part("softmax"):
        cross_entropy_sum(flat, decoder.output.weight, decoder.output.bias, targets[:, 1:][real]).backward()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs="+", default=PAIRS, help="ENCODER:OBJECTIVE, objectives nmt, seq2tree, nli")
    parser.add_argument("--steps", type=int, default=4, help="timed steps of 64 sentences; a quarter on the plain side")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "training.json")
    options = parser.parse_args()
    found = hardware()
    print(f"{found['machine']}, {found['threads']} threads")
    print(f"  {'':<22}{'ratio':>7}{'ours/s':>9}{'plain/s':>9}{'tokens/s':>10}   where our time goes")
    sides = (ours, options.steps), (plain, -(-options.steps // 4))  # a plain step takes up to half a minute
    cases = []
    for pair in options.pairs:
        encoder, objective = pair.split(":")
        mine, theirs = (alone(side, encoder, objective, steps) for side, steps in sides)
        ratio = mine["sentences_per_second"] / theirs["sentences_per_second"]
        where = ", ".join(f"{k.removeprefix('share_')} {v:.0%}" for k, v in mine.items() if k.startswith("share_"))
        rates = f"{mine['sentences_per_second']:9.0f}{theirs['sentences_per_second']:9.0f}"
        print(f"  {pair:<22}{ratio:7.1f}{rates}{mine['tokens_per_second']:10.0f}   {where}", flush=True)
        cases.append({"encoder": encoder, "objective": objective, "ratio": ratio, "ours": mine, "plain": theirs})
    write_json(options.json, {**found, "batch": BATCH, "cases": cases})


if __name__ == "__main__":
    main()
