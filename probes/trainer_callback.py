"""Probing while Hugging Face's `Trainer` trains a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from encoder_lab.model import Model
from probes.callback import curves_of
from probes.results import Epoch, read_rows, refuse_scored
from probes.task import Task
from probes.vectors import EncodesSentences
from probes.watch import probe_now


class ProbingTrainerCallback(TrainerCallback):
    """Scores tasks before training, after every n-th epoch, and at the end: the adapter of `ProbingCallback`.

    `model` is anything with `encode(sentences)` that reads the weights which the Trainer changes. The scores are rows
    of the file `results` and entries of the Trainer's `log_history`. With several processes the first one probes.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        model: EncodesSentences | Model,
        results: str | Path,
        every_n_epochs: int = 1,
        seed: int = 1,
        device: str = "cpu",
    ) -> None:
        self.tasks, self.model, self.results, self.every_n_epochs = tasks, model, Path(results), every_n_epochs
        self.seed, self.device = seed, device

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **parts: Any
    ) -> None:
        if state.global_step == 0:
            refuse_scored(self.results)
            self.probe(state, 0, parts["model"])

    def on_epoch_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **parts: Any) -> None:
        epoch = epochs_done(state)
        if isinstance(epoch, int) and epoch % self.every_n_epochs == 0:  # training may end within an epoch
            self.probe(state, epoch, parts["model"])

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **parts: Any) -> None:
        """Also probes where training ended between two probed epochs."""
        steps = {row.step for row in read_rows(self.results)}
        if state.global_step not in steps:
            self.probe(state, epochs_done(state), parts["model"])

    def probe(self, state: TrainerState, epoch: Epoch, module: nn.Module) -> None:
        """Score the model now."""
        if not state.is_world_process_zero:
            return
        arguments = self.results, epoch, state.global_step, self.seed, self.device
        rows = probe_now(self.tasks, self.model, module, *arguments)
        state.log_history.append({**curves_of(rows), "epoch": epoch, "step": state.global_step})


def epochs_done(state: TrainerState) -> Epoch:
    """How many epochs are done, such as 2, or 0.25 within the first."""
    epochs = round(float(state.epoch or 0), 6)
    return int(epochs) if epochs.is_integer() else epochs
