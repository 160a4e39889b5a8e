"""Several models in one figure: a small panel for each task, a line for each model."""

from collections.abc import Mapping, Sequence
from textwrap import fill

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from encoder_lab.reports.curves import Panel, band_meaning, handles_of
from encoder_lab.reports.drawing import CHANCE, Line, Look, in_order, look_at, new_figure, plain_axes
from encoder_lab.reports.escape import for_figure
from encoder_lab.reports.runs import grouped

BANDED = 6  # models; with more, bands would overlap too much
HANDLE, LETTER = 0.95, 0.075  # inches of a line of the legend with the space around it, and of a letter


def draw_overlay(panels: Sequence[Panel]) -> Figure:
    """The models task by task, each task on its own scale; the objectives' scores come last."""
    looks = looks_of(panels)
    banded = len(looks) <= BANDED
    cells = [(f"{task} ({unit or '%'})", lines) for (task, unit), lines in lines_by_task(panels).items()]
    cells += [(f"{name} (dev)", lines) for name, lines in own_lines(panels).items()]
    columns = min(len(cells), 4)
    rows = -(-len(cells) // columns)
    width = 2.9 * columns + 0.5
    handles = _legend(panels, looks, banded, width)
    longest = max(len(line) for handle in handles for line in str(handle.get_label()).split("\n"))
    entries = max(1, min(2, int(width / (HANDLE + LETTER * longest))))  # in a row
    figure = new_figure(width, 2.25 * rows + 0.35 * len(looks) / entries + 0.4)
    for place, (title, lines) in enumerate(cells):
        axes = figure.add_subplot(rows, columns, place + 1)
        plain_axes(axes, title)
        for model, line in lines:
            _draw(axes, line, looks[model], banded)
        for level in {round(line.chance, 1) for _, line in lines if line.chance is not None}:
            axes.axhline(level, label=f"chance {level:.0f}", **CHANCE)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
        if place >= len(cells) - columns:
            axes.set_xlabel("epoch", fontsize=9)
    figure.legend(handles=handles, loc="outside upper left", ncols=entries, frameon=False, fontsize=9, handlelength=2.8)
    return figure


def lines_by_task(panels: Sequence[Panel]) -> dict[tuple[str, str], list[tuple[str, Line]]]:
    """By task and unit: the titles of models and their lines. A model has a panel for each unit."""
    tasks = in_order([line.name for panel in panels for line in panel.lines])
    lines = ((task, panel, line) for task in tasks for panel in panels for line in panel.lines if line.name == task)
    return grouped(((task, panel.unit), (panel.title, line)) for task, panel, line in lines)


def own_lines(panels: Sequence[Panel]) -> dict[str, list[tuple[str, Line]]]:
    """By the name of an objective's score: the titles of models and their lines."""
    scores = dict.fromkeys(panel.score for panel in panels if panel.score)
    return {score: list({p.title: p.own for p in panels if p.score == score}.items()) for score in scores}


def _legend(panels: Sequence[Panel], looks: Mapping[str, Look], banded: bool, width: float) -> list[Artist]:
    """An entry for each model, and one for the bands; a name that is wider than the figure has several lines."""
    letters = int((width - HANDLE) / LETTER)
    handles: list[Artist] = [
        Line2D([], [], color=colour, linestyle=style, linewidth=2, label=fill(for_figure(title), letters))
        for title, (colour, style) in looks.items()
    ]
    meaning = f"bands: {band_meaning({n for panel in panels for n in panel.runs})}"
    lines = [line for panel in panels for line in panel.lines]
    return handles + handles_of(lines, fill(meaning, letters) if banded else "")


def _draw(axes: Axes, line: Line, look: Look, banded: bool) -> None:
    colour, style = look
    if banded:
        axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.12, linewidth=0)
    axes.plot(line.x, line.y, color=colour, linestyle=style, linewidth=1.6)
    axes.plot(line.x, line.y, "o", color=colour, markersize=2.4)


def looks_of(panels: Sequence[Panel]) -> dict[str, Look]:
    """Colour and line style of each model, by its title: the colour that its settings give it, or one of ours."""
    colours = {panel.title: panel.colour for panel in panels}
    looks = ((title, own, look_at(place)) for place, (title, own) in enumerate(colours.items()))
    return {title: (own or colour, style) for title, own, (colour, style) in looks}
