"""Scores by the size of the sentence vector (Conneau et al. 2018, Figure 3)."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from datamodules.errors import InputError
from probes.curves import TOP, explain_styles, over_runs
from probes.drawing import draw_lines, in_order, look, name_ends, new_figure, plain_axes
from probes.report.runs import ENCODERS, OBJECTIVES, Run
from probes.report.table import final_rows


def draw_sizes(runs: Sequence[Run], suite: str, epoch: str, classifier: str) -> Figure:
    """One panel for each encoder and objective, one line for each task, `encoder.dim` on a logarithmic axis."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if "encoder.dim" not in run.settings:
            raise InputError(f"{run.folder / 'config.yaml'}: no encoder.dim, so no size to draw it at")
        groups.setdefault((run.encoder, run.objective), []).append(run)
    if not several_sizes(runs):
        raise InputError("every run has the same encoder.dim; give runs of several sizes")
    columns = min(len(groups), 2)
    figure = new_figure(9.0 if columns == 1 else 12.0, 4.8 * -(-len(groups) // columns))
    for place, ((encoder, objective), group) in enumerate(groups.items()):
        scores = [(math.log2(run.settings["encoder.dim"]), final_rows(run, suite, epoch, classifier)) for run in group]
        tasks = in_order([task for _, rows in scores for task in rows])
        lines = [
            over_runs(
                task,
                [{dim: (r.test_accuracy, r.test_low, r.test_high)} for dim, at in scores if (r := at.get(task))],
            )
            for task in tasks
        ]
        axes = figure.add_subplot(-(-len(groups) // columns), columns, place + 1)
        plain_axes(axes, f"{ENCODERS.get(encoder, encoder)}, {OBJECTIVES.get(objective, objective)}")
        sizes = sorted({dim for dim, _ in scores})
        axes.set_xlim(sizes[0] - 0.02 * (sizes[-1] - sizes[0]), sizes[-1])
        axes.set_ylim(0, TOP)
        draw_lines(axes, lines)
        ends = [(line.name, line.y[-1], look(line.name, i)[0]) for i, line in enumerate(lines)]
        name_ends(axes, ends, sizes[-1], 0, TOP)
        axes.set_xticks(sizes, [f"{2**size:.0f}" for size in sizes])
        axes.set_xlabel("dimensions of the sentence vector", fontsize=9)
        axes.set_ylabel(f"{suite} score on test (%)", fontsize=9)
    explain_styles(figure)
    return figure


def several_sizes(runs: Sequence[Run]) -> bool:
    """Whether some encoder was trained for the same objective at several sizes."""
    found: dict[tuple[str, str], set[int]] = {}
    for run in runs:
        found.setdefault((run.encoder, run.objective), set()).add(run.settings["encoder.dim"])
    return any(len(sizes) > 1 for sizes in found.values())
