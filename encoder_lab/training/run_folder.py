"""A run's folder: who works in it, its settings, its word vectors, and what of it can be loaded."""

import logging
import os
import shlex
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import torch
import yaml

from datamodules.base import ResumableData
from datamodules.excluded import LEFT_OUT_FILE
from datamodules.text.vocabulary import SPECIALS
from datamodules.word_vectors.run_vectors import RunVectors, load_run_vectors, save_run_vectors
from datamodules.word_vectors.store import FromFile, refuse_low_coverage
from encoder_lab.errors import InputError, in_one_line
from encoder_lab.settings.arguments import plain_value, refuse_other_settings
from encoder_lab.settings.build import frozen_settings, missing_settings
from encoder_lab.settings.check import mistakes
from encoder_lab.settings.command_line import exit_with, one_line_errors
from encoder_lab.settings.quoting import for_shell, requested_names
from encoder_lab.settings.run import RunSettings
from encoder_lab.settings.run_settings import PlainLoader, as_yaml
from encoder_lab.storage.csv_files import read_csv
from encoder_lab.storage.files import atomic_write, delete_leftovers
from encoder_lab.storage.locks import locked, wait_for_file
from encoder_lab.storage.made_with import made_with
from encoder_lab.training.allowed_classes import refuse_foreign_classes
from encoder_lab.training.checkpoints import LAST
from encoder_lab.training.devices import is_rank_zero, rank_zero_print, started_by_cluster
from encoder_lab.training.initial import InitialRun, extend_vocabulary
from encoders.load import read_checkpoint, read_config
from objectives.objective import Objective
from probes.evaluation import distinct_sentences
from probes.facts import unit_of
from probes.results import read_rows
from probes.suites import Suite

# folders written before a checkpoint, and files:
EARLY_FOLDERS = ("vectors", "decoder", "not_finite", "tensorboard", "csv", "wandb", "mlruns")
TABLES = ("metrics.csv", "test.csv", "probes.csv", "answers.csv", "curves.png")
RUN_FILES = ("wandb_run", "mlflow_run", "reads.json", LEFT_OUT_FILE, *TABLES)
APPENDED_FOLDERS = ("tensorboard", "csv")  # in which Lightning may write into files that are there
FOLDERS_WITH_LINKS = ("wandb", "mlruns")  # their libraries keep links there, and begin a new folder each time
RUN_FOLDERS = ("checkpoints", *EARLY_FOLDERS)
RUN_LOCK = ".running"  # the lock in a run's folder, held while a process works on it
BEFORE_TRAINING = ("config.yaml", "reads.json", LEFT_OUT_FILE, "vectors", "decoder", RUN_LOCK)  # in a run's folder


def write_new_settings(settings: RunSettings, run: Path, sweep: bool) -> None:
    """Write the settings of a new run, in place of one without a checkpoint. Raises InputError for another."""
    if sweep and settings.trainer.several_devices and not started_by_cluster():
        rule = "a sweep starts one process for each run; with several GPUs start a sweep, or a study, for each of them"
        raise InputError(f"trainer.devices={settings.trainer.devices}: {rule} (docs/scaling.md)")
    is_run = (run / "config.yaml").exists() and "made_with" in read_config(run)
    parts = [path for name in ("config.yaml", *RUN_FOLDERS, *RUN_FILES) if (path := run / name).exists()]
    if any((run / "checkpoints").glob("*.ckpt")) or (parts and not is_run):
        again = f"continue it with: {resume_command(run, settings.allow)} or " if is_run else ""
        raise InputError(f"{parts[0]}: a run is already there, or a part of one; {again}choose another hydra.run.dir=")
    for path in (run / name for name in (*EARLY_FOLDERS, *RUN_FILES, "geometry", "evaluations") if is_run):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    with atomic_write(run / "config.yaml") as file:
        file.write(as_yaml({**settings.written, "made_with": made_with()}))


def settings_to_resume(run: Path, overrides: Sequence[str], *allowed: Any) -> RunSettings:
    """The settings of a run to continue; `allow=` is of the command alone. Raises InputError for other changes."""
    allow = requested_names("allow", overrides)
    overrides = [text.lstrip("+") for text in overrides if not text.startswith("allow=")]
    refuse_other_settings(overrides, *allowed)
    written: Any = read_config(run)
    for key, _, text in (text.partition("=") for text in overrides):
        try:
            value = yaml.load(text, PlainLoader) if "{" in text else plain_value(text)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise InputError(f"{key}={text}: {in_one_line(error)}; write {key}={{name: value}}") from None
        written = _with_value(written, key.split("."), value)
        group, _, name = key.partition(".")
        source = written[group].get("source") if isinstance(written.get(group), dict) else None
        if isinstance(source, dict) and name in source:  # which has a copy
            written = _with_value(written, [group, "source", name], value)
    refuse_foreign_classes(written, run / "config.yaml", allow)
    if missing := missing_settings(RunSettings, written):
        raise InputError(f"{run / 'config.yaml'}: no {', '.join(missing)} in it; copy the whole run folder")
    changed, added = tuple(text.partition("=")[0] for text in overrides), ("made_with", "begun_from", "best_by")
    lines = mistakes("train", written, added)
    if errors := [line for line in lines if not line.startswith(changed)]:
        raise InputError(f"{run / 'config.yaml'}: {errors[0]}; or copy the whole run folder again")
    exit_with(lines)
    if line := threads_note(written):
        rank_zero_print(line)
    return frozen_settings(RunSettings, written)


def remove_first_scores(run: Path) -> None:
    """Remove what was scored before the first checkpoint, to be scored again. Raises InputError if it is more."""
    metrics = run / "metrics.csv"
    rows = read_csv(metrics, ("epoch",)) if metrics.exists() else []
    if (epoch := max((float(row["epoch"]) for row in rows), default=0)) > 1:
        remedy = "bring its checkpoints back, or begin a new run"
        raise InputError(f"{run}: has scores until epoch {epoch:g} and no checkpoint to resume from; {remedy}")
    for name in TABLES if is_rank_zero() else ():
        (run / name).unlink(missing_ok=True)


def record_settings(run: Path, settings: Mapping[str, Any], module: Objective) -> None:
    """Write by what the best epoch is chosen, and where the content is now, which was seen to be the same."""
    recorded, best_by = read_config(run), {"score": module.score, "mode": module.mode}
    now = recorded | {**settings, "best_by": best_by, "trainer": recorded["trainer"]}  # that resume= changes
    if now != recorded:
        with atomic_write(run / "config.yaml") as file:
            file.write(as_yaml(now))


def _with_value(settings: Any, name: Sequence[str], value: Any) -> Any:
    group = settings if isinstance(settings, dict) else {}
    return {**group, name[0]: _with_value(group.get(name[0]), name[1:], value) if name[1:] else value}


def threads_note(written: Mapping[str, Any]) -> str:
    """A line where the run began with another number of threads; empty where it has the same."""
    before, now = (written.get("made_with") or {}).get("threads"), torch.get_num_threads()
    if before in (None, now):
        return ""
    same = f"for exactly the same result resume with OMP_NUM_THREADS={before}"
    return f"threads: {before} when the run began, now {now}: sums differ in their last bits; {same}"


def refuse_too_few_epochs(run: Path, trainer: Mapping[str, Any]) -> None:
    """Raises InputError where a run to be continued has had more epochs or steps than its trainer allows."""
    rows = read_csv(run / "metrics.csv") if (run / "metrics.csv").exists() else []
    for name in ("epoch", "step"):
        limit, recorded = trainer.get(f"max_{name}s"), [plain_value(row.get(name, "")) for row in rows]
        done = max((number for number in recorded if type(number) is int), default=0)
        if type(limit) is int and done > limit >= 0:
            raise InputError(f"trainer.max_{name}s={limit}: the run has had {done}; give a larger number")


@contextmanager
def locked_run(run: Path) -> Iterator[None]:
    """Lock the folder of a run. Raises InputError if another process holds it, or it has links or is in another run."""
    refuse_links_and_nesting(run)
    with locked(run / RUN_LOCK) if is_rank_zero() else nullcontext(True) as acquired:
        if not acquired:
            raise InputError(f"{run}: another process works on this run; wait until it ends")
        if is_rank_zero():  # the others write nothing before all train
            for folder in (run, *(run / name for name in RUN_FOLDERS)):
                delete_leftovers(folder)
        yield


def refuse_links_and_nesting(run: Path) -> None:
    """Raises InputError if work on the run would change files of another run or outside its folder."""
    for parent in run.absolute().parents:
        if (parent / "config.yaml").exists() and any((parent / name).exists() for name in (RUN_LOCK, "checkpoints")):
            raise InputError(f"{run}: inside the folder of another run, {parent}; choose a folder outside it")
    for folder in (run / name for name in RUN_FOLDERS):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise InputError(f"{folder}: a link or a file where a run has a folder; copy the whole run folder")
        if folder.name in FOLDERS_WITH_LINKS:
            continue
        for path in (Path(root) / name for root, *entries in os.walk(folder) for name in chain(*entries)):
            if path.is_symlink():
                raise InputError(f"{path}: a link in the folder of a run; copy the whole run folder")
            if folder.name in APPENDED_FOLDERS and path.is_file() and path.stat().st_nlink > 1:
                raise InputError(f"{path}: the same file has another name elsewhere; copy the whole run folder")


def resume_command(run: Path, allow: Sequence[str], changes: Sequence[str] = ()) -> str:
    """The command that continues a run, as written in a shell; `changes`: settings that the run does not keep."""
    packages = [f"allow=[{','.join(allow)}]"] if allow else []
    return " ".join(["python train.py", for_shell("resume", run), *packages, *map(shlex.quote, changes)])


def errors_with_remedy(run: Path, allow: Sequence[str], changes: Sequence[str] = ()) -> AbstractContextManager[None]:
    """Errors in one line, with how to continue the run; inside Hydra's job, as Hydra would print a line of its own."""
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)  # here, for a launcher's processes too
    warnings.filterwarnings("ignore", module="pytorch_lightning")
    resumed = resume_command(run, allow, changes)

    def remedy() -> str:
        again = resumed if (run / "config.yaml").exists() else "the same command again"
        return f"nothing written before is lost. Fix this, then: {again}"

    stopped = f"stopped; nothing is lost. Continue with: {resumed}"
    return one_line_errors(run, remedy, stopped if is_rank_zero() else "")


def run_vectors(
    source: Any, run: Path, data: ResumableData, probed: Sequence[str], cache: Path, begin_with: InitialRun | None
) -> RunVectors:
    """The rows of word vectors that a run uses; its first process writes them to its folder, all read them."""
    written = run / "vectors" / "matrix.npy"
    if not written.exists() and not (run / "checkpoints").exists():
        reads = begin_with is None or isinstance(source, FromFile)
        store: Any = source.vectors(data.source_sentences, data.fingerprint, cache) if reads else None
        if not is_rank_zero():
            wait_for_file(written, run / RUN_LOCK)
            return load_run_vectors(run)
        texts = map(str.lower, probed) if data.lowercase else probed
        vocabulary = data.vocabulary.extend(word for text in texts for word in text.split())
        composed = begin_with and begin_with.vectors.lookup_oov
        if lowercase := composed.words is not None if composed else store.lowercase:
            # a later text may have `dog` where this one has `Dog` alone
            vocabulary = vocabulary.extend(map(str.lower, vocabulary.words))
        if begin_with and composed:
            vocabulary, looked_up = extend_vocabulary(begin_with, vocabulary, store)
            subwords, scale = composed.path if composed.path.exists() else None, begin_with.vectors.scale
        else:
            looked_up, subwords, scale = store.lookup(vocabulary.words), store.subwords_bin, store.scale
        rank_zero_print(looked_up.coverage)
        refuse_low_coverage(looked_up, slice(len(SPECIALS), len(data.vocabulary)), "embeddings")
        save_run_vectors(run, vocabulary, looked_up.matrix, subwords, scale, begin_with is not None, lowercase)
    return load_run_vectors(run)


def run_description(module: Objective, data: ResumableData, suites: Sequence[Suite]) -> str:
    """What is trained, on what, and what was left out, in one line."""
    parts = [f"encoder of {sum(p.numel() for p in module.encoder.parameters()):,} weights"]
    for suite in suites:
        parts += [f"{len(suite.tasks)} {suite.name} tasks over {len(distinct_sentences(suite.tasks)):,} sentences"]
    for split, skipped in data.skipped.items():
        counts = [f"{count} {reason.replace('_', ' ')}" for reason, count in skipped._asdict().items() if count]
        parts += [f"left out of {split}: {' and '.join(counts)}"] if counts else []
    return "; ".join([*parts, *data.notes])


def run_summary(run: Path, allow: Sequence[str]) -> str:
    """The scores of the last probed epoch, where the curves are, and how to load the encoder, where there is one."""
    lines, rows = [], read_rows(run / "probes.csv")
    last = max((row.epoch for row in rows), default=0)
    for suite in dict.fromkeys(row.suite for row in rows if row.epoch == last):
        units = [(row, unit_of(suite, row.classifier)) for row in rows if (row.suite, row.epoch) == (suite, last)]
        percent = "" if any(unit for _, unit in units) else " (test, %)"
        lines.append(f"\n{suite} scores after epoch {last}{percent}")
        for row, unit in units:
            interval = f"[{row.test_low:z.1f}, {row.test_high:z.1f}]"
            correlation = "r × 100" if row.answers and row.answers.domains else ""
            lines.append(f"  {row.task:<10} {row.test_accuracy:z5.1f}  {interval} {unit or correlation}".rstrip())
    lines += [f"\ncurves:  {run / 'curves.png'}   (live: make tensorboard)"]
    if not any((run / "checkpoints").glob("*.ckpt")):
        return "\n".join([*lines, "encoder: none was saved (zero epochs, or a trial by trainer.fast_dev_run)"])
    arguments = f", allow={list(allow)}" if allow else ""
    path = loadable_path(run)
    load = f"from encoders import load_encoder; load_encoder({str(path)!r}{arguments}).encode(['A sentence .'])"
    return "\n".join([*lines, f"encoder{' of the best epoch' if path == run else ''}: {load}"])


def loadable_path(run: Path) -> Path:
    """What `load_encoder` takes for a run: its folder, or the last checkpoint if the best one is damaged."""
    best = run / "checkpoints" / "best.ckpt"
    try:
        read_checkpoint(best)
    except InputError as error:
        logging.getLogger(__name__).warning("%s; use the last one instead", error)
        return best.with_name(LAST)
    return run
