"""How long a cell would take, from throughput that was measured (benchmarks/training.py)."""

import json
from pathlib import Path

SAME_STEP = {"nmt_enfr": "nmt", "nmt_ende": "nmt", "nmt_enfi": "nmt", "autoencoder": "nmt", "skipthought": "nmt"}


def hours(encoder: str, objective: str, examples: int, epochs: int, results: Path) -> dict[str, float]:
    """Hours of training by machine, for every machine whose training.json lies in `results`; probing not included."""
    found = {}
    for path in sorted(results.glob("training*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        for case in record["cases"]:
            if case["encoder"] == encoder and case["objective"] == SAME_STEP.get(objective, objective):
                rate = case["ours"]["sentences_per_second"]
                found[record["machine"]] = examples * epochs / rate / 3600
    return found
