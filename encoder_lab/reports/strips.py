"""Items of coherence suites as strips of tokens coloured by their surprisal, the conditions one under the other."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_json_lines
from probes.coherence.regions import segment_values
from probes.coherence.suite_file import METRICS

TOKENS_FILE = "surprisals.jsonl"  # of an evaluation's folder
DARKEST_BITS = 20.0  # bits of the darkest colour
TIE_BITS = 0.005  # bits: less is neither right nor wrong
MAX_BITS = 2**63  # of a margin: a larger whole number is none
MAX_TOKENS = 400  # tokens of a strip
MAX_REGIONS = 1000
Record = dict[str, Any]  # a line of surprisals.jsonl


class StripItem(NamedTuple):
    """An item of one model: a record for each condition, and the reason why it is shown."""

    model: str
    reason: str
    records: list[Record]


def strip_items(model: str, folder: Path, requested: Sequence[str] | None) -> list[StripItem]:
    """The wanted items `SUITE:NUMBER`; else of each suite those that hold, and fail, by the most bits."""
    best: dict[tuple[str, str], tuple[float, list[Record]]] = {}
    chosen = []
    path = folder / TOKENS_FILE
    lines = (checked_record(record, f"{path}:{number}") for number, record in read_json_lines(path))
    for _, group in groupby(lines, lambda record: (record["suite"], record["item"])):
        records = list(group)
        suite, name = records[0]["suite"], f"{records[0]['suite']}:{records[0]['item']}"
        margin = records[0]["margin"]
        if requested is not None:
            chosen += [StripItem(model, "as asked for", records)] if name in requested else []
        elif margin is not None:  # without a value in a region nothing is right or wrong
            for reason, score in (("most right", margin), ("most wrong", -margin)):
                if (suite, reason) not in best or score > best[suite, reason][0]:
                    best[suite, reason] = score, records
    right, wrong = "every prediction holds by {:.2f} bits or more", "a prediction fails by {:.2f} bits"
    reasons = {"most right": right, "most wrong": wrong}
    return chosen or [
        StripItem(model, f"{reason}: {reasons[reason].format(score)}", records)
        for (_, reason), (score, records) in best.items()
        if score > TIE_BITS
    ]


def checked_record(record: Record, location: str) -> Record:
    """The record, checked. Raises InputError if it is not one of surprisals.jsonl."""
    types = {"suite": str, "condition": str, "text": str, "item": int}
    lists = [record.get(name) for name in ("tokens", "offsets", "regions", "surprisals")]
    valid = all(isinstance(record.get(name), dtype) for name, dtype in types.items())
    margin = record.get("margin", "")
    valid = valid and (isinstance(margin, float | None) or (isinstance(margin, int) and abs(margin) < MAX_BITS))
    valid = valid and record.get("metric", METRICS[0]) in METRICS
    if not valid or not all(isinstance(values, list) and len(values) == len(lists[0] or []) for values in lists):
        raise InputError(f"{location}: no tokens with their bits of an item; evaluate the model again")
    return record


class StripToken(NamedTuple):
    """A token as it is shown."""

    gap: str  # before it
    begins: bool  # a region
    bits: float | None
    hover: str
    text: str


def tokens_of(record: Record) -> tuple[list[StripToken], str]:
    """The tokens of one condition that are shown, and a text with how many are not."""
    strip, end, region, previous = [], 0, 0, None
    tokens = list(zip(record["tokens"], record["offsets"], record["regions"], record["surprisals"], strict=True))
    for name, (start, stop), number, bits in tokens[:MAX_TOKENS]:
        text = record["text"][start:stop] or name
        text = "·" if (start, stop) == previous else text  # another part of the same character
        hover = f"{name}: {'∞' if bits is None else format(bits, '.2f')} bits"
        strip.append(StripToken(" " if start > end else "", bool(region and number != region), bits, hover, text))
        end, region, previous = stop, number, (start, stop)
    return strip, f" … {len(tokens) - MAX_TOKENS} more tokens" if len(tokens) > MAX_TOKENS else ""


def metric_of(record: Record) -> str:
    """The name of the metric that turns the bits of a region into one value."""
    return str(record.get("metric", METRICS[0]))


def by_region(record: Record) -> list[str]:
    """A text for each region with the value that the suite's formulas compare."""
    if not all(isinstance(region, int) and 0 < region < MAX_REGIONS for region in record["regions"]):
        return []
    bits = np.array([np.inf if bits is None else bits for bits in record["surprisals"]], dtype=float)
    regions = np.array(record["regions"], dtype=np.int64)
    region_values = segment_values(metric_of(record), bits, regions - 1, int(regions.max(initial=0)))
    return [f"region {number}: {value:.2f}" for number, value in enumerate(region_values, 1) if number in regions]


def colour_of(bits: float | None) -> str:
    """White at 0 bits, dark red at DARKEST_BITS and above; the letters are light on dark."""
    share = 1.0 if bits is None else min(max(bits / DARKEST_BITS, 0), 1)
    red, green, blue = (round(255 + share * (dark - 255)) for dark in (150, 20, 20))
    return f"background:rgb({red},{green},{blue});color:{'#fff' if share > 0.55 else '#1c1c1c'}"
