"""Several models in one figure: a small panel for each task, a line for each model."""

from collections.abc import Sequence
from textwrap import fill

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from encoder_lab.reports.curves import Panel, band_meaning, handles_of
from encoder_lab.reports.drawing import CHANCE, Line, Style, in_order, look_at, new_figure, plain_axes
from encoder_lab.reports.escape import for_figure

BANDED = 6  # models; with more, bands would overlap too much
HANDLE, LETTER = 0.95, 0.075  # inches of a line of the legend with the space around it, and of a letter


def draw_overlay(panels: Sequence[Panel]) -> Figure:
    """The models task by task, each task on its own scale; the objectives' scores come last."""
    tasks = in_order([line.name for panel in panels for line in panel.lines])
    units = {line.name: panel.unit for panel in panels for line in panel.lines}
    banded = len(panels) <= BANDED
    own = list(dict.fromkeys(panel.score for panel in panels if panel.score))
    lines_of = [{line.name: line for line in panel.lines} for panel in panels]
    cells = [(task, [lines.get(task) for lines in lines_of]) for task in tasks]
    cells += [(f"{name} (dev)", [panel.own if panel.score == name else None for panel in panels]) for name in own]
    columns = min(len(cells), 4)
    rows = -(-len(cells) // columns)
    width = 2.9 * columns + 0.5
    handles = _legend(panels, banded, width)
    longest = max(len(line) for handle in handles for line in str(handle.get_label()).split("\n"))
    entries = max(1, min(2, int(width / (HANDLE + LETTER * longest))))  # in a row
    figure = new_figure(width, 2.25 * rows + 0.35 * len(panels) / entries + 0.4)
    for place, (title, lines) in enumerate(cells):
        axes = figure.add_subplot(rows, columns, place + 1)
        plain_axes(axes, title if title not in tasks else f"{title} ({units.get(title) or '%'})")
        for model, line in enumerate(lines):
            if line:
                _draw(axes, line, look_of(panels, model), banded)
        for level in {round(line.chance, 1) for line in lines if line and line.chance is not None}:
            axes.axhline(level, label=f"chance {level:.0f}", **CHANCE)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
        if place >= len(cells) - columns:
            axes.set_xlabel("epoch", fontsize=9)
    figure.legend(handles=handles, loc="outside upper left", ncols=entries, frameon=False, fontsize=9, handlelength=2.8)
    return figure


def _legend(panels: Sequence[Panel], banded: bool, width: float) -> list[Artist]:
    """An entry for each model, and one for the bands; a name that is wider than the figure has several lines."""
    letters = int((width - HANDLE) / LETTER)
    handles: list[Artist] = [
        Line2D([], [], color=colour, linestyle=style, linewidth=2, label=fill(for_figure(panel.title), letters))
        for place, panel in enumerate(panels)
        for colour, style in [look_of(panels, place)]
    ]
    meaning = f"bands: {band_meaning({n for panel in panels for n in panel.runs})}"
    lines = [line for panel in panels for line in panel.lines]
    return handles + handles_of(lines, fill(meaning, letters) if banded else "")


def _draw(axes: Axes, line: Line, look: tuple[str, Style], banded: bool) -> None:
    colour, style = look
    if banded:
        axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.12, linewidth=0)
    axes.plot(line.x, line.y, color=colour, linestyle=style, linewidth=1.6)
    axes.plot(line.x, line.y, "o", color=colour, markersize=2.4)


def look_of(panels: Sequence[Panel], place: int) -> tuple[str, Style]:
    """Colour and line style of a model among others: the colour that its settings give it, or one of ours."""
    colour, style = look_at(place)
    return panels[place].colour or colour, style
