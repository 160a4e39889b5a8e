"""All cells of a classifier grid as one model.

Every cell is Linear -> Dropout -> Sigmoid -> Linear (SentEval's order), or one Linear at width 0. The first
layers of all cells are one matrix, so a step is one large product instead of many small ones:

    x (B, D) @ first (D, sum of widths) -> per width (C, B, w) @ second (C, w, K) -> logits (C, B, K)

Cells never touch each other. Same seed, same data: a cell trains as it would alone, because weights and
dropout are drawn per width, and the order of examples once for all.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

EVALUATE = 4096  # vectors scored at a time


class Cell(NamedTuple):
    """One setting of the classifier."""

    width: int  # sigmoid units; 0 is logistic regression
    dropout: float
    l2: float  # added to the gradient, on biases too


class _Group:
    """The C cells of one width: some columns of the joint first layer, and second layers of their own."""

    def __init__(self, cells: list[Cell], classes: int, seed: int) -> None:
        self.cells, self.width = cells, cells[0].width
        self.columns = self.width or classes  # of one cell
        self.noise = torch.Generator().manual_seed(seed + 1)


class Cells:
    """The cells that still train: weights, Adam state, and the step that they share.

    Tensors: first (D, S) and its bias (S,), S columns over all cells; then for each width above 0
    second (C, w, K) and its bias (C, 1, K).
    """

    def __init__(
        self,
        dim: int,
        classes: int,
        cells: list[Cell],
        seed: int,
        device: torch.device,
        learning_rate: float = 1e-3,
    ) -> None:
        self.classes, self.device, self.learning_rate = classes, device, learning_rate
        widths = sorted({cell.width for cell in cells})
        self.groups = [_Group([c for c in cells if c.width == w], classes, seed) for w in widths]
        firsts, biases, seconds = [], [], []
        for group in self.groups:
            draw, many = torch.Generator().manual_seed(seed), len(group.cells)
            firsts.append(_uniform((group.columns, dim), dim, draw).repeat(many, 1).t())
            biases.append(_uniform((group.columns,), dim, draw).repeat(many))
            if group.width:
                seconds.append(_uniform((classes, group.width), group.width, draw).t().repeat(many, 1, 1))
                seconds.append(_uniform((classes,), group.width, draw).repeat(many, 1)[:, None])
        tensors = [torch.cat(firsts, 1), torch.cat(biases), *seconds]
        self._prepare([t.contiguous().to(device) for t in tensors])

    @property
    def cells(self) -> list[Cell]:
        return [cell for group in self.groups for cell in group.cells]

    def _prepare(self, tensors: list[Tensor]) -> None:
        """The optimiser, and what follows from which cells are left."""
        self.tensors = tensors
        self.optimizer = torch.optim.Adam(tensors, lr=self.learning_rate, fused=True)
        columns, second = [], []
        for group in self.groups:
            l2 = torch.tensor([c.l2 for c in group.cells], device=self.device)
            columns.append(l2.repeat_interleave(group.columns))
            second += [l2[:, None, None]] * (2 if group.width else 0)
        self._l2 = [torch.cat(columns), torch.cat(columns), *second]
        self._sizes = [len(group.cells) * group.columns for group in self.groups]

    def keep(self, indices: list[int]) -> None:
        """Go on with these cells only (indices into `cells`, rising)."""
        if len(indices) == len(self.cells):
            return
        wanted, columns, places, groups = set(indices), [], [], []
        cell_start = column_start = 0
        for group in self.groups:
            mine = [i for i in range(len(group.cells)) if cell_start + i in wanted]
            steps = torch.arange(group.columns)
            columns += [column_start + i * group.columns + steps for i in mine]
            places += [torch.tensor(mine, dtype=torch.long)] * (2 if group.width else 0)
            cell_start, column_start = cell_start + len(group.cells), column_start + len(group.cells) * group.columns
            group.cells = [group.cells[i] for i in mine]
            groups += [group] if mine else []
        if not groups:
            self.groups = []
            return
        joint = torch.cat(columns)
        picks = [(1, joint), (0, joint), *((0, place) for place in places)]
        self.groups = groups
        self._select([(dim, index.to(self.device)) for dim, index in picks])

    def _select(self, picks: list[tuple[int, Tensor]]) -> None:
        """Keep those slices of every tensor and of its Adam moments."""
        old = [(t, self.optimizer.state[t]) for t in self.tensors]
        kept = [
            (t.index_select(*pick), state, pick) for (t, state), pick in zip(old, picks, strict=True) if len(pick[1])
        ]
        self._prepare([tensor for tensor, _, _ in kept])
        for tensor, state, pick in kept:
            moments = {name: m.index_select(*pick) for name, m in state.items() if name != "step"}
            self.optimizer.state[tensor] = {**moments, "step": state["step"]} if state else {}

    def pass_over(self, x: Tensor, y: Tensor, order: Tensor, batch: int) -> None:
        """One pass over vectors (N, D) with labels (N,), in minibatches of the given order."""
        x, y = x[order.to(x.device)], y[order.to(y.device)]
        for start in range(0, len(x), batch):
            self._step(x[start : start + batch], y[start : start + batch])

    def _step(self, x: Tensor, y: Tensor) -> None:
        """Mean cross-entropy of each cell, its gradient by hand, one Adam step."""
        first, bias, *seconds = self.tensors
        slopes, gradients = [], []
        for group, z in zip(self.groups, torch.addmm(bias, x, first).split(self._sizes, 1), strict=True):
            z = self._per_cell(z, group)  # (C, B, w)
            if not group.width:
                slope = _softmax_slope(z, y)
            else:
                second, second_bias, *seconds = seconds
                mask = self._mask(group, z.shape)
                active = torch.sigmoid(z if mask is None else z * mask)
                error = _softmax_slope(torch.baddbmm(second_bias, active, second), y)  # (C, B, K)
                gradients += [active.transpose(1, 2) @ error, error.sum(1, keepdim=True)]
                slope = (error @ second.transpose(1, 2)).mul_(active).mul_(1 - active)
                slope = slope if mask is None else slope.mul_(mask)
            slopes.append(slope.transpose(0, 1).reshape(len(x), -1))  # (B, C * w)
        joint = torch.cat(slopes, 1)
        gradients = [x.t() @ joint, joint.sum(0), *gradients]
        for tensor, gradient, l2 in zip(self.tensors, gradients, self._l2, strict=True):
            tensor.grad = gradient.addcmul_(tensor, l2)
        self.optimizer.step()

    def _mask(self, group: _Group, shape: torch.Size) -> Tensor | None:
        """Dropout of each cell (C, B, w), scaled; the draws are shared by the cells of a width."""
        if not any(cell.dropout for cell in group.cells):
            return None
        keep = torch.tensor([1 - cell.dropout for cell in group.cells], device=self.device)[:, None, None]
        draws = torch.rand(shape[1:], generator=group.noise).to(self.device)
        return (draws < keep) / keep

    def _per_cell(self, z: Tensor, group: _Group) -> Tensor:
        return z.view(len(z), len(group.cells), -1).transpose(0, 1)  # (C, B, w)

    def _logits(self, x: Tensor) -> Tensor:
        """(C, B, K), no dropout."""
        first, bias, *seconds = self.tensors
        parts = []
        for group, z in zip(self.groups, torch.addmm(bias, x, first).split(self._sizes, 1), strict=True):
            z = self._per_cell(z, group)
            if group.width:
                second, second_bias, *seconds = seconds
                z = torch.baddbmm(second_bias, torch.sigmoid(z), second)
            parts.append(z)
        return torch.cat(parts)

    def predict(self, x: Tensor) -> Tensor:
        """The class (C, N) that each cell gives each vector."""
        return torch.cat([self._logits(part).argmax(2) for part in x.split(EVALUATE)], 1)

    def accuracy(self, x: Tensor, y: Tensor) -> list[float]:
        """Percent correct, per cell."""
        return [100 * correct / len(y) for correct in (self.predict(x) == y).sum(1).tolist()]


def _uniform(shape: tuple[int, ...], fan_in: int, draw: torch.Generator) -> Tensor:
    """nn.Linear's own initialisation."""
    bound = 1 / math.sqrt(fan_in)
    return torch.empty(shape).uniform_(-bound, bound, generator=draw)


def _softmax_slope(logits: Tensor, y: Tensor) -> Tensor:
    """Gradient of the mean cross-entropy of each cell: (C, B, K)."""
    slope = logits.softmax(2)
    slope[:, torch.arange(len(y), device=y.device), y] -= 1
    return slope.div_(len(y))
