"""Dry run of a study: its commands, finished cells, and what is missing on this machine."""

import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError, in_one_line
from encoder_lab.progress import MeasuredStep
from encoder_lab.settings.build import build
from encoder_lab.studies.cell import is_done
from encoder_lab.studies.compose import checked_settings
from encoder_lab.studies.plan import Study, StudyCell, fill_folder

MEASURED_GROUPS = ("encoder", "objective", "datamodule", "embeddings", "trainer")
Measure = Callable[[Mapping[str, Any]], MeasuredStep]  # of composed settings


def preview(study: Study, folder: Path, measure: Measure | None) -> str:
    """The text of dry_run=true. Cells with the same encoder and objective are measured once."""
    counts = [f"{len(study.cells)} runs", *([f"evaluations: {len(study.evaluations)}"] if study.evaluations else [])]
    lines = [f"{study.name} at scale={study.scale}: {', '.join(counts)}, in {folder}"]
    costs: dict[str, MeasuredStep] = {}
    hours = disk = 0.0
    for cell in (*study.cells, *study.evaluations):
        state = "done" if is_done(cell, folder) else missing_requirements(cell) or "ready"
        lines.append(f"  {cell.name:<40} {state}")
        words = [fill_folder(text, "run", folder / cell.scored) for text in cell.overrides]
        command = " ".join(shlex.quote(text) if "'" in text else text for text in words)
        lines.append(f"      python {cell.program}.py {command}")
        if cell.examples and measure:
            settings = settings_of(cell)
            if "parts" in settings["objective"] or "optimizer" not in settings["objective"]:
                lines.append("      no estimate of its hours and bytes")
                continue
            config = {group: settings[group] for group in MEASURED_GROUPS}
            data = {**config["datamodule"], "target": None}
            key = str([config["encoder"], config["objective"], data, config["embeddings"]["freeze"]])
            rate = costs[key] = costs.get(key) or measure(config)
            examples = min(cell.examples, settings["corpus"].get("size") or cell.examples)
            steps, planned_as = steps_of(config["trainer"], examples, rate)
            spent, bytes_ = rate.hours(steps), rate.disk(examples)
            hours, disk = hours + spent, disk + bytes_
            lines.append(f"      {examples:,} examples: {planned_as}, {spent:,.1f} hours, {bytes_ / 1e9:.1f} GB")
    if costs:
        free = shutil.disk_usage(next(path for path in (folder, *folder.absolute().parents) if path.exists())).free
        lines += [
            f"  together {hours:,.0f} hours of training at the speed of this machine now, without probing",
            f"  {disk / 1e9:,.0f} GB of checkpoints and cached text, without word vectors; free: {free / 1e9:,.0f} GB",
        ]
    lines += [f"  {name:<40} left out: {reason}" for name, reason in study.left_out.items()]
    return "\n".join(lines)


def steps_of(trainer: Mapping[str, Any], examples: int, rate: MeasuredStep) -> tuple[int, str]:
    """The steps of a run, of one epoch where it has no end, and how they come about."""
    devices, limit, epochs = trainer["devices"], trainer["limit_train_batches"], trainer["max_epochs"]
    device_count = len(devices) if isinstance(devices, list) else devices if isinstance(devices, int) else 1
    world = max(1, device_count) * trainer.get("num_nodes", 1)  # each process has batches of its own
    epoch_steps = rate.steps(-(-examples // world))
    steps = min(epoch_steps, limit) if isinstance(limit, int) else int(epoch_steps * limit)
    max_steps = trainer.get("max_steps", -1)
    if 0 <= max_steps < steps * (epochs if epochs and epochs > 0 else max_steps + 1):
        return max_steps, f"{max_steps:,} steps"
    if not epochs or epochs < 0:
        return steps, f"{steps:,} steps an epoch without end"
    return steps * epochs, f"{steps:,} steps x {epochs} epochs"


def settings_of(cell: StudyCell) -> dict[str, Any]:
    """The composed settings of a cell. Raises InputError if they are invalid."""
    return _settings_of(cell.program, tuple(cell.overrides))


@cache  # a third of a second
def _settings_of(program: str, overrides: Sequence[str]) -> dict[str, Any]:
    return checked_settings(program, [fill_folder(text, "run", "RUN") for text in overrides])


def missing_requirements(cell: StudyCell) -> str:
    """What a cell needs and this machine does not have; empty if the cell can run."""
    absent: list[str] = []
    if cell.scores_objective:
        return ""
    try:
        settings = settings_of(cell)
        vectors = settings["embeddings"]["source"].get("path", "")
        if vectors is None:
            absent.append("embeddings.path=FILE")
        sources = [vectors]
        for suite in settings["suites"].values():
            group = settings[suite["settings"]]
            sources += [group.get("root"), *(group.get("paths") or [])]
        absent += [path for path in sources if path and not Path(path).exists()]
        build(settings["corpus"])
    except InputError as error:
        absent.append(in_one_line(error))
    return f"missing: {'; '.join(absent)}" if absent else ""
