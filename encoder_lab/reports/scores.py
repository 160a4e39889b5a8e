"""Scores of many runs as one file of long form: for pandas, and for reports without the run folders."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os.path import commonpath, relpath
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError, printable, shortened
from encoder_lab.reports import models
from encoder_lab.reports.run_files import check_settings, checked_metrics
from encoder_lab.reports.runs import Run, grouped, read_run, run_folders, with_whole_numbers
from encoder_lab.reports.text import MAX_NAME_CHARACTERS
from encoder_lab.storage.csv_files import csv_text, read_numbered_csv
from probes import results
from probes.facts import facts_of, unit_of
from probes.results import KEY_COLUMNS, ProbeRow, answers_to_text, row_to_text
from probes.task import NO_ITEMS

NAME_COLUMNS = ("run", "encoder", "objective")
ROW_COLUMNS = (*(column.name for column in results.COLUMNS), "test", "right")  # as in probes.csv and answers.csv
SETTING = "settings."  # before the name of a setting that a row has, too
PLACES = {"cache", "init", "resume"}  # settings that say where files of a machine are
TRAINING, TRAINING_ON_TEST = "training", "training on test"  # the suites of the objective's own scores


def scores(*folders: str | Path) -> list[dict[str, Any]]:
    """One row for each score of the runs in these folders: `pandas.DataFrame(scores("runs"))`.

    The columns: the run, its encoder and objective, those of `probes.csv` and `answers.csv`, and the settings of the
    run. The objective's own score is a row of suite `training`, in `test_accuracy`, with the loss and perplexity of
    that epoch; that of its test split has suite `training on test`. `model` of an evaluation is the run that it scored.
    Raises InputError for a folder without runs.
    """
    runs = read_runs(map(Path, folders))
    parents = [str(run.folder.absolute().parent) for run in runs]
    names = {run.folder: relpath(run.folder, commonpath(parents)) for run in runs}
    keys = [key for key in dict.fromkeys(chain(*(run.settings for run in runs))) if key not in PLACES]
    rows = []
    for run in runs:
        scored = [names[other.folder] for other in runs if "model" not in other.settings and other.is_scored_by(run)]
        settings = {**run.settings, **({"model": scored[0]} if scored else {})}
        columns = {SETTING * (key in (*NAME_COLUMNS, *ROW_COLUMNS)) + key: settings.get(key, "") for key in keys}
        named = {"run": names[run.folder], "encoder": run.encoder, "objective": run.objective}
        rows += [{**named, **row, **columns} for row in _rows(run) or [dict.fromkeys(ROW_COLUMNS, "")]]
    return rows


def read_runs(paths: Iterable[Path]) -> list[Run]:
    """The runs in folders, each seed of a model once, and those of files that `as_csv` wrote; what both have, once.

    Raises InputError where two of them have other scores of one seed.
    """
    paths = list({path.resolve(): path for path in paths}.values())
    folders = [path for path in paths if not path.is_file()]
    in_folders = models.one_run_per_seed(map(read_run, run_folders(folders)))
    sources: list[tuple[Path | None, Run]] = [(None, run) for run in in_folders]
    sources += [(path, run) for path in paths if path.is_file() for run in read_scores(path)]
    runs: list[tuple[Path | None, Run]] = []
    indices: dict[tuple, list[int]] = {}  # of the runs of one seed
    places: dict[str, str] = {}  # the folder of a run that an earlier source has, too -> its folder there
    for source, run in sorted(sources, key=lambda pair: "model" in pair[1].settings):  # runs before their evaluations
        run = _with_model(run, places.get(run.evaluated))
        of_seed = indices.setdefault((models.model_identity(run), models.seeds_of(run)), [])
        elsewhere = [index for index in of_seed if runs[index][0] != source]
        equal = next((index for index in elsewhere if _scores_of(runs[index][1]) == _scores_of(run)), None)
        if equal is not None:
            earlier, first = runs[equal]
            places[str(run.folder.resolve())] = str(first.folder.resolve())
            runs[equal] = earlier, replace(first, settings={**first.settings, **run.settings})
        elif elsewhere:
            earlier, first = runs[elsewhere[0]]
            problem = f"{run.encoder}, {run.objective}, seed {run.settings['seed']}, has other scores in"
            raise InputError(f"{source}: {problem} {earlier or first.folder}; give one of them")
        else:
            of_seed.append(len(runs))
            runs.append((source, run))
    _note_unjoined(runs)
    return [run for _, run in runs]


def _with_model(run: Run, folder: str | None) -> Run:
    """An evaluation of a run with this folder as what it scored."""
    return replace(run, settings={**run.settings, "model": folder}) if folder and "checkpoint" in run.settings else run


def _note_unjoined(runs: Sequence[tuple[Path | None, Run]]) -> None:
    """Tell of evaluations of runs that only a file has: which folder that was is not known."""
    trained = {str(run.folder.resolve()) for _, run in runs}
    files = {(run.encoder, run.objective, str(run.settings.get("seed"))): file for file, run in runs if file}
    for source, run in runs:
        file = files.get((run.encoder, run.objective, str(run.settings.get("run.seed"))))
        if file and not source and "checkpoint" in run.settings and run.evaluated not in trained:
            why = f"not joined with the run of {file}, which may be another"
            print(f"{run.folder}: {why}; give the folder of the run, or write the file with both", file=sys.stderr)


def _scores_of(run: Run) -> dict[Any, str]:
    """The scores as text, where NaN is itself: of its objective by epoch, of tasks by what tells them apart."""
    own: dict[Any, str] = {epoch: str(score) for epoch, score in run.objective_scores().items()}
    return own | {tuple(getattr(row, name) for name in KEY_COLUMNS): str(row.interval) for row in run.rows}


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a CSV file; a setting is JSON, or text that cannot be JSON. Raises InputError without scores."""
    if not any(row["suite"] for row in rows):
        raise InputError("no run has scores yet; train it for an epoch, or evaluate it")
    plain = (*NAME_COLUMNS, *ROW_COLUMNS)
    texts = ([value if key in plain else _cell_text(value) for key, value in row.items()] for row in rows)
    return csv_text([rows[0], *texts])


def _cell_text(value: Any) -> str:
    """A setting on one line."""
    if isinstance(value, str) and len(value.splitlines()) < 2 and _parse_value(value) == value:
        return value
    return json.dumps(value)


def read_scores(path: Path) -> list[Run]:
    """The runs of a file that `as_csv` wrote, with a warning where percent look like fractions.

    Raises InputError naming file and line.
    """
    lines = read_numbered_csv(path, [*NAME_COLUMNS, *results.REQUIRED_COLUMNS, "test", "right"], ("run", *KEY_COLUMNS))
    runs = grouped((row["run"], (line, row)) for line, row in lines)
    if not runs:
        raise InputError(f"{path}: no scores there; write it again with report.py scores")
    read = {name: _run(path, name, numbered) for name, numbered in runs.items()}
    places = {name: str(run.folder.resolve()) for name, run in read.items() if "model" not in run.settings}
    for suite, rows in grouped((row.suite, row) for run in read.values() for row in run.rows).items():
        small = all(0 <= row.test_accuracy <= 1 and not _is_percent(row) for row in rows)
        if small and any(row.test_accuracy for row in rows) and facts_of(suite).ranked:
            remedy = "if they are fractions, write them times 100, and their intervals"
            print(f"warning: {path}: no score of {suite} is above 1%; {remedy}", file=sys.stderr)
    return [_with_model(run, places.get(str(run.settings.get("model")))) for run in read.values()]


def _is_percent(row: ProbeRow) -> bool:
    """Whether the answers of a row show that its score, perhaps a small one, is in percent; or it has another unit."""
    right = row.answers.right if row.answers else NO_ITEMS
    percent = len(right) > 0 and abs(100 * right.mean() - row.test_accuracy) < 0.01
    return percent or bool(unit_of(row.suite, row.classifier))


def _rows(run: Run) -> list[dict[str, str]]:
    empty = dict.fromkeys(ROW_COLUMNS, "")
    probed = [empty | row_to_text(row) | (answers_to_text(row.answers) if row.answers else {}) for row in run.rows]
    seed = str(run.settings.get("seed", ""))
    # of equal scores the loss decides which is best, and curves draw the perplexity where BLEU is 0
    names = dict.fromkeys([run.score, *(f"{run.score.rpartition('/')[0]}/{name}" for name in ("loss", "perplexity"))])
    trained = [
        empty
        | {"suite": suite, "task": name, "seed": seed, "epoch": row["epoch"], "step": row.get("step", "")}
        | {"test_accuracy": row[name]}
        for suite, table in ((TRAINING, run.metrics), (TRAINING_ON_TEST, run.tests))
        for name in (names if run.score else ())
        for row in table
        if row.get(name)
    ]
    return probed + trained


def _run(path: Path, name: str, numbered: Sequence[tuple[int, dict[str, str]]]) -> Run:
    first_line, first = numbered[0]
    columns = [key for key in first if key not in ("run", *ROW_COLUMNS)]
    rows: list[ProbeRow] = []
    objective_scores: dict[str, dict[str, dict[str, str]]] = {TRAINING: {}, TRAINING_ON_TEST: {}}  # by epoch
    for line, row in numbered:
        if differing := [key for key in columns if row[key] != first[key]]:
            problem = f"{differing[0]} is another than on line {first_line}, of the same run"
            raise InputError(f"{path}:{line}: {problem}; write the file again with report.py scores")
        # pandas writes NaN as nothing, and whole numbers as 1.0 where the column has others
        row |= {name: row[name] or "nan" for name in ("dev_accuracy", "test_accuracy", "test_low", "test_high")}
        row |= {name: row[name].removesuffix(".0") for name in ("epoch", "step")}
        if row["suite"] in objective_scores:
            cells = {"epoch": row["epoch"], "step": row["step"], row["task"]: row["test_accuracy"]}
            objective_scores[row["suite"]].setdefault(row["epoch"], {}).update(checked_metrics(path, line, cells))
        elif row["suite"]:
            answers = results.answers_from_text(path, line, row) if row["right"] else None
            rows.append(results.row_from_text(path, line, row, answers))
    encoder, objective = (shortened(printable(first[key]), MAX_NAME_CHARACTERS) for key in ("encoder", "objective"))
    texts = {key.removeprefix(SETTING): first[key] for key in columns if key not in NAME_COLUMNS and first[key]}
    texts.setdefault("seed", first["seed"])
    settings = with_whole_numbers({key: _parse_value(text) for key, text in texts.items()})
    check_settings(path, settings)
    metrics, tests = (list(by_epoch.values()) for by_epoch in objective_scores.values())
    return Run(path / name, encoder, objective, settings, rows, metrics, tests)


def _parse_value(text: str) -> Any:
    """What `as_csv` wrote as this text, or pandas where it wrote the file again."""
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except (ValueError, RecursionError):
        return text
