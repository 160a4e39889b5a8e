"""Classifiers that differ only in L2, trained side by side as one model.

Letters: K cells, B sentences, D inputs, W hidden units, C classes. The gradient is written out, because a step
on 64 sentences is too short for a graph to be recorded and walked.
"""

from collections.abc import Sequence
from math import sqrt

import torch
from torch import Tensor

CHUNK = 2048  # sentences predicted at a time


class Cells:
    """K classifiers with one start, one order of sentences and one stream of dropout, but K values of L2.

    Each is what torch would train alone: `Linear, Dropout, Sigmoid, Linear` for `width > 0` (the dropout is
    before the sigmoid, as published), `Linear` for `width=0`; cross-entropy; Adam with L2 on weights and biases.
    """

    def __init__(
        self,
        inputs: int,
        classes: int,
        width: int,
        dropout: float,
        l2: Sequence[float],
        seed: int,
        device: str = "cpu",
    ) -> None:
        """Start as `torch.manual_seed(seed)` followed by torch's own layers would start."""
        self.width, self.dropout, self.l2 = width, dropout, list(l2)
        self.generator = torch.Generator().manual_seed(seed)
        shapes = [(width, inputs), (classes, width)] if width else [(classes, inputs)]
        start = [tensor for shape in shapes for tensor in initial(shape, self.generator)]
        self.masks = self.generator if device == "cpu" else torch.Generator(device).manual_seed(seed)
        self.parameters = [tensor.to(device).repeat(len(l2), 1, 1) for tensor in start]  # weight, bias, weight, bias
        self.means = [torch.zeros_like(tensor) for tensor in self.parameters]
        self.squares = [torch.zeros_like(tensor) for tensor in self.parameters]
        self.gradients = [torch.zeros_like(tensor) for tensor in self.parameters]
        self.steps = torch.zeros((), device=device)
        self._split()

    def __len__(self) -> int:
        return len(self.l2)

    def step(self, x: Tensor, y: Tensor, rate: float = 1e-3, scale: float | None = None) -> None:
        """One step of Adam on `x (B, D)`, `y (B,)`; the loss is the mean, or the sum times `scale`."""
        error = self._backward(x, y, 1 / len(x) if scale is None else scale)
        torch.sum(error, -1, keepdim=True, out=self.gradients[-1])
        self._adam(rate)

    def _backward(self, x: Tensor, y: Tensor, scale: float) -> Tensor:
        inputs = x.t()  # (D, B)
        if not self.width:
            weight, bias = self.parameters
            error = _error(_layer(weight, bias, inputs), y, scale)
            torch.mm(error.flatten(0, 1), x, out=self.gradients[0].flatten(0, 1))
            return error
        weight, bias, weight_out, bias_out = self.parameters
        hidden = _layer(weight, bias, inputs)  # (K, W, B)
        mask = self._mask(len(x)) if self.dropout else None
        if mask is not None:
            hidden.mul_(mask)
        hidden.sigmoid_()
        error = _error(torch.baddbmm(bias_out, weight_out, hidden), y, scale)  # (K, C, B)
        torch.bmm(error, hidden.transpose(1, 2), out=self.gradients[2])
        back = torch.bmm(weight_out.transpose(1, 2), error)
        torch.ops.aten.sigmoid_backward.grad_input(back, hidden, grad_input=back)
        if mask is not None:
            back.mul_(mask)
        torch.mm(back.flatten(0, 1), x, out=self.gradients[0].flatten(0, 1))
        torch.sum(back, -1, keepdim=True, out=self.gradients[1])
        return error

    def _mask(self, size: int) -> Tensor:
        # torch draws (B, W), and so do we: the same draws for the same seed.
        keep = torch.empty(size, self.width, device=self.steps.device)
        return keep.bernoulli_(1 - self.dropout, generator=self.masks).div_(1 - self.dropout).t().contiguous()

    def _split(self) -> None:
        # Views of the state of each cell, made once: made in every step they cost as much as a small product.
        state = (self.parameters, self.gradients, self.means, self.squares)
        self.by_cell = [[[tensor[cell] for tensor in part] for part in state] for cell in range(len(self))]

    def _adam(self, rate: float) -> None:
        self.steps += 1
        for l2, (parameters, gradients, means, squares) in zip(self.l2, self.by_cell, strict=True):
            torch._fused_adam_(
                parameters,
                gradients,
                means,
                squares,
                [],
                [self.steps] * len(parameters),
                lr=rate,
                beta1=0.9,
                beta2=0.999,
                weight_decay=l2,
                eps=1e-8,
                amsgrad=False,
                maximize=False,
            )

    def keep(self, cells: list[int]) -> None:
        """Drop all but these cells (positions among those still here) from the computation."""
        self.l2 = [self.l2[cell] for cell in cells]
        for state in (self.parameters, self.means, self.squares, self.gradients):
            state[:] = [tensor[cells] for tensor in state]
        self._split()

    def snapshot(self, cell: int) -> list[Tensor]:
        """A copy of one cell's weights, for `predict`."""
        return [tensor[cell : cell + 1].clone() for tensor in self.parameters]

    def accuracy(self, x: Tensor, y: Tensor) -> list[float]:
        """The percentage of `x (N, D)` that each cell puts into its class `y (N,)`."""
        return [100 * right / len(y) for right in (predict(self.parameters, x) == y).sum(1).tolist()]


def predict(parameters: list[Tensor], x: Tensor) -> Tensor:
    """The classes (K, N) that K cells give to `x (N, D)`."""
    weight, bias, *out = parameters
    classes = []
    for rows in x.split(CHUNK):
        scores = _layer(weight, bias, rows.t())
        if out:
            scores = torch.baddbmm(out[1], out[0], scores.sigmoid_())
        classes.append(scores.argmax(1))
    return torch.cat(classes, 1)


def initial(shape: tuple[int, int], generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The weight and bias (a column) that torch's `Linear` starts with."""
    bound = 1 / sqrt(shape[1])
    weight = torch.empty(shape).uniform_(-bound, bound, generator=generator)
    return weight, torch.empty(shape[0], 1).uniform_(-bound, bound, generator=generator)


def _layer(weight: Tensor, bias: Tensor, inputs: Tensor) -> Tensor:
    """All K first layers in one matrix product: (K, W, D) and (D, B) to (K, W, B)."""
    product = torch.addmm(bias.flatten(0, 1), weight.flatten(0, 1), inputs)
    return product.unflatten(0, weight.shape[:2])


def _error(scores: Tensor, y: Tensor, scale: float) -> Tensor:
    """The gradient of `scale` times the summed cross-entropy with respect to `scores (K, C, B)`."""
    error = torch.softmax(scores, 1)
    error.scatter_add_(1, y.expand(len(error), 1, -1), torch.full_like(error[:, :1], -1))
    return error.mul_(scale)
