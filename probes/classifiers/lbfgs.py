"""L-BFGS with a curvature of its own to begin with, for a loss that is convex.

The last steps, and how the slope changed in each, tell how the loss curves. They also serve the next loss where that
differs by its ridge alone: the change of its slope in a step is known.
"""

from collections.abc import Callable

import numpy as np
import torch
from scipy.linalg.lapack import dtrtrs
from torch import Tensor

from probes.classifiers.curvature import product

DESCENT = 1e-4  # of what the slope promises: how much a step must lower the loss (Armijo)
ROUNDING = 1e-7  # of the loss
SHORTEST = 1e-6  # of a step; where the loss does not fall even there, the search is at its end

LossAndSlope = Callable[[Tensor], tuple[float, Tensor]]  # at a point (M,)
Solved = Callable[[Tensor], Tensor]  # rows (R, M) times the inverse of the curvature to begin with


class LastSteps:
    """The last steps, at most `most`, of a search among points (M,): s; the change y of the slope in each; and P y.

    P is the inverse of the curvature to begin with. The rows are a ring: a new step takes the row of the oldest.
    """

    def __init__(self, most: int, size: int, device: torch.device) -> None:
        self.steps, self.changes, self.solved = (torch.empty(most, size, device=device) for _ in range(3))
        self.rows: list[int] = []  # of the steps, the oldest first
        self.step_by_change = np.zeros((most, most))  # s_i y_j in this order, for i no later than j
        self.change_by_change = np.zeros((most, most))  # y_i P y_j in this order

    def products(self, slope: Tensor) -> np.ndarray:
        """The slope (M,) times s and P y of each row in use, (2, K)."""
        used = len(self.rows)
        found = torch.cat([product(rows[:used], slope) for rows in (self.steps, self.solved)])
        return found.double().cpu().numpy().reshape(2, used)

    def direction(self, slope: Tensor, solved: Tensor, products: np.ndarray) -> tuple[Tensor, float]:
        """Where to go (M,), and the slope along it. `solved`: P times the slope.

        Byrd, Nocedal and Schnabel 1994, theorem 2.2, with P for the identity.
        """
        used, steepest = len(self.rows), float(slope @ solved)
        if not used:
            return -solved, -steepest
        by_step, by_change = products[:, self.rows]
        upper, changes = self.step_by_change[:used, :used], self.change_by_change[:used, :used]
        scale = upper[-1, -1] / changes[-1, -1]
        inner, _ = dtrtrs(upper, by_step)
        outer, _ = dtrtrs(upper, upper.diagonal() * inner + scale * (changes @ inner - by_change), trans=1)
        weights = np.empty((2, used), np.float32)
        weights[:, self.rows] = outer, -scale * inner
        of_steps, of_solved = torch.from_numpy(weights).to(slope.device)
        found = product(self.steps[:used].t(), of_steps).add_(product(self.solved[:used].t(), of_solved))
        along = scale * steepest + by_step @ outer - scale * (by_change @ inner)
        return found.add_(solved, alpha=scale).neg_(), -float(along)

    def add(self, step: Tensor, change: Tensor, solved: Tensor, products: np.ndarray, curved: float) -> int:
        """Take a step; `products`: of the change with the steps before; `curved`: with this one. Returns its row."""
        if len(self.rows) == len(self.steps):
            row = self.rows.pop(0)
            for known in (self.step_by_change, self.change_by_change):
                known[:-1, :-1] = known[1:, 1:].copy()
        else:
            row = len(self.rows)
        last = len(self.rows)
        self.steps[row], self.changes[row], self.solved[row] = step, change, solved
        by_step, by_change = products[:, self.rows]
        self.step_by_change[:last, last] = by_step
        self.change_by_change[:last, last] = self.change_by_change[last, :last] = by_change
        self.step_by_change[last, last] = curved
        self.change_by_change[last, last] = float(change @ solved)
        self.rows.append(row)
        return row

    def turn(self, ridge: Tensor, solved: Solved) -> None:
        """To a loss with `ridge` (M,) more curvature of each number, and to another curvature to begin with."""
        used = len(self.rows)
        if not used:
            return
        self.changes[:used].addcmul_(self.steps[:used], ridge)
        self.solved[:used] = solved(self.changes[:used])
        steps, changes, of_changes = (rows[self.rows] for rows in (self.steps, self.changes, self.solved))
        self.step_by_change[:used, :used] = (steps @ changes.t()).double().cpu().numpy()
        self.change_by_change[:used, :used] = (changes @ of_changes.t()).double().cpu().numpy()
        if self.step_by_change.diagonal()[:used].min() <= 0:  # by rounding
            self.rows = []


def minimum(
    loss_and_slope: LossAndSlope, solved: Solved, begin: Tensor, gap: float, iterations: int, past: LastSteps
) -> Tensor:
    """The point (M,) where the loss is about `gap` above its minimum; `past` then has the last steps.

    This is half of the slope times the direction: exact where the loss curves as the past has it.
    """
    at, (loss, slope) = begin, loss_and_slope(begin)
    flat, products = solved(slope[None])[0], past.products(slope)
    for _ in range(iterations):
        direction, along = past.direction(slope, flat, products)
        found = _lower(loss_and_slope, at, loss, direction, along) if -along >= 2 * gap else None
        if found is None:
            break
        further, new_loss, new_slope = found
        new_flat, new_products = solved(new_slope[None])[0], past.products(new_slope)
        step, change, of_change = further - at, new_slope - slope, new_flat - flat
        curved, ahead = float(step @ change), float(step @ new_slope)
        fall = max(loss - new_loss, curved / 2 - ahead)  # the latter, of the slopes: where rounding hides it
        if curved > 0:
            row = past.add(step, change, of_change, new_products - products, curved)
            if row == new_products.shape[1]:
                new_products = np.pad(new_products, ((0, 0), (0, 1)))
            new_products[:, row] = ahead, float(of_change @ new_slope)
        at, loss, slope, flat, products = further, new_loss, new_slope, new_flat, new_products
        if fall <= gap / 1000:
            break
    return at


def _lower(
    loss_and_slope: LossAndSlope, at: Tensor, loss: float, direction: Tensor, along: float
) -> tuple[Tensor, float, Tensor] | None:
    """A point along a direction with a lower loss, its loss and slope; None where there is none.

    Where rounding hides whether the loss is lower, the slope tells (Hager and Zhang 2005, approximate Wolfe condition).
    """
    length = 1.0
    while length > SHORTEST:
        further = torch.add(at, direction, alpha=length)
        new_loss, slope = loss_and_slope(further)
        if new_loss - loss <= DESCENT * length * along:
            return further, new_loss, slope
        if new_loss - loss <= ROUNDING * abs(loss) and float(slope @ direction) <= (2 * DESCENT - 1) * along:
            return further, new_loss, slope
        above = new_loss - loss - length * along
        length *= float(np.clip(-along * length / (2 * above), 0.1, 0.5))  # where a parabola has its minimum
    return None
