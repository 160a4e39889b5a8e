"""The report of a build: a page with every control, and a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from encoder_lab.storage.files import atomic_write
from probes.markdown import class_table, markdown_table, page, size_table
from probes.probing.build.all_tasks import BuiltTasks
from probes.probing.build.pool import Sizes
from probes.probing.build.sampling import TaskDraft

BLUE, ORANGE = "#0072B2", "#E69F00"  # Okabe and Ito


def write_report(built: BuiltTasks, sizes: Sizes, source: Sequence[str], out: Path) -> None:
    facts = [
        f"Built from {', '.join(source)}: {int(built.shape.sum()):,} sentences of 5 to 28 words.",
        f"Wanted: {'/'.join(f'{size:,}' for size in sizes)} sentences per task.",
        f"Distinct sentences in all tasks: {built.sentences():,}; in two splits: {built.split_overlap()}.",
    ]
    failures = [f"* **{name}** was not built: {reason}" for name, reason in built.failures.items()]
    head = page("# Probing tasks", facts, size_table(built.tasks), [*failures, "![controls](controls.png)"])
    with atomic_write(out / "report.md") as file:
        file.write("\n".join([head, *map(task_section, built.drafts.values())]))
    with atomic_write(out / "controls.png", binary=True) as file:
        FigureCanvasAgg(_figure(built)).print_png(file)


def task_section(draft: TaskDraft) -> str:
    """What was measured of one task: notes, controls, class balance."""
    task, controls, notes = draft.task, draft.controls, draft.notes
    counts = [np.bincount(split.gold, minlength=len(task.classes)) for split in task.parts]
    spread = [f"{count.min()} to {count.max()}" for count in counts]
    measured = markdown_table(("control", "value"), [(name, f"{value:.4g}") for name, value in controls.items()])
    sizes = f"Sentences per class in train, dev, test: {', '.join(spread)}."
    return page(f"## {task.name}", [f"* {note}" for note in notes], measured, sizes, class_table(task))


def _figure(built: BuiltTasks) -> Figure:
    figure = Figure(figsize=(9.6, 7.2), dpi=120, layout="constrained")
    axes = figure.subplots(2, 2)
    _draw_lengths_by_depth(axes[0, 0], built.shape, "TreeDepth before: all sentences")
    if draft := built.drafts.get("TreeDepth"):
        _draw_lengths_by_depth(axes[0, 1], draft.samples["lengths and depths"], "TreeDepth after: the task")
    if draft := built.drafts.get("SOMO"):
        _draw_bigrams(axes[1, 0], draft.samples)
    if draft := built.drafts.get("CoordInv"):
        _draw_clauses(axes[1, 1], draft.samples)
    for axis in axes.flat:
        axis.set_visible(axis.has_data())
        axis.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_lengths_by_depth(axis: Axes, counts: np.ndarray, title: str) -> None:
    cells = counts[5:29, 3:17].T.astype(float)
    image = axis.imshow(np.where(cells, cells, np.nan), origin="lower", aspect="auto", extent=(4.5, 28.5, 2.5, 16.5))
    means = [(np.average(np.arange(29), weights=column), d) for d, column in enumerate(counts.T[:17]) if column.sum()]
    axis.plot(*zip(*means, strict=True), "o-", color="white", markeredgecolor="black", label="mean length")
    axis.set(title=title, xlabel="words", ylabel="depth")
    axis.title.set_fontsize(10)
    axis.legend(loc="upper left", fontsize=8)
    axis.figure.colorbar(image, ax=axis, label="sentences")


def _draw_bigrams(axis: Axes, samples: Mapping[str, np.ndarray]) -> None:
    before, after = (np.concatenate([pairs[:, i] for pairs in samples.values()]) for i in (0, 1))
    bins = np.linspace(0, max(before.max(), after.max()) + 0.01, 24)
    axis.set(title="SOMO: bigrams on both sides", xlabel="log(1 + corpus count)", ylabel="bigrams", yscale="log")
    _draw_histograms(axis, bins, {"original": before, "replaced": after})


def _draw_clauses(axis: Axes, samples: Mapping[str, np.ndarray]) -> None:
    reach = max(int(np.abs(lengths).max()) for lengths in samples.values()) + 0.5
    axis.set(title="CoordInv: length of the clauses", xlabel="words of the first minus the second", ylabel="sentences")
    _draw_histograms(axis, np.arange(-reach, reach + 1), {"original": samples["O"], "inverted": samples["I"]})


def _draw_histograms(axis: Axes, bins: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
    (first, before), (second, after) = values.items()
    axis.hist(before, bins.tolist(), color=BLUE, alpha=0.55, label=first)
    axis.hist(after, bins.tolist(), color=ORANGE, histtype="step", linewidth=2, label=second)
    axis.title.set_fontsize(10)
    axis.legend(fontsize=8)
