"""Training as a picture: probes by epoch, the objective's own score behind them (Conneau et al. 2018, Figure 1)."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, MaxNLocator

from encoder_lab.reports.drawing import (
    CHANCE,
    LOOKS,
    OWN,
    SEMANTICS,
    SURFACE,
    SYNTAX,
    Line,
    Style,
    draw_lines,
    in_order,
    looks,
    name_ends,
    new_figure,
    plain_axes,
    save_figure,
)
from encoder_lab.reports.metrics import read_metrics
from encoder_lab.reports.runs import grouped
from probes.facts import facts_of, unit_of
from probes.results import ProbeRow, chance_of, read_rows
from probes.statistics import Interval, mean_of_runs

NAMES = {"bleu": "BLEU", "accuracy": "accuracy", "perplexity": "perplexity", "loss": "loss"}
PERCENT = ("BLEU", "accuracy")  # the scores that have a highest value
LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 8.5, "handlelength": 2.8}
HIGHEST = 1e15  # of an objective's score in a figure; a diverged run has more
TOP = 102.0  # percent; leaves room for the marker of a perfect score


class Panel(NamedTuple):
    """One model: its probes and its own score by epoch; several seeds are their mean with its interval."""

    title: str
    lines: list[Line]
    score: str  # name of the objective's score, empty if there is none
    own: Line
    suite: str
    runs: frozenset[int]  # numbers of runs behind the points
    colour: str = ""  # of its line among other models; empty: ours
    unit: str = ""  # of its scores; empty: percent

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the axis of its scores."""
        return ends_of(self.lines, self.unit)


def ends_of(lines: Sequence[Line], unit: str) -> tuple[float, float]:
    """The ends of the axis of scores in a unit; empty: percent."""
    bottom = 1.08 * min([0.0, *(y for line in lines for y in line.low)])
    return bottom, 1.08 * max([1.0, *(y for line in lines for y in line.high)]) if unit else TOP


def draw_curves(run: Path, score: str, title: str = "") -> Path:
    """Draw `curves.png` of a run folder, a panel for each suite; `score` names a column of metrics.csv."""
    metrics, rows = read_metrics(run / "metrics.csv"), read_rows(run / "probes.csv")
    charts = by_chart(rows) or {("", ""): []}
    panels = [
        panel_of(f"{title or run.name}: {suite}" if len(charts) > 1 else title or run.name, [some], score, [metrics])
        for (suite, _), some in charts.items()
    ]
    return save_figure(draw_panels(panels), run / "curves.png")


def by_chart(rows: Iterable[ProbeRow]) -> dict[tuple[str, str], list[ProbeRow]]:
    """The rows that share an axis, by suite and unit."""
    return grouped(((row.suite, unit_of(row.suite, row.classifier)), row) for row in rows)


def panel_of(
    title: str, probes: Sequence[Sequence[ProbeRow]], score: str, metrics: Sequence[Sequence[Mapping[str, str]]]
) -> Panel:
    """The panel of one model from the probing rows and metrics of its runs, one run for each seed."""
    tasks = in_order([row.task for rows in probes for row in rows])
    by_task = {task: [row for rows in probes for row in rows if row.task == task] for task in tasks}
    epochs_of = [[{float(r.epoch): r.interval for r in rows if r.task == task} for rows in probes] for task in tasks]
    lines = [over_runs(task, runs, chance_of(by_task[task])) for task, runs in zip(tasks, epochs_of, strict=True)]
    score = shown_score(score, metrics)
    scores = [{float(row["epoch"]): float(row[score]) for row in rows if row.get(score)} for rows in metrics]
    own = [{epoch: (y,) * 3 for epoch, y in run.items() if abs(y) < HIGHEST} for run in scores]  # also not NaN
    name = NAMES.get(score.rsplit("/", 1)[-1], score) if any(own) else ""
    suite, unit = next((chart for rows in probes for chart in by_chart(rows)), ("", ""))
    epochs = Counter(epoch for rows in probes for epoch in {row.epoch for row in rows})
    return Panel(title, lines, name, over_runs(score, own), suite, frozenset(epochs.values()), unit=unit)


def shown_score(score: str, metrics: Sequence[Sequence[Mapping[str, str]]]) -> str:
    """The column of metrics.csv to draw: the objective's score, or perplexity where that is 0 at every epoch."""
    rows = [row for run in metrics for row in run]
    perplexity = f"{score.rpartition('/')[0]}/perplexity"
    flat = bool(score) and not any(float(row.get(score) or 0) for row in rows)
    return perplexity if flat and any(row.get(perplexity) for row in rows) else score


def over_runs(name: str, runs: Sequence[Mapping[float, Interval]], chance: float | None = None) -> Line:
    """`(score, low, high)` by x, of all runs that have an x."""
    xs = sorted({x for run in runs for x in run})
    points = [mean_of_runs([run[x] for run in runs if x in run]) for x in xs]
    y, low, high = ([point[place] for point in points] for place in range(3))
    return Line(name, xs, y, low, high, chance)


def band_meaning(runs: Collection[int]) -> str:
    """The meaning of low and high of `over_runs`, where points are means of this many runs."""
    if not any(number > 1 for number in runs):
        return "95% interval"
    return "95% interval; seeds: of their mean" if 1 in runs else "95% interval of the mean over seeds"


def score_label(suite: str, unit: str = "") -> str:
    return unit or facts_of(suite).axis or f"{suite} score on test (%)"


def draw_panels(panels: Sequence[Panel]) -> Figure:
    """Panels side by side, two in a row."""
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    figure = new_figure(9.0 if columns == 1 else 12.0, 5.2 if rows == 1 else 4.4 * rows)
    alike = len({_has_groups(panel) for panel in panels}) == 1
    for place, panel in enumerate(panels):
        axes = figure.add_subplot(rows, columns, place + 1)
        draw_panel(axes, panel)
        if _has_groups(panel) and not alike:  # the groups are those of probing tasks, not of the other panels
            axes.legend(handles=group_handles(), loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, **LEGEND)
    grouped = alike and any(map(_has_groups, panels))
    shapes = ["bands"] * any(len(_epochs(panel)) > 1 for panel in panels)
    shapes += ["bars"] * any(len(_epochs(panel)) < 2 for panel in panels)
    meaning = band_meaning({n for panel in panels for n in panel.runs})
    explain(figure, [line for panel in panels for line in panel.lines], f"{' and '.join(shapes)}: {meaning}", grouped)
    return figure


def _has_groups(panel: Panel) -> bool:
    """Whether the styles of its lines are the groups of the paper's tasks."""
    return len(_epochs(panel)) > 1 and any(line.name in LOOKS for line in panel.lines)


def _epochs(panel: Panel) -> list[float]:
    return sorted({x for line in panel.lines for x in line.x} | set(panel.own.x))


def draw_panel(axes: Axes, panel: Panel) -> None:
    """One model. Without epochs to join, each task is a point with its interval."""
    plain_axes(axes, panel.title)
    axes.set_ylabel(score_label(panel.suite, panel.unit), fontsize=9)
    axes.set_ylim(panel.ends)
    epochs = _epochs(panel)
    if len(epochs) < 2:
        _points(axes, panel.lines)
        return
    axes.set_xlim(epochs[0] - 0.02 * (epochs[-1] - epochs[0]), epochs[-1])
    ends = draw_lines(axes, panel.lines)
    if panel.score:
        ends.append((panel.score, _own_score(axes, panel.own, panel.score, panel.ends), OWN))
    name_ends(axes, ends, epochs[-1], *panel.ends)
    axes.set_xlabel("epoch (0: before training)" if epochs[0] == 0 else "epoch", fontsize=9)
    ticks = MaxNLocator(nbins=10, integer=True).tick_values(epochs[0], epochs[-1])
    axes.xaxis.set_major_locator(FixedLocator([t for t in ticks if epochs[0] <= t <= epochs[-1]]))


def _own_score(axes: Axes, own: Line, name: str, probes: tuple[float, float]) -> float:
    """Draw the objective's score behind the probes on a second axis; returns the height of its end on the first."""
    other = axes.twinx()
    top = 1.7 * max(own.high) or 1.0  # it stays in the lower part, where few probes are
    other.fill_between(own.x, own.y, color=OWN, alpha=0.07, linewidth=0)
    other.fill_between(own.x, own.low, own.high, color=OWN, alpha=0.2, linewidth=0)
    other.plot(own.x, own.y, color=OWN, linewidth=2.6, alpha=0.75)
    other.plot(own.x, own.y, "s", color=OWN, markersize=3.2, label=name)
    other.set_ylabel(f"{name} on dev (shaded)", color=OWN, fontsize=9)
    other.tick_params(axis="y", colors=OWN, labelsize=8.5)
    ticks = MaxNLocator(nbins=8).tick_values(0, top)
    other.set_yticks([tick for tick in ticks if tick <= (100 if name in PERCENT else top)])
    other.set_ylim(0, top)  # after the ticks, which may widen it: the name at the end of the line depends on it
    other.spines[["top", "left"]].set_visible(False)
    other.spines["right"].set_color(OWN)
    axes.set_zorder(other.get_zorder() + 1)
    axes.patch.set_visible(False)
    return probes[0] + (probes[1] - probes[0]) * own.y[-1] / top


def _points(axes: Axes, lines: Sequence[Line]) -> None:
    for place, (line, (colour, _)) in enumerate(zip(lines, looks([line.name for line in lines]), strict=True)):
        score, low, high = line.y[-1], line.low[-1], line.high[-1]
        if line.chance is not None:
            axes.plot([place - 0.3, place + 0.3], [line.chance] * 2, label=f"chance {line.chance:.0f}", **CHANCE)
        halves = [[max(0.0, score - low)], [max(0.0, high - score)]]
        axes.errorbar(place, score, halves, fmt="o", color=colour, capsize=3)
        behind: dict[str, Any] = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(f"{score:.1f}", (place, score), fontsize=8.5, **behind)
    axes.set_xlim(-0.5, len(lines) - 0.2 if lines else 1)
    axes.set_xticks(range(len(lines)), [line.name for line in lines], fontsize=8.5, rotation=30, ha="right")


def explain(figure: Figure, lines: Sequence[Line], bands: str, grouped: bool) -> None:
    """The legend: chance, the meaning of the bands and, where lines are `grouped`, the styles of the paper's tasks."""
    handles = [*(group_handles() if grouped else []), *handles_of(lines, bands)]
    figure.legend(handles=handles, loc="outside lower right", ncols=5, **LEGEND)


def group_handles() -> list[Line2D]:
    """The legend entries of the styles of lines."""
    groups: dict[str, Style] = {"surface": SURFACE, "syntax": SYNTAX, "semantics": SEMANTICS}
    return [Line2D([], [], color="#444444", linestyle=style, label=group) for group, style in groups.items()]


def handles_of(lines: Sequence[Line], bands: str) -> list[Artist]:
    """The legend entries of the levels of chance, where one is known, and of the bands, where they mean something."""
    known = any(line.chance is not None for line in lines)
    handles: list[Artist] = [Line2D([], [], label="chance", **CHANCE)] if known else []
    return [*handles, *([Patch(color="#444444", alpha=0.2, linewidth=0, label=bands)] if bands else [])]
