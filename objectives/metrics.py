"""Sums of validation scores over batches and processes."""

import math

import pytorch_lightning as pl
import torch
from torch import Tensor


class MetricSums:
    """Named sums of one validation pass. They stay on the device until `totals`."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor | float] = {}

    def add(self, **counts: Tensor | float) -> None:
        """Add numbers, or the sums of tensors."""
        for name, count in counts.items():
            value = count.double().sum() if isinstance(count, Tensor) else count
            self._sums[name] = self._sums.get(name, 0.0) + value

    def totals(self, module: pl.LightningModule) -> dict[str, float]:
        """The sums over all processes (all-gather); none where nothing was added."""
        if not self._sums:
            return {}
        sums = torch.stack([torch.as_tensor(s, dtype=torch.float64, device=module.device) for s in self._sums.values()])
        everywhere = module.all_gather(sums).reshape(-1, len(sums)).sum(0)  # type: ignore[union-attr]
        return dict(zip(self._sums, everywhere.tolist(), strict=True))


def ratio(part: float, total: float) -> float:
    """part / total; 0 if total is 0."""
    return part / total if total else 0.0


def perplexity(nats: float) -> float:
    """exp(nats per token), limited to stay finite."""
    return math.exp(min(20.0, nats))
