"""Pretrain a sentence encoder and watch, epoch by epoch, what it learns.

python train.py encoder=bilstm_max objective=nmt_enfr        the demo: minutes on two cores
python train.py objective=nmt_ende corpus=multi30k corpus.root=DIR probes=senteval probes.root=DIR
python train.py resume=RUN                                   continue a run that was stopped
python train.py -m encoder=bilstm_last,bilstm_max objective=nmt_enfr,autoencoder    a grid of runs
python train.py study=conneau2018/table2 scale=demo          a study: many runs, then its tables
"""

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encoder_lab.compute.start import give_back_large_blocks, quick_imports
from encoder_lab.errors import InputError
from encoder_lab.settings.arguments import (
    options_first,
    refuse_other_settings,
    refuse_wrong_arguments,
    refuse_wrong_environment,
    requested_study,
)
from encoder_lab.settings.command_line import asks_for_help, exit_with, one_line_errors, show_help
from encoder_lab.settings.config_help import train_help
from encoder_lab.settings.known import CONFIGS
from encoder_lab.settings.quoting import home_mistake, unquoted

if TYPE_CHECKING:  # slow imports happen where work begins
    from omegaconf import DictConfig

    from encoder_lab.progress import MeasuredStep
    from encoder_lab.settings.run import RunSettings

os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # errors reach main(), which prints them in one line
os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # so that a waiting thread soon frees its core


def train(settings: "RunSettings", run: Path) -> None:
    """Build what the settings describe, train it in the folder `run` from the start or the last checkpoint, report."""
    from encoder_lab.compute.matmul import fast_exact_matmul
    from encoder_lab.progress import print_progress_lines
    from encoder_lab.settings.run_settings import as_yaml
    from encoder_lab.training.build import build_run
    from encoder_lab.training.checkpoints import disk_use_line
    from encoder_lab.training.devices import is_rank_zero, rank_zero_print, refuse_without_partner
    from encoder_lab.training.loggers import refuse_missing_packages
    from encoder_lab.training.run_folder import record_settings, run_description, run_summary
    from encoder_lab.training.tensorboard import add_picture, add_settings
    from encoder_lab.training.trainer import build_trainer, fit

    refuse_missing_packages(settings.logger_names)
    refuse_without_partner(settings.trainer.single_process, settings.trainer.num_nodes)
    print_progress_lines(str(run))
    give_back_large_blocks()
    with fast_exact_matmul():
        data, module, suites, probing = build_run(settings, run)
        if is_rank_zero():
            record_settings(run, settings.written, module)
        trainer = build_trainer(settings, run, module, probing, data, partial(draw_run_curves, settings, run))
        rank_zero_print(f"{run}: {run_description(module, data, suites)}")
        if module.trains:
            saved, epochs = settings.checkpoints, settings.trainer.max_epochs or 0
            rank_zero_print(disk_use_line(saved.epoch_interval, len(saved.steps), epochs, module, run))
        has_page = trainer.is_global_zero and "tensorboard" in settings.logger_names
        if has_page and not (run / "tensorboard").exists():
            add_settings(run / "tensorboard", as_yaml(settings.written))
        fit(trainer, module, data, probing, run)
        if trainer.is_global_zero:
            picture = draw_run_curves(settings, run)
            if has_page and not module.trains:
                add_picture(run / "tensorboard", picture, 0)
            rank_zero_print(run_summary(run, settings.allow))


def draw_run_curves(settings: "RunSettings", run: Path) -> Path:
    from encoder_lab.reports.curves import draw_curves
    from encoder_lab.reports.models import models_of
    from encoder_lab.reports.runs import read_run

    (model,) = models_of([read_run(run)])
    return draw_curves(run, model.score, f"{model.title} ({settings.corpus_name})")


def begin_run(config: "DictConfig") -> None:
    """Begin a new run in the folder that Hydra chose. This is Hydra's job, in this process or in one of a launcher."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    from encoder_lab.settings.build import frozen_settings, refuse_missing_text
    from encoder_lab.settings.check import mistakes_of_command
    from encoder_lab.settings.run import RunSettings
    from encoder_lab.storage.files import no_folder_if_refused
    from encoder_lab.studies.cell import LOCK_FILE, SETTINGS_FILE
    from encoder_lab.studies.compose import referenced_names, resolved_settings
    from probes.probing import refuse_unknown_tasks

    job = HydraConfig.get()
    run = Path(job.runtime.output_dir)
    run = run.relative_to(Path.cwd()) if run.is_relative_to(Path.cwd()) else run
    with one_line_errors(run), no_folder_if_refused(run):  # inside Hydra's job, as Hydra would print a line of its own
        written = resolved_settings(config)
        exit_with(filter(None, [home_mistake("hydra.run.dir", run)]))
        exit_with(mistakes_of_command("train", written, referenced_names(config), job.overrides.task))
        settings = frozen_settings(RunSettings, written)
        refuse_unknown_tasks(settings.probes.written)
        refuse_missing_text(settings.corpus)
        with quick_imports(bool(written["allow"])):
            import encoder_lab.training.build
            import encoder_lab.training.trainer  # noqa: F401

    from encoder_lab.training import run_folder
    from encoder_lab.training.allowed_classes import refuse_foreign_classes
    from encoder_lab.training.devices import is_rank_zero
    from encoder_lab.training.initial import init_history

    with run_folder.errors_with_remedy(run, written["allow"]), run_folder.locked_run(run):
        refuse_foreign_classes(written, "this command", written["allow"])  # else the run could not be resumed or loaded
        if written["init"]:
            settings = frozen_settings(RunSettings, {**written, "begun_from": init_history(written["init"])})
        if is_rank_zero():
            run_folder.write_new_settings(settings, run, sweep=job.mode == RunMode.MULTIRUN)
        with no_folder_if_refused(run, (*run_folder.BEFORE_TRAINING, LOCK_FILE, SETTINGS_FILE)):  # also of a cell
            train(settings, run)


def resume_run(run: Path, overrides: list[str]) -> None:
    """Continue the run in a folder; only `trainer.` settings may change."""
    if not (run / "config.yaml").exists():
        raise InputError(f"{run}: no config.yaml there, so nothing to resume; give the folder of a run")
    refuse_other_settings(overrides)
    with quick_imports(any(text.startswith("allow=") for text in overrides)):
        from encoder_lab.training import run_folder

    settings = run_folder.settings_to_resume(run, overrides)
    run_folder.refuse_too_few_epochs(run, settings.trainer.written)
    changes = [text for text in overrides if not text.startswith("allow=")]
    with run_folder.errors_with_remedy(run, settings.allow, changes), run_folder.locked_run(run):
        train(settings, run)


def measure_run(config: Any) -> "MeasuredStep":
    """How long a step of these settings takes on this machine."""
    from encoder_lab.training import measure

    return measure.measure_step(config)


def main(arguments: list[str]) -> None:
    """The command line: help, a study, a run to resume, or a new run."""
    if asks_for_help(arguments):
        show_help(train_help(arguments, __doc__))
        return
    with one_line_errors(Path.cwd(), "choose another hydra.run.dir="):  # Hydra could not make the run's folder
        refuse_wrong_environment()
        if study := requested_study(arguments):
            from encoder_lab.studies.run import run_study

            sys.exit(run_study(CONFIGS, study, arguments, measure_run))
        if resumed := [text for text in arguments if text.startswith("resume=") and text != "resume=null"]:
            if len(resumed) > 1:
                raise InputError(f"{resumed[1]}: a command resumes one run; give resume= once")
            overrides = [text for text in arguments if text not in resumed]
            resume_run(Path(unquoted(resumed[0].removeprefix("resume="))), overrides)
        else:
            refuse_wrong_arguments("train", arguments)
            if sys.stdout.isatty() and "LOCAL_RANK" not in os.environ:  # a process that Lightning starts has that
                print("loads PyTorch and Lightning: a few seconds", flush=True)

            import hydra

            sys.argv[1:] = options_first(arguments)
            hydra.main(config_path=str(CONFIGS), config_name="train", version_base="1.3")(begin_run)()


if __name__ == "__main__":
    main(sys.argv[1:])
