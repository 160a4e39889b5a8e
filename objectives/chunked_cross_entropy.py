"""Cross-entropy over a large vocabulary, computed in chunks: never all logits in memory."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

# Logits in memory at a time: 32 and 256 MB in float32. Smaller chunks lose time adding up the gradient of the weights.
CHUNK_LOGITS = {"cpu": 1 << 23, "cuda": 1 << 26}


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Sum of token losses; the gradient of each chunk is computed together with its loss.

    Under autocast only the products have lower precision; biases, softmax, sums and the weight gradient stay float32.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
        kind = hidden.device.type
        narrow = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype
        total = bias.new_zeros(())
        grads = [torch.zeros_like(t) for t in (hidden, weight, bias)]
        states, output = hidden.to(narrow), weight.to(narrow)
        rows = _rows(weight)
        with torch.autocast(kind, enabled=False):
            for first in range(0, len(hidden), rows):
                h, g = states[first : first + rows], gold[first : first + rows]
                logits = torch.mm(h, output.t()).to(bias.dtype).add_(bias)  # (rows, V)
                log_probabilities = logits.log_softmax(1)
                total -= log_probabilities.gather(1, g[:, None]).sum()
                slope = log_probabilities.exp_()
                slope.scatter_add_(1, g[:, None], slope.new_full((len(g), 1), -1.0))
                grads[2].add_(slope.sum(0))
                slope = slope.to(narrow)
                grads[0][first : first + rows] = torch.mm(slope, output)
                if narrow == weight.dtype:
                    grads[1].addmm_(slope.t(), h)
                else:
                    grads[1].add_(torch.mm(slope.t(), h))
        ctx.save_for_backward(*grads)
        return total

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        return (*(grad * slopes[0] for grad in ctx.saved_tensors), None)


def cross_entropy_sum(hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
    """Summed cross-entropy, in nats, of `softmax(hidden @ weight.T + bias)` against `gold`.

    hidden `(N, H)`, weight `(V, H)`, bias `(V,)`, gold `(N,)`. Equal to
    `F.cross_entropy(..., reduction="sum")` in value and gradient; needs memory for one chunk instead of N x V.
    """
    if torch.is_grad_enabled():
        return _ChunkedCrossEntropy.apply(hidden, weight, bias, gold)
    rows = _rows(weight)
    parts = zip(hidden.split(rows), gold.split(rows), strict=True)
    scored = ((functional.linear(h, weight).to(bias.dtype).add_(bias), g) for h, g in parts)
    return torch.stack([functional.cross_entropy(logits, g, reduction="sum") for logits, g in scored]).sum()


@torch.no_grad()
def cross_entropies(hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
    """The cross-entropy (N,), in nats, of each token; arguments as of `cross_entropy_sum`."""
    rows = _rows(weight)
    parts = zip(hidden.split(rows), gold.split(rows), strict=True)
    scored = ((functional.linear(h, weight).to(bias.dtype).add_(bias), g) for h, g in parts)
    return torch.cat([functional.cross_entropy(logits, g, reduction="none") for logits, g in scored])


def _rows(weight: Tensor) -> int:
    """Of a chunk."""
    return max(1, CHUNK_LOGITS.get(weight.device.type, CHUNK_LOGITS["cuda"]) // weight.shape[0])
