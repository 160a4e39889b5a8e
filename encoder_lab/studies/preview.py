"""Dry run of a study: its commands, finished cells, and what is missing on this machine."""

import shlex
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from encoder_lab.errors import InputError, in_one_line
from encoder_lab.settings.build import build
from encoder_lab.settings.check import mistakes
from encoder_lab.studies.cell import ROOT, is_done
from encoder_lab.studies.compose import plain, referred
from encoder_lab.studies.estimate import hours, together
from encoder_lab.studies.plan import Study, StudyCell, placed

CONFIGS = ROOT / "configs"


def preview(study: Study, folder: Path) -> str:
    """The text of dry_run=true."""
    counts = [f"{len(study.cells)} runs", *([f"evaluations: {len(study.evaluations)}"] if study.evaluations else [])]
    lines = [f"{study.name} at scale={study.scale}: {', '.join(counts)}, in {folder}"]
    estimated: dict[str, dict[str, float]] = {}
    for cell in (*study.cells, *study.evaluations):
        state = "done" if is_done(cell, folder) else missing(cell) or "ready"
        lines.append(f"  {cell.name:<40} {state}")
        words = [placed(text, "run", folder / cell.scored) for text in cell.overrides]
        command = " ".join(shlex.quote(text) if "'" in text else text for text in words)
        lines.append(f"      python {cell.program}.py {command}")
        if cell.examples:
            config = composed(cell)
            choices, epochs = config.hydra.runtime.choices, config.trainer.max_epochs
            as_measured = config.encoder == OmegaConf.load(CONFIGS / "encoder" / f"{choices.encoder}.yaml")
            what = choices.encoder, choices.objective, cell.examples, epochs
            spent = estimated[cell.name] = hours(*what, ROOT / "benchmarks" / "results") if as_measured else {}
            for machine, number in spent.items():
                said = f"{cell.examples:,} examples, {epochs} epochs: {number:,.0f} hours on {machine}"
                lines.append(f"      {said}")
    lines += [f"  {said}" for said in together(estimated)]
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
