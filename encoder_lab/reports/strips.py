"""Items of coherence suites as strips of tokens coloured by their surprisal, the conditions one under the other."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_json_lines
from probes.coherence.regions import values
from probes.coherence.suite_file import METRICS

TOKENS = "surprisals.jsonl"  # of an evaluation's folder
MOST = 20.0  # bits of the darkest colour
TIE = 0.005  # bits: less is neither right nor wrong
LONGEST = 400  # tokens of a strip
MOST_REGIONS = 1000
Record = dict[str, Any]  # a line of surprisals.jsonl


class ShownItem(NamedTuple):
    """An item of one model: a record for each condition, and why it is shown."""

    model: str
    why: str
    records: list[Record]


def shown_items(model: str, folder: Path, wanted: Sequence[str] | None) -> list[ShownItem]:
    """The wanted items `SUITE:NUMBER`; else of each suite those that hold, and fail, by the most bits."""
    best: dict[tuple[str, str], tuple[float, list[Record]]] = {}
    asked = []
    for records in _items(folder / TOKENS):
        suite, name = records[0]["suite"], f"{records[0]['suite']}:{records[0]['item']}"
        margin = records[0]["margin"]
        if wanted is not None:
            asked += [ShownItem(model, "as asked for", records)] if name in wanted else []
        elif margin is not None:  # without a value in a region nothing is right or wrong
            for why, score in (("most right", margin), ("most wrong", -margin)):
                if (suite, why) not in best or score > best[suite, why][0]:
                    best[suite, why] = score, records
    whys = {
        "most right": "every prediction holds by {:.2f} bits or more",
        "most wrong": "a prediction fails by {:.2f} bits",
    }
    return asked or [
        ShownItem(model, f"{why}: {whys[why].format(score)}", records)
        for (_, why), (score, records) in best.items()
        if score > TIE
    ]


def _items(path: Path) -> Iterator[list[Record]]:
    """The records of one item after the other."""
    lines = (checked(record, f"{path}:{number}") for number, record in read_json_lines(path))
    for _, records in groupby(lines, lambda record: (record["suite"], record["item"])):
        yield list(records)


def checked(record: Record, where: str) -> Record:
    """The record. Raises InputError where it is not one of surprisals.jsonl."""
    types = {"suite": str, "condition": str, "text": str, "item": int}
    lists = [record.get(name) for name in ("tokens", "offsets", "regions", "surprisals")]
    right = all(isinstance(record.get(name), dtype) for name, dtype in types.items())
    right = right and isinstance(record.get("margin", ""), float | int | None)
    right = right and record.get("metric", METRICS[0]) in METRICS
    if not right or not all(isinstance(values, list) and len(values) == len(lists[0] or []) for values in lists):
        raise InputError(f"{where}: no tokens with their bits of an item; evaluate the model again")
    return record


class ShownToken(NamedTuple):
    """A token as it is shown."""

    gap: str  # before it
    begins: bool  # a region
    bits: float | None
    hover: str
    text: str


def tokens_of(record: Record) -> tuple[list[ShownToken], str]:
    """The tokens of one condition, and how many more it has."""
    shown, end, region, before = [], 0, 0, None
    tokens = list(zip(record["tokens"], record["offsets"], record["regions"], record["surprisals"], strict=True))
    for name, (start, stop), own, bits in tokens[:LONGEST]:
        text = record["text"][start:stop] or name
        text = "·" if (start, stop) == before else text  # another part of the same character
        hover = f"{name}: {'∞' if bits is None else format(bits, '.2f')} bits"
        shown.append(ShownToken(" " if start > end else "", bool(region and own != region), bits, hover, text))
        end, region, before = stop, own, (start, stop)
    return shown, f" … {len(tokens) - LONGEST} more tokens" if len(tokens) > LONGEST else ""


def metric_of(record: Record) -> str:
    """What makes one value of the bits of a region."""
    return str(record.get("metric", METRICS[0]))


def by_region(record: Record) -> list[str]:
    """The value of each region, as the suite's formulas compare it."""
    if not all(isinstance(region, int) and 0 < region < MOST_REGIONS for region in record["regions"]):
        return []
    bits = np.array([np.inf if bits is None else bits for bits in record["surprisals"]], dtype=float)
    regions = np.array(record["regions"], dtype=np.int64)
    each = values(metric_of(record), bits, regions - 1, int(regions.max(initial=0)))
    return [f"region {number}: {value:.2f}" for number, value in enumerate(each, 1) if number in regions]


def colour_of(bits: float | None) -> str:
    """White at 0 bits, dark red at MOST and above; the letters are light on dark."""
    share = 1.0 if bits is None else min(max(bits / MOST, 0), 1)
    red, green, blue = (round(255 + share * (dark - 255)) for dark in (150, 20, 20))
    return f"background:rgb({red},{green},{blue});color:{'#fff' if share > 0.55 else '#1c1c1c'}"
