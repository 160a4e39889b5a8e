"""Write docs/results/performance.md from benchmarks/results/*.json.

python -m benchmarks.table
"""

import json
import textwrap
from pathlib import Path
from typing import Any

from benchmarks.grids import fair, grid, memory
from common.files import atomic_write

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
OUT = ROOT / "docs" / "results" / "performance.md"
HEAD = """\
# Performance: all measurements

[The conclusions](../performance.md) are on a page of their own. `make bench` and the longer commands that a section
names measure; `python -m benchmarks.table` writes this page from `benchmarks/results/*.json`.

A ratio says how many times faster than the reference in the same benchmark, on the same machine and data. Seconds
depend on the machine and on what else it does; `load` is the system's load average, the busy processes of the last
minute, when the benchmark wrote its results.

Memory is how far it rose in a process of its own: resident (VmHWM), mapped files included, which the system takes back
when it needs room; and the process's own, without these but with its workers."""
PUBLISHED = 2_000_000  # sentences of an epoch in Conneau et al. 2018
BENCH = ("training", "encoding", "probing", "downstream", "data")  # what `make bench` writes

COMPILE = """\
`torch.compile` of the whole loss did not pay, so `train.py` has no switch for it. Tokens per second without and with it
(`python benchmarks/training.py --compile --steps 5 --precision 32-true --pairs gated_convnet:nli bilstm_max:nli --json
FILE`, at commit 57a82ba) on two cores of an AMD EPYC with a speed that varied by a third: gated_convnet, nli 1,199 and
1,717, but 1,918 without it a few minutes later; bilstm_max, nli 6,362 and 6,972; with `--steps 3`, gated_convnet, nmt
734 and 221; bigru_mean, discourse 1,151 and 1,367. On one thread of a busy Xeon (`OMP_NUM_THREADS=1`, `--steps 3`):
gated_convnet, nli 390 and 299; bilstm_max, nli 1,193 and 568. The first round took 6 seconds to 8 minutes. torch's
recurrent layers are fused already, and what is left are large matrix products."""


def main() -> None:
    parts = [HEAD, together()]
    for name, title, table in (
        ("fair", "Against what people would run", fair),
        ("training", "A training step at paper size", training),
        ("memory", "Memory of a run, epoch by epoch", memory),
        ("encoding", "A frozen encoder", encoding),
        ("probing", "One probing task", probing),
        ("downstream", "One downstream task with folds inside folds", downstream),
        ("discoeval", "The twelve tasks of DiscoEval at their published sizes", discoeval),
        ("data", "The input pipeline", data),
        ("building", "Building the ten probing tasks", building),
        ("conllu", "Reading CoNLL-U and building the tasks of a treebank", conllu),
        ("coherence", "Surprisals of coherence pairs", coherence),
    ):
        for path in sorted(RESULTS.glob(f"{name}*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            which = path.stem.removeprefix(name).replace("_", " ")  # one file of several, as " published size"
            parts += [f"## {':'.join(filter(None, [title, which]))}", where(record), *table(record)]
        parts += [COMPILE] if name == "training" else []
    with atomic_write(OUT) as file:
        file.write("\n\n".join(map(wrapped, "\n\n".join(parts).split("\n\n"))) + "\n")
    print(OUT)


def wrapped(part: str) -> str:
    """A paragraph in lines of at most 100 columns; headings and tables as they are."""
    prose = not part.startswith(("#", "|"))
    return textwrap.fill(part, 100, break_long_words=False, break_on_hyphens=False) if prose else part


def together() -> str:
    """How long `make bench` took."""
    records = {name: json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in BENCH}
    spent = {name: record["seconds"] for name, record in records.items() if "seconds" in record}
    parts = ", ".join(f"{name} {seconds:,.0f}" for name, seconds in spent.items())
    return f"`make bench` took {sum(spent.values()) / 60:.1f} minutes here (seconds: {parts})."


def where(record: dict[str, Any]) -> str:
    rate = record["matrix_gflop_per_second"]
    took = f", {record['seconds']:,.0f} s" if "seconds" in record else ""
    narrow = record.get("bf16_matrix_gflop_per_second")
    default = record.get("default_matrix_gflop_per_second")
    others = [f"{default:,.0f} as PyTorch has it by default"] if default else []
    others += [f"{narrow:,.0f} in bfloat16"] if narrow else []
    rates = f"matrix product {rate:,.0f} GFLOP/s" + (f" ({', '.join(others)})" if others else "")
    rates += f", memory {record['memory_gb_per_second']:,.0f} GB/s" if "memory_gb_per_second" in record else ""
    return (
        f"`{record['command']}`, {record['date']}{took}: {record['machine']}, {record['threads']} threads, "
        f"{rates}, torch {record['torch']}, load {record['load']:.1f}."
    )


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


def data(record: dict[str, Any]) -> list[str]:
    model = record["fastest_step"]
    said = (
        "Preparing is reading, tokenising, learning and applying codes; it happens once, on all cores. Batches are "
        f"compared with the fastest training step on such pairs, {model['sentences_per_second']:,.0f} sentences/s "
        f"({model['step']})."
    )

    def megabytes(memory: dict[str, float]) -> list[str]:
        return [f"{memory['memory_mb']:,.0f}", f"{memory['own_mb']:,.0f}"]

    rows = [
        [
            f"{case['sentences']:,}",
            f"{case['ratio_to_model'] or 0:,.0f}",
            f"{case['prepare_seconds']:.1f}",
            f"{case['sentences'] / case['prepare_seconds']:,.0f}",
            *megabytes(case["prepare_memory"]),
            f"{case['count_seconds']:.2f}",
            f"{case['first_batch_seconds']:.2f}",
            f"{case['batch_sentences_per_second']:,.0f}",
            *megabytes(case["epoch_memory"]),
        ]
        for case in record["cases"]
    ]
    heads = ["sentences", "batches / model", "prepared in s", "sentences/s", "resident, MB", "own, MB"]
    heads += ["counted in s", "first batch after s", "batches: sentences/s", "resident, MB", "own, MB"]
    return [said, grid(heads, rows)]


def building(record: dict[str, Any]) -> list[str]:
    said = (
        "The whole of `python -m probes.probing.build` on trees of the embedded corpus, from one file of trees to ten "
        f"files and the report; it wishes for the published sizes. Trees are read on all {record['cores']} cores, and "
        "sentences chosen on one."
    )
    rows = []
    for case in record["cases"]:
        counts = case["training_sentences"].values()
        rows.append(
            [
                f"{case['sentences']:,}",
                f"{case['seconds']:,.1f}",
                f"{case['sentences'] / case['seconds']:,.0f}",
                f"{case['memory']['memory_mb']:,.0f}",
                f"{case['memory']['own_mb']:,.0f}",
                f"{min(counts):,} to {max(counts):,}",
            ]
        )
    heads = ["sentences", "s", "sentences/s", "resident, MB", "own, MB", "training sentences of a task"]
    return [said, grid(heads, rows)]


def conllu(record: dict[str, Any]) -> list[str]:
    said = (
        "Finnish sentences of the embedded corpus with their dependencies, from one file. The last step is the whole "
        "of `python -m probes.probing.build ud=` at the published sizes; it and the analysis run on all cores."
    )
    rows = [
        [
            f"{case['sentences']:,}",
            case["step"],
            f"{case['seconds']:.1f}",
            f"{1e6 * case['seconds'] / case['sentences']:,.0f}",
            f"{case['memory']['memory_mb']:,.0f}",
            f"{case['memory']['own_mb']:,.0f}",
        ]
        for case in record["cases"]
    ]
    return [said, grid(["sentences", "step", "s", "s per million", "resident, MB", "own, MB"], rows)]


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


if __name__ == "__main__":
    main()
