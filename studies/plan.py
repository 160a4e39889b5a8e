"""What a study consists of: one run for each cell of its axes, what scores them, and the reports made of both."""

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import OmegaConf

from common.errors import InputError

SCALES = ("demo", "small", "paper")
SHARED = ("corpus", "embeddings", "probes", "seed", "cache")  # settings that evaluate.py has as train.py has them


class Cell(NamedTuple):
    """One run or one evaluation: its place in the study's folder and the settings that make it."""

    name: str  # e.g. nmt_enfr/bilstm_max, evaluations/downstream/nmt_enfr/bilstm_max
    overrides: list[str]
    examples: int = 0  # of an epoch, where the study states it
    program: str = "train"  # or evaluate
    scored: str = ""  # the run that an evaluation is about, if it is about one


class Study(NamedTuple):
    """A study at one scale."""

    name: str
    scale: str
    cells: list[Cell]
    evaluations: list[Cell]
    left_out: dict[str, str]  # cells that this scale cannot have, and why
    reports: list[list[str]]  # arguments of report.py; {runs} and {study} stand for the folders


def is_study(path: Path) -> bool:
    """Whether a file of configs/experiment/ describes a study, not one run."""
    return path.is_file() and "axes" in OmegaConf.load(path)


def read_study(path: Path, name: str, scale: str, data: str, more: list[str]) -> Study:
    """The cells of a study at one scale; `data` is the folder of the corpora, `more` goes to every run.

    An axis maps labels to settings; a scale has settings for `every` cell and for those with some label. null
    instead of settings leaves the cells of that label out.
    """
    settings: Any = OmegaConf.to_container(OmegaConf.load(path))
    if scale not in settings["scales"]:
        raise InputError(f"scale={scale}: {name} has {', '.join(settings['scales'])}")
    wanted = settings["scales"][scale] or {}
    cells, left_out = [], {}
    for labels in product(*({k: v or "" for k, v in axis.items()} for axis in settings["axes"].values())):
        place = "/".join(labels)
        own = [axis[label] for axis, label in zip(settings["axes"].values(), labels, strict=True)]
        scaled = [wanted[key] for key in ("every", *labels) if key in wanted]
        if None in scaled:
            left_out[place] = f"the study has none at scale={scale}"
            continue
        names = dict(zip(settings["axes"], labels, strict=True)) | {"data": data}
        overrides = [text.format(**names) for text in " ".join([*own, *scaled]).split()]
        stated = [n for label, n in settings.get("examples", {}).items() if label in labels and scale == "paper"]
        cells.append(Cell(place, [*overrides, *more], *stated))
    evaluations = [
        evaluation
        for label, text in settings.get("evaluations", {}).get(scale, {}).items()
        for evaluation in _evaluations(label, text.replace("{data}", data).split(), cells, more)
    ]
    reports = settings.get("reports", {})
    return Study(
        name,
        scale,
        cells,
        evaluations,
        left_out,
        [report.split() for key in ("every", scale) for report in reports.get(key, [])],
    )


def _evaluations(label: str, overrides: list[str], cells: list[Cell], more: list[str]) -> list[Cell]:
    """One evaluation, or one of each run if it names {run}."""
    overrides = overrides + [text for text in more if text.split("=")[0].split(".")[0] in SHARED]
    place = f"evaluations/{label}"
    if not any("{run}" in text for text in overrides):
        return [Cell(place, overrides, program="evaluate")]
    return [Cell(f"{place}/{cell.name}", overrides, program="evaluate", scored=cell.name) for cell in cells]
