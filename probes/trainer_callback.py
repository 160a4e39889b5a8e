"""Probing while Hugging Face's `Trainer` trains a model."""

import warnings
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

from torch import nn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from encoder_lab.model import Model
from probes.callback import curves_of
from probes.results import Epoch, read_rows, refuse_scored
from probes.task import Task
from probes.vectors import EncodesSentences
from probes.watch import check_schedule, probe_now


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
        seed: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.tasks, self.model, self.results = list(tasks), model, Path(results)
        self.every_n_epochs = check_schedule(every_n_epochs)
        self.seed, self.device = seed, device

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **parts: Any
    ) -> None:
        if state.global_step == 0:
            refuse_scored(self.results)
            self.probe(state, 0, parts["model"])

    def on_epoch_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **parts: Any) -> None:
        epoch, ends = epochs_done(state), control.should_training_stop
        if not (ends or control.should_epoch_stop):
            epoch = ceil(epoch)  # of a data set without a length the Trainer counts parts
        if ends or (isinstance(epoch, int) and epoch % self.every_n_epochs == 0):
            self.probe(state, epoch, parts["model"])

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **parts: Any) -> None:
        """Also probes where an evaluation ended training, unless the Trainer has loaded the best weights since."""
        step, best = state.global_step, state.best_global_step
        if not state.is_world_process_zero or step in {row.step for row in read_rows(self.results)}:
            return
        if args.load_best_model_at_end and best not in (None, step):
            loaded = f"load_best_model_at_end has loaded the weights of step {best}"
            warnings.warn(
                f"{self.results}: the end, step {step}, has no scores: {loaded}; every_n_epochs=1 scores it",
                stacklevel=2,
            )
        else:
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
