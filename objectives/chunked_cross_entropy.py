"""Cross-entropy over a large vocabulary, computed in chunks: never all logits in memory."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

# Logits in memory at a time: 64 and 256 MB in float32. Smaller chunks lose time adding up the gradient of the weights.
CHUNK_LOGITS = {"cpu": 1 << 24, "cuda": 1 << 26}
# A chunk is a multiple of this many tokens. Their number differs at each step, and in bfloat16 a CPU keeps a kernel of
# half a megabyte for every shape of a product.
ROWS = 64


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Sum of token losses; the gradient of each chunk is computed together with its loss.

    Under autocast only the products have lower precision; biases, softmax, sums and the weight gradient stay float32.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
        kind = hidden.device.type
        narrow = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype
        total = bias.new_zeros(())
        grads = [torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)]
        states, output = _whole_rows(hidden), weight.to(narrow)
        rows = min(_rows(weight), len(states))
        room = bias.new_empty(rows, len(weight))  # of all chunks, as new memory costs time
        with torch.autocast(kind, enabled=False):
            for first in range(0, len(hidden), rows):
                h, g = states[first : first + rows], gold[first : first + rows, None]
                real = len(g)
                scores = room[: len(h)]  # (rows, V)
                if narrow == scores.dtype:
                    torch.addmm(bias, h, output.t(), out=scores)
                else:
                    scores.copy_(torch.mm(h.to(narrow), output.t())).add_(bias)
                scores.sub_(scores.amax(1, keepdim=True))
                total -= scores[:real].gather(1, g).sum()
                sums = scores.exp_().sum(1, keepdim=True)  # (rows, 1)
                total += sums[:real].log().sum()
                scores[:real].scatter_add_(1, g, -sums[:real])  # now the gradient of the logits, times `sums`
                share = 1 / sums
                share[real:] = 0
                slope = scores.to(narrow)
                grads[0][first : first + real] = (torch.mm(slope, output) * share)[:real]
                _add_product(grads[1], slope.t(), (h * share).to(narrow))
                grads[2].add_(torch.mv(scores.t(), share[:, 0]))
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
    return cross_entropies(hidden, weight, bias, gold).sum()


@torch.no_grad()
def cross_entropies(hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
    """The cross-entropy (N,), in nats, of each token; arguments as of `cross_entropy_sum`."""
    rows = _rows(weight)
    parts = zip(_whole_rows(hidden).split(rows), gold.split(rows), strict=True)
    scored = ((functional.linear(h, weight)[: len(g)].to(bias.dtype).add_(bias), g) for h, g in parts)
    return torch.cat([functional.cross_entropy(logits, g, reduction="none") for logits, g in scored])


def _add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    if a.dtype == total.dtype:
        total.addmm_(a, b)
    else:
        total.add_(torch.mm(a, b))


def _whole_rows(hidden: Tensor) -> Tensor:
    """With rows of zeros at the end, so that their number is a multiple of ROWS."""
    return functional.pad(hidden, (0, 0, 0, -len(hidden) % ROWS))


def _rows(weight: Tensor) -> int:
    """Of a chunk, a multiple of ROWS."""
    chunk = CHUNK_LOGITS.get(weight.device.type, CHUNK_LOGITS["cuda"])
    return max(ROWS, chunk // len(weight) // ROWS * ROWS)
