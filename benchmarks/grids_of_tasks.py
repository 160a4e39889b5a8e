"""Tables of results/performance.md about tasks: probing, downstream, DiscoEval, coherence."""

from typing import Any

from benchmarks.grids import grid


def probing(record: dict[str, Any]) -> list[str]:
    said = (
        "The difference is that of dev and test accuracy to the published protocol's; memory is how far it rose above "
        "the vectors."
    )
    rows = []
    for case in record["cases"]:
        shape, exact = case["shape"], case["senteval, fused"]
        what = f"{shape['train']:,} x {shape['dim']}, {shape['classes']:,} classes"
        short = exact.get("for_passes")
        for side in ("sequential", "senteval, fused", "modern"):
            found = case[side]
            scores = [f"{found[part]:.2f}" if part in found else "" for part in ("dev", "test")]
            both = side == "modern" and "dev" in exact
            apart = ", ".join(f"{found[part] - exact[part]:+.2f}" for part in ("dev", "test")) if both else ""
            name = side + (", calculated" if "calculated_from_passes" in found and not short else "")
            name += f", {short} passes" if short and side != "modern" else ""
            ratio = ("at least " if short and side == "modern" else "") + f"{found['ratio']:.1f}"
            share = f"{found['gflop_per_second'] / record['matrix_gflop_per_second']:.0%}"
            memory = f"{found['memory_mb']:,.0f}" if "memory_mb" in found else ""
            rows.append([f"{what}: {name}", ratio, f"{found['seconds']:.1f}", *scores, apart, memory, share])
    heads = ["task", "ratio", "s", "dev", "test", "difference", "MB", "of the matrix-product rate"]
    return [said, grid(heads, rows)]


def downstream(record: dict[str, Any]) -> list[str]:
    heads, order = ["", "ratio", "s", "dev", "test"], ("one after another", "senteval, fused", "modern")
    shape = record["shape"]
    said = f"{shape['train']:,} sentences, D = {shape['dim']}, {record['folds']} folds, four values of L2."
    lines = [said, grid(heads, _sides({side: record[side] for side in order}))]
    for dim, sides in record.get("relatedness", {}).items():
        pairs = "/".join(f"{size:,}" for size in record["pairs"])
        related = _sides({side: sides[side] for side in order})
        lines += [f"Relatedness, {pairs} pairs, D = {dim}; scores are r × 100.", grid(heads, related)]
    return lines


def _sides(record: dict[str, Any]) -> list[list[str]]:
    return [
        [
            name,
            f"{found['ratio']:.1f}",
            f"{found['seconds']:.1f}",
            *(f"{found[part]:.2f}" if part in found else "" for part in ("dev", "test")),
        ]
        for name, found in record.items()
    ]


def discoeval(record: dict[str, Any]) -> list[str]:
    passes = (
        "the passes that its cells take"
        if record["full"]
        else "the fewest passes that the protocol can take, and so are ours under `senteval`"
    )
    ranked = sorted(record["cases"], key=lambda case: case["senteval"]["ratio"])
    extremes = ", ".join(f"{c['task']} with {c['dim']:,} dimensions {c['senteval']['ratio']:.1f}" for c in ranked)
    said = (
        "Ratios are to the published toolkit, one classifier after another; its seconds are calculated from some "
        f"batches for {passes}. Memory is how far it rose above the vectors. From the worst ratio of `senteval` to "
        f"the best: {extremes}."
    )
    rows = []
    for case in [*record["cases"], *record["totals"]]:
        exact, cheap = case["senteval"], case["modern"]
        rows.append(
            [
                f"{case['task']}, D = {case['dim']:,}",
                f"{exact['ratio']:.1f}",
                ("at least " if "part" in cheap else "") + f"{cheap['ratio']:.1f}",
                *(f"{case[side]['seconds']:,.0f}" for side in ("toolkit", "senteval", "modern")),
                *(f"{side['memory_mb']:,.0f}" for side in (exact, cheap)),
            ]
        )
    heads = ["tasks", "`senteval`", "`modern`", "toolkit, s", "`senteval`, s", "`modern`, s"]
    return [said, grid([*heads, "`senteval`, MB", "`modern`, MB"], rows)]


def coherence(record: dict[str, Any]) -> list[str]:
    said = (
        "Suites of the embedded world, scored by a GPT-2 with random weights. The plain way scores one text at a time, "
        "and all probabilities of each place; it takes a sample, and its seconds are calculated from that. Ours scores "
        "each distinct text once, and each beginning of several texts once. The ratios are the worst, the median and "
        "the best of the rounds, both ways in turns."
    )
    rows = []
    for case in record["cases"]:
        model, ratios = case["model"], case["ratios"]
        spread = [ratios[0], ratios[len(ratios) // 2], ratios[-1]] if len(ratios) > 1 else ratios
        rows.append(
            [
                f"{case['items']:,} items, {model['layers']} layers of {model['width']}, {model['words']:,} tokens",
                ", ".join(f"{ratio:.1f}" for ratio in spread),
                f"{case['texts']:,}",
                f"{case['seconds']:,.1f}",
                f"{case['plain_seconds']:,.0f}",
                f"{case['memory_growth_megabytes']:,}",
                f"{case['own_memory_growth_megabytes']:,}",
            ]
        )
    heads = ["items and model", "ratio", "texts", "s", "one at a time, s", "resident, MB", "own, MB"]
    return [said, grid(heads, rows)]
