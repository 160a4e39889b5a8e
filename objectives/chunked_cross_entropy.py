"""Cross-entropy over a large vocabulary, computed in chunks: never all logits in memory."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

# Bytes of logits in memory at a time. The gradient of the weights is added up once for each of these chunks.
CHUNK_BYTES = {"cpu": 1 << 26, "cuda": 1 << 28}
# A chunk is a multiple of this many tokens. Their number differs at each step, and a CPU may keep a kernel of half a
# megabyte for every shape of a product.
ROWS = 64
# Numbers that are converted to full precision at a time: on a CPU so few that they stay in its cache.
PART = {"cpu": 1 << 19, "cuda": 1 << 25}


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Sum of token losses; the gradient of each chunk is computed together with its loss.

    Under autocast only the products have lower precision; biases, softmax, sums and the weight gradient stay float32.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
        kind = hidden.device.type
        narrow = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype
        states, output = _whole_rows(hidden), weight.to(narrow)
        rows = min(_rows(output), len(states))
        # Of all chunks, as new memory costs time: logits, and where the weights' gradient has another type its product.
        room = output.new_empty(rows, len(output))
        product = None if narrow == weight.dtype else torch.empty_like(output)
        total = bias.new_zeros(())
        grads = [torch.empty_like(hidden), torch.empty_like(weight), torch.zeros_like(bias)]
        with torch.autocast(kind, enabled=False):
            for first in range(0, len(states), rows):
                chunk = slice(first, first + rows)
                h, g = states[chunk].to(narrow), gold[chunk]
                logits = torch.mm(h, output.t(), out=room[: len(h)])
                total += _to_gradients(logits, bias, g, grads[2])
                grads[0][chunk] = torch.mm(output.t(), logits.t()).t()[: len(g)]  # faster than logits @ output
                _add_product(grads[1], logits.t(), h, product, first == 0)
        ctx.save_for_backward(*grads)
        return total

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        return (*(grad.mul_(slopes[0]) for grad in ctx.saved_tensors), None)  # autograd refuses a second pass


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


def _to_gradients(logits: Tensor, bias: Tensor, gold: Tensor, of_bias: Tensor) -> Tensor:
    """The summed loss of some tokens. `logits` (rows, V), without bias, become its gradients with respect to them.

    Rows after those of `gold` (N,) are padding; their gradients are zero. The bias's (V,) are added to `of_bias`.
    """
    few = max(1, _at_a_time(logits) // logits.shape[1])
    total = bias.new_zeros(())
    rooms = bias.new_empty(2, min(few, len(logits)), logits.shape[1])
    for part, g in zip(logits[: len(gold)].split(few), gold[:, None].split(few), strict=True):
        scores, likely = rooms[:, : len(part)]
        scores.copy_(part).add_(bias)
        torch.softmax(scores, 1, out=likely)
        # The logarithm of the sum of exponentials, by way of the likeliest symbol: its probability is never tiny.
        total += (scores.amax(1) - likely.amax(1).log() - scores.gather(1, g)[:, 0]).sum()
        likely.scatter_add_(1, g, likely.new_full((1, 1), -1.0).expand_as(g))
        of_bias.add_(likely.sum(0))
        part.copy_(likely)
    logits[len(gold) :] = 0
    return total


def _add_product(total: Tensor, a: Tensor, b: Tensor, room: Tensor | None, is_first: bool) -> None:
    """Add a @ b to `total` (V, H), or write it there. `room` (V, H): for the product, where its type is another."""
    if room is None:
        total.addmm_(a, b, beta=0 if is_first else 1)
        return
    rows = max(1, _at_a_time(total) // total.shape[1])  # as a sum of two types first copies one of them
    for part, product in zip(total.split(rows), torch.mm(a, b, out=room).split(rows), strict=True):
        part.copy_(product) if is_first else part.add_(product)


def _whole_rows(hidden: Tensor) -> Tensor:
    """With rows of zeros at the end, so that their number is a multiple of ROWS."""
    return functional.pad(hidden, (0, 0, 0, -len(hidden) % ROWS))


def _at_a_time(numbers: Tensor) -> int:
    return PART.get(numbers.device.type, PART["cuda"])


def _rows(weight: Tensor) -> int:
    """Of a chunk, a multiple of ROWS."""
    chunk = CHUNK_BYTES.get(weight.device.type, CHUNK_BYTES["cuda"])
    return max(ROWS, chunk // (len(weight) * weight.itemsize) // ROWS * ROWS)
