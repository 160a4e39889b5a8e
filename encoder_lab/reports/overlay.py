"""Several models in one figure: a small panel for each task, a line for each model."""

from collections.abc import Sequence
from textwrap import fill

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from encoder_lab.reports.curves import Panel, band_handle, band_meaning
from encoder_lab.reports.drawing import Line, Style, in_order, new_figure, plain_axes
from encoder_lab.reports.escape import for_figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#C65D94", "#000000", "#D98C00", "#3BA3DB", "#6A3D9A")
BANDED = 6  # models; with more, bands would overlap too much
HANDLE, LETTER = 0.95, 0.075  # inches of a line of the legend with the space around it, and of a letter
STYLES: tuple[Style, ...] = ("-", (0, (5, 1.6)), (0, (1, 1)))


def draw_overlay(panels: Sequence[Panel]) -> Figure:
    """The models of `panels` task by task, each task on its own scale; the objectives' scores come last.

    At least one panel has a line.
    """
    tasks = in_order([line.name for panel in panels for line in panel.lines])
    units = {line.name: panel.unit for panel in panels for line in panel.lines}
    banded = len(panels) <= BANDED
    own = list(dict.fromkeys(panel.score for panel in panels if panel.score))
    cells = [(task, [_of(panel.lines, task) for panel in panels]) for task in tasks]
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
                _draw(axes, line, model, panels[model], banded)
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
        Line2D([], [], color=panel.colour or _colour(i), linestyle=_style(i), linewidth=2, label=fill(title, letters))
        for i, (panel, title) in enumerate((panel, for_figure(panel.title)) for panel in panels)
    ]
    if banded:
        meaning = band_meaning({n for panel in panels for n in panel.runs})
        handles.append(band_handle(fill(f"bands: {meaning}", letters)))
    return handles


def _draw(axes: Axes, line: Line, model: int, panel: Panel, banded: bool) -> None:
    colour = panel.colour or _colour(model)
    if banded:
        axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.12, linewidth=0)
    axes.plot(line.x, line.y, color=colour, linestyle=_style(model), linewidth=1.6)
    axes.plot(line.x, line.y, "o", color=colour, markersize=2.4, gid=f"points {panel.title}, {line.name}")


def _colour(model: int) -> str:
    return COLOURS[model % len(COLOURS)]


def _style(model: int) -> Style:
    return STYLES[model // len(COLOURS) % len(STYLES)]


def _of(lines: Sequence[Line], task: str) -> Line | None:
    return next((line for line in lines if line.name == task), None)
