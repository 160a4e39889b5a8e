"""Cross-entropy over a large vocabulary, computed in chunks: never all logits in memory."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

CHUNK_BYTES = {"cpu": 1 << 26, "cuda": 1 << 28}  # of logits in memory at a time
# A chunk is a multiple of this many tokens. Their number differs at each step, and a CPU may keep a kernel of half a
# megabyte for every shape of a product.
ROW_MULTIPLE = 64
PADDING = -100  # the class of tokens without a loss, as the library has it
PART_NUMBERS = {"cpu": 1 << 19, "cuda": 1 << 25}  # numbers in float32 at a time: on a CPU they stay in its cache


def cross_entropy_sum(hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
    """Summed cross-entropy, in nats, of `softmax(hidden @ weight.T + bias)` against `gold`.

    hidden `(N, H)`, weight `(V, H)`, bias `(V,)`, gold `(N,)`. Equal to
    `F.cross_entropy(..., reduction="sum")` in value and gradient; needs memory for one chunk instead of N x V.
    """
    if not torch.is_grad_enabled():
        return cross_entropies(hidden, weight, bias, gold).sum()
    return _ChunkedCrossEntropy.apply(*_pad_rows(hidden, gold), weight, bias)


@torch.no_grad()
def cross_entropies(hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
    """The cross-entropy (N,), in nats, of each token; arguments as of `cross_entropy_sum`."""
    parts = zip(*(tensor.split(_chunk_rows(weight)) for tensor in _pad_rows(hidden, gold)), strict=True)
    scored = ((functional.linear(h, weight).to(bias.dtype).add_(bias), g) for h, g in parts)
    losses = [functional.cross_entropy(logits, g, reduction="none") for logits, g in scored]
    return torch.cat(losses)[: len(gold)]


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Computes the gradients with the loss. Under autocast only the products have 16 bits.

    The library's `linear_cross_entropy` would also round loss and gradients to 16 bits, and on a CPU it multiplies in
    32; torch has it from 2.13 on.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, gold: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        device = hidden.device.type
        narrow, rows = torch.is_autocast_enabled(device), _chunk_rows(weight)
        dtype = torch.get_autocast_dtype(device) if narrow else weight.dtype
        states, output = hidden.to(dtype), weight.to(dtype)
        buffer = output.new_empty(min(rows, len(states)), len(output))
        product = torch.empty_like(output if narrow else bias)
        loss = bias.new_zeros(())
        grads = grad_hidden, grad_weight, grad_bias = [torch.zeros_like(tensor) for tensor in (hidden, weight, bias)]
        with torch.autocast(device, enabled=False):
            for h, g, grad in zip(*(tensor.split(rows) for tensor in (states, gold, grad_hidden)), strict=True):
                logits = torch.mm(h, output.t(), out=buffer[: len(h)])
                loss += _replace_by_gradients(logits, bias, g, grad_bias)
                grad.copy_(torch.mm(output.t(), logits.t()).t())  # faster than logits @ output
                if narrow:
                    torch.mm(logits.t(), h, out=product)
                    for part, product_part in zip(_split_rows(grad_weight), _split_rows(product), strict=True):
                        part.add_(product_part)
                else:
                    grad_weight.addmm_(logits.t(), h)
        ctx.save_for_backward(*grads)
        return loss

    @staticmethod
    def backward(ctx: Any, *grad_loss: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, bias = (grad.mul_(grad_loss[0]) for grad in ctx.saved_tensors)  # autograd refuses a second pass
        return hidden, None, weight, bias


def _replace_by_gradients(logits: Tensor, bias: Tensor, gold: Tensor, grad_bias: Tensor) -> Tensor:
    """The summed loss of some tokens. `logits` (n, V), without bias, become their gradients; adds to `grad_bias`."""
    loss = bias.new_zeros(())
    parts = _split_rows(logits)
    for part, g in zip(parts, gold.split(len(parts[0])), strict=True):
        scores = torch.add(part, bias).log_softmax(1)
        loss += functional.nll_loss(scores, g, reduction="sum", ignore_index=PADDING)
        real = (g != PADDING).to(scores)[:, None]
        probabilities = scores.exp_().mul_(real)
        grad = probabilities.scatter_add_(1, g.clamp_min(0)[:, None], -real)
        grad_bias.add_(grad.sum(0))
        part.copy_(grad)
    return loss


def _split_rows(matrix: Tensor) -> tuple[Tensor, ...]:
    return matrix.split(max(1, PART_NUMBERS.get(matrix.device.type, PART_NUMBERS["cuda"]) // matrix.shape[1]))


def _pad_rows(hidden: Tensor, gold: Tensor) -> tuple[Tensor, Tensor]:
    """With padding at the end, so that their number is a multiple of ROW_MULTIPLE."""
    padding = -len(hidden) % ROW_MULTIPLE
    return functional.pad(hidden, (0, 0, 0, padding)), functional.pad(gold, (0, padding), value=PADDING)


def _chunk_rows(weight: Tensor) -> int:
    """Of a chunk, a multiple of ROW_MULTIPLE."""
    chunk = CHUNK_BYTES.get(weight.device.type, CHUNK_BYTES["cuda"])
    return max(ROW_MULTIPLE, chunk // (len(weight) * weight.itemsize) // ROW_MULTIPLE * ROW_MULTIPLE)
