"""Speed of surprisals by a causal language model, compared with one text at a time.

python benchmarks/coherence.py                              1,000, 10,000 and 100,000 items of the embedded world
python benchmarks/coherence.py items=1000 large=0
"""

import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import benchmark, measure
from encoder_lab.settings.command_line import INTEGER, Setting, list_of

ITEMS = (1_000, 10_000, 100_000)
SETTINGS = [
    Setting("items", "of all suites together; 0 leaves the smaller model out", list_of(INTEGER), ITEMS),
    Setting("large", "items for the larger model; 0 leaves it out", INTEGER, ITEMS[0]),
]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from tqdm import tqdm
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from benchmarks.machine import in_new_process, measure_cost, synchronised_time
from datamodules.text.sentences import SEPARATOR
from encoder_lab.compute.matmul import fast_exact_matmul
from encoders.language_model import CausalLM
from probes.coherence.scoring import pairs_of, score_suite
from probes.coherence.suite_file import TestSuite
from probes.coherence.world import world_suites
from probes.surprisals import Pair, score_pairs

SAMPLE_ITEMS = 200  # items of each round of the plain way
ROUNDS = 3  # of both ways in turns; the largest size has one of ours
MAX_DIFFERENCE_BITS = 1e-3  # bits that a token may differ by


class LanguageModelSize(NamedTuple):
    """The sizes of the language model."""

    layers: int
    width: int
    words: int  # tokens of its vocabulary


SMALL, LARGE = LanguageModelSize(2, 128, 2_000), LanguageModelSize(6, 512, 8_000)


def write_model(shape: LanguageModelSize, suites: Sequence[TestSuite], folder: Path) -> None:
    """A GPT-2 with random weights and a byte-level tokenizer of the suites' words, as the hub would give it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<|endoftext|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=shape.words, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator((text for suite in suites for _, text in pairs_of(suite)), trainer)
    ends = {"bos_token": special[0], "eos_token": special[0]}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **ends).save_pretrained(folder)
    torch.manual_seed(1)
    sizes: dict[str, Any] = {"n_layer": shape.layers, "n_embd": shape.width, "n_head": max(1, shape.width // 64)}
    GPT2LMHeadModel(GPT2Config(vocab_size=shape.words, bos_token_id=0, eos_token_id=0, **sizes)).save_pretrained(folder)


def score_plainly(model: CausalLM, theirs: GPT2LMHeadModel, pairs: Sequence[Pair]) -> Iterator[np.ndarray]:
    """The straightforward way: each text by itself, all probabilities of each place, bits of each token (T,)."""
    for _, text in pairs:
        text = text.replace(f" {SEPARATOR}", model.tokenizer.eos_token)
        ids = torch.tensor([[model.begin, *model.tokenizer(text, add_special_tokens=False)["input_ids"]]])
        with torch.no_grad():
            logprobs = torch.log_softmax(theirs(input_ids=ids).logits[0], -1)
        yield -logprobs[torch.arange(ids.shape[1] - 1), ids[0, 1:]].numpy() / math.log(2)


def suites_of(items: int) -> list[TestSuite]:
    """The suites of the embedded world, with about this number of items together."""
    count = len(world_suites(2, seed=1))
    return world_suites(max(2, items // count), seed=1)


def sample_texts(suites: Sequence[TestSuite], items: int) -> list[Pair]:
    """The texts of some items, drawn from all suites alike."""
    random = np.random.default_rng(1)
    per = -(-items // len(suites))
    drawn = [(suite, random.permutation(len(suite.items))[:per]) for suite in suites]
    return [p for suite, at in drawn for p in pairs_of(suite._replace(items=tuple(suite.items[n] for n in sorted(at))))]


def compare(shape: LanguageModelSize, items: int, rounds: int) -> dict[str, Any]:
    """Both ways in turns. Ours scores all items and makes the values of their regions; the plain way takes a sample.

    Memory is how far it rises while ours scores, above the model and the suites.
    """
    suites = suites_of(items)
    with tempfile.TemporaryDirectory() as folder:
        write_model(shape, suites, Path(folder))
        model, as_loaded = CausalLM(Path(folder), "cpu"), GPT2LMHeadModel.from_pretrained(folder).eval()
    pairs = [pair for suite in suites for pair in pairs_of(suite)]
    sample = sample_texts(suites, SAMPLE_ITEMS)
    score_pairs(model.logprobs, sample[:100])  # warm up: the first call of a kernel is slow
    list(score_plainly(model, as_loaded, sample[:10]))
    ours, theirs = [], []
    cost: dict[str, float] = {}
    with fast_exact_matmul():
        for number in range(rounds):
            with measure_cost() if number == 0 else nullcontext(cost) as cost:  # which slows the work down
                started = synchronised_time()
                scores = score_pairs(model.logprobs, pairs)
                for suite in suites:
                    score_suite(suite, scores)
                ours.append((synchronised_time() - started) / len(pairs))
            started = synchronised_time()
            bits = list(tqdm(score_plainly(model, as_loaded, sample), "plain", len(sample), disable=None, leave=False))
            theirs.append((synchronised_time() - started) / len(sample))
    largest = max(float(np.abs(-scores[pair].logprobs - own).max()) for pair, own in zip(sample, bits, strict=True))
    assert largest < MAX_DIFFERENCE_BITS, f"a token differs by {largest} bits"
    ratios = sorted(slow / fast for slow, fast in zip(theirs, ours, strict=True))
    return {
        "model": shape._asdict(),
        "items": sum(len(suite.items) for suite in suites),
        "texts": len(pairs),
        "distinct": len(scores),
        "seconds": round(min(ours) * len(pairs), 1),
        "plain_seconds": round(min(theirs) * len(pairs), 1),  # calculated from the sample
        "ratios": [round(ratio, 2) for ratio in ratios],
        "memory_growth_megabytes": round(cost["memory_mb"]),
        "own_memory_growth_megabytes": round(cost["own_mb"]),
        "largest_difference": largest,
    }


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    sizes = [(SMALL, items, 1 if items > 20_000 else ROUNDS) for items in settings.items if items]
    sizes += [(LARGE, settings.large, 1)] if settings.large else []
    cases = []
    for size in sizes:
        cases.append(in_new_process(compare, *size))
        yield {"cases": cases}


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
