"""The output of an evaluation: a folder for each model and suite, and tables on the terminal."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.reports.coherence_lines import suite_lines
from encoder_lab.reports.escape import for_terminal
from encoder_lab.reports.models import models_of, shortest_tails, task_differences
from encoder_lab.reports.published import requested_tables
from encoder_lab.reports.runs import read_run
from encoder_lab.reports.strips import TOKENS_FILE
from encoder_lab.reports.table import has_scores_of, probing_table
from encoder_lab.reports.terminal import comparisons_text, measures_text, second_measures_text, table_text
from encoder_lab.settings.run_settings import as_yaml
from encoder_lab.storage.csv_files import upsert_csv
from encoder_lab.storage.files import atomic_write
from probes.coherence.tasks import Coherence
from probes.evaluation import Evaluated, Evaluation
from probes.facts import facts_of
from probes.geometry import history
from probes.results import ProbeRow, write_rows
from probes.suites import Suite
from probes.task import Task


class ModelScores(NamedTuple):
    """The scores of one model on one suite; `key` identifies the model, the tasks and the settings."""

    key: str
    main: list[Evaluated]
    measures: Sequence[ProbeRow] = ()  # of control tasks, selectivity and codes


class WrittenScores(NamedTuple):
    """The scores of one model on one suite and the folder that holds them."""

    title: str
    folder: Path
    suite: str
    scores: ModelScores
    model: str = ""  # as the user named it


def write_scores(
    out: Path, name: str, model: Model, suite: str, scores: ModelScores, settings: Mapping[str, Any]
) -> WrittenScores:
    """Write the scores of one model on one suite into a folder in `out` that report.py reads."""
    title = ", ".join(filter(None, [model.encoder, model.objective]))
    folder = out / suite / f"{re.sub(r'[^a-zA-Z0-9_.-]+', '-', title)}-{scores.key}"
    names = {"encoder_name": model.encoder, "objective_name": model.objective, "corpus_name": None, "model": name}
    with atomic_write(folder / "config.yaml") as file:
        file.write(as_yaml({**names, **settings}))
    write_rows(folder / "probes.csv", [*(e.row for e in scores.main), *scores.measures])
    details = [{"task": e.row.task, "measure": m, "score": v} for e in scores.main for m, v in e.details.items()]
    if details:
        upsert_csv(folder / "details.csv", details, ("task", "measure"))
    return WrittenScores(title, folder, suite, scores, name)


def write_tokens(folder: Path, tasks: Sequence[Task], evaluation: Evaluation) -> None:
    """Write the bits of every token, where the tasks are scored by surprisal."""
    if coherence := [task for task in tasks if isinstance(task, Coherence)]:
        records = (record for task in coherence for record in task.records(evaluation.surprisal))
        with atomic_write(folder / TOKENS_FILE) as file:
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def compare_states(written: Sequence[WrittenScores]) -> None:
    """Add the similarity of the epochs of a run, or of the layers of a model, to their scores."""
    for model in dict.fromkeys(d.model for d in written):
        folders = dict.fromkeys(d.folder for d in written if d.model == model)
        series = [state for folder in folders for state in history.states_of_run(folder / "probes.csv")]
        for (_, file), rows in zip(series, history.similarities(series), strict=True) if len(series) > 1 else ():
            write_rows(file.parents[1] / "probes.csv", rows)


def note_unjoined_scores(written: Sequence[WrittenScores]) -> None:
    """Tell where the scores of evaluated epochs are of other tasks than those of their run."""
    for folder, run in {d.folder: d.model for d in written}.items():
        if differ := task_differences(read_run(Path(run)), read_run(folder)):
            problem = for_terminal(f"{run}: its own scores are of other tasks, with {differ}")
            print(f"{problem}; so reports show these as another model's", file=sys.stderr)


def refuse_published_of_other_tasks(chosen: str | None, suites: Sequence[Suite]) -> None:
    """Raises InputError where the requested published table has no score of any task."""
    for table in requested_tables(chosen) or ():
        names = {suite.name: [task.name for task in suite.tasks] for suite in suites}
        for task in (task for suite in suites for task in suite.tasks if isinstance(task, Coherence)):
            names[task.suite] += task.compared
        if not any(has_scores_of(table, suite, tasks) for suite, tasks in names.items()):
            remedy = "choose another table, or leave it out"
            raise InputError(f"published={table}: it has no score of these tasks; {remedy}")


def print_scores(written: Sequence[WrittenScores], reader: str, published: str | None) -> None:
    """Print the scores of each suite next to the published ones, then control tasks and description lengths."""
    for suite in dict.fromkeys(d.suite for d in written):
        titled = with_distinct_titles([d for d in written if d.suite == suite])
        _print_suite(titled, suite, reader, requested_tables(published))


def with_distinct_titles(written: Sequence[WrittenScores]) -> list[WrittenScores]:
    """Adds the end of the path to titles that several models have, such as two checkpoints of a run."""
    titles = [d.title for d in written]
    named: dict[tuple[str, str], str] = {}  # title and model to the end of the model's path
    for title in titles:
        models = list(dict.fromkeys(d.model for d in written if d.title == title))
        named |= {(title, model): tail for model, tail in zip(models, shortest_tails(models), strict=True)}
    tails = [f" ({named[d.title, d.model]})" if titles.count(d.title) > 1 else "" for d in written]
    return [d._replace(title=d.title + tail) for d, tail in zip(written, tails, strict=True)]


def _print_suite(written: Sequence[WrittenScores], suite: str, reader: str, tables: Sequence[str] | None) -> None:
    models = models_of(read_run(d.folder) for d in written)
    print_escaped(table_text(probing_table(models, suite, "last", reader, tables)))
    for d in written:
        if any(e.row.classifier == "surprisal" for e in d.scores.main):
            print_escaped(suite_lines(d.title, d.scores.main, tables))
        elif lines := second_measures_text(d.title, d.scores.main):
            print_escaped(lines)
        if d.scores.measures:
            print_escaped(measures_text(d.title, [e.row for e in d.scores.main], d.scores.measures))
    if len(written) > 1 and facts_of(suite).ranked:
        print_escaped(comparisons_text([(d.title, d.scores.main) for d in written]))
    print_escaped("\n".join(f"{d.folder}/probes.csv" for d in written))


def print_escaped(text: str) -> None:
    print(for_terminal(text))
