"""Tables of results/performance.md: memory by epoch, and the comparison with what people would run."""

from typing import Any

PARTS = {"translation": 1, "entailment": 2, "encoding": 3, "regression": 4}  # the order of rows


def grid(heads: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def memory(record: dict[str, Any]) -> list[str]:
    said = (
        f"`train.py` with the demo's model and corpus, {record['steps']} steps and a small probing task an epoch. "
        "Resident memory after each epoch; at the end its peak, the open file handles, the child processes and the "
        "size of the cache, each with its growth since epoch 2."
    )
    count = len(record["cases"][0]["epochs"])
    rows = []
    for case in record["cases"]:
        last, grown = case["epochs"][-1], case["grown"]
        resident = [f"{epoch['resident_mb']:,.0f}" for epoch in case["epochs"]]
        others = [f"{last[key]:,g} ({grown[key]:+g})" for key in ("peak_mb", "handles", "children", "cache_mb")]
        rows.append([case["precision"], *resident, *others])
    heads = ["MB after epoch", *map(str, range(1, count + 1)), "peak", "handles", "children", "cache"]
    return [said, grid(heads, rows)]


def fair(record: dict[str, Any]) -> list[str]:
    said = (
        "Ours against the plain code of `benchmarks/peers.py`: a PyTorch step with sorted batches, a packed encoder, "
        "`nn.LSTM` over the whole target and one cross-entropy; InferSent's training loop and its encode; "
        "scikit-learn's logistic regression. Both sides take turns on one thread, and the ratios are of processor "
        f"time, from the worst to the best of {record['rounds']} round(s)."
    )
    rows = [
        [
            case["name"],
            *(f"{case['ratios'][place]:.2f}" for place in (0, len(case["ratios"]) // 2, -1)),
            f"{case['our_seconds']:.2f}",
            f"{case['their_seconds']:.2f}",
        ]
        for case in sorted(record["cases"], key=lambda case: PARTS[case["part"]])
    ]
    return [said, grid(["ours: the peer", "worst", "median", "best", "ours, s", "theirs, s"], rows)]
