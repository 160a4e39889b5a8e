"""Lightning's trainer with our callbacks, and the fit from the start or from the last checkpoint."""

import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins.environments import LightningEnvironment

from datamodules.base import ResumableData
from encoder_lab.errors import InputError, in_one_line
from encoder_lab.settings.build import build
from encoder_lab.settings.run import RunSettings
from encoder_lab.settings.run_settings import CLASS_KEY
from encoder_lab.training import checkpoints
from encoder_lab.training.checkpoints import AtomicCheckpoints, BestCheckpoint, CheckpointEvery, KeptWeights
from encoder_lab.training.devices import choose_accelerator, choose_strategy, rank_zero_print, report_waiting
from encoder_lab.training.loggers import loggers_of
from encoder_lab.training.progress import EpochLines, EpochsFrom1, RunLog, StepProgress
from encoder_lab.training.run_folder import remove_first_scores
from encoder_lab.training.stops import StepsAreReached, StopsEarly, StopsIfNotFinite, StopsOnInterrupt
from encoder_lab.training.tensorboard import TaskCharts
from objectives.objective import Objective
from probes.callback import ProbingCallback

GPU_LOSS_STEPS = 50  # steps between looks at the loss on a GPU, which waits for each
NO_AVERAGES = "no averages of weights: checkpoints would have others than those that are scored; leave it out"
REFUSED_CALLBACKS = {
    "GradientAccumulationScheduler": "gradients are not accumulated; give a larger datamodule.batch_size=",
    "WeightAveraging": NO_AVERAGES,
    "StochasticWeightAveraging": NO_AVERAGES,
    "BatchSizeFinder": "no size of batches is looked for; give datamodule.batch_size=",
    "LearningRateFinder": "no rate is looked for; give objective.optimizer.lr=",
}
ENDED_MESSAGE = (
    "nothing is trained: the run has ended, by trainer.max_epochs=, max_steps= or max_time=, early_stopping.patience= "
    "or schedule.least=; give a higher limit of trainer. to continue it, or begin a new run with its encoder (init=)"
)


def build_trainer(
    settings: RunSettings,
    run: Path,
    module: Objective,
    probing: ProbingCallback,
    data: ResumableData,
    draw: Callable[[], Path],
) -> pl.Trainer:
    """Lightning's trainer with probing, records, checkpoints; `draw` draws the curves for TensorBoard."""
    folder, lines = run / "checkpoints", not (sys.stdout.isatty() and settings.trainer.enable_progress_bar)
    # both after probing, so that a checkpointed epoch is a probed one; last after best, as it holds the state of best
    at_end: dict[str, Any] = {"save_on_train_epoch_end": True, "enable_version_counter": False}
    best = BestCheckpoint(folder, "best", monitor=module.score, mode=module.mode, **at_end)
    last = BestCheckpoint(folder, "last", **at_end)
    saved = settings.checkpoints
    weights = KeptWeights(folder, saved.epoch_interval, saved.steps)
    within = CheckpointEvery(saved.every_n_steps, folder / checkpoints.LAST)
    probed = () if settings.probes.steps == "log" else settings.probes.probing_steps
    reached = StepsAreReached({"checkpoints.steps": saved.steps, "probes.steps": probed})
    patience = settings.early_stopping.patience
    ends = [StopsEarly(module.score, module.mode, patience)] if patience else []
    record = RunLog(run / "metrics.csv")
    reporters: list[pl.Callback] = [EpochLines(record, probing)] if lines else []
    if "tensorboard" in settings.logger_names:
        reporters.append(TaskCharts(probing, run / "tensorboard", draw))
    trainer = settings.trainer
    device = choose_accelerator(trainer.accelerator)
    every = 1 if device == "cpu" else GPU_LOSS_STEPS
    finite = StopsIfNotFinite(data, run / "not_finite", every)
    bar: list[pl.Callback] = [StepProgress()] if trainer.enable_progress_bar else []
    if not lines:
        bar = [EpochsFrom1(every)]  # it shows the loss
    callbacks, loggers = _user_objects("callbacks", trainer.callbacks), _user_objects("logger", trainer.logger)
    for name, reason in REFUSED_CALLBACKS.items():
        if any(isinstance(callback, getattr(pl.callbacks, name)) for callback in callbacks):
            raise InputError(f"trainer.callbacks: {reason}")
    # the variables of a SLURM shell do not count then
    environment = [LightningEnvironment()] if trainer.single_process else []
    return build(
        {CLASS_KEY: "pytorch_lightning.Trainer", **trainer.written},
        accelerator=device,
        strategy=choose_strategy(build(trainer.strategy), trainer.several_devices, module),
        default_root_dir=run,
        enable_progress_bar=not lines,
        logger=[*loggers_of(settings.logger_names, settings.written, run), *loggers],
        callbacks=[
            *(StopsOnInterrupt(), *bar, reached, finite, settings.schedule.build(), *ends, record),
            *(*callbacks, probing, *reporters, weights, within, best, last),
        ],
        plugins=[AtomicCheckpoints(), *environment],
    )


def _user_objects(name: str, described: Sequence[Any] | None) -> list[Any]:
    """The objects that the user adds to the trainer. Raises InputError for settings that are not of a class."""
    for settings in described or ():
        if not isinstance(settings, Mapping) or CLASS_KEY not in settings:
            raise InputError(f"trainer.{name}: {settings} has no class; give it as {CLASS_KEY}")
    return build(described or [])


def fit(trainer: pl.Trainer, module: Objective, data: ResumableData, probing: ProbingCallback, run: Path) -> None:
    """Train from the start or from the last checkpoint; an objective that trains nothing is probed once."""
    if module.trains:
        steps: dict[Path, int] = {}

        def read(path: Path) -> None:
            steps[path] = checkpoints.read_resumable(path, module)["global_step"]

        last = checkpoints.newest_readable_checkpoint(run / "checkpoints", read)
        if not last:
            remove_first_scores(run)
        report_waiting(trainer)
        # Lightning converts it only after it has restored the weights, which would round those of 64 bits
        trainer.precision_plugin.convert_module(module)
        # with trainer.max_steps= Lightning would resume after the last batch of the last epoch, not with the next one
        trainer.fit_loop._iteration_based_training = lambda: False  # type: ignore[method-assign]
        try:
            trainer.fit(module, data, ckpt_path=last, weights_only=True)
        except SystemExit:  # how Lightning ends on Ctrl-C
            raise KeyboardInterrupt from None
        except torch.distributed.DistError as error:
            remedy = "start as many as trainer.devices= times trainer.num_nodes= (docs/scaling.md)"
            raise InputError(f"the processes of the run did not meet ({in_one_line(error)}); {remedy}") from None
        except Exception:
            if launcher := trainer.strategy.launcher:  # its processes would wait for this one, half an hour long
                launcher.kill(signal.SIGKILL)
            raise
        if trainer.global_step == (steps[last] if last else 0):
            rank_zero_print(ENDED_MESSAGE)
        if torch.distributed.is_initialized():  # or a thread of it may abort this process while Python ends
            torch.distributed.destroy_process_group()
    elif trainer.is_global_zero:  # alone: only trainer.fit makes processes known to each other
        module.to(trainer.strategy.root_device)
        probing.probe(trainer, epoch=0)
        for name in ("best", "last"):
            checkpoints.save_weights(module, run / "checkpoints" / f"{name}.ckpt", epochs=0, step=0)
