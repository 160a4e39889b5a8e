"""Charts of the HTML page: data and layout for Plotly, as dictionaries. What a trace shows is in its `meta`."""

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from encoder_lab.errors import printable
from encoder_lab.reports.chart import Axis, Chart, DataSeries, HeatMap, chance_levels, score_text, values_and_ends
from probes.statistics import Interval

DASHES = {"solid": "solid", "dotted": "dot", "dashed": "dash"}
SHAPES = {"line": "linear", "steps": "hv"}
HOVER = "%{text}<extra></extra>"


def plotly_figure(chart: Chart | HeatMap) -> dict[str, Any]:
    """The traces and the layout of a chart."""
    if isinstance(chart, HeatMap):
        return _heat_map(chart)
    layout = _layout(chart.title, _axis(chart.x), _axis(chart.y))
    data = [trace for series in chart.series for trace in _traces(series, chart)]
    if chart.objective:
        data += [trace | {"yaxis": "y2"} for trace in _traces(chart.objective, chart)]
        layout["yaxis2"] = {"overlaying": "y", "side": "right", "rangemode": "tozero", "showgrid": False}
        layout["yaxis2"] |= {"title": {"text": f"{chart.objective.name} on dev"}, "tickmode": "auto"}
    xs = [x for series in chart.series for x in _positions(chart.x, series.x)[0]]
    for level in chance_levels(chart.series):
        dotted: dict[str, Any] = {"x": [min(xs), max(xs)], "y": [level] * 2, "mode": "lines", "meta": {}}
        dotted |= {"text": [f"chance {level}"] * 2, "hovertemplate": HOVER}
        data.append(dotted | {"line": {"color": "#555555", "dash": "dot", "width": 1}})
    if chart.shaded:
        first, last = _positions(chart.x, chart.shaded)[0]
        band = {"type": "rect", "x0": first, "x1": last, "yref": "paper", "y0": 0, "y1": 1}
        layout["shapes"] = [band | {"fillcolor": "#F1F1F1", "line": {"width": 0}, "layer": "below"}]
    return {"data": data, "layout": layout}


def _traces(series: DataSeries, chart: Chart) -> list[dict[str, Any]]:
    """The band of a line, and the line, or points with bars: each point tells its score and interval."""
    colour, style = series.look
    meta = {"task": series.task or series.name, "model": series.model}
    (x, left, right), (y, low, high) = _positions(chart.x, series.x), _positions(chart.y, series.y)
    points = zip(values_and_ends(series.x)[0], values_and_ends(series.y).T, strict=True)
    texts = series.hover or [f"{series.name}\n{chart.x.label} {x:g}: {score_text(*y)}" for x, y in points]
    hover = list(map(_text, texts))
    trace: dict[str, Any] = {"x": x, "y": y, "meta": meta, "hovertemplate": HOVER, "text": hover}
    marker = {"symbol": f"{series.marker}-open" if series.hollow else series.marker, "color": colour, "size": 9}
    if series.shape == "points":
        trace |= {"mode": "markers", "marker": marker}
        trace |= {"error_x": _bars(x, left, right, colour), "error_y": _bars(y, low, high, colour)}
        if chart.named:
            trace |= {"mode": "markers+text", "hovertext": hover, "hovertemplate": "%{hovertext}<extra></extra>"}
            trace |= {"text": [_text(series.name)] * len(x), "textposition": "top center"}
        return [trace]
    trace |= {"mode": "lines+markers" if series.marker else "lines", "marker": marker | {"size": 5}}
    trace |= {"line": {"color": colour, "dash": DASHES[style], "width": 2, "shape": SHAPES[series.shape]}}
    band: dict[str, Any] = {"x": [*x, *reversed(x)], "y": [*high, *reversed(low)], "meta": meta, "hoverinfo": "skip"}
    return [band | {"fill": "toself", "opacity": 0.15, "mode": "none", "fillcolor": colour}, trace]


def _bars(values: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str) -> dict[str, Any]:
    lengths = {"array": np.subtract(high, values).tolist(), "arrayminus": np.subtract(values, low).tolist()}
    return {"type": "data", "symmetric": False, "thickness": 1, "color": colour, **lengths}


def _positions(axis: Axis, values: Sequence[float | Interval]) -> list[list[float]]:
    """Where values and their ends are on an axis: Plotly has none that is linear around 0 and logarithmic beyond."""
    positions = values_and_ends(values)
    if axis.linear < math.inf:
        positions = np.arcsinh(positions / axis.linear) if axis.linear else np.log2(positions)
    return positions.tolist()


def _axis(axis: Axis) -> dict[str, Any]:
    layout: dict[str, Any] = {"title": {"text": _text(axis.label), "standoff": 6}, "automargin": True}
    if axis.ends:
        layout["range"] = _positions(axis, axis.ends)[0]
    if axis.ticks:
        layout["zeroline"] = axis.linear < math.inf
        layout |= {"tickvals": _positions(axis, list(axis.ticks))[0], "ticktext": list(map(_text, axis.ticks.values()))}
    return layout


def _heat_map(heat: HeatMap) -> dict[str, Any]:
    """The columns without colours are behind the names of the rows."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    colours = colormaps[heat.colours]
    names = list(map(_text, heat.rows))
    for head, cells in heat.extra_columns.items():
        names = [f"{name} <i>{head} {cell}</i>" if cell else name for name, cell in zip(names, cells, strict=True)]
    trace = {"type": "heatmap", "z": heat.shades.tolist(), "zmin": 0, "zmax": 1}
    trace |= {"x": list(map(_text, heat.columns)), "y": names}
    hover = [list(map(_text, row)) for row in heat.hover]
    trace |= {"text": heat.texts, "texttemplate": "%{text}", "hovertext": hover, "xgap": 1, "ygap": 1}
    trace |= {"hovertemplate": "%{y}, %{x}: %{hovertext}<extra></extra>", "showscale": False}
    trace["colorscale"] = [[step / 10, to_hex(colours(step / 10))] for step in range(11)]
    across = {"title": {"text": heat.label}, "automargin": True, "type": "category"}  # numbers of layers are names
    return {"data": [trace], "layout": _layout(heat.title, across, {"autorange": "reversed", "automargin": True})}


def _layout(title: str, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {"text": _text(title), "x": 0.01, "font": {"size": 14}}
    margins = {"l": 50, "r": 50, "t": 34, "b": 40}
    return {"title": named, "margin": margins, "xaxis": x, "yaxis": y, "showlegend": False, "hovermode": "closest"}


def _text(name: str) -> str:
    """Lines without Plotly's markup."""
    return "<br>".join(html.escape(printable(line), quote=False) for line in name.split("\n"))
