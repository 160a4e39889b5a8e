"""Estimates the time of a cell from measured throughput (benchmarks/training.py)."""

import json
from collections.abc import Mapping
from pathlib import Path

SAME_STEP = {"nmt_enfr": "nmt", "nmt_ende": "nmt", "nmt_enfi": "nmt", "autoencoder": "nmt", "skipthought": "nmt"}


def hours(encoder: str, objective: str, examples: int, epochs: int, results: Path) -> dict[str, float]:
    """Hours of training by machine, for each training*.json in `results`; probing is not included."""
    found = {}
    for path in sorted(results.glob("training*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        for case in record["cases"]:
            if case["encoder"] == encoder and case["objective"] == SAME_STEP.get(objective, objective):
                rate = case["ours"]["sentences_per_second"]
                found[record["machine"]] = examples * epochs / rate / 3600
    return found


def together(cells: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The sum of `hours` by machine, and the cells without a measured throughput on that machine."""
    said = []
    for machine in sorted({machine for found in cells.values() for machine in found}):
        total = sum(found.get(machine, 0.0) for found in cells.values())
        rest = [name for name, found in cells.items() if machine not in found]
        without = f"; without {len(rest)} of {len(cells)} cells, not measured: {', '.join(rest)}" if rest else ""
        said.append(f"together {total:,.0f} hours on {machine}, as measured there{without}")
    return said or ([f"no hours: the throughput of no cell was measured ({', '.join(cells)})"] if cells else [])
