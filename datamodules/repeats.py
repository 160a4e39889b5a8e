"""Examples of dev and test that are training examples too: scores on them are too high."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

REPEATS_FILE = "repeats.json"  # in a cache folder
TOLERATED = 0.01  # of a split: a few short sentences are in any two texts, and change no score that is printed


def write_repeats(work: Path, sides: Mapping[str, Sequence[Iterator[str]]]) -> None:
    """Write for dev and test how many of their examples are in train, and how many there are.

    `sides`: by split, the texts of each side. An example is its text on every side.
    """
    examples = {split: zip(*texts, strict=True) for split, texts in sides.items()}
    held_out = {split: list(rows) for split, rows in examples.items() if split != "train"}
    seen = set(chain(*held_out.values())).intersection(examples["train"])
    counts = {split: [sum(row in seen for row in rows), len(rows)] for split, rows in held_out.items()}
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
