"""Whether a checkpoint holds what Lightning restores: the file may be whole and its content wrong."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from packaging.version import InvalidVersion, Version
from torch import Tensor

from encoder_lab.errors import InputError
from encoders.load import interchangeable, read_checkpoint
from objectives.objective import Objective

MAX_COUNT = 2**53
CALLBACK_PACKAGES = ("encoder_lab.", "probes.")  # packages with callbacks that keep the types of their states
MIN_VERSION = Version("2")  # of Lightning: older checkpoints would be rewritten first
VERSION_KEY = "pytorch-lightning_version"
SAMPLE_SIZES = (2, 3, 5, 7, 11)  # of a sample weight; all differ, so that a size identifies its dimension


def read_resumable(path: Path, trainer: pl.Trainer, module: Objective) -> dict[str, Any]:
    """The checkpoint at `path`. Raises InputError, with the name of the part, if this run could not have written it."""
    checkpoint = read_checkpoint(path)
    if mismatch := _first_mismatch(checkpoint, trainer, module):
        raise InputError(f"{path}: not a checkpoint of this run ({mismatch} is missing, or not what it should be)")
    return checkpoint


def _first_mismatch(checkpoint: Mapping[str, Any], trainer: pl.Trainer, module: Objective) -> str | None:
    weights = {name: value.detach() for name, value in module.state_dict().items()}
    stored = checkpoint["state_dict"]
    if stored.keys() != weights.keys() or any(not interchangeable(weights[name], stored[name]) for name in weights):
        return "state_dict"
    if not _is_version(checkpoint.get(VERSION_KEY)):
        return VERSION_KEY
    expected = {"epoch": 0, "global_step": 0, "callbacks": {}, "lr_schedulers": []}
    if mismatch := _mismatch(expected | {"loops": {"fit_loop": trainer.fit_loop.state_dict()}}, checkpoint, ""):
        return mismatch
    callbacks: list[pl.Callback] = trainer.callbacks  # type: ignore[attr-defined]
    states = {c.state_key: c.state_dict() for c in callbacks if type(c).__module__.startswith(CALLBACK_PACKAGES)}
    for key, state in checkpoint["callbacks"].items():
        if not isinstance(state, dict) or (mismatch := _mismatch(states.get(key, {}), state, "")):
            return f"callbacks.{str(key)[:40]}"
        if "best_k_models" in state and not _has_best_checkpoint(state):
            return "callbacks.best_k_models"
    return _optimizer_mismatch(checkpoint.get("optimizer_states"), module) or _other_mismatch(checkpoint)


def _has_best_checkpoint(state: Mapping[str, Any]) -> bool:
    """Whether a ModelCheckpoint can compare a new score: the worst checkpoint must be among those that it has."""
    best = state["best_k_models"]
    scores = isinstance(best, dict) and all(isinstance(score, Tensor) and score.dim() == 0 for score in best.values())
    return scores and state.get("kth_best_model_path") in (*best, "")


def _mismatch(expected: Any, stored: Any, name: str) -> str | None:
    """The first part of `stored` that is missing or of another type than in `expected`."""
    if isinstance(expected, dict):
        if not isinstance(stored, dict):
            return name or "it"
        parts = ((key, f"{name}.{key}".lstrip(".")) for key in expected)
        mismatches = (_mismatch(expected[key], stored[key], path) if key in stored else path for key, path in parts)
        return next(filter(None, mismatches), None) or (name or "it" if not _is_safe(stored) else None)
    if isinstance(expected, Tensor):
        matches = isinstance(stored, Tensor) and stored.shape == expected.shape
    elif expected is None:
        matches = stored is None or (isinstance(stored, int | float | Tensor) and _is_safe(stored))
    elif type(expected) is int:
        matches = type(stored) is int and 0 <= stored < MAX_COUNT
    else:
        matches = type(stored) is type(expected) and _is_safe(stored)
    return None if matches else name


def _is_safe(value: Any) -> bool:
    """Whether counts are in range and paths have no `..`: Lightning deletes the checkpoints that it replaces."""
    if isinstance(value, dict):
        return all(_is_safe(key) and _is_safe(part) for key, part in value.items())
    if isinstance(value, str):
        return ".." not in Path(value).parts
    return type(value) is not int or abs(value) < MAX_COUNT


def _is_version(text: Any) -> bool:
    try:
        return isinstance(text, str) and Version(text) >= MIN_VERSION
    except InvalidVersion:
        return False


def _optimizer_mismatch(states: Any, module: Objective) -> str | None:
    """Whether the state of the optimizer fits the weights; one that was never trained, as of a part, has none."""
    optimizer = module.configure_optimizers()
    expected = optimizer.state_dict()["param_groups"]
    if not isinstance(states, list) or len(states) != 1 or not isinstance(states[0], dict):
        return "optimizer_states"
    state, groups = states[0].get("state"), states[0].get("param_groups")
    if not isinstance(groups, list) or len(groups) != len(expected) or not isinstance(state, dict):
        return "optimizer_states"
    for group, present in zip(groups, expected, strict=True):
        if not isinstance(group, dict) or group.get("params") != present["params"]:
            return "optimizer_states.param_groups"
        if any(not _same_type(present[key], group.get(key)) for key in present):
            return "optimizer_states.param_groups"
    if not type(optimizer).__module__.startswith("torch.optim."):  # one of the user may keep more after more steps
        return None
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    samples = {dim: _state_after_a_step(module, dim) for dim in {weight.dim() for weight in weights}}
    for index, values in state.items():
        if index not in range(len(weights)) or not isinstance(values, dict):
            return "optimizer_states.state"
        weight, sample = weights[index], samples[weights[index].dim()]
        same = not values or values.keys() == sample.keys()
        if not same or any(not _fits_weight(value, sample[name], weight) for name, value in values.items()):
            return "optimizer_states.state"
    return None


def _state_after_a_step(module: Objective, dim: int) -> dict[str, Any]:
    """What the optimizer keeps after a step for a weight of shape SAMPLE_SIZES[:dim]."""
    sample = torch.nn.Parameter(torch.zeros(SAMPLE_SIZES[:dim]))
    sample.grad = torch.zeros_like(sample)
    assert module.make_optimizer is not None
    optimizer = module.make_optimizer([sample])
    optimizer.step()
    return dict(optimizer.state_dict()["state"].get(0, {}))


def _fits_weight(value: Any, sample: Any, weight: Tensor) -> bool:
    """Whether a part of the state is to `weight` what `sample` is to a weight of the same number of dimensions."""
    if isinstance(sample, Tensor):
        sizes = dict(zip(SAMPLE_SIZES, weight.shape, strict=False)) | {1: 1}
        shape = [sizes[size] for size in sample.shape]
        return isinstance(value, Tensor) and interchangeable(sample.new_empty(()).expand(shape), value)
    if sample is None:
        return value is None
    return isinstance(value, int | float) and math.isfinite(value)


def _same_type(present: Any, stored: Any) -> bool:
    """Whether a stored setting of an optimizer has the type of the present one; numbers must be finite."""
    if isinstance(present, tuple | list):
        same_length = isinstance(stored, tuple | list) and len(stored) == len(present)
        return same_length and all(map(_same_type, present, stored))
    if isinstance(present, bool) or present is None:
        return stored is None or isinstance(stored, bool)
    if isinstance(present, int | float):
        return isinstance(stored, int | float) and not isinstance(stored, bool) and math.isfinite(stored)
    return type(present) is type(stored)


def _other_mismatch(checkpoint: Mapping[str, Any]) -> str | None:
    sums = checkpoint.get("train_sums", {})
    if not isinstance(sums, dict) or not all(_is_score_sum(name, pair) for name, pair in sums.items()):
        return "train_sums"
    progress = {"batches_done": 0, "processes": 1}  # of the data
    for name, state in checkpoint.items():
        if isinstance(state, dict) and "batches_done" in state and _mismatch(progress, state, name):
            return name
    return None


def _is_score_sum(name: Any, pair: Any) -> bool:
    numbers = isinstance(pair, list) and len(pair) == 2 and all(type(value) is float for value in pair)
    return isinstance(name, str) and numbers and 0 < pair[1] < MAX_COUNT
