"""Scores of many runs as one file of long form: for pandas, and for reports where the run folders are not."""

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
from encoder_lab.reports.models import FINGERPRINT_COLUMN, model_identity
from encoder_lab.reports.run_files import check_settings, checked_metrics
from encoder_lab.reports.runs import (
    CONTENT_KEY,
    END_SETTINGS,
    Run,
    grouped,
    read_run,
    run_folders,
    settings_agree,
    with_whole_numbers,
)
from encoder_lab.reports.text import MAX_NAME_CHARACTERS
from encoder_lab.storage.csv_files import csv_text, read_numbered_csv
from probes import results
from probes.classifiers.grid import SENTEVAL_ONLY
from probes.facts import facts_of, unit_of
from probes.results import KEY_COLUMNS, ProbeRow, answers_to_text, row_to_text
from probes.task import NO_ITEMS, content_hash

NAME_COLUMNS = ("run", "encoder", "objective")
ROW_COLUMNS = (*(column.name for column in results.COLUMNS), "test", "right")  # as in probes.csv and answers.csv
TRAINING, TRAINING_ON_TEST = "training", "training on test"  # the suites of the objective's own scores
OWN_SUITES = {TRAINING: 0, TRAINING_ON_TEST: 1, "probing": 2}  # rows with the settings of the run itself, before others
CLASSIFIER_COLUMNS = [f"probes.classifier.{name}" for name in ("protocol", "widths", "dropouts", "l2", *SENTEVAL_ONLY)]
CONTENT_COLUMNS = (CONTENT_KEY, f"run.{CONTENT_KEY}")
STATED_COLUMNS = (  # by reports
    *("model", "checkpoint", "made_with.commit", "run.seed"),
    *("trainer.max_epochs", "run.trainer.max_epochs", *END_SETTINGS),
    *("encoder.dim", "embeddings.freeze", "embeddings.scale", "objective.parts", "objective.select"),
    *(f"{of}labels.{name}" for of in ("", "run.") for name in ("encoder", "objective", "colour")),
    *CLASSIFIER_COLUMNS,
    *CONTENT_COLUMNS,
)


def scores(*folders: str | Path) -> list[dict[str, Any]]:
    """One row for each score of the runs in these folders: `pandas.DataFrame(scores("runs"))`.

    The columns: the run, its encoder and objective, each setting that differs between runs or that reports state, a
    fingerprint of the others, and those of `probes.csv` and `answers.csv`. The objective's own score is a row of suite
    `training`, in `test_accuracy`, with the loss and perplexity of that epoch; that of its test split has suite
    `training on test`.
    Raises InputError for a folder without runs.
    """
    runs = list(map(_with_own_seed, models.join_evaluations(read_runs(map(Path, folders)))))
    settings = _columns(runs)
    parents = [str(run.folder.absolute().parent) for run in runs]
    rows = []
    for run in runs:
        names = {"run": relpath(run.folder, commonpath(parents)), "encoder": run.encoder, "objective": run.objective}
        fingerprint = run.settings.get(FINGERPRINT_COLUMN) or content_hash(model_identity(run, *settings))
        for row in _rows(run):
            columns = {key: _settings_for(run, row["suite"], key).get(key, "") for key in settings}
            rows.append({**names, **columns, FINGERPRINT_COLUMN: fingerprint, **row})
    return rows


def read_runs(paths: Iterable[Path]) -> list[Run]:
    """The runs in folders, each seed of a model once, and those of files that `as_csv` wrote; what both have, once.

    Raises InputError where two files have other scores of one seed.
    """
    paths = list(paths)
    folders = [path for path in paths if not path.is_file()]
    files: dict[tuple, tuple[Path, Run]] = {}
    for path, run in ((file, run) for file in paths if file.is_file() for run in read_scores(file)):
        key = model_identity(run), run.settings["seed"], run.evaluated
        path_before, run_before = files.setdefault(key, (path, run))
        if path != path_before and _scores_by_key(run) != _scores_by_key(run_before):
            problem = f"{run.encoder}, {run.objective}, seed {run.settings['seed']}, has other scores in {path_before}"
            raise InputError(f"{path}: {problem}; give one of these files, or report.py scores of all runs")
    in_folders = models.one_run_per_seed(map(read_run, run_folders(folders)))
    runs: list[tuple[Path, Run]] = [(run.folder, run) for run in in_folders]
    for path, run in files.values():
        indices = [index for index, (source, _) in enumerate(runs) if source != path]
        index = next((index for index in indices if _is_same(runs[index][1], run)), None)
        if index is None:
            scored = {_score_key(row) for row in run.rows}
            parts = [part for _, part in runs if _is_evaluation_of(run, scored, part)]
            whole = replace(run, evaluations=[part.folder for part in parts])
            runs = [pair for pair in runs if all(pair[1] is not part for part in parts)]
            runs.append((path, _complete_settings(whole, [earlier for _, earlier in runs])))
            continue
        keys = {_score_key(row) for i in indices for row in runs[i][1].rows}  # also of an evaluation's folder
        source, run_before = runs[index]
        rows = [*run_before.rows, *(row for row in run.rows if _score_key(row) not in keys)]
        stated = {key: value for key, value in run.settings.items() if key != FINGERPRINT_COLUMN}
        settings = {**stated, **run_before.settings}
        metrics, tests = _join_rows(run_before.metrics, run.metrics), _join_rows(run_before.tests, run.tests)
        suites = {**run.suite_settings, **run_before.suite_settings}
        joined = replace(run_before, rows=rows, settings=settings, metrics=metrics, tests=tests, suite_settings=suites)
        runs[index] = source, joined
    _note_unjoined([run for source, run in runs if source == run.folder], files.values())
    return [run for _, run in runs]


def _note_unjoined(runs: Sequence[Run], files: Iterable[tuple[Path, Run]]) -> None:
    """Tell of evaluations of runs that only a file has: it says too little of a run to know it again."""
    trained = {str(run.folder.resolve()) for run in runs}
    names = {(run.encoder, run.objective, run.settings["seed"]): path for path, run in files}
    for run in (run for run in runs if "checkpoint" in run.settings and run.evaluated not in trained):
        if file := names.get((run.encoder, run.objective, run.settings.get("run.seed"))):
            why = f"not joined with the run of {file}, which has not all settings"
            print(f"{run.folder}: {why}; give the folder of the run, or write the file with both", file=sys.stderr)


def _complete_settings(run: Run, runs: Sequence[Run]) -> Run:
    """A run of a file with the settings that the file has only as a fingerprint, if another seed of its model has them.

    A run of that seed with other scores is no second seed: then the run stays another model.
    """
    stated = {key: value for key, value in run.settings.items() if key != FINGERPRINT_COLUMN}
    model_key = model_identity(replace(run, settings=stated))
    seeds = [
        seed
        for seed in runs
        if model_identity(replace(seed, settings={k: v for k, v in seed.settings.items() if k in stated})) == model_key
        and content_hash(model_identity(seed, *CONTENT_COLUMNS, *stated)) == run.settings.get(FINGERPRINT_COLUMN)
    ]
    if not seeds or any(settings_agree(seed, run, ("seed", "run.seed")) for seed in seeds):
        return run
    return replace(run, settings={**seeds[0].settings, **stated})


def _is_evaluation_of(run: Run, scored: set[tuple], part: Run) -> bool:
    """Whether the scores of an evaluation's folder are among those of the run of a file, which they joined."""
    same = (part.encoder, part.objective) == (run.encoder, run.objective) and "model" in part.settings
    return same and bool(part.rows) and {_score_key(row) for row in part.rows} < scored


def _is_same(run: Run, again: Run) -> bool:
    """Whether two sources have the same run: the settings and scores that both have are equal."""
    comparable = replace(run, settings={**run.settings, FINGERPRINT_COLUMN: again.settings.get(FINGERPRINT_COLUMN)})
    if (run.encoder, run.objective) != (again.encoder, again.objective) or not settings_agree(comparable, again, ("",)):
        return False
    a, b = map(_scores_by_key, (run, again))
    shared = a.keys() & b.keys()
    return bool(shared or not a) and all(a[key] == b[key] for key in shared)


def _scores_by_key(run: Run) -> dict[Any, str]:
    """The scores as text, where NaN is itself: of its objective by epoch, of tasks by what tells them apart."""
    own: dict[Any, str] = {epoch: str(score) for epoch, score in run.objective_scores().items()}
    return own | {_row_key(row): str(row_to_text(row)) for row in run.rows}


def _join_rows(first: Sequence[Mapping[str, str]], second: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    return list({row["epoch"]: row for row in [*second, *first]}.values())


def _row_key(row: ProbeRow) -> tuple:
    return tuple(getattr(row, name) for name in KEY_COLUMNS)


def _score_key(row: ProbeRow) -> tuple:
    return *_row_key(row), str(row.test_accuracy), row.seconds


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a CSV file: text unchanged, other values as JSON. Raises InputError without rows."""
    if not rows:
        raise InputError("no run has scores yet; train it for an epoch, or evaluate it")
    texts = ([value if isinstance(value, str) else json.dumps(value) for value in row.values()] for row in rows)
    return csv_text([rows[0], *texts])


def read_scores(path: Path) -> list[Run]:
    """The runs of a file that `as_csv` wrote, with a warning where percent look like fractions.

    Raises InputError naming file and line.
    """
    lines = read_numbered_csv(path, [*NAME_COLUMNS, *results.REQUIRED_COLUMNS, "test", "right"], ("run", *KEY_COLUMNS))
    runs = grouped((row["run"], (line, row)) for line, row in lines)
    if not runs:
        raise InputError(f"{path}: no scores there; write it again with report.py scores")
    read = [_run(path, name, numbered) for name, numbered in runs.items()]
    for suite, rows in grouped((row.suite, row) for run in read for row in run.rows).items():
        small = all(0 <= row.test_accuracy <= 1 and not _is_percent(row) for row in rows)
        if small and any(row.test_accuracy for row in rows) and facts_of(suite).ranked and suite != "selectivity":
            remedy = "if they are fractions, write them times 100, and their intervals"
            print(f"warning: {path}: no score of {suite} is above 1%; {remedy}", file=sys.stderr)
    return read


def _is_percent(row: ProbeRow) -> bool:
    """Whether the answers of a row show that its score, perhaps a small one, is in percent; or it has another unit."""
    right = row.answers.right if row.answers else NO_ITEMS
    percent = len(right) > 0 and abs(100 * right.mean() - row.test_accuracy) < 0.01
    return percent or bool(unit_of(row.suite, row.classifier))


def _columns(runs: Sequence[Run]) -> list[str]:
    """The settings that differ between runs, and those that reports state, without those that rows have."""
    named = grouped(((run.encoder, run.objective, "model" in run.settings), run) for run in runs)

    def differs(key: str) -> bool:
        """A setting that only some runs have differs if these have the names of others; a class, too."""
        values = {str(run.settings[key]) for run in runs if key in run.settings}
        varies = any(len({str(run.settings.get(key, "")) for run in group}) > 1 for group in named.values())
        return varies or (len(values) > 1 and not key.endswith("_target_"))

    added = chain(*(settings for run in runs for settings in run.suite_settings.values()))
    keys = dict.fromkeys([*chain(*(run.settings for run in runs)), *filter(_scores_a_suite, added)])
    differing = [key for key in keys if key.removeprefix("run.") not in models.INCIDENTAL_SETTINGS and differs(key)]
    stated = [key for key in keys if key in STATED_COLUMNS or _scores_a_suite(key)]
    excluded = {*NAME_COLUMNS, *ROW_COLUMNS, "encoder_name", "objective_name", FINGERPRINT_COLUMN}
    return sorted((key for key in dict.fromkeys([*differing, *stated]) if key not in excluded), key=_scores_a_suite)


def _scores_a_suite(key: str) -> bool:
    return key in CLASSIFIER_COLUMNS or key.endswith(".kfold")


def _settings_for(run: Run, suite: str, key: str) -> Mapping[str, Any]:
    """Where a suite has the setting of a column: in the evaluation that added it, if it says how that was scored."""
    return run.suite_settings.get(suite, run.settings) if _scores_a_suite(key) else run.settings


def _with_own_seed(run: Run) -> Run:
    """A run with scores of evaluations states its own seed as these do, where they have another in their rows."""
    own = {} if "model" in run.settings or "seed" not in run.settings else {"run.seed": run.settings["seed"]}
    differs = any(row.seed not in own.values() for row in run.rows)
    return replace(run, settings={**run.settings, **own}) if differs else run


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
    first = min((row for _, row in numbered), key=lambda row: OWN_SUITES.get(row["suite"], len(OWN_SUITES)))
    texts = {key: text for key, text in first.items() if key not in (*NAME_COLUMNS, *ROW_COLUMNS) and text}
    seed = first["seed"] if "model" in texts else texts.pop("run.seed", first["seed"])
    settings = with_whole_numbers({key: _parse_value(text) for key, text in {**texts, "seed": seed}.items()})
    check_settings(path, settings)
    by_suite = {row["suite"]: _suite_settings(row) for _, row in numbered}
    suites = {suite: stated for suite, stated in by_suite.items() if stated != _suite_settings(first)}
    rows: list[ProbeRow] = []
    objective_scores: dict[str, dict[str, dict[str, str]]] = {TRAINING: {}, TRAINING_ON_TEST: {}}  # by epoch
    for line, row in numbered:
        # pandas writes NaN as nothing, and whole numbers as 1.0 where the column has others
        row |= {name: row[name] or "nan" for name in ("dev_accuracy", "test_accuracy", "test_low", "test_high")}
        row |= {name: row[name].removesuffix(".0") for name in ("epoch", "step")}
        if row["suite"] in objective_scores:
            cells = {"epoch": row["epoch"], "step": row["step"], row["task"]: row["test_accuracy"]}
            objective_scores[row["suite"]].setdefault(row["epoch"], {}).update(checked_metrics(path, line, cells))
        else:
            answers = results.answers_from_text(path, line, row) if row["right"] else None
            rows.append(results.row_from_text(path, line, row, answers))
    encoder, objective = (shortened(printable(first[key]), MAX_NAME_CHARACTERS) for key in ("encoder", "objective"))
    metrics, tests = (list(by_epoch.values()) for by_epoch in objective_scores.values())
    return Run(path / name, encoder, objective, settings, rows, metrics, tests, suite_settings=suites)


def _suite_settings(row: Mapping[str, str]) -> dict[str, Any]:
    """How the suite of a row was scored."""
    return with_whole_numbers({key: _parse_value(row[key]) for key in filter(_scores_a_suite, row) if row[key]})


def _parse_value(text: str) -> Any:
    """What `as_csv` wrote as this text, or pandas where it wrote the file again."""
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except (ValueError, RecursionError):
        return text
