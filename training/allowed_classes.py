"""Which classes the settings of a run may name: a run folder from somebody else must not execute code."""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import FunctionType
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
from probes.classifiers.grid import Grid

SUITE = re.compile(r"(probes\.\w+\.(?:tasks|data))\.(\w+)")  # the two entry files of a suite
KINDS: dict[str, tuple[type, ...]] = {
    "datamodules": (Corpus, ResumableData, FromFile, Trained),
    "encoders": (Encoder,),
    "objectives": (Objective,),
    "probes": (Grid,),
}


def only_ours(config: DictConfig, path: Path | str, allow: Sequence[str] = ()) -> DictConfig:
    """The settings read from `path`, resolved. Raises InputError if they name a class that is not allowed.

    `allow`: packages of the user, with any class. Another class is not even imported. A value that OmegaConf would
    resolve again at its use is refused too.
    """
    try:
        settings = OmegaConf.to_container(config, resolve=True)
    except Exception as error:  # much cannot be resolved
        raise InputError(f"{path}: {in_one_line(error)}") from None
    for name, value in _values(settings):
        package = str(value).partition(".")[0]
        if name.endswith("_target_") and package not in allow and not _is_ours(str(value)):
            remedy = f"your own or a library's is allowed by allow=[{package}]"
            raise InputError(f"{path}: {name} is {value}; a run has only classes of this project; {remedy}")
        if "${" in str(value):
            raise InputError(f"{path}: {name} is {value}; the settings of a run are plain values")
    made = OmegaConf.create(settings)
    assert isinstance(made, DictConfig)
    return made


def _values(settings: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every single value with its full key."""
    if isinstance(settings, dict | list):
        inside = settings.items() if isinstance(settings, dict) else enumerate(settings)
        for key, value in inside:
            yield from _values(value, f"{name}.{key}".lstrip("."))
    else:
        yield name, settings


def _is_ours(target: str) -> bool:
    package, _, rest = target.partition(".")
    if package == "probes" and (found := SUITE.fullmatch(target)):
        return _is_of_suite(*found.groups())
    if package in KINDS:
        return class_in([package], target, KINDS[package]) is not None
    if target.startswith("torch.optim."):
        found = vars(torch.optim).get(rest.removeprefix("optim."))
        return isinstance(found, type) and issubclass(found, torch.optim.Optimizer)
    return target == "pytorch_lightning.Trainer"


def _is_of_suite(module: str, name: str) -> bool:
    """Whether a suite defines it: the function `tasks` of its tasks.py, or a class of its data.py."""
    try:
        found = vars(import_module(module)).get(name)
    except ImportError:
        return False
    kind = type if module.endswith(".data") else FunctionType
    return isinstance(found, kind) and found.__module__ == module and (kind is type or name == "tasks")
