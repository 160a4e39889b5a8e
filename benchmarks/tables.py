"""The tables of a benchmark's record, on the terminal and on results/performance.md."""

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from encoder_lab.reports.text import aligned

PUBLISHED_SENTENCES = 2_000_000  # sentences of an epoch in Conneau et al. 2018
PARTS = ("translation", "entailment", "encoding", "regression")  # of the benchmark fair, in the order of rows
WIDTH = 100  # columns of text, and of a cell on the terminal
LEFT_ALIGNED = ("what", "result", "others")  # columns with text, as the first of each table
TERMINAL_ONLY = (  # columns
    "GFLOP/s", "GB/s", "memory, MB", "distinct", "result, MB", "largest difference", "median on equal terms",
)  # fmt: skip
MEMORY = {"resident, MB": "{memory_mb:,.0f}", "own, MB": "{own_mb:,.0f}"}  # columns

Record = dict[str, Any]


class Table(NamedTuple):
    """A paragraph of text, and rows that have the same columns: a cell by the head of its column."""

    text: str
    rows: Sequence[Mapping[str, str]]


def filled_rows(columns: Mapping[str, str], cases: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """A row for each case: `columns` has a format by the head of each column, with names of the case's values."""
    return [{head: cell.format_map(case) for head, cell in columns.items()} for case in cases]


def markdown_rows(table: Table) -> str:
    """The rows as a table in Markdown."""
    heads = [head for row in table.rows[:1] for head in row if head not in TERMINAL_ONLY]
    rules = ["---" if number == 0 or head in LEFT_ALIGNED else "---:" for number, head in enumerate(heads)]
    rows = [[row[head].replace("|", "/") for head in heads] for row in table.rows]
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(rules)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) if rows else ""


def wrap_text(text: str) -> str:
    """Text in lines of at most 100 columns."""
    return textwrap.fill(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def print_new_rows(tables: Sequence[Table], printed: set[Any]) -> None:
    """The rows of the tables that were not printed before, in columns; text and heads stand above the first."""
    for number, table in enumerate(tables):
        rows = [*map(tuple, table.rows[:1]), *(tuple(cell[:WIDTH] for cell in row.values()) for row in table.rows)]
        for row, line in zip(rows, aligned(rows), strict=True):
            if (number, row) not in printed:
                print(f"\n{wrap_text(table.text)}".rstrip() + f"\n{line}" if row == rows[0] else line, flush=True)
                printed.add((number, row))


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
    text = f"""Ours against the plain code of `benchmarks/peers.py`: a PyTorch step with sorted batches, a packed
        encoder, `nn.LSTM` over the whole target and one cross-entropy; InferSent's training loop and its encode;
        scikit-learn's logistic regression. Both sides take turns on one thread, and the ratios are of processor
        time, from the worst to the best of {record["rounds"]} round(s). The peer runs as it comes; on equal terms it
        multiplies with the library that we choose, encodes in bfloat16 where we do, and ends as near to the optimum
        as ours. Above the optimum: how far the loss of logistic regression is above the lowest known, in nats, at
        most of the four L2 values; ours, and theirs as it comes."""
    columns = {
        "ours: the peer": "{name}", "worst": "{as_it_comes[0]:.2f}", "median": "{as_it_comes[1]:.2f}",
        "best": "{as_it_comes[2]:.2f}", "on equal terms": "{equal[0]:.2f} to {equal[2]:.2f}",
        "median on equal terms": "{equal[1]:.2f}", "ours, s": "{our_seconds:.2f}", "theirs, s": "{their_seconds:.2f}",
        "above the optimum": "{above}",
    }  # fmt: skip
    cases = [
        {**case, "as_it_comes": spread(case["ratios"]), "equal": spread(case["ratios_on_equal_terms"])}
        | {"above": ", ".join(f"{nats:.0e}" for nats in case.get("above_optimum", []))}
        for case in sorted(record["cases"], key=lambda case: PARTS.index(case["part"]))
    ]
    return [Table(text, filled_rows(columns, cases))]


def spread(ratios: Sequence[float]) -> tuple[float, float, float]:
    """The worst, the median and the best of sorted ratios."""
    return ratios[0], median(ratios), ratios[-1]


def training_tables(record: Record) -> list[Table]:
    text = f"""The reference pads batches in file order, takes the decoder a step at a time and holds all logits of a
        batch; {record["reference_steps"]} of its steps are timed. Both sides have the same model and text, and the
        ratio is of real tokens per second: target tokens, or the words that are read where there is no decoder.
        `nmt` has 40,000 target codes; AutoEncoder and SkipThought are the same step, and a step of multitask is one
        of its parts'. Where the time goes is that of 32-bit steps. The share of the matrix-product rate (in 32 bits;
        in bfloat16) counts six operations for each weight and real position; hours are those of an epoch of two
        million sentences, by calculation."""
    has_bf16 = all("bf16-mixed" in case for case in record["cases"])
    columns = {
        "encoder, objective": "{encoder}, {objective}", "ratio": "{ratio:.1f}",
        **({"ratio, bf16-mixed": "{bf16-mixed[ratio]:.1f}"} if has_bf16 else {}),
        "sentences/s": "{ours[sentences_per_second]:,.0f}",
        **({"bf16-mixed": "{bf16-mixed[sentences_per_second]:,.0f}"} if has_bf16 else {}),
        "reference": "{plain[sentences_per_second]:,.0f}", "tokens/s": "{ours[tokens_per_second]:,.0f}",
        "GFLOP/s": "{ours[gflop_per_second]:.0f}", "GB/s": "{moved:.1f}", "of the matrix-product rate": "{of_rates}",
        "hours for 2 million": "{hours}", "where the time goes": "{shares}",
    }  # fmt: skip
    cases = []
    for case in record["cases"]:
        ours, moved = case["ours"], case["ours"].get("gigabytes_per_second", 0)
        rates = {"ours": record["matrix_gflop_per_second"], "bf16-mixed": record.get("bf16_matrix_gflop_per_second")}
        sides = [(case[name], rate) for name, rate in rates.items() if name in case]
        of_rates = ", ".join(f"{side['gflop_per_second'] / rate:.0%}" for side, rate in sides)
        of_rates += f"; {moved / record['memory_gb_per_second']:.0%} of the memory's" if moved else ""
        hours = ", ".join(f"{PUBLISHED_SENTENCES / side['sentences_per_second'] / 3600:.1f}" for side, _ in sides)
        shares = (f"{key[6:]} {share:.0%}" for key, share in ours.items() if key.startswith("share_"))
        cases.append({**case, "moved": moved, "of_rates": of_rates, "hours": hours, "shares": ", ".join(shares)})
    return [Table(text, filled_rows(columns, cases))]


def memory_tables(record: Record) -> list[Table]:
    text = f"""`train.py` with the demo's model and corpus, {record["steps"]} steps and a small probing task an
        epoch. Resident memory after each epoch; at the end its peak, the open file handles, the child processes and
        the size of the cache, each with its growth since epoch 2."""
    rows = []
    for case in record["cases"]:
        last, grown = case["epochs"][-1], case["grown"]
        row = {"MB after epoch": case["precision"]}
        row |= {str(number): f"{epoch['resident_mb']:,.0f}" for number, epoch in enumerate(case["epochs"], 1)}
        names = {"peak": "peak_mb", "handles": "handles", "children": "children", "cache": "cache_mb"}
        rows.append(row | {head: f"{last[name]:,g} ({grown[name]:+g})" for head, name in names.items()})
    return [Table(text, rows)]


def encoding_tables(record: Record) -> list[Table]:
    columns = {
        "encoder": "{encoder}", "ratio": "{ratio:.1f}", "sentences/s": "{ours_sentences_per_second:,}",
        "batches in file order": "{plain_sentences_per_second:,}", "sentences": "{sentences:,}",
        "distinct": "{distinct:,}", "result, MB": "{result_megabytes:,}", "resident, MB": "{memory_growth_megabytes:,}",
        "own, MB": "{own_memory_growth_megabytes:,}", "largest difference": "{largest_difference:.0e}",
    }  # fmt: skip
    return [Table("", filled_rows(columns, [record]))]


def probing_tables(record: Record) -> list[Table]:
    text = """The difference is that of dev and test accuracy to the published protocol's; memory is how far it rose
        above the vectors."""
    columns = {
        "task": "{task}", "ratio": "{least}{ratio:.1f}", "s": "{seconds:.1f}", "dev": "{dev}", "test": "{test}",
        "difference": "{difference}", "MB": "{memory_mb}", "GFLOP/s": "{gflop_per_second:.0f}",
        "of the matrix-product rate": "{share:.0%}",
    }  # fmt: skip
    cases = []
    for case in record["cases"]:
        shape, exact = case["shape"], case["senteval, fused"]
        passes = exact.get("for_passes")
        for name in ("sequential", "senteval, fused", "modern"):
            side, modern = case[name], name == "modern"
            task = f"{shape['train']:,} x {shape['dim']}, {shape['classes']:,} classes: {name}"
            task += ", calculated" if "calculated_from_passes" in side and not passes else ""
            task += f", {passes} passes" if passes and not modern else ""
            both = [split for split in ("dev", "test") if modern and split in exact]
            difference = ", ".join(f"{side[split] - exact[split]:+.2f}" for split in both)
            known = _score_texts(side) | {"memory_mb": f"{side['memory_mb']:,.0f}" if "memory_mb" in side else ""}
            share = side["gflop_per_second"] / record["matrix_gflop_per_second"]
            known |= {"task": task, "difference": difference, "least": "at least " if passes and modern else ""}
            cases.append({**side, **known, "share": share})
    return [Table(text, filled_rows(columns, cases))]


def _score_texts(side: Mapping[str, float]) -> dict[str, str]:
    return {split: f"{side[split]:.2f}" if split in side else "" for split in ("dev", "test")}


def downstream_tables(record: Record) -> list[Table]:
    columns = {"": "{name}", "ratio": "{ratio:.1f}", "s": "{seconds:.1f}", "dev": "{dev}", "test": "{test}"}
    columns["memory, MB"] = "{memory_mb:,.0f}"
    names, shape = ("one after another", "senteval, fused", "modern"), record["shape"]
    text = f"{shape['train']:,} sentences, D = {shape['dim']}, {record['folds']} folds, four values of L2."
    measured = {text: record}
    for dim, sides in record.get("relatedness", {}).items():
        pairs = "/".join(f"{size:,}" for size in record["pairs"])
        measured[f"Relatedness, {pairs} pairs, D = {dim}; scores are r × 100."] = sides
    cases = {
        text: [{"memory_mb": 0, "name": name, **sides[name], **_score_texts(sides[name])} for name in names]
        for text, sides in measured.items()
    }
    return [Table(text, filled_rows(columns, sides)) for text, sides in cases.items()]


def discoeval_tables(record: Record) -> list[Table]:
    fewest = "the fewest passes that the protocol can take, and so are ours under `senteval`"
    passes = "the passes that its cells take" if record["full"] else fewest
    ranked = sorted(record["cases"], key=lambda case: case["senteval"]["ratio"])
    extremes = ", ".join(f"{c['task']} with {c['dim']:,} dimensions {c['senteval']['ratio']:.1f}" for c in ranked)
    text = f"""Ratios are to the published toolkit, one classifier after another; its seconds are calculated from
        some batches for {passes}. Memory is how far it rose above the vectors. From the worst ratio of `senteval` to
        the best: {extremes}."""
    columns = {
        "tasks": "{task}, D = {dim:,}", "`senteval`": "{senteval[ratio]:.1f}", "`modern`": "{least}{modern[ratio]:.1f}",
        "toolkit, s": "{toolkit[seconds]:,.0f}", "`senteval`, s": "{senteval[seconds]:,.0f}",
        "`modern`, s": "{modern[seconds]:,.0f}", "`senteval`, MB": "{senteval[memory_mb]:,.0f}",
        "`modern`, MB": "{modern[memory_mb]:,.0f}",
    }  # fmt: skip
    cases = [c | {"least": "at least " * ("part" in c["modern"])} for c in (*record["cases"], *record["totals"])]
    return [Table(text, filled_rows(columns, cases))]


def data_tables(record: Record) -> list[Table]:
    model = record["fastest_step"]
    text = f"""Preparing is reading, tokenising, learning and applying codes; it happens once, on all cores. Batches
        are compared with the fastest training step on such pairs, {model["sentences_per_second"]:,.0f} sentences/s
        ({model["step"]})."""
    columns = {
        "sentences": "{sentences:,}", "batches / model": "{ratio:,.0f}", "prepared in s": "{prepare_seconds:.1f}",
        "sentences/s": "{rate:,.0f}", "resident, MB": "{prepare_memory[memory_mb]:,.0f}",
        "own, MB": "{prepare_memory[own_mb]:,.0f}", "counted in s": "{count_seconds:.2f}",
        "first batch after s": "{first_batch_seconds:.2f}",
        "batches: sentences/s": "{batch_sentences_per_second:,.0f}",
        "batches: resident, MB": "{epoch_memory[memory_mb]:,.0f}", "batches: own, MB": "{epoch_memory[own_mb]:,.0f}",
    }  # fmt: skip
    cases = [
        {**case, "ratio": case["ratio_to_model"] or 0, "rate": case["sentences"] / case["prepare_seconds"]}
        for case in record["cases"]
    ]
    return [Table(text, filled_rows(columns, cases))]


def building_tables(record: Record) -> list[Table]:
    text = f"""The whole of `python -m probes.probing.build` on trees of the embedded corpus, from one file of trees
        to ten files and the report; it wishes for the published sizes. Trees are read on all {record["cores"]}
        cores, and sentences chosen on one."""
    columns = {
        "sentences": "{sentences:,}", "s": "{seconds:,.1f}", "sentences/s": "{rate:,.0f}", **MEMORY,
        "training sentences of a task": "{least:,} to {most:,}",
    }  # fmt: skip
    cases = []
    for case in record["cases"]:
        counts = case["training_sentences"].values()
        rate = case["sentences"] / case["seconds"]
        cases.append({**case, **case["memory"], "rate": rate, "least": min(counts), "most": max(counts)})
    return [Table(text, filled_rows(columns, cases))]


def conllu_tables(record: Record) -> list[Table]:
    text = """Finnish sentences of the embedded corpus with their dependencies, from one file. The last step is the
        whole of `python -m probes.probing.build ud=` at the published sizes; it and the analysis run on all cores."""
    columns = {"sentences": "{sentences:,}", "step": "{step}", "s": "{seconds:.1f}", "s per million": "{each:,.0f}"}
    rates = ((case, 1e6 * case["seconds"] / case["sentences"]) for case in record["cases"])
    return [Table(text, filled_rows(columns | MEMORY, ({**case, **case["memory"], "each": s} for case, s in rates)))]


def coherence_tables(record: Record) -> list[Table]:
    text = """Suites of the embedded world, scored by a GPT-2 with random weights. The plain way scores one text at a
        time, and all probabilities of each place; it takes a sample, and its seconds are calculated from that. Ours
        scores each distinct text once, and each beginning of several texts once. The ratios are the worst, the
        median and the best of the rounds, both ways in turns."""
    columns = {
        "items and model": "{items:,} items, {model[layers]} layers of {model[width]}, {model[words]:,} tokens",
        "ratio": "{spread}", "texts": "{texts:,}", "distinct": "{distinct:,}", "s": "{seconds:,.1f}",
        "one at a time, s": "{plain_seconds:,.0f}", "resident, MB": "{memory_growth_megabytes:,}",
        "own, MB": "{own_memory_growth_megabytes:,}", "largest difference": "{largest_difference:.0e}",
    }  # fmt: skip
    spreads = (", ".join(f"{ratio:.1f}" for ratio in dict.fromkeys(spread(case["ratios"]))) for case in record["cases"])
    cases = ({**case, "spread": text} for case, text in zip(record["cases"], spreads, strict=True))
    return [Table(text, filled_rows(columns, cases))]


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
