"""Lightning without output."""

import logging
from typing import Any

import pytorch_lightning as pl

QUIET = dict.fromkeys(["logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"], False)
logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)


def silent_trainer(**settings: Any) -> pl.Trainer:
    """A trainer on the CPU that writes nothing."""
    fixed = {**QUIET, "accelerator": "cpu", "use_distributed_sampler": False, "num_sanity_val_steps": 0}
    return pl.Trainer(**{**fixed, **settings})


def validation_scores(module: pl.LightningModule, data: pl.LightningDataModule) -> dict[str, float]:
    """What a validation pass logs."""
    trainer = silent_trainer()
    trainer.validate(module, data, verbose=False)
    return {name: float(value) for name, value in trainer.callback_metrics.items()}
