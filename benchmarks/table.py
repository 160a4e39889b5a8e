"""Write docs/performance.md from benchmarks/results/*.json.

python -m benchmarks.table
"""

import json
from pathlib import Path
from typing import Any

from datamodules.files import atomic_write

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
OUT = ROOT / "docs" / "performance.md"
HEAD = """\
# Performance

Made by `make bench`; `python -m benchmarks.table` writes this page from `benchmarks/results/*.json`. Ratios first: how
many times faster than the reference in the same benchmark, on the same machine and data. Seconds depend on the
machine and on what else it does; `load` is the number of busy processes when the benchmark ended."""


def main() -> None:
    parts = [HEAD]
    for name, title, table in (
        ("training", "A training step at paper size", training),
        ("encoding", "A frozen encoder", encoding),
        ("probing", "One probing task", probing),
        ("downstream", "One downstream task with folds inside folds", downstream),
        ("data", "The input pipeline", data),
    ):
        for path in sorted(RESULTS.glob(f"{name}*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            parts += [f"## {title}", where(record), *table(record)]
    with atomic_write(OUT) as file:
        file.write("\n\n".join(parts) + "\n")
    print(OUT)


def where(record: dict[str, Any]) -> str:
    rate = record["matrix_gflop_per_second"]
    return (
        f"`{record['command']}`, {record['date']}: {record['machine']}, {record['threads']} threads, "
        f"matrix product {rate:.0f} GFLOP/s, torch {record['torch']}, load {record['load']:.1f}."
    )


def grid(heads: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def training(record: dict[str, Any]) -> list[str]:
    def where_it_goes(ours: dict[str, float]) -> str:
        parts = {key.removeprefix("share_"): value for key, value in ours.items() if key.startswith("share_")}
        return ", ".join(f"{name} {share:.0%}" for name, share in parts.items())

    rows = [
        [
            f"{case['encoder']}, {case['objective']}",
            f"{case['ratio']:.1f}",
            f"{case['ours']['sentences_per_second']:,.0f}",
            f"{case['plain']['sentences_per_second']:,.0f}",
            f"{case['ours']['tokens_per_second']:,.0f}",
            where_it_goes(case["ours"]),
        ]
        for case in record["cases"]
    ]
    heads = ["encoder, objective", "ratio", "sentences/s", "reference", "target tokens/s", "where the time goes"]
    said = (
        "The reference pads batches in file order, takes the decoder a step at a time and holds all logits of a batch. "
        "`nmt` has 40,000 target codes; AutoEncoder and SkipThought are the same step."
    )
    return [said, grid(heads, rows)]


def encoding(record: dict[str, Any]) -> list[str]:
    row = [
        record["encoder"],
        f"{record['ratio']:.1f}",
        f"{record['ours_sentences_per_second']:,}",
        f"{record['plain_sentences_per_second']:,}",
        f"{record['sentences']:,}",
        f"{record['memory_growth_megabytes']:,}",
    ]
    heads = ["encoder", "ratio", "sentences/s", "batches in file order", "sentences", "memory grown, MB"]
    return [grid(heads, [row])]


def probing(record: dict[str, Any]) -> list[str]:
    rows = []
    for case in record["cases"]:
        shape = case["shape"]
        what = f"{shape['train']:,} x {shape['dim']}, {shape['classes']} classes"
        for side in ("sequential", "senteval, fused", "modern"):
            found = case[side]
            scores = [f"{found[part]:.2f}" if part in found else "" for part in ("dev", "test")]
            rate = found["gflop_per_second"] / record["matrix_gflop_per_second"]
            name = side + (", calculated" if "calculated_from_passes" in found else "")
            rows.append([f"{what}: {name}", f"{found['ratio']:.1f}", f"{found['seconds']:.1f}", *scores, f"{rate:.0%}"])
    return [grid(["task", "ratio", "s", "dev", "test", "of the matrix-product rate"], rows)]


def downstream(record: dict[str, Any]) -> list[str]:
    rows = []
    for side in ("one after another", "senteval, fused", "modern"):
        found = record[side]
        scores = [f"{found[part]:.2f}" if part in found else "" for part in ("dev", "test")]
        rows.append([side, f"{found['ratio']:.1f}", f"{found['seconds']:.1f}", *scores])
    shape = record["shape"]
    said = f"{shape['train']:,} sentences, D = {shape['dim']}, {record['folds']} folds, four values of L2."
    return [said, grid(["", "ratio", "s", "dev", "test"], rows)]


def data(record: dict[str, Any]) -> list[str]:
    said = (
        "Preparing is reading, tokenising, learning and applying codes; it happens once, on all cores. Memory is how "
        "far the main process grew; 0 is no further than in starting up."
    )
    rows = [
        [
            f"{case['sentences']:,}",
            f"{case['prepare_seconds']:.1f}",
            f"{case['sentences'] / case['prepare_seconds']:,.0f}",
            f"{case['prepare_mb']:.0f}",
            f"{case['batch_sentences_per_second']:,.0f}",
            f"{case['epoch_mb']:.0f}",
        ]
        for case in record["cases"]
    ]
    heads = ["sentences", "prepared in s", "sentences/s", "memory, MB", "batches: sentences/s", "memory, MB"]
    return [said, grid(heads, rows)]


if __name__ == "__main__":
    main()
