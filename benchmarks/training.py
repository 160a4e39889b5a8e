"""Speed of a training step at paper size, compared with a straightforward implementation of the same step.

python benchmarks/training.py                              some pairs, for `make bench`
python benchmarks/training.py pairs=all                    every encoder with every objective
python benchmarks/training.py pairs=[bilstm_max:nmt,gated_convnet:nmt] steps=20

benchmarks/steps.py describes models and data. AutoEncoder and SkipThought have the same step as nmt; a step of
multitask is a step of one of its parts. Both sides make their own batches of the same text. They are compared in tokens
per second: target tokens or, without a decoder, words read; padding does not count. Sentences per second are tokens per
second divided by the mean tokens per sentence of the whole text, so that shorter sentences give no advantage. The time
of each part of our step is measured separately.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import PRECISIONS, benchmark, measure
from encoder_lab.settings.command_line import COUNT, Setting, ValueType, list_of, one_of

OBJECTIVES = ("nmt", "seq2tree", "nli", "discourse")
ENCODERS = ("bilstm_max", "bilstm_last", "bilstm_att", "gated_convnet", "bigru_mean", "bov")
ALL = [f"{encoder}:{objective}" for objective in OBJECTIVES for encoder in ENCODERS]
DEFAULT = [
    "bilstm_max:nmt", "gated_convnet:nmt", "bilstm_max:seq2tree", "bilstm_max:nli", "gated_convnet:nli",
    "bigru_mean:discourse",
]  # fmt: skip
REFERENCE_STEPS = 3


def _pair(text: str) -> str:
    if text != "all" and text.partition(":")[2] not in OBJECTIVES:
        raise ValueError
    return text


SETTINGS = [
    Setting(
        "pairs",
        f"objectives are {', '.join(OBJECTIVES)}; all is every encoder with every one (default: six pairs)",
        list_of(ValueType("ENCODER:OBJECTIVE", "all, or an encoder, a colon and an objective", _pair)),
    ),
    Setting("steps", f"timed steps of ours; the reference has {REFERENCE_STEPS}", COUNT, 6),
    Setting("precision", "of ours", list_of(one_of(*PRECISIONS)), PRECISIONS),
]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

import numpy as np
import torch

from benchmarks.machine import in_new_process, synchronised_time
from benchmarks.steps import (
    BATCH,
    POOL,
    GeneratedText,
    Step,
    amounts,
    by_length,
    generate,
    our_module,
    our_step,
    plain_step,
)
from encoder_lab.compute.matmul import fast_exact_matmul
from objectives.chunked_cross_entropy import cross_entropy_sum
from objectives.discourse import Discourse
from objectives.nli import NLI, pair_features


def throughput(step: Step, text: GeneratedText, batches: list[np.ndarray]) -> dict[str, float]:
    """Tokens and sentences per second over these batches, including their creation, after a small warm-up."""
    step(text.batch(np.arange(8)))
    started = synchronised_time()
    for rows in batches:
        step(text.batch(rows))
    rate = sum(map(text.tokens, batches)) / (synchronised_time() - started)
    return {"sentences_per_second": rate * POOL / text.tokens(np.arange(POOL)), "tokens_per_second": rate}


@fast_exact_matmul()
def ours(encoder: str, objective: str, steps: int, precisions: list[str]) -> dict[str, dict]:
    """Rates by precision, for the first also the share of each part."""
    text = generate(objective)
    batches = by_length(text, steps)
    sides = {}
    for precision in precisions:
        module = our_module(encoder, text)
        rates = throughput(our_step(module, precision), text, batches)
        seconds = sum(map(text.tokens, batches)) / rates["tokens_per_second"]
        work = amounts(module, text, batches)
        sides[precision] = rates | {f"{name}_per_second": number / seconds for name, number in work.items()}
    parts = shares(our_module(encoder, text), text, by_length(text, REFERENCE_STEPS))
    sides[precisions[0]] |= {f"share_{part}": share for part, share in parts.items()}
    return sides


def plain(encoder: str, objective: str) -> dict[str, float]:
    """Rates of the reference, on the first batches in file order."""
    text = generate(objective)
    return throughput(plain_step(encoder, text), text, list(np.arange(REFERENCE_STEPS * BATCH).reshape(-1, BATCH)))


def shares(module: Any, text: GeneratedText, batches: list[np.ndarray]) -> dict[str, float]:
    """The share of each part in the time of a step: forward and backward of the part alone, same batches."""
    times: dict[str, float] = {}

    @contextmanager
    def part(name: str) -> Iterator[None]:
        started = synchronised_time()
        yield
        times[name] = times.get(name, 0.0) + synchronised_time() - started

    optimizer = torch.optim.Adam([p for p in module.parameters() if p.requires_grad], fused=True)
    for rows in batches:
        with part("data"):
            batch = text.batch(rows)
        vectors = []
        for side in batch[:2] if isinstance(module, NLI) else batch[:1]:
            embedded = module.embedding(side.ids)
            with part("encoder"):
                encoded = module.encoder(embedded, side.lengths)
                if encoded.vector.requires_grad:
                    encoded.vector.sum().backward()
            vectors.append(encoded.vector.detach())
        if isinstance(module, NLI):
            with part("head"):
                torch.nn.functional.cross_entropy(module.head(pair_features(*vectors)), batch.label).backward()
        elif isinstance(module, Discourse):
            with part("heads"):
                terms = {name: module.targets[name].loss(head(*vectors), batch) for name, head in module.heads.items()}
                torch.as_tensor(module.weighted_sum({name: term.nats.sum() for name, term in terms.items()})).backward()
        else:
            _decode(module, batch, part)
        with part("optimiser"):
            optimizer.step()
    total = sum(times.values())
    return {name: seconds / total for name, seconds in times.items()}


def _decode(module: Any, batch: Any, part: Callable[[str], Any]) -> None:
    decoder, targets = module.decoder, batch.target.ids
    with torch.no_grad():
        vector, memory = module.encode_source(batch.source)
    with part("decoder"):
        hidden, _ = decoder(vector, targets[:, :-1], memory=memory)
        hidden.sum().backward()
    real = targets[:, 1:] != 0
    flat = hidden.detach()[real].requires_grad_()
    with part("softmax"):
        cross_entropy_sum(flat, decoder.output.weight, decoder.output.bias, targets[:, 1:][real]).backward()


def compare(pair: str, steps: int, precisions: list[str]) -> dict[str, Any]:
    """Both sides of one pair."""
    encoder, objective = pair.split(":")
    sides = in_new_process(ours, encoder, objective, steps, precisions)
    reference = in_new_process(plain, encoder, objective)
    for side in sides.values():
        side["ratio"] = side["tokens_per_second"] / reference["tokens_per_second"]
    first = sides.pop(precisions[0])
    names = {"encoder": encoder, "objective": objective}
    return {**names, "ratio": first["ratio"], "ours": first, "plain": reference, **sides}


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    pairs, cases = settings.pairs or DEFAULT, []
    for pair in ALL if "all" in pairs else pairs:
        cases.append(compare(pair, settings.steps, settings.precision))
        yield {"batch": BATCH, "reference_steps": REFERENCE_STEPS, "cases": cases}


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
