"""L-BFGS against the two-loop recursion, and on losses with a known minimum."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from probes.classifiers.lbfgs import LastSteps, minimum

SIZE = 6


class Quadratic:
    """Half of (x - centre) A (x - centre), and what a search asks of it."""

    def __init__(self, seed: int, ridge: float = 0.0) -> None:
        random = torch.Generator().manual_seed(seed)
        factor, self.centre = torch.randn(SIZE, SIZE, generator=random), torch.randn(SIZE, generator=random)
        self.matrix = factor @ factor.t() / SIZE + (0.1 + ridge) * torch.eye(SIZE)
        self.inverse = torch.rand(SIZE, generator=random) + 0.5  # of the curvature to begin with
        self.asked = 0

    def __call__(self, at: Tensor) -> tuple[float, Tensor]:
        self.asked += 1
        slope = self.matrix @ (at - self.centre)
        return float((at - self.centre) @ slope) / 2, slope

    def solved(self, rows: Tensor) -> Tensor:
        return rows * self.inverse


def filled(loss: Quadratic, steps: Tensor, most: int) -> LastSteps:
    """A past that was given some steps, one after another."""
    past = LastSteps(most, SIZE, torch.device("cpu"))
    for step in steps:
        change = loss.matrix @ step
        past.add(step, change, loss.solved(change), past.products(change), float(step @ change))
    return past


def direction(past: LastSteps, loss: Quadratic, slope: Tensor) -> Tensor:
    return past.direction(slope, loss.solved(slope), past.products(slope))[0]


def two_loops(loss: Quadratic, steps: Tensor, slope: Tensor) -> np.ndarray:
    """The direction by the two-loop recursion (Nocedal and Wright 2006, algorithm 7.4)."""
    pairs = [(step.double().numpy(), (loss.matrix @ step).double().numpy()) for step in steps]
    inverse, left, factors = loss.inverse.double().numpy(), slope.double().numpy(), []
    for s, y in reversed(pairs):
        factors.append(s @ left / (s @ y))
        left = left - factors[-1] * y
    s, y = pairs[-1]
    found = s @ y / (y @ (inverse * y)) * inverse * left
    for (s, y), factor in zip(pairs, reversed(factors), strict=True):
        found = found + (factor - y @ found / (s @ y)) * s
    return -found


@given(seed=st.integers(0, 1000), count=st.integers(1, 7), most=st.integers(1, 4))
def test_the_direction_is_that_of_the_two_loop_recursion(seed: int, count: int, most: int) -> None:
    loss, random = Quadratic(seed), torch.Generator().manual_seed(seed + 1)
    steps, slope = torch.randn(count, SIZE, generator=random), torch.randn(SIZE, generator=random)
    found, along = filled(loss, steps, most).direction(
        slope, loss.solved(slope), filled(loss, steps, most).products(slope)
    )
    expected = two_loops(loss, steps[-most:], slope)
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())
    assert along == pytest.approx(float(slope @ found), rel=1e-3)
    assert along < 0


@given(seed=st.integers(0, 1000))
def test_the_last_change_of_the_slope_leads_along_the_last_step(seed: int) -> None:
    loss = Quadratic(seed)
    steps = torch.randn(3, SIZE, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(
        direction(filled(loss, steps, 5), loss, loss.matrix @ steps[-1]), -steps[-1], atol=1e-3, rtol=1e-3
    )


def test_a_memory_turned_to_another_ridge_is_that_of_the_other_loss() -> None:
    first, second = Quadratic(1), Quadratic(1, ridge=0.7)
    second.inverse = 2 * first.inverse
    steps, slope = torch.randn(5, SIZE), torch.randn(SIZE)
    past = filled(first, steps, 4)
    past.turn(torch.full((SIZE,), 0.7), second.solved)
    expected = direction(filled(second, steps, 4), second, slope)
    torch.testing.assert_close(direction(past, second, slope), expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("most", [2, 10])
def test_the_minimum_of_a_quadratic_is_found(most: int) -> None:
    loss = Quadratic(1)
    past = LastSteps(most, SIZE, torch.device("cpu"))
    found = minimum(loss, loss.solved, torch.zeros(SIZE), 1e-10, 100, past)
    torch.testing.assert_close(found, loss.centre, atol=1e-3, rtol=0)


def test_a_search_ends_at_the_gap_that_was_asked_for() -> None:
    loss = Quadratic(1)
    past = LastSteps(10, SIZE, torch.device("cpu"))
    found = minimum(loss, loss.solved, 10 * torch.ones(SIZE), 1e-2, 100, past)
    assert 0 < loss(found)[0] < 1e-1


def test_steps_of_an_earlier_search_save_evaluations() -> None:
    def evaluations(past: LastSteps) -> int:
        loss = Quadratic(1)
        minimum(loss, loss.solved, torch.ones(SIZE), 1e-8, 100, past)
        return loss.asked

    past = LastSteps(10, SIZE, torch.device("cpu"))
    assert 2 * evaluations(past) > 3 * evaluations(past)


def test_no_step_raises_a_loss_that_curves_less_far_away() -> None:
    losses: list[float] = []

    def steep(at: Tensor) -> tuple[float, Tensor]:
        losses.append(float((1 + at.square()).sqrt().sum()))
        return losses[-1], at / (1 + at.square()).sqrt()

    # the curvature to begin with is much too small, so the first step is much too long
    found = minimum(
        steep, lambda rows: 100 * rows, torch.tensor([3.0, -4.0]), 1e-9, 100, LastSteps(5, 2, torch.device("cpu"))
    )
    torch.testing.assert_close(found, torch.zeros(2), atol=1e-3, rtol=0)
    assert max(losses[1:]) > losses[0] > losses[-1]
