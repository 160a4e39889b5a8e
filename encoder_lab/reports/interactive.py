"""Charts of the HTML page: data and layout for Plotly, as dictionaries. What a trace shows is in its `meta`."""

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from encoder_lab.errors import printable
from encoder_lab.reports.correlation import Correlations
from encoder_lab.reports.curves import Panel, score_label
from encoder_lab.reports.drawing import OWN, Line, Look, Style, in_order, looks
from encoder_lab.reports.findings import Finding
from encoder_lab.reports.findings_picture import COLOURS, place_of, stacked
from encoder_lab.reports.layers import LayerScores
from encoder_lab.reports.order import PARTS, ModelOrder
from encoder_lab.reports.overlay import lines_by_task, looks_of, own_lines
from encoder_lab.reports.sizes import ModelSizes
from encoder_lab.reports.subspaces import Subspaces
from encoder_lab.reports.use import ModelUse
from probes.statistics import Interval

DASHES: dict[Style, str] = {"-": "solid", (0, (1, 1)): "dot", (0, (5, 1.6)): "dash"}
EPOCH, SIZE = "epoch", "dimensions of the sentence vector"
DOWNWARDS = {"autorange": "reversed", "automargin": True}  # an axis


class Chart(NamedTuple):
    """One chart, `wide` times as wide as a small one."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]
    wide: int = 1
    height: int = 240  # pixels


class ChartSection(NamedTuple):
    """Charts under one heading, with the names of what their colours mean."""

    heading: str
    charts: list[Chart]
    legend: dict[str, Look]


def charts_by_task(panels: Sequence[Panel]) -> ChartSection:
    """A chart for each task, a line for each model; the objectives' own scores come last."""
    legend = looks_of(panels)
    cells = [(f"{task} ({unit})" if unit else task, lines) for (task, unit), lines in lines_by_task(panels).items()]
    cells += [(f"{score} on dev", lines) for score, lines in own_lines(panels).items()]
    charts = []
    for name, lines in cells:
        traces = [trace for title, line in lines for trace in _traces(line, legend[title], title, EPOCH, title)]
        charts.append(Chart(_with_chance(traces, [line for _, line in lines]), _layout(name, EPOCH)))
    return ChartSection(f"{panels[0].suite} by epoch: each task", charts, legend)


def charts_by_model(panels: Sequence[Panel]) -> ChartSection:
    """A chart for each model, a line for each task; the objective's score on a second axis."""
    names = in_order([line.name for panel in panels for line in panel.lines])
    legend: dict[str, Look] = dict(zip(names, looks(names), strict=True))
    charts = []
    for panel in panels:
        traces = [t for line in panel.lines for t in _traces(line, legend[line.name], line.name, EPOCH, panel.title)]
        y = {"range": list(panel.ends), "title": {"text": _text(score_label(panel.suite, panel.unit))}}
        layout = _layout(panel.title, EPOCH, y)
        if panel.score:
            own = _traces(panel.own, (OWN, "-"), panel.score, EPOCH, panel.title)
            traces += [trace | {"yaxis": "y2"} for trace in own]
            layout["yaxis2"] = {"overlaying": "y", "side": "right", "rangemode": "tozero", "showgrid": False}
            layout["yaxis2"] |= {"title": {"text": f"{panel.score} on dev"}, "tickmode": "auto"}
        charts.append(Chart(_with_chance(traces, panel.lines), layout, 2, 340))
    scores: dict[str, Look] = {panel.score: (OWN, "-") for panel in panels if panel.score}
    return ChartSection(f"{panels[0].suite} by epoch: each model", charts, legend | scores)


def charts_by_size(suite: str, models: Sequence[tuple[ModelSizes, str, Sequence[Line]]]) -> ChartSection:
    """A chart for each model, a line for each task, the size on a logarithmic axis."""
    names = in_order([line.name for *_, lines in models for line in lines])
    legend = dict(zip(names, looks(names), strict=True))
    charts = []
    for model, unit, lines in models:
        traces = [trace for line in lines for trace in _traces(line, legend[line.name], line.name, SIZE, "")]
        layout = _layout(model.title, SIZE, {"title": {"text": _text(score_label(suite, unit))}})
        layout["xaxis"] |= {"type": "log", "tickvals": model.sizes, "ticktext": [str(size) for size in model.sizes]}
        charts.append(Chart(_with_chance(traces, lines), layout, 2, 340))
    return ChartSection(f"{suite} by size of the sentence vector", charts, legend)


def charts_by_layer(models: Sequence[LayerScores]) -> ChartSection:
    """A heat map for each model: tasks downwards, layers to the right."""
    charts = []
    for model in models:
        tasks = list(model.cells)
        chances = {task: "" if (c := model.chance(task)) is None else f"chance {c:.1f}" for task in tasks}
        hover = [
            ["" if cell is None else f"{_scored(cell.score, cell.low, cell.high)}<br>{chances[task]}" for cell in cells]
            for task, cells in model.cells.items()
        ]
        trace = _heat([model.shades(task) for task in tasks], [model.scores(task) for task in tasks], hover)
        trace |= {"x": [f"layer {number}" for number in model.numbers], "colorscale": "YlGnBu", "reversescale": True}
        trace["y"] = [f"{_text(task)} <i>{chances[task]}</i>" for task in tasks]
        layout = _layout(model.title, "", DOWNWARDS)
        charts.append(Chart([trace], layout, 1 + len(model.numbers) // 5, 120 + 24 * len(tasks)))
    return ChartSection("by layer", charts, {})


def chart_of_correlations(matrix: Correlations) -> ChartSection:
    """The matrix: red is a positive correlation, blue a negative one; what is not significant has no colour."""
    hover = [
        [f"ρ {rho:.2f}, p {p:.3g}{'' if sure else ', not significant'}" for rho, p, sure in zip(*row, strict=True)]
        for row in zip(matrix.rho, matrix.p_value, matrix.significant, strict=True)
    ]
    trace = _heat(np.where(matrix.significant, matrix.rho, 0), matrix.rho, hover, 2)
    trace |= {"x": list(map(_text, matrix.downstream)), "y": list(map(_text, matrix.probing)), "colorscale": "RdBu"}
    trace |= {"zmin": -1, "zmax": 1}
    layout = _layout(f"Spearman's ρ over {matrix.models} models", "", DOWNWARDS)
    return ChartSection("probing against downstream", [Chart([trace], layout, 4, 420)], {})


def charts_of_use(models: Sequence[ModelUse]) -> ChartSection:
    """Known against used: a point for each property; a circle that is open is not used in every seed."""
    charts = []
    for model in models:
        data = []
        for use in model.properties:
            if use.known is None:
                continue
            text = f"{_text(use.name)}<br>known {_scored(*use.known)}<br>rise {_scored(*use.rise)}"
            text += f"<br>used {use.verdict}"
            dot = _dot(use.known[0], use.rise, "y", text, "circle" if use.used == use.seeds else "circle-open")
            dot |= {"mode": "markers+text", "text": [_text(use.name)], "textposition": "top center"}
            data.append(dot | {"meta": {"task": use.name, "model": model.title}})
        rise = {"title": {"text": "used: rise of the loss (thousandths)"}, "zeroline": True}
        layout = _layout(model.title, "known: accuracy of the probe on test (%)", rise)
        charts.append(Chart(data, layout, 2, 340))
    return ChartSection("known against used", charts, {})


def charts_of_order(models: Sequence[ModelOrder]) -> ChartSection:
    """The steps at which half, 90% and 95% of each gain is reached, the tasks that are learnt first on top."""
    charts = []
    for model in models:
        learnt = [task for task in model.tasks if math.isfinite(task.at[0][0])]
        data = [
            _dot(at[0], at, "x", f"{_text(task.task)}<br>{part:.0%} at step {_scored(*at)}", symbol, row)
            | {"meta": {"task": task.task, "model": model.title}}
            for row, task in enumerate(learnt)
            for part, at, symbol in zip(PARTS, task.at, ("circle", "square", "diamond"), strict=True)
        ]
        steps = "optimiser step: half (circle), 90% (square), 95% (diamond) of the gain"
        layout = _layout(model.title, steps, _rows([task.task for task in learnt]))
        charts.append(Chart(data, layout, 2, 120 + 28 * len(learnt)))
    return ChartSection("when tasks are learnt", charts, {})


def charts_of_subspaces(runs: Sequence[Subspaces]) -> ChartSection:
    """Tasks by tasks at the last epoch, and the overlap of each task with its final subspace by epoch."""
    names = in_order([task for run in runs for task in run.tasks])
    legend: dict[str, Look] = dict(zip(names, looks(names), strict=True))
    charts = []
    for run in runs:
        overlaps = [[run.overlap(task, run.last, other) for other in run.tasks] for task in run.tasks]
        random = [[f"random {run.random(task, other).mean:.1f}" for other in run.tasks] for task in run.tasks]
        shown = list(map(_text, run.tasks))
        heat = _heat(overlaps, overlaps, random, 0) | {"x": shown, "y": shown, "colorscale": "YlGnBu"}
        layout = _layout(f"{run.title}: overlap of tasks at epoch {run.last} (%)", "", DOWNWARDS)
        charts.append(Chart([heat | {"reversescale": True, "zmin": 0, "zmax": 100}], layout, 2, 140 + 30 * len(shown)))
        traces = []
        for task in run.tasks:
            y = [run.overlap(task, epoch) for epoch in run.epochs]
            line = Line(task, list(map(float, run.epochs)), y, y, y)
            traces += _traces(line, legend[task], task, EPOCH, run.title)
        charts.append(Chart(traces, _layout(f"{run.title}: overlap with the task's final subspace (%)", EPOCH), 2, 340))
    return ChartSection("where tasks live: overlap of subspaces", charts, legend)


def _dot(x: float, interval: Interval, along: str, text: str, symbol: str, y: float | None = None) -> dict[str, Any]:
    """A point with its interval along an axis."""
    value, low, high = interval
    bars = {"type": "data", "symmetric": False, "array": [high - value], "arrayminus": [value - low], "thickness": 1}
    dot: dict[str, Any] = {"x": [x], "y": [value if y is None else y], "mode": "markers", f"error_{along}": bars}
    dot |= {"marker": {"symbol": symbol, "size": 9}, "hovertext": [text]}
    return dot | {"hovertemplate": "%{hovertext}<extra></extra>"}


def chart_of_findings(findings: Sequence[Finding]) -> Chart:
    """A row for each claim that has scores, a dot for each comparison."""
    shown = [finding for finding in findings if finding.comparisons]
    data = []
    for row, finding in enumerate(shown):
        places = [place_of(comparison) for comparison in finding.comparisons]
        dots: dict[str, Any] = {"mode": "markers", "hovertemplate": "%{text}<extra></extra>"}
        dots |= {"x": [math.asinh(place) for place in places], "y": [row - height for height in stacked(places)]}
        dots["text"] = [_text(str(comparison)) for comparison in finding.comparisons]
        symbols = ["diamond" if comparison.needed else "circle" for comparison in finding.comparisons]
        data.append(dots | {"marker": {"color": [COLOURS[c.sign] for c in finding.comparisons], "symbol": symbols}})
    ticks = [-30, -10, -3, -1, 0, 1, 3, 10, 30]
    difference = "difference, in halves of its 95% interval"
    layout = _layout("against the claim (left), for it (right)", difference, _rows([f.name for f in shown]))
    layout["xaxis"] |= {"tickvals": [math.asinh(tick) for tick in ticks], "ticktext": [f"{tick:+}" for tick in ticks]}
    band = {"type": "rect", "x0": math.asinh(-1), "x1": math.asinh(1), "yref": "paper", "y0": 0, "y1": 1}
    layout["shapes"] = [band | {"fillcolor": "#F1F1F1", "line": {"width": 0}, "layer": "below"}]
    return Chart(data, layout, 4, 110 + 28 * len(shown))


def _traces(line: Line, look: Look, name: str, x: str, model: str) -> list[dict[str, Any]]:
    """The band of a line, and the line: each point shows its score and interval."""
    colour, style = look
    meta = {"task": line.name, "model": model}
    band: dict[str, Any] = {"x": [*line.x, *reversed(line.x)], "y": [*line.high, *reversed(line.low)], "meta": meta}
    band |= {"fill": "toself", "opacity": 0.15, "mode": "none", "fillcolor": colour, "hoverinfo": "skip"}
    points = zip(line.x, line.y, line.low, line.high, strict=True)
    text = [f"{_text(name)}<br>{x} {at:g}: {_scored(y, low, high)}" for at, y, low, high in points]
    shown: dict[str, Any] = {"x": line.x, "y": line.y, "mode": "lines+markers", "text": text, "meta": meta}
    shown |= {"hovertemplate": "%{text}<extra></extra>", "marker": {"size": 5}}
    shown |= {"line": {"color": colour, "dash": DASHES[style], "width": 2}}
    return [band, shown]


def _with_chance(traces: list[dict[str, Any]], lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The traces, with a dotted line at each level of chance that is known."""
    levels = sorted({round(line.chance, 1) for line in lines if line.chance is not None})
    xs = [x for line in lines for x in line.x] or [0, 1]
    dotted: dict[str, Any] = {"x": [min(xs), max(xs)], "mode": "lines", "meta": {}}
    dotted |= {"hovertemplate": "%{text}<extra></extra>", "line": {"color": "#555555", "dash": "dot", "width": 1}}
    return [*traces, *(dotted | {"y": [level] * 2, "text": [f"chance {level}"] * 2} for level in levels)]


def _heat(shades: Any, scores: Any, hover: list[list[str]], digits: int = 1) -> dict[str, Any]:
    text = [["" if math.isnan(score) else f"{score:.{digits}f}" for score in row] for row in scores]
    heat = {"type": "heatmap", "z": np.asarray(shades).tolist(), "text": text, "texttemplate": "%{text}", "xgap": 1}
    heat |= {"hovertext": hover, "hovertemplate": "%{y}, %{x}: %{hovertext}<extra></extra>", "ygap": 1}
    return heat | {"showscale": False}


def _layout(title: str, x: str, y: Mapping[str, Any] = {}) -> dict[str, Any]:
    margins = {"l": 50, "r": 50, "t": 34, "b": 40}
    axis = {"title": {"text": x, "standoff": 6}, "automargin": True}
    named: dict[str, Any] = {"text": _text(title), "x": 0.01, "font": {"size": 14}}
    return {"title": named, "margin": margins, "xaxis": axis, "yaxis": y, "showlegend": False, "hovermode": "closest"}


def _rows(names: Sequence[str]) -> dict[str, Any]:
    """The axis of named rows, the first on top."""
    return DOWNWARDS | {"tickvals": list(range(len(names))), "ticktext": list(map(_text, names))}


def _scored(score: float, low: float | None, high: float | None) -> str:
    return f"{score:.2f}" + (f" [{low:.1f}, {high:.1f}]" if low is not None and high is not None and low < high else "")


def _text(name: str) -> str:
    """A name without Plotly's markup."""
    return html.escape(printable(name), quote=False)
