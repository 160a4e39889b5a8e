"""Adam and RMSprop with L2, as torch has them, on lists of tensors without autograd."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

TensorList = list[Tensor]
ADAM: dict[str, Any] = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "amsgrad": False, "maximize": False}  # torch's
RMSPROP_RATE, RMSPROP_DECAY = 1e-2, 0.99  # torch's defaults


def adam(state: Sequence[TensorList], rate: float | Tensor = 1e-3, l2: float = 0.0) -> None:
    """A step in place. `state`: weights, gradients, their means and squares, and the steps of each with this one."""
    weights, gradients, means, squares, steps = state
    torch._fused_adam_(weights, gradients, means, squares, [], steps, lr=rate, weight_decay=l2, **ADAM)


def rmsprop(parameters: TensorList, gradients: TensorList, squares: TensorList, l2: float = 0.0) -> None:
    """A step in place, with torch's defaults."""
    slopes = list(torch._foreach_add(gradients, parameters, alpha=l2))
    torch._foreach_mul_(squares, RMSPROP_DECAY)
    torch._foreach_addcmul_(squares, slopes, slopes, value=1 - RMSPROP_DECAY)
    scale = list(torch._foreach_sqrt(squares))
    torch._foreach_add_(scale, 1e-8)
    torch._foreach_addcdiv_(parameters, slopes, scale, value=-RMSPROP_RATE)
