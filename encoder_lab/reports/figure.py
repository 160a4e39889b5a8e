"""Charts as a figure of matplotlib: names at the ends of lines instead of a legend, and texts that do not overlap."""

import io
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib import colormaps, rc_context, rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator, NullLocator
from scipy.optimize import isotonic_regression

from encoder_lab.reports.chart import (
    GROUP_STYLES,
    OBJECTIVE_COLOUR,
    PERCENT_SCORES,
    TASK_LOOKS,
    Chart,
    ChartSection,
    DataSeries,
    HeatMap,
    chance_levels,
    values_and_ends,
)
from encoder_lab.reports.text import for_figure
from encoder_lab.storage.files import atomic_write

rcParams["text.parse_math"] = False  # names with $ in them are no formulas

DASHES: dict[str, Any] = {"solid": "-", "dotted": (0, (1, 1)), "dashed": (0, (5, 1.6))}
MARKERS = {"circle": "o", "square": "s", "diamond": "D", "x": "x"}
CHANCE_STYLE: dict[str, Any] = {"color": "#555555", "linestyle": (0, (1, 3)), "linewidth": 1.1}
TURNED_LABELS: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}  # long names below an axis
GRID_COLOUR, NOTE_COLOUR, FRAME_COLOUR = "#E6E6E6", "#555555", "#C0392B"  # colours
DPI = 200
# inches of a letter, and of the line of an entry of the legend with the space around it
LETTER_INCHES, HANDLE_INCHES = (0.075, 0.95)
BOLD_LETTER_INCHES, SMALL_LETTER_INCHES = 0.085, 0.068  # inches of a letter of a title, and of a note


def draw_section(section: ChartSection) -> Figure:
    """The charts, some in a row, with a legend and a note."""
    columns = min(section.columns, len(section.charts))
    rows = -(-len(section.charts) // columns)
    widths = [max(chart.inches[0] for chart in section.charts[index::columns]) for index in range(columns)]
    heights = [max(chart.inches[1] for chart in section.charts[row * columns :][:columns]) for row in range(rows)]
    entries = _legend_entries(section, sum(widths))
    entries_in_row = _entries_in_row(entries, sum(widths))
    note = fill(section.note, int(sum(widths) / SMALL_LETTER_INCHES))
    below = 0.25 * ((len(entries) - 1) // entries_in_row if entries else 0) + 0.16 * note.count("\n")
    # outside pyplot's global state
    figure = Figure(figsize=(sum(widths), sum(heights) + below), dpi=DPI, layout="constrained")
    grid = figure.add_gridspec(rows, columns, width_ratios=widths, height_ratios=heights)
    for index, chart in enumerate(section.charts):
        axes = figure.add_subplot(grid[divmod(index, columns)])
        # no wider than its chart
        title = fill(for_figure(chart.title), max(10, int((chart.inches[0] - 0.9) / BOLD_LETTER_INCHES)))
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
        if isinstance(chart, HeatMap):
            _draw_heat_map(axes, chart)
        else:
            _draw_chart(axes, chart, bool(section.bands))
    if entries:
        looks: dict[str, Any] = {"ncols": entries_in_row, "fontsize": 8.5, "frameon": False}
        figure.legend(handles=entries, loc="outside upper left" if note else "outside lower left", **looks)
    if note:
        figure.supxlabel(note, fontsize=8, color=NOTE_COLOUR)
    return figure


def _legend_entries(section: ChartSection, width: float) -> list[Artist]:
    """Names that are not in the charts, groups of tasks, chance, and bands; a name wider than the figure is wrapped."""
    charts = [chart for chart in section.charts if isinstance(chart, Chart)]
    names = {} if any(chart.named or chart.x.ticks for chart in charts) else section.legend
    looks = {fill(for_figure(name), int((width - HANDLE_INCHES) / LETTER_INCHES)): look for name, look in names.items()}
    named = [chart for chart in charts if chart.named and chart.lines]
    grouped = [any(series.name in TASK_LOOKS for series in chart.series) for chart in named]
    if any(grouped):
        prefix = "" if all(grouped) else "probing: "
        looks |= {prefix + name: ("#444444", style) for name, style in GROUP_STYLES.items()}
    entries: list[Artist] = [
        Line2D([], [], color=colour, linestyle=DASHES[style], linewidth=2, label=name)
        for name, (colour, style) in looks.items()
    ]
    has_chance = any(series.chance is not None for chart in charts for series in chart.series)
    entries += [Line2D([], [], label="chance", **CHANCE_STYLE)] if has_chance else []
    return [*entries, *([Patch(color="#444444", alpha=0.2, label=section.bands)] if section.bands else [])]


def _entries_in_row(entries: Sequence[Artist], width: float) -> int:
    labels = [str(entry.get_label()).split("\n") for entry in entries]
    widths = [HANDLE_INCHES + LETTER_INCHES * max(map(len, lines)) for lines in labels]
    return len(entries) if sum(widths) < width else max(1, int(width / max(widths)))


def _draw_chart(axes: Axes, chart: Chart, banded: bool) -> None:
    width, height = chart.inches
    axes.grid(axis="y", color="black", alpha=0.1, linewidth=0.8)  # drawn above the score of the objective
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, color="#888888")
    for axis, set_scale in ((chart.x, axes.set_xscale), (chart.y, axes.set_yscale)):
        if axis.linear == 0:
            set_scale("log", base=2)
        elif axis.linear < math.inf:
            set_scale("symlog", linthresh=axis.linear)
    ends = [(s.name, values_and_ends(s.y)[0, -1], s.look[0]) for s in chart.series if s.name]
    for series in chart.series:
        _draw_series(axes, series, banded)
    for level in chance_levels(chart.lines):
        axes.axhline(level, label=f"chance {level:.0f}", **CHANCE_STYLE)
    if chart.shaded:
        axes.axvspan(*chart.shaded, color="#F1F1F1", zorder=0)
    if chart.y.ends:
        axes.set_ylim(chart.y.ends)
    if chart.objective:
        ends.append((chart.objective.name, _draw_objective(axes, chart.objective), OBJECTIVE_COLOUR))
    if chart.x.ends:
        axes.set_xlim(chart.x.ends)
    last = max((values_and_ends(s.x).max() for s in [*chart.series, chart.objective] if s), default=1.0)
    if chart.named:
        _name_ends(axes, ends, last, width, height)
    _set_ticks(axes, chart, last if chart.named else axes.get_xlim()[1])  # behind the last point are names
    axes.set_xlabel(f"{chart.x.label} ({chart.x.note})" if chart.x.note else chart.x.label, fontsize=9)
    axes.set_ylabel(chart.y.label, fontsize=9)
    for row, (text, colour) in enumerate(chart.remarks):
        axes.text(1.02, row, text, transform=axes.get_yaxis_transform(), va="center", color=colour, fontsize=8.5)


def _set_ticks(axes: Axes, chart: Chart, last: float) -> None:
    """Those of the chart, or numbers up to `last`, whole ones where it can be."""
    for axis, ticks in ((axes.xaxis, chart.x.ticks), (axes.yaxis, chart.y.ticks)):
        low, high = sorted(axis.get_view_interval())
        visible = {position: for_figure(text) for position, text in ticks.items() if low <= position <= high}
        axis.set_minor_locator(NullLocator())
        if visible:
            long = axis is axes.xaxis and SMALL_LETTER_INCHES * len("  ".join(visible.values())) > chart.inches[0] - 2
            axis.set_ticks(list(visible), list(visible.values()), **(TURNED_LABELS if long else {}))
    if not chart.x.ticks:
        first, count = axes.get_xlim()[0], max(4, min(10, int(1.8 * chart.inches[0])))
        locator = MaxNLocator(nbins=count, integer=last - first >= 1, steps=[1, 2, 5, 10])
        axes.set_xticks([tick for tick in locator.tick_values(first, last) if first <= tick <= last])


def _draw_series(axes: Axes, series: DataSeries, banded: bool) -> None:
    """The line over its light band, or the points with bars for their intervals."""
    colour, style = series.look
    (x, left, right), (y, low, high) = values_and_ends(series.x), values_and_ends(series.y)
    if series.shape == "points":
        across, upwards = np.maximum([x - left, right - x], 0), np.maximum([y - low, high - y], 0)
        axes.errorbar(x, y, upwards, across, fmt="none", ecolor=colour, elinewidth=1.2, alpha=0.7)
        if series.chance is not None:
            label = f"chance {series.chance:.0f}"
            axes.plot([x[0] - 0.3, x[0] + 0.3], [series.chance] * 2, label=label, **CHANCE_STYLE)
    else:
        if banded:
            axes.fill_between(x, low, high, color=colour, alpha=0.10, linewidth=0)
        steps = "steps-post" if series.shape == "steps" else "default"
        axes.plot(x, y, linestyle=DASHES[style], color=colour, linewidth=1.7, drawstyle=steps)
    if series.marker:
        face = "white" if series.hollow else colour
        size = 2.8 if series.shape == "line" else 4.5
        axes.plot(x, y, MARKERS[series.marker], color=colour, markerfacecolor=face, markersize=size, label=series.name)
    if series.text:
        offset: dict[str, Any] = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(series.text, (x[-1], y[-1]), fontsize=8.5, **offset)


def _draw_objective(axes: Axes, objective: DataSeries) -> float:
    """Draw the objective's score behind the probes on a second axis; the height of its end on the first."""
    twin = axes.twinx()
    x, (y, low, high) = objective.x, values_and_ends(objective.y)
    top = 1.7 * max(high) or 1.0  # it stays in the lower part, where few probes are
    twin.fill_between(x, y, color=OBJECTIVE_COLOUR, alpha=0.07, linewidth=0)
    twin.fill_between(x, low, high, color=OBJECTIVE_COLOUR, alpha=0.2, linewidth=0)
    twin.plot(x, y, color=OBJECTIVE_COLOUR, linewidth=2.6, alpha=0.75)
    twin.plot(x, y, "s", color=OBJECTIVE_COLOUR, markersize=3.2, label=objective.name)
    twin.set_ylabel(f"{objective.name} on dev (shaded)", color=OBJECTIVE_COLOUR, fontsize=9)
    twin.tick_params(axis="y", colors=OBJECTIVE_COLOUR, labelsize=8.5)
    ticks = MaxNLocator(nbins=8).tick_values(0, top)
    twin.set_yticks([tick for tick in ticks if tick <= (100 if objective.name.endswith(PERCENT_SCORES) else top)])
    twin.set_ylim(0, top)  # after the ticks, which may widen it: the name at the end of the line depends on it
    twin.spines[["top", "left"]].set_visible(False)
    axes.set_zorder(twin.get_zorder() + 1)
    axes.patch.set_visible(False)
    bottom, height = axes.get_ylim()
    return bottom + (height - bottom) * y[-1] / top


def _name_ends(axes: Axes, ends: Sequence[tuple[str, float, str]], last: float, width: float, height: float) -> None:
    """Write each `(name, height, colour)` at the end of its line, x = `last`, without overlaps, joined to the line."""
    scale, upwards = axes.xaxis.get_transform(), axes.yaxis.get_transform()  # in display steps, also of logarithms
    bottom, top = upwards.transform(np.array(axes.get_ylim()))
    first, end = scale.transform(np.array([axes.get_xlim()[0], last]))
    gap = (top - bottom) * 0.165 / (height - 0.9)  # one line of text, in the units of the axis
    # inches for the names
    wide = 0.85 + LETTER_INCHES * max(0, max((len(name) for name, _, _ in ends), default=0) - 10)
    gutter = (end - first) * wide / max(width - 1.25 - wide, 0.8)
    targets = upwards.transform(np.array([end[1] for end in ends])).tolist()
    heights = upwards.inverted().transform(np.array(spread_apart(targets, gap, bottom + gap / 2, top - gap / 3)))
    steps = np.array([0.05, 0.22, 0.25]) * 0.85 / wide
    xs = scale.inverted().transform(end + gutter * np.array([*steps, 1.0]))
    for (name, y, colour), label_y in zip(ends, heights, strict=True):
        start, stop, text = xs[:3]
        axes.plot([start, stop], [y, label_y], color=colour, linewidth=0.7, alpha=0.8, solid_capstyle="round")
        axes.text(text, label_y, for_figure(name), color=darker(colour), fontsize=8.5, va="center")
    axes.set_xlim(axes.get_xlim()[0], xs[3])


def spread_apart(heights: Sequence[float], gap: float, bottom: float, top: float) -> list[float]:
    """Heights moved as little as possible (least squares), in the same order, until `gap` apart and inside."""
    order = np.argsort(heights, kind="stable")
    steps = min(gap, (top - bottom) / max(len(heights) - 1, 1)) * np.arange(len(heights))
    moved = np.empty(len(heights))
    if len(heights):
        free = isotonic_regression(np.asarray(heights, dtype=float)[order] - steps).x
        moved[order] = np.clip(free, bottom, top - steps[-1]) + steps
    return moved.tolist()


def darker(colour: str) -> str:
    """The same hue, dark enough for text on white."""
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    scale = min(1.0, 110 / (0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2] + 1e-9))
    return "#" + "".join(f"{round(part * scale):02x}" for part in parts)


def _draw_heat_map(axes: Axes, heat: HeatMap) -> None:
    """A number in each cell, white where the cell is dark; the best are framed."""
    colours = colormaps[heat.colours].with_extremes(bad=GRID_COLOUR)
    shades = np.ma.masked_invalid(heat.shades)
    axes.imshow(shades, cmap=colours, vmin=0, vmax=1, aspect="auto")
    for (row, column), colour in zip(np.ndindex(shades.shape), colours(shades).reshape(-1, 4), strict=True):
        ink = "white" if colour[:3] @ (0.3, 0.59, 0.11) < 0.55 else "#222222"
        best = bool(len(heat.framed)) and heat.framed[row][column]
        _write_text(axes, column, row, heat.texts[row][column], color=ink, fontweight="bold" if best else "normal")
        if best:
            frame = (column - 0.46, row - 0.44), 0.92, 0.88
            axes.add_patch(Rectangle(*frame, fill=False, edgecolor=FRAME_COLOUR, linewidth=1.4, zorder=3))
    for column, texts in enumerate(heat.extra_columns.values(), len(heat.columns)):
        for row, text in enumerate(texts):
            _write_text(axes, column, row, text or "–", color=NOTE_COLOUR)
    heads = [*heat.columns, *heat.extra_columns]
    axes.set_xlim(-0.5, len(heads) - 0.5)
    turned = TURNED_LABELS if max(map(len, heads)) > 6 else {}
    axes.set_xticks(range(len(heads)), [for_figure(head) for head in heads], fontsize=8, **turned)
    axes.set_yticks(range(len(heat.rows)), [for_figure(row) for row in heat.rows], fontsize=8)
    axes.set_xlabel(heat.label, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _write_text(axes: Axes, x: float, y: float, text: str, **looks: Any) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=7.5, **looks)


def save_figure(figure: Figure, out: Path) -> Path:
    """Write a .png or .svg atomically."""
    with atomic_write(out, binary=True) as file:
        file.write(render_figure(figure, out.suffix[1:]))
    return out


def render_figure(figure: Figure, form: str) -> bytes:
    """A png or svg. Text of an svg is outlines, the same everywhere; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    # there is no other way to fix the names of shapes; those of models may have letters that the font lacks, or be long
    with rc_context({"svg.hashsalt": "names of shapes"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing|constrained_layout not applied|Matplotlib currently")
        figure.savefig(buffer, format=form, metadata={"Date": None} if form == "svg" else None)
    return buffer.getvalue()
