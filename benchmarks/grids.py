"""Tables of results/performance.md about models: steps, memory by epoch, encoding, what people would run."""

from typing import Any

PUBLISHED = 2_000_000  # sentences of an epoch in Conneau et al. 2018
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
        f"time, from the worst to the best of {record['rounds']} round(s). The peer runs as it comes; on "
        "equal terms it multiplies with the library that we choose, encodes in bfloat16 where we do, and ends as near "
        "to the optimum as ours. Above the optimum: how far the loss of logistic regression is above the lowest known, "
        "in nats, at most of the four L2 values; ours, and theirs as it comes."
    )
    rows = [
        [
            case["name"],
            *(f"{case['ratios'][place]:.2f}" for place in (0, len(case["ratios"]) // 2, -1)),
            " to ".join(f"{case['ratios_on_equal_terms'][end]:.2f}" for end in (0, -1)),
            f"{case['our_seconds']:.2f}",
            f"{case['their_seconds']:.2f}",
            ", ".join(f"{nats:.0e}" for nats in case.get("above_optimum", [])),
        ]
        for case in sorted(record["cases"], key=lambda case: PARTS[case["part"]])
    ]
    heads = ["ours: the peer", "worst", "median", "best", "on equal terms", "ours, s", "theirs, s", "above the optimum"]
    return [said, grid(heads, rows)]


def training(record: dict[str, Any]) -> list[str]:
    def where_it_goes(ours: dict[str, float]) -> str:
        parts = {key.removeprefix("share_"): value for key, value in ours.items() if key.startswith("share_")}
        return ", ".join(f"{name} {share:.0%}" for name, share in parts.items())

    def in_brackets(fused: dict[str, float]) -> str:
        return f"{fused['ratio']:.1f} ({fused['seconds_of_the_first_round']:.0f} s)"

    def of_peak(case: dict[str, Any]) -> str:
        sides = ("ours", "matrix_gflop_per_second"), ("bf16-mixed", "bf16_matrix_gflop_per_second")
        found = ", ".join(
            f"{case[side]['gflop_per_second'] / record[peak]:.0%}" for side, peak in sides if side in case
        )
        moved = case["ours"].get("gigabytes_per_second")
        return found + (f"; {moved / record['memory_gb_per_second']:.0%} of the memory's" if moved else "")

    def hours(case: dict[str, Any]) -> str:
        rates = [case[side]["sentences_per_second"] for side in ("ours", "bf16-mixed") if side in case]
        return ", ".join(f"{PUBLISHED / rate / 3600:.1f}" for rate in rates)

    counted = all("gflop_per_second" in case["ours"] for case in record["cases"])
    narrow = [case.get("bf16-mixed") for case in record["cases"]]
    compiled = [case.get("compiled") for case in record["cases"]]
    rows = [
        [
            f"{case['encoder']}, {case['objective']}",
            f"{case['ratio']:.1f}",
            *([f"{bf16['ratio']:.1f}" if bf16 else ""] if any(narrow) else []),
            *([in_brackets(fused) if fused else ""] if any(compiled) else []),
            f"{case['ours']['sentences_per_second']:,.0f}",
            *([f"{bf16['sentences_per_second']:,.0f}" if bf16 else ""] if any(narrow) else []),
            f"{case['plain']['sentences_per_second']:,.0f}",
            f"{case['ours']['tokens_per_second']:,.0f}",
            *([of_peak(case), hours(case)] if counted else []),
            where_it_goes(case["ours"]),
        ]
        for case, bf16, fused in zip(record["cases"], narrow, compiled, strict=True)
    ]
    heads = [
        "encoder, objective",
        "ratio",
        *(["ratio, bf16-mixed"] if any(narrow) else []),
        *(["ratio, torch.compile (first round)"] if any(compiled) else []),
        "sentences/s",
        *(["bf16-mixed"] if any(narrow) else []),
        "reference",
        "tokens/s",
        *(["of the matrix-product rate", "hours for 2 million"] if counted else []),
        "where the time goes",
    ]
    said = (
        "The reference pads batches in file order, takes the decoder a step at a time and holds all logits of a batch; "
        f"{record.get('reference_steps', 1)} of its steps are timed. Both sides have the same model and text, and the "
        "ratio is of real tokens per second: target tokens, or the words that are read where there is no decoder. "
        "`nmt` has 40,000 target codes; AutoEncoder and SkipThought are the same step, and a step of multitask is one "
        "of its parts'. Where the time goes is that of 32-bit steps."
    )
    if counted:
        said += (
            " The share of the matrix-product rate (in 32 bits; in bfloat16) counts six operations for each weight and "
            "real position; hours are those of an epoch of two million sentences, by calculation."
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
        f"{record['own_memory_growth_megabytes']:,}",
    ]
    heads = ["encoder", "ratio", "sentences/s", "batches in file order", "sentences", "resident, MB", "own, MB"]
    return [grid(heads, [row])]
