"""Dry run of a study: its commands, finished cells, and what is missing on this machine."""

import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from encoder_lab.errors import InputError, in_one_line
from encoder_lab.settings.build import build
from encoder_lab.settings.check import mistakes
from encoder_lab.studies.cell import ROOT, is_done
from encoder_lab.studies.compose import plain, referred
from encoder_lab.studies.plan import Study, StudyCell, placed

CONFIGS = ROOT / "configs"


class StepCost(Protocol):
    """The steps of a run, and what they take on this machine (encoder_lab/training/measure.py)."""

    def steps(self, examples: int) -> int: ...
    def hours(self, examples: int, epochs: int) -> float: ...
    def disk(self, examples: int) -> int: ...


MEASURED = ("encoder", "objective", "datamodule", "embeddings", "trainer")
Measure = Callable[[Mapping[str, Any]], StepCost]  # of composed settings


def preview(study: Study, folder: Path, measure: Measure | None) -> str:
    """The text of dry_run=true. Cells with the same encoder and objective are measured once."""
    counts = [f"{len(study.cells)} runs", *([f"evaluations: {len(study.evaluations)}"] if study.evaluations else [])]
    lines = [f"{study.name} at scale={study.scale}: {', '.join(counts)}, in {folder}"]
    known: dict[str, StepCost] = {}
    hours = disk = 0.0
    for cell in (*study.cells, *study.evaluations):
        state = "done" if is_done(cell, folder) else missing(cell) or "ready"
        lines.append(f"  {cell.name:<40} {state}")
        words = [placed(text, "run", folder / cell.scored) for text in cell.overrides]
        command = " ".join(shlex.quote(text) if "'" in text else text for text in words)
        lines.append(f"      python {cell.program}.py {command}")
        if cell.examples and measure:
            whole = composed(cell)
            config = {group: plain(whole[group]) for group in MEASURED}
            read = {**config["datamodule"], "target": None}
            key = str([config["encoder"], config["objective"], read, config["embeddings"]["freeze"]])
            rate = known[key] = known.get(key) or measure(config)
            epochs, steps = config["trainer"]["max_epochs"], rate.steps(cell.examples)
            spent, bytes_ = rate.hours(cell.examples, epochs), rate.disk(cell.examples)
            hours, disk = hours + spent, disk + bytes_
            lines.append(
                f"      {cell.examples:,} examples: {steps:,} steps x {epochs} epochs, {spent:,.1f} hours, "
                f"{bytes_ / 1e9:.1f} GB"
            )
    if known:
        free = shutil.disk_usage(next(path for path in (folder, *folder.absolute().parents) if path.exists())).free
        lines += [
            f"  together {hours:,.0f} hours of training at the speed of this machine now, without probing",
            f"  {disk / 1e9:,.0f} GB of checkpoints and cached text, without word vectors; free: {free / 1e9:,.0f} GB",
        ]
    lines += [f"  {place:<40} left out: {why}" for place, why in study.left_out.items()]
    return "\n".join(lines)


def composed(cell: StudyCell) -> DictConfig:
    """The composed configuration of a cell. Raises InputError or HydraException if it is invalid."""
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        overrides = [placed(text, "run", cell.scored) for text in cell.overrides]
        config = compose(cell.program, overrides, return_hydra_config=True)
    known = [key for key in map(str, config) if key != "hydra" and not key.endswith("_name")]  # before it is run
    if wrong := mistakes(cell.program, plain(OmegaConf.masked_copy(config, known)), referred(config)):
        raise InputError("; ".join(wrong))
    return config


def missing(cell: StudyCell) -> str:
    """What a cell needs and this machine does not have; empty if the cell can run."""
    found = []
    try:
        config = composed(cell)
        if config.embeddings.source.get("path", "") is None:
            found.append("embeddings.path=FILE")
        sources = [config.embeddings.source.get("path")]
        for suite in (config.get("suites") or {}).values():
            settings = config[suite.settings]
            sources += [settings.get("root"), *(settings.get("paths") or [])]
        found += [path for path in sources if path and not Path(path).exists()]
        build(plain(config.corpus))
    except (InputError, HydraException) as error:
        found.append(in_one_line(error))
    return f"missing: {'; '.join(found)}" if found else ""
