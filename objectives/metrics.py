"""Validation sums: over batches, then over processes."""

import math

import pytorch_lightning as pl
import torch
from torch import Tensor


class Tally:
    """Named sums of one validation pass. They stay on the device until they are asked for."""

    def __init__(self, *names: str) -> None:
        self._sums: dict[str, Tensor | float] = dict.fromkeys(names, 0.0)

    def add(self, **counts: Tensor | float) -> None:
        for name, count in counts.items():
            self._sums[name] += count.double() if isinstance(count, Tensor) else count

    def totals(self, module: pl.LightningModule) -> dict[str, float]:
        """The sums over all processes."""
        mine = torch.stack([torch.as_tensor(s, dtype=torch.float64, device=module.device) for s in self._sums.values()])
        everywhere = module.all_gather(mine).reshape(-1, len(mine)).sum(0)  # type: ignore[union-attr]
        return dict(zip(self._sums, everywhere.tolist(), strict=True))


def ratio(part: float, whole: float) -> float:
    """Part of the whole, 0 of nothing."""
    return part / whole if whole else 0.0


def perplexity(nats: float) -> float:
    """Of so many nats per token, kept finite."""
    return math.exp(min(20.0, nats))
