"""The picture of a run: probing accuracy by epoch, and the objective's own score (Conneau et al. 2018, Figure 1)."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from datamodules.files import atomic_write, read_csv
from probes.results import ProbeRow, read_rows

ORDER = ("SentLen", "WC", "TreeDepth", "TopConst", "BShift", "Tense", "SubjNum", "ObjNum", "SOMO", "CoordInv")
# Okabe and Ito's colours, which colour-blind readers can tell apart; line styles repeat what colour says
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#8C6D1F", "#7F3C8D", "#6E6E6E")
STYLES = ("-", "-", "-", "-", "-", "--", "--", "--", "--", "--")
GAP = 3.0  # percent between labels at the ends of the lines


def draw_curves(run: Path, score: str, title: str = "") -> Path:
    """Draw `curves.png` of a run folder from probes.csv and metrics.csv; `score` names the objective's column."""
    rows = read_rows(run / "probes.csv") if (run / "probes.csv").exists() else []
    metrics = read_csv(run / "metrics.csv") if (run / "metrics.csv").exists() else []
    own = [(int(m["epoch"]), float(m[score])) for m in metrics if m.get(score)]
    picture = run / "curves.png"
    figure = _figure(rows, own, score.rsplit("/", 1)[-1], title or run.name)
    with atomic_write(picture, binary=True) as file:
        FigureCanvasAgg(figure).print_png(file)
    return picture


def _figure(rows: list[ProbeRow], own: list[tuple[int, float]], score: str, title: str) -> Figure:
    figure = Figure(figsize=(9.6, 5.6), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    if len({row.epoch for row in rows}) > 1:
        _lines(axes, rows)
    elif rows:
        _points(axes, rows)
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_ylabel("probing accuracy on test (%)")
    axes.set_ylim(0, 102)
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if own:
        _own_score(axes, own, score)
    return figure


def _lines(axes: Axes, rows: list[ProbeRow]) -> None:
    tasks = sorted({row.task for row in rows}, key=lambda t: ORDER.index(t) if t in ORDER else len(ORDER))
    ends = []
    for task in tasks:
        place = ORDER.index(task) if task in ORDER else len(ORDER) - 1
        mine = sorted((row for row in rows if row.task == task), key=lambda row: row.epoch)
        epochs = [row.epoch for row in mine]
        colour = COLOURS[place]
        axes.fill_between(
            epochs, [r.test_low for r in mine], [r.test_high for r in mine], color=colour, alpha=0.08, linewidth=0
        )
        axes.plot(
            epochs,
            [r.test_accuracy for r in mine],
            STYLES[place],
            color=colour,
            linewidth=1.8,
            marker="o",
            markersize=3,
        )
        ends.append((mine[-1].test_accuracy, task, colour))
    last = max(row.epoch for row in rows)
    for height, (_, task, colour) in zip(_spread([end[0] for end in ends]), ends, strict=True):
        axes.annotate(
            task, (last, height), xytext=(7, 0), textcoords="offset points", va="center", color=colour, fontsize=9
        )
    axes.set_xlabel("epoch (0: before training)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.02)


def _spread(heights: list[float]) -> list[float]:
    """The same heights, moved as little as keeps neighbours GAP apart."""
    order = np.argsort(heights)
    placed = np.array(heights, dtype=float)[order]
    for _ in range(200):
        for i in range(len(placed) - 1):
            overlap = GAP - (placed[i + 1] - placed[i])
            if overlap > 0:
                placed[i] -= overlap / 2
                placed[i + 1] += overlap / 2
    spread = np.empty(len(placed))
    spread[order] = placed
    return spread.tolist()


def _points(axes: Axes, rows: list[ProbeRow]) -> None:
    """One epoch only: a point with its interval for each task."""
    ordered = sorted(rows, key=lambda row: ORDER.index(row.task) if row.task in ORDER else len(ORDER))
    for place, row in enumerate(ordered):
        errors = [[row.test_accuracy - row.test_low], [row.test_high - row.test_accuracy]]
        axes.errorbar(place, row.test_accuracy, errors, fmt="o", color=COLOURS[place % len(COLOURS)], capsize=3)
    axes.set_xticks(range(len(ordered)), [row.task for row in ordered], rotation=30, ha="right")


def _own_score(axes: Axes, own: list[tuple[int, float]], score: str) -> None:
    """The objective's own score on an axis of its own, behind the probes."""
    other = axes.twinx()
    epochs, values = zip(*own, strict=True)
    name = {"bleu": "BLEU"}.get(score, score)
    other.fill_between(epochs, values, color="#B9A5D6", alpha=0.22, linewidth=0)
    other.plot(epochs, values, ":", color="#7B5EA7", linewidth=2.2)
    other.set_ylabel(f"{name} on dev (shaded)", color="#7B5EA7")
    other.tick_params(axis="y", colors="#7B5EA7")
    other.set_ylim(0, max(values) * 1.6 or 1)
    other.spines[["top", "left"]].set_visible(False)
    axes.set_zorder(other.get_zorder() + 1)
    axes.patch.set_visible(False)
    box = axes.get_position()
    other.set_position(box)
    other.yaxis.set_label_coords(1.17, 0.5)
    other.spines["right"].set_position(("axes", 1.1))
