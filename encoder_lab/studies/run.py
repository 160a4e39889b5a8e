"""`python train.py study=NAME`: its runs as jobs of a launcher, then its evaluations, then its reports."""

import runpy
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from encoder_lab.errors import InputError, in_one_line
from encoder_lab.progress import Progress
from encoder_lab.settings.command_line import INTERRUPTED, unknown_name_message
from encoder_lab.settings.quoting import unquoted
from encoder_lab.storage.locks import locked
from encoder_lab.studies.cell import ROOT, check_launcher, is_done, launch_cells, refuse_other_settings
from encoder_lab.studies.plan import SCALES, Study, StudyCell, read_study
from encoder_lab.studies.preview import Measure, preview, settings_of

REPORT_SCRIPT = ROOT / "report.py"
STUDY_LOCK = ".running"  # the lock in a study's folder, held while a command works on it
STUDY_SETTINGS = ("study", "scale", "data", "study_dir", "dry_run")
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
CONTINUE_ADVICE = "the same command continues the study"


def run_study(configs: Path, name: str, arguments: Sequence[str], measure: Measure | None = None) -> int:
    """Run or continue the study that the command line names; its exit status. `measure`: for a dry run."""
    options: dict[str, str] = {}
    for key, _, value in (text.partition("=") for text in arguments if text.split("=")[0] in STUDY_SETTINGS):
        if key in options:
            raise InputError(f"{key}={value}: {key}= is given twice; give it once")
        options[key] = unquoted(value)
    launcher = [text for text in arguments if text.startswith(("hydra/launcher", "hydra.launcher."))]
    settings = [text for text in arguments if text.split("=")[0] not in STUDY_SETTINGS and text not in launcher]
    for text in settings:
        if text.startswith(("-", "hydra.", "hydra/", "resume=")):
            raise InputError(f"{text}: has no effect on a study; give study_dir=, hydra/launcher= or hydra.launcher.*=")
    dry_run = options.get("dry_run", NO[0])
    if dry_run.lower() not in (*YES, *NO):
        raise InputError(f"dry_run={dry_run}: give true or false")
    scale = options.get("scale", SCALES[0])
    read = partial(read_study, configs / "study" / f"{name}.yaml", name, scale)
    study = read(options.get("data", "data"), settings)
    if "data" in options and study == read("", settings):
        raise InputError(f"data={options['data']}: {name} reads no files at scale={scale}; leave it out")
    folder = Path(options.get("study_dir", f"runs/studies/{name}/{scale}"))
    refuse_wrong_cells(study, folder)
    refuse_wrong_reports(study, folder)
    check_launcher(folder, launcher)
    if dry_run.lower() in YES:
        print(preview(study, folder, measure))
        return 0
    with locked(folder / STUDY_LOCK) as acquired:
        if not acquired:
            raise InputError(f"{folder}: another process works on this study; wait until it ends")
        return _run_cells(study, folder, launcher)


def refuse_wrong_cells(study: Study, folder: Path) -> None:
    """Raises InputError with the name of a cell where settings of it are wrong, or where its folder has others, or
    the scores of a run that is not there any more.
    """
    distinct: dict[tuple[str, ...], StudyCell] = {}
    for cell in (*study.cells, *study.evaluations):
        refuse_other_settings(cell, folder)
        if not (cell.scores_objective or is_done(cell, folder)):  # the first have the settings of their runs
            distinct[cell.program, *cell.overrides] = cell
    done = {cell.name for cell in (*study.cells, *study.evaluations) if is_done(cell, folder)}
    for cell in study.evaluations:
        if cell.scored and cell.name in done and cell.scored not in done:
            earlier = f"has the scores of an earlier run in {folder / cell.scored}, which is gone"
            raise InputError(f"{folder / cell.name}: {earlier}; remove this folder, too")
    for cell in Progress(distinct.values(), desc="checking settings", unit=" cells", leave=False):
        try:
            settings_of(cell)
        except InputError as error:
            raise InputError(f"{cell.name}: {error}") from None


def refuse_wrong_reports(study: Study, folder: Path) -> None:
    """Raises InputError for a report that report.py would refuse after the runs."""
    commands = runpy.run_path(str(REPORT_SCRIPT))["REPORTS"]
    for name, *arguments in _report_arguments(study, folder, ["."]):
        if name not in commands:
            unknown = unknown_name_message("report", name, list(commands))
            raise InputError(f"reports of study={study.name}: {name}: {unknown}")
        commands[name].read([text if "=" in text else "." for text in arguments])  # the runs are not there yet


def _report_arguments(study: Study, folder: Path, runs: Sequence[str]) -> Iterator[list[str]]:
    for template in study.reports:
        yield [part for text in template for part in (runs if text == "{runs}" else [text.format(study=folder)])]


def _run_cells(study: Study, folder: Path, launcher: Sequence[str]) -> int:
    for name, reason in study.left_out.items():
        print(f"{name}: left out, {reason}", flush=True)
    runs = {cell.name: cell for cell in study.cells}
    run_batch(study.cells, folder, launcher)
    ready = [cell for cell in study.evaluations if not cell.scored or is_done(runs[cell.scored], folder)]
    run_batch(ready, folder, launcher)
    unfinished = [cell for cell in (*study.cells, *study.evaluations) if not is_done(cell, folder)]
    if not unfinished:
        return make_reports(study, folder)
    blocked = [cell.name for cell in unfinished if cell.scored and not is_done(runs[cell.scored], folder)]
    failed = [cell.name for cell in unfinished if cell.name not in blocked]
    for title, names in {"failed": failed, "waits for a failed run": blocked}.items():
        if names:
            print(f"{title}: {', '.join(names)}", file=sys.stderr)
    print(CONTINUE_ADVICE, file=sys.stderr)
    return 1


def run_batch(cells: Sequence[StudyCell], folder: Path, launcher: Sequence[str]) -> None:
    """Run the cells that are not done. Prints why the launcher lost a job; Ctrl-C ends this process."""
    if not (unfinished := [cell for cell in cells if not is_done(cell, folder)]):
        return
    try:
        launch_cells(unfinished, folder, launcher)
    except KeyboardInterrupt:
        print(f"\nstopped; {CONTINUE_ADVICE}", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except (InputError, OSError):
        raise
    except Exception as error:  # each launcher raises its own error for a killed worker
        print(f"a job ended without a result: {in_one_line(error)}", file=sys.stderr)


def make_reports(study: Study, folder: Path) -> int:
    """Tables and figures of a finished study, in its folder."""
    evaluated = [sorted((folder / cell.name).glob("*/*/config.yaml")) for cell in study.evaluations]
    scored = [str(path.parent) for paths in evaluated for path in paths]
    runs = [*(str(folder / cell.name) for cell in study.cells), *scored]
    failed = 0
    for arguments in _report_arguments(study, folder, runs):
        result = subprocess.run([sys.executable, str(REPORT_SCRIPT), *arguments], check=False)
        failed = failed or result.returncode  # below 0 of one that was killed
    return failed
