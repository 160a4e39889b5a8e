"""Probing inside any training: the tasks by their settings, a model that trains, and its scores now."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from pytorch_lightning.utilities.seed import isolate_rng
from torch import nn

from probes.results import ProbeRow, write_rows
from probes.share import score_together
from probes.suites import suites_of, tasks_of
from probes.task import Task
from probes.vectors import EncodesSentences, in_bfloat16

CONFIGS = Path(__file__).parents[1] / "configs"


def tasks_for(*settings: str) -> list[Task]:
    """The tasks that `python evaluate.py` scores with the same settings, e.g. "probes.tasks=[SentLen,WC]".

    Raises InputError for tasks that cannot be made, and Hydra's errors for settings that do not exist.
    """
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        config = compose("evaluate", list(settings))
    return tasks_of(suites_of(config, instantiate(config.corpus), Path(config.cache)))


class WhileItTrains:
    """A model in the middle of its training: encodes in evaluation mode and without gradients, then restores modes."""

    def __init__(self, model: EncodesSentences, module: nn.Module) -> None:
        """`module`: the network of which `model` is a part."""
        self.model, self.module = model, module

    @property
    def bfloat16(self) -> bool:
        return in_bfloat16(self.model)

    def encode(self, sentences: list[str]) -> Any:
        """What the model's own `encode` gives."""
        modes = [(part, part.training) for part in self.module.modules()]
        self.module.eval()
        try:
            with torch.no_grad():
                return self.model.encode(sentences)
        finally:
            for part, training in modes:
                part.training = training


def probe_now(
    tasks: Sequence[Task],
    model: EncodesSentences,
    module: nn.Module,
    results: Path,
    epoch: int,
    step: int = 0,
    seed: int = 1,
    device: str = "cpu",
) -> list[ProbeRow]:
    """Score a model that trains and write the rows to `results`; random state and modes stay as they were.

    `module`: the network of which `model` is a part. The classifiers run on `device`.
    """
    with isolate_rng():
        rows = score_together(tasks, WhileItTrains(model, module), epoch, step, seed, device)
    write_rows(results, rows)
    return rows
