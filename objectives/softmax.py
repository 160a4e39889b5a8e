"""The loss over a large vocabulary without ever holding all its logits."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

CHUNK_LOGITS = 1 << 22  # logits held at a time: 16 MB in float32


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Sum of token losses; the gradient of each chunk is taken while its logits are at hand."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
        total = hidden.new_zeros(())
        grads = [torch.zeros_like(t) for t in (hidden, weight, bias)]
        rows = max(1, CHUNK_LOGITS // weight.shape[0])
        for first in range(0, len(hidden), rows):
            h, g = hidden[first : first + rows], gold[first : first + rows]
            log_probabilities = torch.addmm(bias, h, weight.t()).log_softmax(1)  # (rows, V)
            total -= log_probabilities.gather(1, g[:, None]).sum()
            slope = log_probabilities.exp_()
            slope.scatter_add_(1, g[:, None], slope.new_full((len(g), 1), -1.0))
            torch.mm(slope, weight, out=grads[0][first : first + rows])
            grads[1].addmm_(slope.t(), h)
            grads[2].add_(slope.sum(0))
        ctx.save_for_backward(*grads)
        return total

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        return (*(grad * slopes[0] for grad in ctx.saved_tensors), None)


def cross_entropy_sum(hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
    """Summed cross-entropy, in nats, of `softmax(hidden @ weight.T + bias)` against `gold`.

    hidden `(N, H)`, weight `(V, H)`, bias `(V,)`, gold `(N,)`. Equal to
    `F.cross_entropy(..., reduction="sum")` in value and gradient, in memory of one chunk instead of N x V.
    """
    if torch.is_grad_enabled():
        return _ChunkedCrossEntropy.apply(hidden, weight, bias, gold)
    rows = max(1, CHUNK_LOGITS // weight.shape[0])
    parts = zip(hidden.split(rows), gold.split(rows), strict=True)
    losses = [functional.cross_entropy(functional.linear(h, weight, bias), g, reduction="sum") for h, g in parts]
    return torch.stack(losses).sum()
