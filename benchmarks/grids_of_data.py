"""Tables of results/performance.md about data: the input pipeline, building tasks, reading CoNLL-U."""

from typing import Any

from benchmarks.grids import grid


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
