"""Multinomial logistic regression at its optimum, along a path of L2 values."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor


def regularisation_path(
    x: Tensor, y: Tensor, classes: int, l2: Sequence[float], tolerance: float = 1e-4, max_steps: int = 200
) -> Iterator[tuple[float, Tensor, Tensor]]:
    """For each L2 value the weight (D, K) and bias (K,) that minimise mean cross-entropy + l2 / 2 * |weight|^2.

    L-BFGS, each value started from the solution of the one before. scikit-learn's C is 1 / (l2 * N).
    """
    dim = x.shape[1]
    solution = np.zeros((dim + 1) * classes)
    for value in l2:

        def loss_and_slope(flat: np.ndarray, value: float = value) -> tuple[float, np.ndarray]:
            parameters = torch.from_numpy(flat).to(x).view(dim + 1, classes)
            weight, bias = parameters[:dim], parameters[dim]
            logits = torch.addmm(bias, x, weight)  # (N, K)
            log_probability = logits.log_softmax(1)
            loss = -log_probability.gather(1, y[:, None]).mean() + value / 2 * weight.square().sum()
            slope = log_probability.exp_()
            slope.scatter_add_(1, y[:, None], slope.new_full((len(y), 1), -1.0))
            slope /= len(y)
            grad = torch.cat([x.t() @ slope + value * weight, slope.sum(0)[None]])
            return float(loss), grad.double().cpu().numpy().ravel()

        found = minimize(
            loss_and_slope, solution, jac=True, method="L-BFGS-B", options={"maxiter": max_steps, "gtol": tolerance}
        )
        solution = found.x
        parameters = torch.from_numpy(solution).to(x).view(dim + 1, classes)
        yield value, parameters[:dim], parameters[dim]
