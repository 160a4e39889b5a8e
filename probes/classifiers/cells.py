"""Classifiers of a grid, trained together as one model.

Letters: K cells, H units in the first layers of all cells, W units in one cell, B sentences, D inputs, C classes.
The gradient is written by hand: a step on 64 sentences is so short that autograd would dominate its time.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import accumulate, groupby
from math import ceil, sqrt
from typing import NamedTuple

import torch
from torch import Tensor

from probes.classifiers.optimisers import adam, rmsprop
from probes.classifiers.recorded import StepGraphs
from probes.vectors import Features, portion_rows

CHUNK_SENTENCES = 2048  # sentences predicted at a time, at most


class Cell(NamedTuple):
    """A classifier of a grid."""

    width: int  # sigmoid units; 0 is logistic regression
    dropout: float
    l2: float


class Group(NamedTuple):
    """Consecutive cells that share their width, or their width and dropout."""

    width: int
    cells: slice  # among the K
    rows: slice  # among the H

    def has_cell(self, index: int) -> bool:
        """Whether the cell at `index` is in the group."""
        return self.cells.start <= index < self.cells.stop

    def units_of(self, hidden: Tensor) -> Tensor:
        """The part (K, W, B) of `hidden (H, B)` of the group."""
        return hidden[self.rows].view(-1, self.width, hidden.shape[1])


class Cells:
    """K classifiers on the same batches. Equal width: equal initial weights; equal dropout too: equal masks.

    Each equals a model that torch trains alone: `Linear, Dropout, Sigmoid, Linear` for `width > 0` (the dropout is
    before the sigmoid, as published), `Linear` for `width=0`; cross-entropy; Adam with L2 on weights and biases.
    The first layers of all cells are one matrix product.
    """

    def __init__(
        self,
        inputs: int,
        classes: int,
        cells: Sequence[Cell],
        seed: int,
        device: str = "cpu",
        optimiser: str = "adam",
        as_torch: bool = True,
        bfloat16: bool = False,
    ) -> None:
        """Initialise like torch's own layers after `torch.manual_seed(seed)`; `cells` in the order of a grid.

        `as_torch`: draw dropout as torch's layers do, which takes four times as long. `bfloat16`: a step multiplies
        `x` in bfloat16, the weights stay float32.
        """
        self.optimiser, self.as_torch, self.bfloat16 = optimiser, as_torch, bfloat16
        self.cells, self.classes, self.device = list(cells), classes, device
        self.masks: dict[tuple[int, float], torch.Generator] = {}
        weights, biases, heads = [], [], []
        for width, same_width in groupby(cells, key=lambda cell: cell.width):
            outs, biases_out = [], []
            for dropout, same_dropout in groupby(same_width, key=lambda cell: cell.dropout):
                generator, count = torch.Generator().manual_seed(seed), len(list(same_dropout))
                weight, bias = initial_layer((width or classes, inputs), generator)
                weights.append(weight.repeat(count, 1))
                biases.append(bias.repeat(count, 1))
                if width:
                    out, bias_out = initial_layer((classes, width), generator)
                    outs.append(out.repeat(count, 1, 1))
                    biases_out.append(bias_out.repeat(count, 1, 1))
                on_cpu = device == "cpu"
                self.masks[width, dropout] = generator if on_cpu else torch.Generator(device).manual_seed(seed)
            heads += [outs, biases_out] if width else []
        # weight (H, D), bias (H, 1), and for each width except 0: weight (K, C, W), bias (K, C, 1)
        start = [torch.cat(tensors) for tensors in (weights, biases, *heads)]
        self.parameters = [tensor.to(device) for tensor in start]
        self.means = [torch.zeros_like(tensor) for tensor in self.parameters]
        self.squares = [torch.zeros_like(tensor) for tensor in self.parameters]
        self.gradients = [torch.zeros_like(tensor) for tensor in self.parameters]
        self.steps = torch.zeros((), device=device)
        self._group_cells()

    def __len__(self) -> int:
        return len(self.cells)

    def step(self, x: Tensor, y: Tensor, rate: float = 1e-3, scale: float | None = None) -> None:
        """One step of Adam on `x (B, D)`, `y (B,)`; the loss is the mean, or the sum times `scale`."""
        scale = 1 / len(x) if scale is None else scale
        if x.is_cuda:
            self.step_graphs(self._step, x, y, torch.full_like(self.steps, rate), scale=scale)
        else:
            self._step(x, y, rate, scale)

    def _step(self, x: Tensor, y: Tensor, rate: float | Tensor, scale: float) -> None:
        x = x.bfloat16() if self.bfloat16 else x
        grad_hidden = self._backward(x, y, scale)
        if self.bfloat16:
            self.gradients[0].copy_(torch.mm(grad_hidden.bfloat16(), x))
        else:
            torch.mm(grad_hidden, x, out=self.gradients[0])
        torch.sum(grad_hidden, -1, keepdim=True, out=self.gradients[1])
        self.steps += 1
        for l2, (parameters, gradients, means, squares) in self.by_l2.items():
            if self.optimiser == "adam":
                adam((parameters, gradients, means, squares, [self.steps] * len(parameters)), rate, l2)
            else:
                rmsprop(parameters, gradients, squares, l2)

    def _backward(self, x: Tensor, y: Tensor, scale: float) -> Tensor:
        """The gradient (H, B) of the first layers' outputs; writes the gradients of the second layers."""
        weight, bias = self.parameters[:2]
        hidden = torch.mm(weight.bfloat16(), x.t()) + bias if self.bfloat16 else _first_layers([weight, bias], x)
        masks = [(group, self._mask(group.width, dropout, len(x))) for group, dropout in self.dropped]
        for group, mask in masks:
            group.units_of(hidden).mul_(mask)
        scores = self._scores(hidden.sigmoid_() if self.heads else hidden)
        grad_scores = scores.softmax(1)
        minus_one = grad_scores.new_full((len(self), 1, len(x)), -1.0)
        grad_scores.scatter_add_(1, y.expand_as(minus_one), minus_one).mul_(scale)
        if not self.heads:
            return grad_scores.flatten(0, 1)
        grad_hidden, second, gradients = torch.empty_like(hidden), self.parameters[2:], self.gradients[2:]
        layers = zip(self.heads, second[::2], gradients[::2], gradients[1::2], strict=True)
        for group, weight, grad_weight, grad_bias in layers:
            grad = grad_scores[group.cells]
            torch.bmm(grad, group.units_of(hidden).mT, out=grad_weight)
            torch.sum(grad, -1, keepdim=True, out=grad_bias)
            torch.bmm(weight.mT, grad, out=group.units_of(grad_hidden))
        torch.ops.aten.sigmoid_backward.grad_input(grad_hidden, hidden, grad_input=grad_hidden)
        for group, mask in masks:
            group.units_of(grad_hidden).mul_(mask)
        return grad_hidden

    def _scores(self, hidden: Tensor) -> Tensor:
        """The second layers: (H, B) to (K, C, B)."""
        if not self.heads:
            return hidden.view(-1, self.classes, hidden.shape[1])
        scores = hidden.new_empty(len(self), self.classes, hidden.shape[1])
        for group, weight, bias in zip(self.heads, self.parameters[2::2], self.parameters[3::2], strict=True):
            torch.baddbmm(bias, weight, group.units_of(hidden), out=scores[group.cells])
        return scores

    def _mask(self, width: int, dropout: float, size: int) -> Tensor:
        """What dropout multiplies the units (W, B) of each cell with this width and dropout by."""
        generator, like = self.masks[width, dropout], self.parameters[0]
        if self.as_torch:  # shape (B, W), so that the same seed gives the same draws
            keep = like.new_empty(size, width).bernoulli_(1 - dropout, generator=generator).t().contiguous()
        else:
            words = like.new_empty(ceil(width * size / 4), dtype=torch.long)
            bits = words.random_(-(2**63), None, generator=generator).view(torch.int16)[: width * size]
            keep = (bits.view(width, size) >= round(dropout * 2**16) - 2**15).to(like)
        return keep.div_(1 - dropout)

    def _group_cells(self) -> None:
        """Compute the groups of cells, and the rows and views of each cell."""
        self.step_graphs = StepGraphs(self.masks.values())
        ends = list(accumulate(cell.width or self.classes for cell in self.cells))
        self.rows = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        self.heads = [group for group, (width, *_) in self._consecutive_groups(1) if width]
        self.dropped = [
            (group, cell.dropout) for group, cell in self._consecutive_groups(2) if cell.width and cell.dropout
        ]
        # Views of the state of each cell are created once: in each step they would cost as much as a small product.
        self.by_l2: dict[float, list[list[Tensor]]] = {}
        for index, cell in enumerate(self.cells):
            views = self.by_l2.setdefault(cell.l2, [[], [], [], []])
            for tensors, state in zip(views, self._states(), strict=True):
                tensors += self._cell_tensors(state, index)

    def _consecutive_groups(self, settings: int) -> list[tuple[Group, Cell]]:
        """The groups of consecutive cells with the same first settings, each with its first cell."""
        groups, first = [], 0
        for _, members in groupby(self.cells, key=lambda cell: cell[:settings]):
            end = first + len(list(members))
            rows = slice(self.rows[first].start, self.rows[end - 1].stop)
            groups.append((Group(self.cells[first].width, slice(first, end), rows), self.cells[first]))
            first = end
        return groups

    def _states(self) -> tuple[list[Tensor], ...]:
        return self.parameters, self.gradients, self.means, self.squares

    def _cell_tensors(self, state: list[Tensor], index: int) -> list[Tensor]:
        """The state of one cell: (W, D), (W, 1), (C, W), (C, 1)."""
        tensors = [state[0][self.rows[index]], state[1][self.rows[index]]]
        for group, weight, bias in zip(self.heads, state[2::2], state[3::2], strict=True):
            if group.has_cell(index):
                tensors += [weight[index - group.cells.start], bias[index - group.cells.start]]
        return tensors

    def keep(self, indices: list[int]) -> None:
        """Keep only these cells: ascending positions among the current cells; may be empty, or repeat one."""
        rows = [row for index in indices for row in range(self.rows[index].start, self.rows[index].stop)]
        for state in self._states():
            selected = [state[0][rows], state[1][rows]]
            for group, weight, bias in zip(self.heads, state[2::2], state[3::2], strict=True):
                group_rows = [index - group.cells.start for index in indices if group.has_cell(index)]
                selected += [weight[group_rows], bias[group_rows]] if group_rows else []
            state[:] = selected
        self.cells = [self.cells[index] for index in indices]
        self._group_cells()

    def copies(self, cells: Sequence[Cell]) -> "Cells":
        """A model of `cells`, each of which continues our cell of the same width and dropout; its L2 may differ."""
        indices = {cell[:2]: index for index, cell in enumerate(self.cells)}
        copied = copy(self)
        copied.parameters, copied.gradients, copied.means, copied.squares = (list(state) for state in self._states())
        copied.steps = self.steps.clone()
        copied.masks = {setting: generator.clone_state() for setting, generator in self.masks.items()}
        copied.keep([indices[cell[:2]] for cell in cells])
        copied.cells = list(cells)
        copied._group_cells()
        return copied

    def join(self, other: "Cells") -> None:
        """Take the cells of another model, which follow ours in the grid and have done the same steps."""
        widths = [group.width for group in (*self.heads, *other.heads)]
        for state, other_state in zip(self._states(), other._states(), strict=True):
            heads = [*state[2:], *other_state[2:]]
            layers = zip(widths, heads[::2], heads[1::2], strict=True)
            by_width = [list(block) for _, block in groupby(layers, key=lambda layer: layer[0])]
            state[:2] = (torch.cat(parts) for parts in zip(state[:2], other_state[:2], strict=True))
            state[2:] = (torch.cat(parts) for block in by_width for parts in list(zip(*block, strict=True))[1:])
        self.cells += other.cells
        self.masks |= other.masks
        self._group_cells()

    def snapshot(self, index: int, into: list[Tensor] | None = None) -> list[Tensor]:
        """A copy of one cell's weights, for `predict_classes`; `into`: an older copy to overwrite."""
        part = self._cell_tensors(self.parameters, index)
        return [old.copy_(new) for old, new in zip(into, part, strict=True)] if into else [new.clone() for new in part]

    def accuracy(self, x: Features, y: Tensor) -> list[float]:
        """The accuracy in percent of each cell on `x (N, D)`, `y (N,)`."""
        correct = torch.zeros(len(self), dtype=torch.long, device=y.device)
        size = portion_rows(x.shape[1], CHUNK_SENTENCES)
        for rows, gold in zip(x.split(size), y.split(size), strict=True):
            hidden = _first_layers(self.parameters[:2], rows)
            correct += (self._scores(hidden.sigmoid_() if self.heads else hidden).argmax(1) == gold).sum(1)
        return [100 * (count / len(y)) for count in correct.tolist()]  # rounded as the published toolkit rounds


def predict_classes(parameters: list[Tensor], x: Features) -> Tensor:
    """The classes (N,) that one cell (a `snapshot`) predicts for `x (N, D)`."""
    return torch.cat([scores.argmax(0) for scores in _scores_in_portions(parameters, x)])


def scores_of(parameters: list[Tensor], x: Features) -> Tensor:
    """The scores (N, C) that one cell gives to the classes."""
    return torch.cat([scores.t() for scores in _scores_in_portions(parameters, x)])


def _scores_in_portions(parameters: list[Tensor], x: Features) -> Iterator[Tensor]:
    """(C, n) of neighbouring rows."""
    weight, bias, *out = parameters
    for rows in x.split(portion_rows(x.shape[1], CHUNK_SENTENCES)):
        scores = _first_layers([weight, bias], rows)
        yield torch.addmm(out[1], out[0], scores.sigmoid_()) if out else scores


def initial_layer(shape: tuple[int, int], generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The initial weight and bias (a column) of torch's `Linear`."""
    bound = 1 / sqrt(shape[1])
    weight = torch.empty(shape).uniform_(-bound, bound, generator=generator)
    return weight, torch.empty(shape[0], 1).uniform_(-bound, bound, generator=generator)


def _first_layers(parameters: list[Tensor], x: Tensor) -> Tensor:
    """All first layers in one matrix product: (H, D) and (B, D) to (H, B)."""
    return torch.addmm(parameters[1], parameters[0], x.t())
