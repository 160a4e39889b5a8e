"""Time and memory of the input pipeline, by corpus size: reading, tokenising, codes, ids; then counts and batches.

python benchmarks/data.py                                    10,000 and 100,000 sentences
python benchmarks/data.py sizes=[10000,100000,1000000,10000000] json=benchmarks/results/data_to_10_million.json

The text is generated: Zipfian words, sentence lengths as in Europarl. Each size is prepared once, in a separate
process. Another process then counts the target codes and draws one epoch of batches of 64 from the memory-mapped files.
Two memory figures: resident, with mapped files, and own memory without them (benchmarks/machine.py).
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import RESULTS, benchmark, measure
from encoder_lab.settings.command_line import COUNTS, Setting

SETTINGS = [Setting("sizes", "how many sentences", COUNTS, [10_000, 100_000])]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

import numpy as np

from benchmarks.machine import in_new_process, measure_cost, synchronised_time
from datamodules.corpora.plain_text import PlainText
from datamodules.seq2seq import TextPairs

BLOCK_SENTENCES = 100_000  # sentences generated at a time
WORDS = 50_000


def generate(path: Path, sentences: int) -> None:
    """Write a text file of generated sentences, in documents of ten."""
    random = np.random.default_rng(1)
    syllables = np.array([a + b for a in "bdfgklmnprstvz" for b in "aeiou"])
    words = np.array(["".join(syllables[(i // 70**k) % 70] for k in range(1 + i % 3)) for i in range(WORDS)])
    with path.open("w", encoding="utf-8") as file:
        for first in range(0, sentences, BLOCK_SENTENCES):
            lengths = np.clip(
                random.lognormal(np.log(22), 0.5, min(BLOCK_SENTENCES, sentences - first)), 2, 100
            ).astype(int)
            drawn = words[(random.zipf(1.2, lengths.sum()) - 1) % WORDS]
            for number, end in enumerate(lengths.cumsum()):
                blank = "\n" if number % 10 == 9 else ""
                file.write(" ".join(drawn[end - lengths[number] : end]) + " .\n" + blank)


def prepare_data(text: Path, cache: Path) -> dict[str, Any]:
    """Time and memory of everything before the first batch."""
    with measure_cost() as cost:
        data = text_pairs(text, cache)
    pairs = len(data.lengths("train", "source"))
    return {"pairs": pairs, "prepare_seconds": cost.pop("seconds"), "prepare_memory": cost}


def read_epoch(text: Path, cache: Path) -> dict[str, Any]:
    """Time and memory of counting and of one epoch of batches, from the cache."""
    data = text_pairs(text, cache)
    with measure_cost() as counting:
        data.target_counts()
    sentences, first = 0, 0.0
    with measure_cost() as cost:
        started = synchronised_time()
        for batch in data.train_dataloader():
            first = first or synchronised_time() - started
            sentences += len(batch.source.lengths)
    return {
        "count_seconds": counting.pop("seconds"),
        "count_memory": counting,
        "first_batch_seconds": first,
        "batch_sentences_per_second": sentences / cost.pop("seconds"),
        "epoch_memory": cost,
    }


def text_pairs(text: Path, cache: Path) -> TextPairs:
    return TextPairs(PlainText(str(text), tokenized=False), "same", cache, seed=1, batch_size=64)


def fastest_step() -> dict[str, Any]:
    """The fastest measured training step on such pairs: its name and its sentences per second."""
    fastest = {"step": "none measured", "sentences_per_second": 0.0}
    for path in sorted(RESULTS.glob("training*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        for case in record["cases"]:
            for side in ("ours", "bf16-mixed"):
                rate = case.get(side, {}).get("sentences_per_second", 0.0)
                if case["objective"] == "nmt" and rate > fastest["sentences_per_second"]:
                    name = f"{case['encoder']}, nmt{', ' + side if side != 'ours' else ''}"
                    fastest = {"step": f"{name} on {record['machine']}", "sentences_per_second": rate}
    return fastest


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    step, cases = fastest_step(), []
    for size in settings.sizes:
        with tempfile.TemporaryDirectory() as folder:
            text, cache = Path(folder) / "text.txt", Path(folder) / "cache"
            generate(text, size)
            case = {
                "sentences": size,
                **in_new_process(prepare_data, text, cache),
                **in_new_process(read_epoch, text, cache),
            }
        step_rate = step["sentences_per_second"]
        case["ratio_to_model"] = case["batch_sentences_per_second"] / step_rate if step_rate else None
        cases.append(case)
        yield {"fastest_step": step, "cases": cases}


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
