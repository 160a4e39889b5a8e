"""The parts of a study: one run for each cell of its axes, their evaluations, and the reports."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import OmegaConf

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import unknown_name_message
from encoder_lab.settings.quoting import quoted
from encoder_lab.settings.without_effect import unread_settings

SECTIONS = ("axes", "scales", "examples", "evaluations", "reports")  # of the YAML of a study
SCALES = ("demo", "small", "medium", "paper")
OBJECTIVE_SUITE = "suite=objective"
ALLOW_SETTING = "allow"  # the setting with the packages of a user's own parts, which each command must give
# settings of both train.py and evaluate.py
SHARED_SETTINGS = ("corpus", "embeddings", "probes", "seed", "cache", ALLOW_SETTING)


class StudyCell(NamedTuple):
    """One run or one evaluation: its place in the study's folder and its settings."""

    name: str  # e.g. nmt_enfr/bilstm_max, evaluations/downstream/nmt_enfr/bilstm_max
    overrides: list[str]
    examples: int = 0  # per epoch, if the study states it
    program: str = "train"  # or evaluate
    scored: str = ""  # the run that an evaluation scores, if it scores one

    @property
    def scores_objective(self) -> bool:
        """Whether an evaluation scores the run's own objective, which has the settings and the folder of the run."""
        return OBJECTIVE_SUITE in self.overrides


class Study(NamedTuple):
    """A study at one scale."""

    name: str
    scale: str
    cells: list[StudyCell]
    evaluations: list[StudyCell]
    left_out: dict[str, str]  # cells that this scale does not have, and why
    reports: list[list[str]]  # arguments of report.py; {runs} and {study} stand for the folders


def read_study(path: Path, name: str, scale: str, data: str, extra: list[str]) -> Study:
    """The cells of a study at one scale; `data` is the folder of the corpora, `extra` settings go to every run.

    An axis maps labels to settings; a scale may have more axes. It has settings for `every` cell, for the cells of some
    labels, and for names that begin so (`nli/bilstm_last`); null instead of settings leaves these cells out.
    """
    settings: Any = OmegaConf.to_container(OmegaConf.load(path))
    _refuse_unknown(f"{path}", settings, SECTIONS)
    if scale not in settings["scales"]:
        raise InputError(f"scale={scale}: {name} has {', '.join(settings['scales'])}")
    scale_settings = dict(settings["scales"][scale] or {})
    axes = settings["axes"] | scale_settings.pop("axes", {})
    axes = {axis: {str(label): words for label, words in choices.items()} for axis, choices in axes.items()}
    for place in ("evaluations", "reports"):
        _refuse_unknown(f"{path}: {place}", settings.get(place, {}), ["every", *settings["scales"]])
    _refuse_unknown(f"{path}: scales.{scale}", scale_settings, names := _names_in(axes))
    _refuse_unknown(f"{path}: examples", settings.get("examples", {}), names)
    choices_of_axes = [words or "" for axis in axes.values() for words in axis.values()]
    varied = {word.partition("=")[0] for words in choices_of_axes for word in words.split()}
    for text in extra:
        if text.partition("=")[0] in varied:
            raise InputError(f"{text}: an axis of study={name} sets it, so cells would not be what their names say")
    cells, left_out = [], {}
    for labels in product(*axes.values()):
        cell_name = "/".join(labels)
        choices = [axis[label] or "" for axis, label in zip(axes.values(), labels, strict=True)]
        scaled = [scale_settings[key] for key in _names_of(labels) if key in scale_settings]
        if None in scaled:
            left_out[cell_name] = f"the study has none at scale={scale}"
            continue
        overrides = _line_settings(" ".join([*choices, *scaled]), data, dict(zip(axes, labels, strict=True)))
        examples = settings.get("examples", {}).items() if scale == "paper" else ()
        stated = [number for label, number in examples if label in ("every", *labels)]
        cells.append(StudyCell(cell_name, [*overrides, *extra], *stated))
    scored = settings.get("evaluations", {}).get(scale, {}).items()
    for label, texts in scored:
        _refuse_unknown(f"{path}: evaluations.{scale}.{label}", [] if isinstance(texts, str) else texts, names)
    evaluations = [_evaluation_cells(label, texts, list(axes), data, cells, extra) for label, texts in scored]
    reports = [report.split() for key in ("every", scale) for report in settings.get("reports", {}).get(key, [])]
    return Study(name, scale, cells, [cell for group in evaluations for cell in group], left_out, reports)


def _names_of(labels: Sequence[str]) -> list[str]:
    """The names under which a study has settings of a cell, the general ones first."""
    return ["every", *labels, *("/".join(labels[:count]) for count in range(2, len(labels) + 1))]


def _names_in(axes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for labels in product(*axes.values()) for name in _names_of(labels)))


def _refuse_unknown(place: str, keys: Iterable[Any], names: Iterable[str]) -> None:
    """Raises InputError for a key that would have no effect."""
    known = list(names)
    if unknown := [str(key) for key in keys if str(key) not in known]:
        raise InputError(f"{place}: {unknown[0]}: {unknown_name_message('name', unknown[0], known)}")


def fill_folder(text: str, placeholder: str, folder: object) -> str:
    """A setting with paths in a folder instead of {placeholder} and what follows it, in quotes where they need them."""
    return re.sub(rf"\{{{placeholder}\}}([^,\]]*)", lambda match: quoted(f"{folder}{match[1]}"), text)


def _line_settings(text: str, data: str, names: Mapping[str, str]) -> list[str]:
    """The settings in a line of a study, with the labels of a cell and the folder of the corpora in their places."""
    words = [word.format(**names, data="{data}", run="{run}") for word in text.split()]
    return [fill_folder(word, "data", data) for word in words]


def _evaluation_cells(
    label: str, texts: Any, axes: Sequence[str], data: str, cells: list[StudyCell], extra: list[str]
) -> list[StudyCell]:
    """One evaluation, or one for each run if it contains {run}, where null instead of settings leaves runs out."""
    settings: dict[str, str | None] = {"every": texts} if isinstance(texts, str) else texts
    extra = [text for text in extra if text.split("=")[0].split(".")[0] in SHARED_SETTINGS]
    folder = f"evaluations/{label}"
    if not any("{run}" in (text or "") for text in settings.values()):
        overrides = _line_settings(settings["every"] or "", data, {})
        return [StudyCell(folder, [*overrides, *_settings_read_by(tuple(overrides), tuple(extra))], program="evaluate")]
    evaluations = []
    for cell in cells:
        labels = cell.name.split("/")
        scaled = [settings[key] for key in _names_of(labels) if key in settings]
        if None not in scaled:
            overrides = _line_settings(" ".join(map(str, scaled)), data, dict(zip(axes, labels, strict=True)))
            if OBJECTIVE_SUITE in overrides:  # it has the settings of the run
                overrides += [text for text in extra if text.startswith(f"{ALLOW_SETTING}=")]
            else:
                overrides += _settings_read_by(tuple(overrides), tuple(extra))
            evaluations.append(StudyCell(f"{folder}/{cell.name}", overrides, program="evaluate", scored=cell.name))
    return evaluations


@cache
def _settings_read_by(overrides: Sequence[str], extra: Sequence[str]) -> list[str]:
    if not extra:
        return []
    from encoder_lab.studies.compose import compose_config, resolved_settings  # Hydra, slowly

    texts = [fill_folder(text, "run", "RUN") for text in (*overrides, *extra)]
    settings = resolved_settings(compose_config("evaluate", texts))
    idle = [pattern for pattern, _ in unread_settings("evaluate", settings)]
    return [text for text in extra if not any(re.fullmatch(pattern, text.split("=")[0]) for pattern in idle)]
