"""What a chart shows. Reports make it; figure.py draws it with matplotlib, interactive.py with Plotly."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from probes.statistics import Interval

Style = Literal["solid", "dotted", "dashed"]  # of a line
Look = tuple[str, Style]  # with its colour
Marker = Literal["circle", "square", "diamond", "x", ""]
GROUP_STYLES: dict[str, Style] = {"surface": "dotted", "syntax": "solid", "semantics": "dashed"}
SURFACE, SYNTAX, SEMANTICS = GROUP_STYLES.values()
# Ten hues that differ, also in brightness. Each of the paper's three groups of tasks has a line style in addition, so
# that the lines of a group can be distinguished by colour-blind readers and in black-and-white print.
TASK_LOOKS: dict[str, Look] = {
    "SentLen": ("#8A8A8A", SURFACE), "WC": ("#7A4A2B", SURFACE),
    "TreeDepth": ("#1F77B4", SYNTAX), "TopConst": ("#D62728", SYNTAX), "BShift": ("#2CA02C", SYNTAX),
    "Tense": ("#17C3D6", SEMANTICS), "SubjNum": ("#FF7F0E", SEMANTICS), "ObjNum": ("#F06EC0", SEMANTICS),
    "SOMO": ("#7B3FB5", SEMANTICS), "CoordInv": ("#B5B300", SEMANTICS),
}  # fmt: skip
COLOURS = ("#1F77B4", "#D62728", "#2CA02C", "#FF7F0E", "#7B3FB5", "#17C3D6", "#7A4A2B", "#F06EC0", "#8A8A8A", "#B5B300")
LINE_STYLES: tuple[Style, ...] = ("solid", "dashed", "dotted")
# of lines that have no group
UNGROUPED_LOOKS: list[Look] = [(colour, style) for style in LINE_STYLES for colour in COLOURS]
TASKS = tuple(TASK_LOOKS)
OBJECTIVE_COLOUR = "#000000"  # the objective's own score
PERCENT_SCORES = ("BLEU", "accuracy")  # of these scores, those in percent


@dataclass(frozen=True)
class DataSeries:
    """P points, on a line or alone; a coordinate is a number, or a value with its 95% interval."""

    name: str  # as in the legend, or at its end
    x: Sequence[float | Interval]
    y: Sequence[float | Interval]
    chance: float | None = None  # the score without any knowledge
    look: Look = (OBJECTIVE_COLOUR, "solid")
    shape: Literal["line", "steps", "points"] = "line"
    marker: Marker = "circle"
    hollow: bool = False
    hover: Sequence[str] = ()  # what the page says of each point; empty: its coordinates with the interval
    text: str = ""  # behind the last point
    task: str = ""  # by which the menus of the page hide it; empty: its name
    model: str = ""


@dataclass(frozen=True)
class Axis:
    """An axis of numbers, or of named rows or columns."""

    label: str = ""
    note: str = ""  # in brackets behind the label
    ends: tuple[float, float] | None = None  # None: as the points need
    ticks: Mapping[float, str] = field(default_factory=dict)  # empty: chosen by the renderer
    linear: float = math.inf  # up to here, beyond it is logarithmic


@dataclass(frozen=True)
class Chart:
    """Series on two axes."""

    title: str
    x: Axis
    y: Axis
    series: Sequence[DataSeries]
    inches: tuple[float, float]  # width and height
    named: bool = False  # the name of each series is at its end
    objective: DataSeries | None = None  # its score, on an axis of its own
    shaded: tuple[float, float] | None = None  # from x to x
    remarks: Sequence[tuple[str, str]] = ()  # at the right of row 0, 1, ...: text and colour

    @property
    def lines(self) -> list[DataSeries]:
        return [series for series in self.series if series.shape != "points"]


@dataclass(frozen=True)
class HeatMap:
    """R rows by C columns of coloured cells."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    shades: np.ndarray  # (R, C) from 0 to 1; NaN where there is none
    texts: Sequence[Sequence[str]]
    hover: Sequence[Sequence[str]]
    colours: str  # a colour map of matplotlib
    inches: tuple[float, float]
    framed: Sequence[Sequence[bool]] = ()
    extra_columns: Mapping[str, Sequence[str]] = field(default_factory=dict)  # columns without colours, by their heads
    label: str = ""  # of the columns


@dataclass(frozen=True)
class ChartSection:
    """Charts that belong together: a figure, or a part of the page."""

    heading: str
    charts: Sequence[Chart | HeatMap]
    legend: Mapping[str, Look] = field(default_factory=dict)
    columns: int = 2  # of a figure
    bands: str = ""  # what the bands or bars of the figure show; empty: it has no bands
    note: str = ""  # below the figure


def in_paper_order(names: Sequence[str]) -> list[str]:
    """Tasks in the paper's order, others after them by first appearance."""
    listed = [task for task in TASKS if task in names]
    return listed + [name for name in dict.fromkeys(names) if name not in TASK_LOOKS]


def task_looks(names: Sequence[str]) -> dict[str, Look]:
    """Colour and line style of each task of a chart. Names that are not the papers' take free ones, colours first."""
    used = dict(TASK_LOOKS[name] for name in names if name in TASK_LOOKS)
    free = sorted((look for look in UNGROUPED_LOOKS if look not in used.items()), key=lambda look: look[0] in used)
    unlisted = [name for name in dict.fromkeys(names) if name not in TASK_LOOKS]
    return {name: TASK_LOOKS.get(name) or free[unlisted.index(name) % len(free)] for name in names}


def look_of_index(index: int) -> Look:
    """Colour and line style of the line with an index."""
    return UNGROUPED_LOOKS[index % len(UNGROUPED_LOOKS)]


def values_and_ends(values: Sequence[float | Interval]) -> np.ndarray:
    """The values and the ends of their intervals (3, P); a number without an interval is its own ends."""
    rows = [value if isinstance(value, tuple) else (value,) * 3 for value in values]
    return np.array(rows, dtype=float).reshape(-1, 3).T


def chance_levels(series: Sequence[DataSeries]) -> list[float]:
    """The known levels of chance, sorted."""
    return sorted({round(line.chance, 1) for line in series if line.chance is not None})


def row_axis(names: Sequence[str], rows: int = 0) -> Axis:
    """An axis of named rows, the first on top; of `rows` where there are more."""
    return Axis(ends=(max(rows, len(names)) - 0.5, -0.5), ticks=dict(enumerate(names)))


def signed_ticks(linear: float) -> list[float]:
    """Zero, and 1, 3, 10, 30, ... times the linear part of an axis to both sides."""
    steps = [linear * step * 10**power for power in range(9) for step in (1, 3)]
    return [*(-step for step in reversed(steps)), 0.0, *steps]


def score_text(score: float, low: float | None, high: float | None) -> str:
    """A score with its interval, where it has one."""
    return f"{score:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None and low < high else "")
