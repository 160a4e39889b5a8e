"""Which classes the settings of a run may name: whoever sends a run's folder must not send code with it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig, OmegaConf

from common.errors import InputError, in_one_line
from datamodules.base import ResumableData
from datamodules.corpus import Corpus
from datamodules.word_vectors.store import FromFile, Trained
from encoders.encoder import Encoder
from encoders.load import class_in
from objectives.objective import Objective
from probes.classifiers.classifier import Grid
from probes.probing.data import FromCorpus, FromSentEval, FromTrees, Nowhere

KINDS: dict[str, tuple[type, ...]] = {
    "datamodules": (Corpus, ResumableData, FromFile, Trained),
    "encoders": (Encoder,),
    "objectives": (Objective,),
    "probes": (FromCorpus, FromTrees, FromSentEval, Nowhere, Grid),
}


def only_ours(config: DictConfig, path: Path) -> DictConfig:
    """The settings read from `path`, resolved. Raises InputError where they name what is none of the above.

    A foreign class is not even looked up; nor is a text accepted that would be resolved once more when it is used.
    """
    try:
        settings = OmegaConf.to_container(config, resolve=True)
    except Exception as error:  # much cannot be resolved
        raise InputError(f"{path}: {in_one_line(error)}") from None
    for name, value in _values(settings):
        if name.endswith("_target_") and not _is_ours(str(value)):
            raise InputError(f"{path}: {name} is {value}; a run is continued with parts of this project alone")
        if "${" in str(value):
            raise InputError(f"{path}: {name} is {value}; the settings of a run are plain values")
    made = OmegaConf.create(settings)
    assert isinstance(made, DictConfig)
    return made


def _values(settings: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every single value by its whole name."""
    if isinstance(settings, dict | list):
        inside = settings.items() if isinstance(settings, dict) else enumerate(settings)
        for key, value in inside:
            yield from _values(value, f"{name}.{key}".lstrip("."))
    else:
        yield name, settings


def _is_ours(target: str) -> bool:
    package, _, rest = target.partition(".")
    if package in KINDS:
        return class_in(package, target, KINDS[package]) is not None
    if target.startswith("torch.optim."):
        found = vars(torch.optim).get(rest.removeprefix("optim."))
        return isinstance(found, type) and issubclass(found, torch.optim.Optimizer)
    return target == "pytorch_lightning.Trainer"
