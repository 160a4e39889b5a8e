"""Scores of a run on the test split of its own corpus: `python evaluate.py model=RUN suite=objective`."""

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytorch_lightning as pl

from datamodules.base import CachedData, ResumableData
from datamodules.multitask import Mixture
from encoder_lab.compute.matmul import fast_exact_matmul
from encoder_lab.errors import InputError
from encoder_lab.settings.quoting import requested_names
from encoder_lab.storage.csv_files import upsert_csv
from encoder_lab.training.build import build_run
from encoder_lab.training.devices import choose_accelerator
from encoder_lab.training.progress import StepProgress
from encoder_lab.training.run_folder import locked_run, settings_to_resume
from encoders.load import find_checkpoint, open_run

SUITE_ARGUMENT = "suite=objective"
CHANGEABLE_SETTINGS = ("trainer.accelerator=", "trainer.precision=")  # settings that may differ from those of training
TEST_SCORES_FILE = "test.csv"  # in a run's folder: a row for each epoch that was scored


def score_objectives(arguments: Sequence[str]) -> list[str]:
    """Score each run of `model=` and write TEST_SCORES_FILE in its folder; a line for each. Raises InputError."""
    if len(requested_names("suite", arguments)) > 1:
        remedy = "give it alone, and the other suites in another command"
        raise InputError(f"{SUITE_ARGUMENT} is about the run's own text; {remedy}")
    overrides = [text for text in arguments if not text.startswith(("suite=", "model="))]
    scores = {name: score_objective(Path(name), overrides) for name in requested_names("model", arguments)}
    texts = {n: ", ".join(f"{key.removeprefix('val/')} {v:.2f}" for key, v in s.items()) for n, s in scores.items()}
    return [f"{name}: {text} (test)" for name, text in texts.items()]


def score_objective(path: Path, overrides: Sequence[str]) -> dict[str, float]:
    """The test scores of a run folder (its best checkpoint) or of one of its checkpoints."""
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    saved = open_run(find_checkpoint(path))
    settings = settings_to_resume(saved.folder, overrides, SUITE_ARGUMENT, CHANGEABLE_SETTINGS)
    with locked_run(saved.folder), fast_exact_matmul(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data, module, _, _ = build_run(settings, saved.folder)
        if not module.trains:
            raise InputError(f"model={path}: an untrained encoder has no objective to score; give a trained run")
        progress = StepProgress(f"{path}: test")
        device, precision = settings.trainer.accelerator, settings.trainer.precision
        off: dict[str, Any] = {f"enable_{name}": False for name in ("checkpointing", "progress_bar", "model_summary")}
        off |= {"logger": False, "use_distributed_sampler": False, "precision": precision}
        trainer = pl.Trainer(accelerator=choose_accelerator(device), devices=1, callbacks=[progress], **off)
        trainer.precision_plugin.convert_module(module).load_state_dict(saved.weights)
        trainer.validate(module, with_test_split(data), verbose=False)
        scores = {name: float(value) for name, value in sorted(trainer.callback_metrics.items())}
        row = {"epoch": saved.epoch, "step": saved.step, **scores}
        upsert_csv(saved.folder / TEST_SCORES_FILE, [row], key=("epoch",))
    return scores


def with_test_split(data: ResumableData) -> ResumableData:
    """The data with its test split in place of dev. Raises InputError where a corpus has none."""
    for part in data.parts.values() if isinstance(data, Mixture) else [data]:
        assert isinstance(part, CachedData)
        if not len(part.lengths("test", part.sources[0])):
            raise InputError(f"{part.folder}: the corpus of this run has no test split")
        part.validation_split = "test"
    return data
