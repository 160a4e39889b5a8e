"""The steps of LSTM layers with gradients on a CPU.

PyTorch's layer multiplies inputs and states in one kernel. Here the products with the inputs are the caller's: one for
all steps, and what does not change from step to step, as a sentence vector, is multiplied once a sentence. In bfloat16
the steps take less time than PyTorch's, in 32 bits as much.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


def stays_wide(device: str) -> bool:
    """Whether recurrent layers compute in float32 under autocast."""
    return device == "cuda" or not torch.ops.mkldnn._is_mkldnn_bf16_supported()


def has_own_steps(layer: nn.Module, inputs: Tensor) -> bool:
    """Whether the steps of a layer are taken here: those of an LSTM on a CPU in training."""
    on_cpu = inputs.device.type == "cpu" and not (torch.is_autocast_enabled("cpu") and stays_wide("cpu"))
    traced = torch.jit.is_tracing() or torch.compiler.is_compiling()
    return isinstance(layer, nn.LSTM) and on_cpu and torch.is_grad_enabled() and not traced


def lstm_states(gates: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    """States (K, T, B, H) of K layers side by side, from zero states.

    `gates`: what the inputs and biases of each layer add to its gates (T, B, 4 H), in PyTorch's order; `weights`: of
    its states (4 H, H). Products have the precision of `gates`, sums and cells at least 32 bits.
    """
    return _Steps.apply(*gates, *(weight.to(gates[0].dtype) for weight in weights))


class _Steps(torch.autograd.Function):
    """Hochreiter and Schmidhuber's cell with a forget gate, forward and backward step by step."""

    @staticmethod
    @torch.autocast("cpu", enabled=False)
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        gates, weights = tensors[: len(tensors) // 2], tensors[len(tensors) // 2 :]
        layers, (steps, rows, _), dim = len(gates), gates[0].shape, weights[0].shape[1]
        narrow, wide = gates[0].dtype, torch.promote_types(gates[0].dtype, torch.float32)
        active = torch.empty(layers, steps, rows, 4 * dim, dtype=wide)
        cells = torch.zeros(layers, steps + 1, rows, dim, dtype=wide)
        squashed = torch.empty(layers, steps, rows, dim, dtype=wide)
        states = torch.zeros(layers, steps + 1, rows, dim, dtype=narrow)
        less = torch.tensor(-1.0, dtype=wide)
        for step in range(steps):
            now, cell = active[:, step], cells[:, step + 1]
            for layer, weight in enumerate(weights):
                _write(now[layer], torch.addmm, gates[layer][step], states[layer, step], weight.t())
            new = now[..., 2 * dim : 3 * dim]
            new.add_(new)
            into, kept, new, out = now.sigmoid_().split(dim, 2)
            torch.add(less, new, alpha=2, out=new)  # tanh(x) is 2 sigmoid(2x) - 1, in a third of the time
            torch.mul(kept, cells[:, step], out=cell).addcmul_(into, new)
            tanh = torch.add(cell, cell, out=squashed[:, step]).sigmoid_()
            torch.add(less, tanh, alpha=2, out=tanh)
            torch.mul(out, tanh, out=states[:, step + 1])
        ctx.save_for_backward(active, cells, squashed, states, *weights)
        return states[:, 1:]

    @staticmethod
    @once_differentiable
    @torch.autocast("cpu", enabled=False)
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        active, cells, squashed, states, *weights = ctx.saved_tensors
        dim = weights[0].shape[1]
        of_gates = torch.empty(active.shape, dtype=states.dtype)
        of_cell, of_state = torch.zeros_like(cells[:, 0]), torch.zeros_like(cells[:, 0])
        rates, one = torch.empty_like(active[:, 0]), torch.ones((), dtype=active.dtype)
        for step in reversed(range(active.shape[1])):
            now, tanh = active[:, step], squashed[:, step]
            into, kept, new, out = now.split(dim, 2)
            of_state.add_(slopes[0][:, step])
            of_cell.addcmul_(of_state, torch.addcmul(out, out * tanh, tanh, value=-1))
            torch.addcmul(now, now, now, value=-1, out=rates)
            by_into, by_kept, by_new, by_out = rates.split(dim, 2)
            by_into.mul_(new)
            by_kept.mul_(cells[:, step])
            torch.addcmul(one, new, new, value=-1, out=by_new).mul_(into)
            torch.mul(by_out.mul_(tanh), of_state, out=of_gates[:, step, :, 3 * dim :])
            for part, rate in enumerate((by_into, by_kept, by_new)):
                torch.mul(rate, of_cell, out=of_gates[:, step, :, part * dim : (part + 1) * dim])
            of_cell.mul_(kept)
            for layer, weight in enumerate(weights):
                _write(of_state[layer], torch.mm, of_gates[layer, step], weight)
        before = states[:, :-1].flatten(1, 2)
        of_weights = [torch.mm(of_gates[layer].flatten(0, 1).t(), before[layer]) for layer in range(len(weights))]
        return (*of_gates.unbind(), *of_weights)


def _write(found: Tensor, product: Callable[..., Tensor], *of: Tensor) -> None:
    """Write a product to `found`, which may be of a wider type."""
    if found.dtype == of[0].dtype:
        product(*of, out=found)
    else:
        found.copy_(product(*of))
