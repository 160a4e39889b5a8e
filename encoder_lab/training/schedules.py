"""Learning-rate schedules. Each is a function of the step, or of the objective's score after each epoch.

The rate is `objective.optimizer.lr` times a factor. A step's factor depends on the step alone, and what depends on
scores is in the checkpoint, so a resumed run has the same rates.
"""

import math
from typing import Annotated, Any

import pytorch_lightning as pl

from encoder_lab.errors import InputError
from encoder_lab.settings.types import Count, PartOfOne, ZeroOrMore
from encoder_lab.training.devices import rank_zero_print
from objectives.objective import Objective


class RateSchedule(pl.Callback):
    """The constant rate. Others change it."""


class StepSchedule(RateSchedule):
    """A rate that depends on the step. `steps`: the length of the schedule; None: of the run."""

    def __init__(self, warmup: int, steps: int | None = None) -> None:
        self.warmup, self.steps = warmup, steps

    def factor(self, step: int, steps: int) -> float:
        """The factor of a step; the first is 1."""
        raise NotImplementedError

    def length(self, trainer: pl.Trainer) -> int:
        """The steps of the schedule. Raises InputError where the run has no end."""
        steps = self.steps or trainer.estimated_stepping_batches
        if math.isinf(steps):
            raise InputError("schedule: a run without end has no length; give schedule.steps= or trainer.max_epochs=")
        return int(steps)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        for group in groups_of(trainer):
            group.setdefault("initial_lr", group["lr"])  # in the checkpoint, as the state of the optimizer
        if self.warmup > (steps := trainer.estimated_stepping_batches):
            below = "so the rate stays below its highest"
            rank_zero_print(f"schedule.warmup={self.warmup}: the run has {steps} steps, {below}")

    def on_train_batch_start(self, trainer: pl.Trainer, *_: Any) -> None:
        factor = self.factor(trainer.global_step + 1, self.length(trainer))
        for group in groups_of(trainer):
            group["lr"] = group["initial_lr"] * factor

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        log_rate(trainer, pl_module)


class InverseSquareRoot(StepSchedule):
    """Linear warm-up over `warmup` steps, then 1 / sqrt(step) (Vaswani et al. 2017, section 5.3), highest at 1."""

    def __init__(
        self, warmup: Annotated[ZeroOrMore, "steps to objective.optimizer.lr, which is the highest rate"]
    ) -> None:
        super().__init__(max(1, warmup), steps=warmup)  # its length does not matter

    def factor(self, step: int, steps: int) -> float:
        return min(step / self.warmup, math.sqrt(self.warmup / step))


class Linear(StepSchedule):
    """Linear warm-up over `warmup` steps, then a straight line to `end` at the last step."""

    def __init__(
        self,
        warmup: Annotated[ZeroOrMore, "steps to objective.optimizer.lr, which is the highest rate"],
        end: Annotated[PartOfOne, "the last rate, as a part of the highest"],
        steps: Annotated[Count | None, "length of the schedule; null: of the run"],
    ) -> None:
        super().__init__(warmup, steps)
        self.end = end

    def factor(self, step: int, steps: int) -> float:
        if step <= self.warmup:
            return step / self.warmup
        progress = min(1.0, (step - self.warmup) / max(1, steps - self.warmup))
        return self.end + (1 - self.end) * self.share_left(progress)

    def share_left(self, progress: float) -> float:
        """The share of the way down that remains; `progress`: the share of the steps that is done."""
        return 1 - progress


class Cosine(Linear):
    """The same with half a cosine instead of a straight line (Loshchilov and Hutter 2017, equation 5)."""

    def share_left(self, progress: float) -> float:
        return (1 + math.cos(math.pi * progress)) / 2


class ScoreSchedule(RateSchedule):
    """A rate that depends on the objective's scores after its epochs; `best`: until now, NaN before the first."""

    checkpointed: tuple[str, ...] = ("best",)  # attributes
    best = math.nan

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        groups_of(trainer)

    def update_best(self, trainer: pl.Trainer, module: pl.LightningModule, digits: int | None = None) -> bool:
        """Compare the score of this epoch, with so many decimals, with `best`; return whether it is better."""
        assert isinstance(module, Objective)
        score = float(trainer.callback_metrics[module.score])
        score = score if digits is None else round(score, digits)
        better = math.isnan(self.best) or (score > self.best if module.mode == "max" else score < self.best)
        self.best = score if better else self.best
        return better

    def state_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.checkpointed}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        vars(self).update({name: state_dict[name] for name in self.checkpointed})


class InferSent(ScoreSchedule):
    """After each epoch the rate is times `shrink`, and also times `cut` if the score did not rise; ends below `least`.

    Source: Conneau et al. 2017, section 3.3, and their code, which compares scores with two decimals.
    """

    def __init__(
        self,
        shrink: Annotated[PartOfOne, "after each epoch"],
        cut: Annotated[PartOfOne, "also, after an epoch without a better score"],
        least: Annotated[PartOfOne, "the run ends below this rate"],
    ) -> None:
        self.shrink, self.cut, self.least = shrink, cut, least

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        trainer.should_stop |= groups_of(trainer)[0]["lr"] < self.least

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        factor = self.shrink if self.update_best(trainer, pl_module, digits=2) else self.shrink * self.cut
        for group in groups_of(trainer):
            group["lr"] *= factor
        log_rate(trainer, pl_module)
        trainer.should_stop |= groups_of(trainer)[0]["lr"] < self.least


class Plateau(ScoreSchedule):
    """The rate is times `factor` after more than `patience` epochs without a better score; `least` is the lowest."""

    checkpointed = ("best", "worse")

    def __init__(
        self,
        factor: Annotated[PartOfOne, "of the rate, where the score has not become better"],
        patience: Annotated[ZeroOrMore, "epochs without a better score that change nothing"],
        least: Annotated[PartOfOne, "lowest rate"],
    ) -> None:
        self.factor, self.patience, self.least = factor, patience, least
        self.worse = 0  # epochs without a better score

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.worse = 0 if self.update_best(trainer, pl_module) else self.worse + 1
        if self.worse > self.patience:
            self.worse = 0
            for group in groups_of(trainer):
                group["lr"] = max(group["lr"] * self.factor, min(group["lr"], self.least))
        log_rate(trainer, pl_module)


def groups_of(trainer: pl.Trainer) -> list[dict[str, Any]]:
    """The groups of weights of the run's optimiser. Raises InputError where they have no rate."""
    groups = trainer.optimizers[0].param_groups
    if not all("lr" in group for group in groups):
        raise InputError("schedule: objective.optimizer has no lr to change; give another, or schedule=constant")
    return groups


def log_rate(trainer: pl.Trainer, module: pl.LightningModule) -> None:
    """The rate after an epoch, for metrics.csv and the loggers."""
    module.log("train/lr", groups_of(trainer)[0]["lr"])
