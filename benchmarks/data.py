"""What the input pipeline costs as a corpus grows: reading, tokenising, codes, ids; then batches.

python benchmarks/data.py                                    10,000 and 100,000 sentences
python benchmarks/data.py --sizes 10000 100000 1000000 10000000

Text is generated: Zipfian words, lengths like Europarl's. Each size is prepared once, in a process of its own whose
peak memory is reported; then one epoch of batches of 64 is drawn from the memory-mapped result, nothing else done.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file runs as it is

from benchmarks.machine import alone, grown_memory, hardware, write_json  # noqa: E402
from datamodules.corpora.plain_text import PlainText  # noqa: E402
from datamodules.text_pairs import TextPairs  # noqa: E402

BLOCK = 100_000  # sentences generated at a time
WORDS = 50_000


def generate(path: Path, sentences: int) -> None:
    """A text file of so many sentences, documents of ten."""
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
    """Everything before the first batch."""
    started = time.perf_counter()
    with grown_memory() as memory:
        data = made(text, cache)
    seconds = time.perf_counter() - started
    return {
        "pairs": len(data.lengths("train", "source")),
        "prepare_seconds": seconds,
        "prepare_mb": memory["memory_mb"],
    }


def epoch(text: Path, cache: Path) -> dict[str, Any]:
    """One epoch of batches from what is there."""
    data = made(text, cache)
    sentences = 0
    started = time.perf_counter()
    with grown_memory() as memory:
        for batch in data.train_dataloader():
            sentences += len(batch.source.lengths)
    return {"batch_sentences_per_second": sentences / (time.perf_counter() - started), "epoch_mb": memory["memory_mb"]}


def made(text: Path, cache: Path) -> TextPairs:
    return TextPairs(PlainText(str(text), tokenized=False), "en", cache, seed=1, batch_size=64)


def measure(sentences: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        text, cache = Path(folder) / "text.txt", Path(folder) / "cache"
        generate(text, sentences)
        return {"sentences": sentences, **alone(prepare, text, cache), **alone(epoch, text, cache)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "data.json")
    options = parser.parse_args()
    found = hardware()
    print(f"{found['machine']}, {found['threads']} threads")
    print(f"  {'sentences':>12}{'prepared in s':>15}{'per second':>12}{'MB':>7}{'batches: per second':>21}{'MB':>7}")
    cases = []
    for size in options.sizes:
        case = measure(size)
        seconds, rate = case["prepare_seconds"], case["batch_sentences_per_second"]
        prepared = f"{seconds:15.1f}{size / seconds:12,.0f}{case['prepare_mb']:7.0f}"
        print(f"  {size:12,}{prepared}{rate:21,.0f}{case['epoch_mb']:7.0f}", flush=True)
        cases.append(case)
    write_json(options.json, {**found, "cases": cases})


if __name__ == "__main__":
    main()
