"""How related two sentences are, as a distribution over ratings (Tai et al. 2015, section 4.2).

`senteval` is the toolkit's regression (senteval/tools/relatedness.py) unchanged: ratings are always 1 to 5, so scores
below 1 have no proper target, and the loss is the squared error of the softmax. `modern` uses the ratings of the task
and the cross-entropy with the target. This loss is convex and is solved to its optimum; L2 is chosen on dev.
"""

import numpy as np
import torch
from scipy.stats import pearsonr
from torch import Tensor
from torch.nn import functional

from probes.classifiers.blocks import on_all_cores
from probes.classifiers.cells import initial
from probes.classifiers.classifier import standardised
from probes.classifiers.grid import Grid, Tensors
from probes.classifiers.optimum import optimum, principal_axes

PUBLISHED_RATINGS = (1.0, 5.0)
BLOCK, MOST_PASSES, PATIENCE, BATCH = 50, 1000, 3, 64  # passes between scores on dev; early-stopping patience; pairs


def regression(
    train: Tensors, dev: Tensors, test: Tensors, rated: tuple[float, float], grid: Grid, seed: int
) -> tuple[float, np.ndarray, dict[str, float]]:
    """The Pearson correlation on dev, the scores (N_test,) predicted, and what was chosen. `y` are the gold scores."""
    if grid.protocol == "senteval":
        return _published(train, dev, test, seed)
    train, dev, test = standardised(train, dev, test)
    ratings = torch.arange(rated[0], rated[1] + 1.0, device=train.x.device)
    soft = Tensors(train.x, targets(train.y, ratings))
    within = principal_axes(train.x)

    def work(l2: float) -> tuple[float, Tensor]:
        weight, bias = optimum(soft, len(ratings), l2, within)
        found, wanted = (torch.softmax(part.x @ weight + bias, 1) @ ratings for part in (dev, test))
        return correlation(found.cpu().numpy(), dev.y.cpu().numpy()), wanted

    fitted = on_all_cores(work, sorted(grid.l2), train.x.device.type)
    best = max(range(len(fitted)), key=lambda place: fitted[place][0])
    return fitted[best][0], fitted[best][1].cpu().numpy(), {"l2": sorted(grid.l2)[best]}


def targets(scores: Tensor, ratings: Tensor) -> Tensor:
    """Distributions (N, R) over neighbouring ratings; their means are the scores (N,)."""
    return (1 - (scores[:, None] - ratings).abs()).clamp_min(0).float()


def correlation(found: np.ndarray, gold: np.ndarray) -> float:
    """Pearson's r; 0 where one side is constant."""
    return float(pearsonr(found, gold)[0]) if np.ptp(found) > 0 and np.ptp(gold) > 0 else 0.0


def _published(train: Tensors, dev: Tensors, test: Tensors, seed: int) -> tuple[float, np.ndarray, dict[str, float]]:
    ratings = torch.arange(PUBLISHED_RATINGS[0], PUBLISHED_RATINGS[1] + 1, device=train.x.device)
    wanted = targets(train.y, ratings)  # zero for a score of 0, as the toolkit's
    order = np.random.RandomState(seed)
    start = initial((len(ratings), train.x.shape[1]), torch.Generator().manual_seed(seed))
    weight, bias = (tensor.to(train.x.device).requires_grad_() for tensor in start)

    def shares(x: Tensor) -> Tensor:
        return torch.softmax(functional.linear(x, weight, bias[:, 0]), 1)

    optimiser = torch.optim.Adam([weight, bias], fused=True)
    best, kept, failures, passes = -1.0, np.zeros(len(test.y)), 0, 0
    while failures <= PATIENCE and passes <= MOST_PASSES:
        for _ in range(BLOCK):
            for rows in torch.from_numpy(order.permutation(len(train.y))).to(train.x.device).split(BATCH):
                loss = (shares(train.x[rows]) - wanted[rows]).square().mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        passes += BLOCK
        with torch.no_grad():
            found, predicted = ((shares(x) @ ratings).cpu().numpy() for x in (dev.x, test.x))
        score = correlation(found, dev.y.cpu().numpy())
        if score > best:
            best, kept = score, predicted
        else:
            failures += 1
    return best, kept, {}
