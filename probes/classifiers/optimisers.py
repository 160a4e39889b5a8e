"""Adam and RMSprop with L2, as torch has them, on lists of tensors without autograd."""

import torch
from torch import Tensor

RMSPROP_RATE, RMSPROP_DECAY = 1e-2, 0.99  # torch's defaults


def adam(
    parameters: list[Tensor],
    gradients: list[Tensor],
    means: list[Tensor],
    squares: list[Tensor],
    steps: list[Tensor],
    rate: float = 1e-3,
    l2: float = 0.0,
) -> None:
    """A step in place; `steps`: how many each tensor has had with this one, as a number in a tensor."""
    torch._fused_adam_(
        parameters,
        gradients,
        means,
        squares,
        [],
        steps,
        lr=rate,
        beta1=0.9,
        beta2=0.999,
        weight_decay=l2,
        eps=1e-8,
        amsgrad=False,
        maximize=False,
    )


def rmsprop(parameters: list[Tensor], gradients: list[Tensor], squares: list[Tensor], l2: float = 0.0) -> None:
    """A step in place, with torch's defaults."""
    slopes = list(torch._foreach_add(gradients, parameters, alpha=l2))
    torch._foreach_mul_(squares, RMSPROP_DECAY)
    torch._foreach_addcmul_(squares, slopes, slopes, value=1 - RMSPROP_DECAY)
    scale = list(torch._foreach_sqrt(squares))
    torch._foreach_add_(scale, 1e-8)
    torch._foreach_addcdiv_(parameters, slopes, scale, value=-RMSPROP_RATE)
