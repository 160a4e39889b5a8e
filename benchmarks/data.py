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
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from benchmarks.settings import RESULTS, json_setting
from encoder_lab.settings.command_line import COUNTS, Command, Setting, read_or_end, run

COMMAND = Command(
    "python benchmarks/data.py",
    str(__doc__).strip(),
    [Setting("sizes", "how many sentences", COUNTS, [10_000, 100_000]), json_setting("data")],
    most=0,
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

import numpy as np

from benchmarks.machine import alone, grown_memory, hardware, write_json
from datamodules.corpora.plain_text import PlainText
from datamodules.seq2seq import TextPairs

BLOCK = 100_000  # sentences generated at a time
WORDS = 50_000


def generate(path: Path, sentences: int) -> None:
    """Write a text file of generated sentences, in documents of ten."""
    random = np.random.default_rng(1)
    syllables = np.array([a + b for a in "bdfgklmnprstvz" for b in "aeiou"])
    words = np.array(["".join(syllables[(i // 70**k) % 70] for k in range(1 + i % 3)) for i in range(WORDS)])
    with path.open("w", encoding="utf-8") as file:
        for first in range(0, sentences, BLOCK):
            lengths = np.clip(random.lognormal(np.log(22), 0.5, min(BLOCK, sentences - first)), 2, 100).astype(int)
            drawn = words[(random.zipf(1.2, lengths.sum()) - 1) % WORDS]
            for number, end in enumerate(lengths.cumsum()):
                blank = "\n" if number % 10 == 9 else ""
                file.write(" ".join(drawn[end - lengths[number] : end]) + " .\n" + blank)


def prepare(text: Path, cache: Path) -> dict[str, Any]:
    """Time and memory of everything before the first batch."""
    started = time.perf_counter()
    with grown_memory() as memory:
        data = made(text, cache)
    return {
        "pairs": len(data.lengths("train", "source")),
        "prepare_seconds": time.perf_counter() - started,
        "prepare_memory": memory,
    }


def epoch(text: Path, cache: Path) -> dict[str, Any]:
    """Time and memory of counting and of one epoch of batches, from the cache."""
    data = made(text, cache)
    with grown_memory() as counting:
        started = time.perf_counter()
        data.target_counts()
        counted = time.perf_counter() - started
    sentences, first = 0, 0.0
    with grown_memory() as memory:
        started = time.perf_counter()
        for batch in data.train_dataloader():
            first = first or time.perf_counter() - started
            sentences += len(batch.source.lengths)
        seconds = time.perf_counter() - started
    return {
        "count_seconds": counted,
        "count_memory": counting,
        "first_batch_seconds": first,
        "batch_sentences_per_second": sentences / seconds,
        "epoch_memory": memory,
    }


def made(text: Path, cache: Path) -> TextPairs:
    return TextPairs(PlainText(str(text), tokenized=False), "en", cache, seed=1, batch_size=64)


def measure(sentences: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        text, cache = Path(folder) / "text.txt", Path(folder) / "cache"
        generate(text, sentences)
        return {"sentences": sentences, **alone(prepare, text, cache), **alone(epoch, text, cache)}


def fastest_step() -> dict[str, Any]:
    """The fastest measured training step on such pairs: its name and its sentences per second."""
    found = {"step": "none measured", "sentences_per_second": 0.0}
    for path in sorted(RESULTS.glob("training*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        for case in record["cases"]:
            for side in ("ours", "bf16-mixed"):
                rate = case.get(side, {}).get("sentences_per_second", 0.0)
                if case["objective"] == "nmt" and rate > found["sentences_per_second"]:
                    name = f"{case['encoder']}, nmt{', ' + side if side != 'ours' else ''}"
                    found = {"step": f"{name} on {record['machine']}", "sentences_per_second": rate}
    return found


def work(given: SimpleNamespace) -> None:
    found, model = hardware(), fastest_step()
    print(f"{found['machine']}, {found['threads']} threads; fastest step: {model['step']}")
    heads = f"{'prepared in s':>15}{'MB':>7}{'counted in s':>14}{'first batch':>13}{'sentences/s':>13}{'MB':>7}"
    print(f"  {'sentences':>12}{heads}{'of the model':>14}   (MB without mapped files)")
    cases = []
    for size in given.sizes:
        case = measure(size)
        rate = case["batch_sentences_per_second"]
        case["ratio_to_model"] = rate / model["sentences_per_second"] if model["sentences_per_second"] else None
        prepared = f"{case['prepare_seconds']:15.1f}{case['prepare_memory']['own_mb']:7.0f}"
        drawn = f"{case['count_seconds']:14.2f}{case['first_batch_seconds']:13.2f}{rate:13,.0f}"
        ratio = f"{case['ratio_to_model'] or 0:13,.0f}x"
        print(f"  {size:12,}{prepared}{drawn}{case['epoch_memory']['own_mb']:7.0f}{ratio}", flush=True)
        cases.append(case)
    write_json(given.json, {**found, "fastest_step": model, "cases": cases})


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json))
