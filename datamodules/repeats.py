"""Examples of dev and test that are training examples too: scores on them are too high."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

REPEATS_FILE = "repeats.json"  # in a cache folder
CHUNK = 2**20  # training examples at a time
TOLERATED = 0.01  # of a split: a few short sentences are in any two texts (in Multi30k's, 3 of 1,014)


def write_repeats(work: Path, sides: Mapping[str, Sequence[Iterator[str]]]) -> None:
    """Write for dev and test how many of their examples are in train, and how many there are.

    `sides`: by split, the texts of each side. An example is its text on every side.
    """
    hashes = {split: map(hash, zip(*texts, strict=True)) for split, texts in sides.items()}
    train = hashes.pop("train")
    held_out = {split: np.fromiter(values, np.int64) for split, values in hashes.items()}
    seen = {split: np.zeros(len(values), bool) for split, values in held_out.items()}
    while (chunk := np.fromiter(islice(train, CHUNK), np.int64)).size:
        for split, values in held_out.items():
            seen[split] |= np.isin(values, chunk)
    counts = {split: [int(repeats.sum()), len(repeats)] for split, repeats in seen.items()}
    (work / REPEATS_FILE).write_text(json.dumps(counts))


def notes_on_repeats(folder: Path) -> list[str]:
    """A line for each split of a cache folder with more examples of train than two texts have by chance."""
    path = folder / REPEATS_FILE
    counts = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return [
        f"{repeats:,} of {total:,} {split} examples are training examples too, which makes its scores too high"
        for split, (repeats, total) in counts.items()
        if repeats > TOLERATED * total
    ]
