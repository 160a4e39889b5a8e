"""The classes that the settings of a run may name: a run folder of another user must not execute code."""

import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

import torch

from datamodules.base import ResumableData
from datamodules.corpus import Corpus
from datamodules.word_vectors.store import FromFile, Trained
from encoder_lab.errors import IMPORT_REMEDY, InputError
from encoder_lab.settings.run_settings import leaves
from encoder_lab.training.schedules import RateSchedule
from encoders.encoder import Encoder
from encoders.load import import_class
from objectives.objective import Objective
from probes.classifiers.grid import Grid

SUITE_TARGET = re.compile(r"(probes\.\w+\.(?:tasks|data))\.(\w+)")  # the two entry files of a suite
# a part of objective=multitask, which has the settings of a run too; the end of the name of a setting
PART_OR_TARGET = re.compile(r"^(?:parts|(?:objective|datamodule)\.settings)\.\w+\.|\._target_$")
# by the setting: the package and base classes of its class
ALLOWED_CLASSES: dict[str, tuple[str, tuple[type, ...]]] = {
    "corpus": ("datamodules", (Corpus,)),
    "datamodule": ("datamodules", (ResumableData,)),
    "embeddings.source": ("datamodules", (FromFile, Trained)),
    "encoder": ("encoders", (Encoder,)),
    "objective": ("objectives", (Objective,)),
    "probes.classifier": ("probes", (Grid,)),
    "schedule": ("encoder_lab.training", (RateSchedule,)),
}


def refuse_foreign_classes(settings: Mapping[str, Any], path: Path | str, allow: Sequence[str] = ()) -> None:
    """Raises InputError if the settings read from `path` name a class that is not allowed.

    `allow`: packages of the user, with any class. Another class is not even imported. A value that would be computed
    is refused too.
    """
    for name, value in leaves(settings):
        package = str(value).partition(".")[0]
        setting = PART_OR_TARGET.sub("", name)
        if name.endswith("_target_") and package not in allow and not _is_allowed(setting, str(value)):
            remedy = f"your own or a library's is allowed by allow=[{package}]"
            raise InputError(f"{path}: {name} is {value}; a run has only classes of this project there; {remedy}")
        if name.endswith("_target_") and package not in sys.modules and find_spec(package) is None:
            raise InputError(f"{path}: {name} is {value}: Python finds no {package}; {IMPORT_REMEDY}")
        if "${" in str(value):
            raise InputError(f"{path}: {name} is {value}; the settings of a run are plain values; rename it")


def _is_allowed(setting: str, target: str) -> bool:
    if setting in ALLOWED_CLASSES:
        package, bases = ALLOWED_CLASSES[setting]
        return import_class([package], target, bases) is not None
    if setting == "objective.optimizer":
        optimizer = vars(torch.optim).get(target.removeprefix("torch.optim."))
        return isinstance(optimizer, type) and issubclass(optimizer, torch.optim.Optimizer)
    if setting == "trainer":
        return target == "pytorch_lightning.Trainer"
    suite = SUITE_TARGET.fullmatch(target)
    if suite is None or not (setting == "probes.source" or re.fullmatch(r"suites\.\w+", setting)):
        return False
    return suite[1].endswith(".data" if setting == "probes.source" else ".tasks") and _suite_defines(*suite.groups())


def _suite_defines(module: str, name: str) -> bool:
    """Whether a suite defines it: the function `tasks` of its tasks.py, or a class of its data.py."""
    try:
        value = vars(import_module(module)).get(name)
    except ImportError:
        return False
    expected = type if module.endswith(".data") else FunctionType
    return isinstance(value, expected) and value.__module__ == module and (expected is type or name == "tasks")
