"""How scores are drawn: one colour and line for each task, names at the ends of the lines instead of a legend."""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib import rc_context, rcParams
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from encoder_lab.errors import InputError
from encoder_lab.reports.escape import for_figure
from encoder_lab.storage.files import atomic_write

rcParams["text.parse_math"] = False  # names with $ in them are no formulas

Style = Literal["-"] | tuple[float, tuple[float, ...]]  # of a line: solid, or offset with dashes and gaps
Look = tuple[str, Style]  # with its colour
SURFACE: Style = (0, (1, 1))
SYNTAX: Style = "-"
SEMANTICS: Style = (0, (5, 1.6))
# Ten hues that differ, also in brightness. Each of the paper's three groups of tasks has a line style in addition, so
# that the lines of a group can be distinguished by colour-blind readers and in black-and-white print.
LOOKS: dict[str, tuple[str, Style]] = {
    "SentLen": ("#8A8A8A", SURFACE),
    "WC": ("#7A4A2B", SURFACE),
    "TreeDepth": ("#1F77B4", SYNTAX),
    "TopConst": ("#D62728", SYNTAX),
    "BShift": ("#2CA02C", SYNTAX),
    "Tense": ("#17C3D6", SEMANTICS),
    "SubjNum": ("#FF7F0E", SEMANTICS),
    "ObjNum": ("#F06EC0", SEMANTICS),
    "SOMO": ("#7B3FB5", SEMANTICS),
    "CoordInv": ("#B5B300", SEMANTICS),
}
COLOURS = ("#1F77B4", "#D62728", "#2CA02C", "#FF7F0E", "#7B3FB5", "#17C3D6", "#7A4A2B", "#F06EC0", "#8A8A8A", "#B5B300")
STYLES: tuple[Style, ...] = ("-", (0, (5, 1.6)), (0, (1, 1)))  # of lines that have no group, ten of each
TASKS = tuple(LOOKS)
OWN = "#000000"  # the objective's own score
CHANCE: dict[str, Any] = {"color": "#555555", "linestyle": (0, (1, 3)), "linewidth": 1.1}
GRID = "#E6E6E6"
DPI = 200
FIGURES = (".png", ".svg")  # endings of files
LETTER = 0.085  # inches, of a bold letter of 10 points: titles wrap where their panel ends


class Line(NamedTuple):
    """Scores along x with their interval, all in percent, and the score of chance."""

    name: str
    x: list[float]
    y: list[float]
    low: list[float]
    high: list[float]
    chance: float | None = None


def in_order(names: Sequence[str]) -> list[str]:
    """Tasks in the paper's order, others after them by first appearance."""
    known = [task for task in TASKS if task in names]
    return known + [name for name in dict.fromkeys(names) if name not in LOOKS]


def looks(names: Sequence[str]) -> list[tuple[str, Style]]:
    """Colour and line style of each task of a panel. Names that are not the papers' take the colours that are free."""
    used = {LOOKS[name][0] for name in names if name in LOOKS}
    free = [colour for colour in COLOURS if colour not in used] or list(COLOURS)
    others = (look_at(place, free) for place in range(len(names)))
    return [LOOKS.get(name) or next(others) for name in names]


def look_at(place: int, colours: Sequence[str] = COLOURS) -> tuple[str, Style]:
    """Colour and line style of the line at a place, from 0."""
    return colours[place % len(colours)], STYLES[place // len(colours) % len(STYLES)]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, outside pyplot's global state."""
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def plain_axes(axes: Axes, title: str = "") -> None:
    """Percent upwards, a light grid, no box."""
    width, spec = axes.get_figure().get_size_inches()[0], axes.get_subplotspec()  # type: ignore[union-attr]
    inches = width / (spec.get_gridspec().ncols if spec else 1) - 0.9
    title = fill(for_figure(title), max(10, int(inches / LETTER)))
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, color="#888888")


def draw_lines(axes: Axes, lines: Sequence[Line]) -> list[tuple[str, float, str]]:
    """Lines over their light intervals and the levels of chance; the name, height and colour of each line's end."""
    colours = looks([line.name for line in lines])
    for line, (colour, style) in zip(lines, colours, strict=True):
        axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.10, linewidth=0)
        axes.plot(line.x, line.y, linestyle=style, color=colour, linewidth=1.7)
        axes.plot(line.x, line.y, "o", color=colour, markersize=2.8, label=line.name)
    for level in sorted({round(line.chance) for line in lines if line.chance is not None}):
        axes.axhline(level, label=f"chance {level}", **CHANCE)
    return [(line.name, line.y[-1], colour) for line, (colour, _) in zip(lines, colours, strict=True)]


def name_ends(axes: Axes, ends: Sequence[tuple[str, float, str]], last: float, bottom: float, top: float) -> None:
    """Write each `(name, height, colour)` at the end of its line, x = `last`, without overlaps, joined to the line."""
    scale, upwards = axes.xaxis.get_transform(), axes.yaxis.get_transform()  # in display steps, also of logarithms
    bottom, top = upwards.transform(np.array([bottom, top]))
    first, end = scale.transform(np.array([axes.get_xlim()[0], last]))
    figure_width, height = axes.get_figure().get_size_inches()  # type: ignore[union-attr]
    spec = axes.get_subplotspec()
    rows, columns = spec.get_gridspec().get_geometry() if spec else (1, 1)
    gap = (top - bottom) * 0.165 / (height / rows - 0.9)  # one line of text, in the units of the axis
    wide = 0.85 + 0.068 * max(0, max((len(name) for name, _, _ in ends), default=0) - 10)  # inches for the names
    gutter = (end - first) * wide / max(figure_width / columns - 1.25 - wide, 0.8)
    shown = upwards.transform(np.array([end[1] for end in ends])).tolist()
    heights = upwards.inverted().transform(np.array(spread(shown, gap, bottom + gap / 2, top - gap / 3)))
    steps = np.array([0.05, 0.22, 0.25]) * 0.85 / wide
    places = scale.inverted().transform(end + gutter * np.array([*steps, 1.0]))
    for (name, at, colour), placed in zip(ends, heights, strict=True):
        start, stop, text = places[:3]
        axes.plot([start, stop], [at, placed], color=colour, linewidth=0.7, alpha=0.8, solid_capstyle="round")
        axes.text(text, placed, name, color=darker(colour), fontsize=8.5, va="center")
    axes.set_xlim(axes.get_xlim()[0], places[3])


def spread(heights: Sequence[float], gap: float, bottom: float, top: float) -> list[float]:
    """The heights moved so that they are `gap` apart and inside, in the same order (least squares)."""
    order = np.argsort(heights, kind="stable")
    steps = min(gap, (top - bottom) / max(len(heights) - 1, 1)) * np.arange(len(heights))
    placed = np.empty(len(heights))
    if len(heights):
        free = isotonic_regression(np.asarray(heights, dtype=float)[order] - steps).x
        placed[order] = np.clip(free, bottom, top - steps[-1]) + steps
    return placed.tolist()


def darker(colour: str) -> str:
    """The same hue, dark enough for text on white."""
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    scale = min(1.0, 110 / (0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2] + 1e-9))
    return "#" + "".join(f"{round(part * scale):02x}" for part in parts)


def save_figure(figure: Figure, out: Path) -> Path:
    """Write a .png or .svg atomically. Raises InputError on another ending."""
    if out.suffix not in FIGURES:
        raise InputError(f"{out}: a figure ends in {' or '.join(FIGURES)}")
    with atomic_write(out, binary=True) as file:
        file.write(as_svg(figure).encode() if out.suffix == ".svg" else as_png(figure))
    return out


def as_png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    with _any_names():
        FigureCanvasAgg(figure).print_png(buffer)
    return buffer.getvalue()


def as_svg(figure: Figure) -> str:
    """Text is drawn as outlines, so that it looks the same everywhere; the same figure gives the same SVG."""
    buffer = io.StringIO()
    with rc_context({"svg.hashsalt": "names of shapes"}), _any_names():  # there is no other way to fix the names
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})
    return buffer.getvalue()


@contextmanager
def _any_names() -> Iterator[None]:
    """Without warnings where names have letters that the font lacks, or are too long for the layout."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing|constrained_layout not applied|Matplotlib currently")
        yield
