"""The tables of a benchmark's record, on the terminal and on results/performance.md."""

import textwrap
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

PUBLISHED_SENTENCES = 2_000_000  # sentences of an epoch in Conneau et al. 2018
PARTS = ("translation", "entailment", "encoding", "regression")  # of the benchmark fair, in the order of rows
WIDTH = 100  # columns of text, and of a cell on the terminal
LEFT_ALIGNED = ("what", "result", "others")  # columns with text, as the first of each table
TERMINAL_ONLY = (  # columns
    "GFLOP/s", "GB/s", "memory, MB", "distinct", "result, MB", "largest difference", "median on equal terms",
)  # fmt: skip

Record = dict[str, Any]
Row = Sequence[tuple[str, str]]  # the head of each column and the cell


class Table(NamedTuple):
    """A paragraph of text, and rows that have the same columns."""

    text: str
    rows: Sequence[Row]


def markdown_rows(table: Table) -> str:
    """The rows as a table in Markdown."""
    rows = [[(head, cell.replace("|", "/")) for head, cell in row if head not in TERMINAL_ONLY] for row in table.rows]
    lines = [f"| {' | '.join(cell for _, cell in row)} |" for row in rows]
    for row in rows[:1]:
        rules = ["---" if number == 0 or head in LEFT_ALIGNED else "---:" for number, (head, _) in enumerate(row)]
        lines = [f"| {' | '.join(head for head, _ in row)} |", f"|{'|'.join(rules)}|", *lines]
    return "\n".join(lines)


def wrap_text(text: str) -> str:
    """Text in lines of at most 100 columns."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def print_new_rows(tables: Sequence[Table], printed: set[Any]) -> None:
    """The rows of the tables that were not printed before, in columns; text and heads stand above the first."""
    for number, table in enumerate(tables):
        lines = [tuple(head for head, _ in row) for row in table.rows[:1]]
        lines += [tuple(cell[:WIDTH] for _, cell in row) for row in table.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            if (number, line) in printed:
                continue
            if line == lines[0]:
                print(f"\n{wrap_text(table.text)}".rstrip())
            cells = [
                cell.ljust(width) if place == 0 or head in LEFT_ALIGNED else cell.rjust(width)
                for place, (head, cell, width) in enumerate(zip(lines[0], line, widths, strict=True))
            ]
            print("  ".join(cells).rstrip(), flush=True)
            printed.add((number, line))


def memory_columns(memory: dict[str, float]) -> Row:
    """Columns of the two figures of memory."""
    return ("resident, MB", f"{memory['memory_mb']:,.0f}"), ("own, MB", f"{memory['own_mb']:,.0f}")


def machine_rates(record: Record) -> str:
    """What the machine can do."""
    others = []
    if default := record.get("default_matrix_gflop_per_second"):
        others.append(f"{default:,.0f} as PyTorch has it by default")
    if bf16 := record.get("bf16_matrix_gflop_per_second"):
        others.append(f"{bf16:,.0f} in bfloat16")
    text = f"matrix product {record['matrix_gflop_per_second']:,.0f} GFLOP/s"
    text += f" ({', '.join(others)})" if others else ""
    return text + (f", memory {record['memory_gb_per_second']:,.0f} GB/s" if "memory_gb_per_second" in record else "")


def fair_tables(record: Record) -> list[Table]:
    text = (
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
            ("ours: the peer", case["name"]),
            ("worst", f"{case['ratios'][0]:.2f}"),
            ("median", f"{case['ratios'][len(case['ratios']) // 2]:.2f}"),
            ("best", f"{case['ratios'][-1]:.2f}"),
            ("on equal terms", " to ".join(f"{case['ratios_on_equal_terms'][end]:.2f}" for end in (0, -1))),
            ("median on equal terms", f"{median(case['ratios_on_equal_terms']):.2f}"),
            ("ours, s", f"{case['our_seconds']:.2f}"),
            ("theirs, s", f"{case['their_seconds']:.2f}"),
            ("above the optimum", ", ".join(f"{nats:.0e}" for nats in case.get("above_optimum", []))),
        ]
        for case in sorted(record["cases"], key=lambda case: PARTS.index(case["part"]))
    ]
    return [Table(text, rows)]


def training_tables(record: Record) -> list[Table]:
    rows = []
    for case in record["cases"]:
        ours, bf16 = case["ours"], case.get("bf16-mixed")
        sides = [side for side in (ours, bf16) if side]
        hours = (PUBLISHED_SENTENCES / side["sentences_per_second"] / 3600 for side in sides)
        shares = {key.removeprefix("share_"): value for key, value in ours.items() if key.startswith("share_")}
        rows.append([
            ("encoder, objective", f"{case['encoder']}, {case['objective']}"),
            ("ratio", f"{case['ratio']:.1f}"),
            *([("ratio, bf16-mixed", f"{bf16['ratio']:.1f}")] if bf16 else []),
            ("sentences/s", f"{ours['sentences_per_second']:,.0f}"),
            *([("bf16-mixed", f"{bf16['sentences_per_second']:,.0f}")] if bf16 else []),
            ("reference", f"{case['plain']['sentences_per_second']:,.0f}"),
            ("tokens/s", f"{ours['tokens_per_second']:,.0f}"),
            ("GFLOP/s", f"{ours['gflop_per_second']:.0f}"),
            ("GB/s", f"{ours.get('gigabytes_per_second', 0):.1f}"),
            ("of the matrix-product rate", _share_of_rates_text(record, ours, bf16)),
            ("hours for 2 million", ", ".join(f"{number:.1f}" for number in hours)),
            ("where the time goes", ", ".join(f"{name} {share:.0%}" for name, share in shares.items())),
        ])  # fmt: skip
    text = (
        "The reference pads batches in file order, takes the decoder a step at a time and holds all logits of a batch; "
        f"{record['reference_steps']} of its steps are timed. Both sides have the same model and text, and the "
        "ratio is of real tokens per second: target tokens, or the words that are read where there is no decoder. "
        "`nmt` has 40,000 target codes; AutoEncoder and SkipThought are the same step, and a step of multitask is one "
        "of its parts'. Where the time goes is that of 32-bit steps. The share of the matrix-product rate (in 32 bits; "
        "in bfloat16) counts six operations for each weight and real position; hours are those of an epoch of two "
        "million sentences, by calculation."
    )
    return [Table(text, rows)]


def _share_of_rates_text(record: Record, ours: dict[str, float], bf16: dict[str, float] | None) -> str:
    sides = (ours, "matrix_gflop_per_second"), (bf16, "bf16_matrix_gflop_per_second")
    text = ", ".join(f"{side['gflop_per_second'] / record[rate]:.0%}" for side, rate in sides if side)
    moved = ours.get("gigabytes_per_second")
    return text + (f"; {moved / record['memory_gb_per_second']:.0%} of the memory's" if moved else "")


def memory_tables(record: Record) -> list[Table]:
    text = (
        f"`train.py` with the demo's model and corpus, {record['steps']} steps and a small probing task an epoch. "
        "Resident memory after each epoch; at the end its peak, the open file handles, the child processes and the "
        "size of the cache, each with its growth since epoch 2."
    )
    rows = []
    for case in record["cases"]:
        last, grown = case["epochs"][-1], case["grown"]
        row = [("MB after epoch", case["precision"])]
        row += [(str(number), f"{epoch['resident_mb']:,.0f}") for number, epoch in enumerate(case["epochs"], 1)]
        for head, key in (("peak", "peak_mb"), ("handles",) * 2, ("children",) * 2, ("cache", "cache_mb")):
            row.append((head, f"{last[key]:,g} ({grown[key]:+g})"))
        rows.append(row)
    return [Table(text, rows)]


def encoding_tables(record: Record) -> list[Table]:
    row = [
        ("encoder", record["encoder"]),
        ("ratio", f"{record['ratio']:.1f}"),
        ("sentences/s", f"{record['ours_sentences_per_second']:,}"),
        ("batches in file order", f"{record['plain_sentences_per_second']:,}"),
        ("sentences", f"{record['sentences']:,}"),
        ("distinct", f"{record['distinct']:,}"),
        ("result, MB", f"{record['result_megabytes']:,}"),
        ("resident, MB", f"{record['memory_growth_megabytes']:,}"),
        ("own, MB", f"{record['own_memory_growth_megabytes']:,}"),
        ("largest difference", f"{record['largest_difference']:.0e}"),
    ]
    return [Table("", [row])]


def probing_tables(record: Record) -> list[Table]:
    text = (
        "The difference is that of dev and test accuracy to the published protocol's; memory is how far it rose above "
        "the vectors."
    )
    rows = []
    for case in record["cases"]:
        shape, exact = case["shape"], case["senteval, fused"]
        passes = exact.get("for_passes")
        for name in ("sequential", "senteval, fused", "modern"):
            side, modern = case[name], name == "modern"
            row = f"{shape['train']:,} x {shape['dim']}, {shape['classes']:,} classes: {name}"
            row += ", calculated" if "calculated_from_passes" in side and not passes else ""
            row += f", {passes} passes" if passes and not modern else ""
            differences = [
                f"{side[split] - exact[split]:+.2f}" for split in ("dev", "test") if modern and split in exact
            ]
            rate = side["gflop_per_second"]
            rows.append([
                ("task", row),
                ("ratio", ("at least " if passes and modern else "") + f"{side['ratio']:.1f}"),
                ("s", f"{side['seconds']:.1f}"),
                *_score_columns(side),
                ("difference", ", ".join(differences)),
                ("MB", f"{side['memory_mb']:,.0f}" if "memory_mb" in side else ""),
                ("GFLOP/s", f"{rate:.0f}"),
                ("of the matrix-product rate", f"{rate / record['matrix_gflop_per_second']:.0%}"),
            ])  # fmt: skip
    return [Table(text, rows)]


def _score_columns(side: dict[str, float]) -> Row:
    return [(split, f"{side[split]:.2f}" if split in side else "") for split in ("dev", "test")]


def downstream_tables(record: Record) -> list[Table]:
    def table(text: str, sides: dict[str, Any]) -> Table:
        rows = [
            [
                ("", name),
                ("ratio", f"{sides[name]['ratio']:.1f}"),
                ("s", f"{sides[name]['seconds']:.1f}"),
                *_score_columns(sides[name]),
                ("memory, MB", f"{sides[name].get('memory_mb', 0):,.0f}"),
            ]
            for name in ("one after another", "senteval, fused", "modern")
        ]
        return Table(text, rows)

    shape = record["shape"]
    text = f"{shape['train']:,} sentences, D = {shape['dim']}, {record['folds']} folds, four values of L2."
    tables = [table(text, record)]
    for dim, sides in record.get("relatedness", {}).items():
        pairs = "/".join(f"{size:,}" for size in record["pairs"])
        tables.append(table(f"Relatedness, {pairs} pairs, D = {dim}; scores are r × 100.", sides))
    return tables


def discoeval_tables(record: Record) -> list[Table]:
    passes = (
        "the passes that its cells take"
        if record["full"]
        else "the fewest passes that the protocol can take, and so are ours under `senteval`"
    )
    ranked = sorted(record["cases"], key=lambda case: case["senteval"]["ratio"])
    extremes = ", ".join(f"{c['task']} with {c['dim']:,} dimensions {c['senteval']['ratio']:.1f}" for c in ranked)
    text = (
        "Ratios are to the published toolkit, one classifier after another; its seconds are calculated from some "
        f"batches for {passes}. Memory is how far it rose above the vectors. From the worst ratio of `senteval` to "
        f"the best: {extremes}."
    )
    rows = []
    for case in [*record["cases"], *record["totals"]]:
        toolkit, senteval, modern = (case[side] for side in ("toolkit", "senteval", "modern"))
        rows.append([
            ("tasks", f"{case['task']}, D = {case['dim']:,}"),
            ("`senteval`", f"{senteval['ratio']:.1f}"),
            ("`modern`", ("at least " if "part" in modern else "") + f"{modern['ratio']:.1f}"),
            ("toolkit, s", f"{toolkit['seconds']:,.0f}"),
            ("`senteval`, s", f"{senteval['seconds']:,.0f}"),
            ("`modern`, s", f"{modern['seconds']:,.0f}"),
            ("`senteval`, MB", f"{senteval['memory_mb']:,.0f}"),
            ("`modern`, MB", f"{modern['memory_mb']:,.0f}"),
        ])  # fmt: skip
    return [Table(text, rows)]


def data_tables(record: Record) -> list[Table]:
    model = record["fastest_step"]
    text = (
        "Preparing is reading, tokenising, learning and applying codes; it happens once, on all cores. Batches are "
        f"compared with the fastest training step on such pairs, {model['sentences_per_second']:,.0f} sentences/s "
        f"({model['step']})."
    )
    rows = [
        [
            ("sentences", f"{case['sentences']:,}"),
            ("batches / model", f"{case['ratio_to_model'] or 0:,.0f}"),
            ("prepared in s", f"{case['prepare_seconds']:.1f}"),
            ("sentences/s", f"{case['sentences'] / case['prepare_seconds']:,.0f}"),
            *memory_columns(case["prepare_memory"]),
            ("counted in s", f"{case['count_seconds']:.2f}"),
            ("first batch after s", f"{case['first_batch_seconds']:.2f}"),
            ("batches: sentences/s", f"{case['batch_sentences_per_second']:,.0f}"),
            *memory_columns(case["epoch_memory"]),
        ]
        for case in record["cases"]
    ]
    return [Table(text, rows)]


def building_tables(record: Record) -> list[Table]:
    text = (
        "The whole of `python -m probes.probing.build` on trees of the embedded corpus, from one file of trees to ten "
        f"files and the report; it wishes for the published sizes. Trees are read on all {record['cores']} cores, and "
        "sentences chosen on one."
    )
    rows = []
    for case in record["cases"]:
        counts = case["training_sentences"].values()
        rows.append([
            ("sentences", f"{case['sentences']:,}"),
            ("s", f"{case['seconds']:,.1f}"),
            ("sentences/s", f"{case['sentences'] / case['seconds']:,.0f}"),
            *memory_columns(case["memory"]),
            ("training sentences of a task", f"{min(counts):,} to {max(counts):,}"),
        ])  # fmt: skip
    return [Table(text, rows)]


def conllu_tables(record: Record) -> list[Table]:
    text = (
        "Finnish sentences of the embedded corpus with their dependencies, from one file. The last step is the whole "
        "of `python -m probes.probing.build ud=` at the published sizes; it and the analysis run on all cores."
    )
    rows = [
        [
            ("sentences", f"{case['sentences']:,}"),
            ("step", case["step"]),
            ("s", f"{case['seconds']:.1f}"),
            ("s per million", f"{1e6 * case['seconds'] / case['sentences']:,.0f}"),
            *memory_columns(case["memory"]),
        ]
        for case in record["cases"]
    ]
    return [Table(text, rows)]


def coherence_tables(record: Record) -> list[Table]:
    text = (
        "Suites of the embedded world, scored by a GPT-2 with random weights. The plain way scores one text at a time, "
        "and all probabilities of each place; it takes a sample, and its seconds are calculated from that. Ours scores "
        "each distinct text once, and each beginning of several texts once. The ratios are the worst, the median and "
        "the best of the rounds, both ways in turns."
    )
    rows = []
    for case in record["cases"]:
        model, ratios = case["model"], case["ratios"]
        spread = [ratios[0], ratios[len(ratios) // 2], ratios[-1]] if len(ratios) > 1 else ratios
        size = f"{model['layers']} layers of {model['width']}, {model['words']:,} tokens"
        rows.append([
            ("items and model", f"{case['items']:,} items, {size}"),
            ("ratio", ", ".join(f"{ratio:.1f}" for ratio in spread)),
            ("texts", f"{case['texts']:,}"),
            ("distinct", f"{case['distinct']:,}"),
            ("s", f"{case['seconds']:,.1f}"),
            ("one at a time, s", f"{case['plain_seconds']:,.0f}"),
            ("resident, MB", f"{case['memory_growth_megabytes']:,}"),
            ("own, MB", f"{case['own_memory_growth_megabytes']:,}"),
            ("largest difference", f"{case['largest_difference']:.0e}"),
        ])  # fmt: skip
    return [Table(text, rows)]


SECTIONS: dict[str, tuple[str, Callable[[Record], list[Table]]]] = {  # by benchmark, in the order of the page
    "fair": ("Against what people would run", fair_tables),
    "training": ("A training step at paper size", training_tables),
    "memory": ("Memory of a run, epoch by epoch", memory_tables),
    "encoding": ("A frozen encoder", encoding_tables),
    "probing": ("One probing task", probing_tables),
    "downstream": ("One downstream task with folds inside folds", downstream_tables),
    "discoeval": ("The twelve tasks of DiscoEval at their published sizes", discoeval_tables),
    "data": ("The input pipeline", data_tables),
    "building": ("Building the ten probing tasks", building_tables),
    "conllu": ("Reading CoNLL-U and building the tasks of a treebank", conllu_tables),
    "coherence": ("Surprisals of coherence pairs", coherence_tables),
}
