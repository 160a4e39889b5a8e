"""The optimiser of a run is tried on small weights before anything is built: it trains here, or is refused."""

from collections.abc import Mapping
from functools import partial
from inspect import signature
from typing import Any

import torch
from torch import nn

from encoder_lab.errors import InputError
from encoder_lab.settings.build import build
from encoder_lab.settings.known import CLASS_KEY
from objectives.objective import MakeOptimizer

STEP_IMPLEMENTATIONS = {"fused", "foreach", "differentiable"}  # of which an optimiser of torch takes one


def trainable_optimizer(described: Mapping[str, Any], device: str) -> MakeOptimizer:
    """An optimiser that waits for its weights, `fused` where it can be. Raises InputError where it cannot train here.

    `described`: its settings, with the class as `_target_`.
    """
    if not (target := described.get(CLASS_KEY)):
        raise InputError(f"objective.optimizer={dict(described)}: give {CLASS_KEY} with it, as torch.optim.Adam")
    make: Any = build({**described, "_partial_": True})
    may_fuse = "fused" in signature(make.func).parameters and not STEP_IMPLEMENTATIONS & make.keywords.keys()
    if may_fuse and not _step_error(fused := partial(make, fused=True), device):
        return fused
    if error := _step_error(make, device):
        raise InputError(f"objective.optimizer.{_refused_setting(make.func, make.keywords, target)}: {error}")
    return make


def _step_error(make: MakeOptimizer, device: str = "cpu") -> Exception | None:
    """What two steps of an optimiser on a vector and a matrix raise; the matrix is of a part that the second trains."""
    weights = [nn.Parameter(torch.ones(shape, device=device)) for shape in ((2,), (2, 3))]
    try:
        optimizer = make(weights)
        for weight in weights:
            weight.grad = torch.ones_like(weight)
            optimizer.step()
    except Exception as error:  # torch checks its settings in many ways
        return error
    return None


def _refused_setting(make: Any, keywords: Mapping[str, Any], target: str) -> str:
    """The setting that is also refused alone; else the optimiser, which cannot train dense weights."""
    refused = (f"{key}={value}" for key, value in keywords.items() if _step_error(partial(make, **{key: value})))
    return f"_target_={target}" if _step_error(make) else next(refused, f"_target_={target} with these settings")
