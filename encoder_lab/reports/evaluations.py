"""The output of an evaluation: a folder for each model and suite, and tables on the terminal."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.reports import compare
from encoder_lab.reports.models import distinct_names, models_of, task_differences
from encoder_lab.reports.published import requested_tables
from encoder_lab.reports.runs import read_run
from encoder_lab.reports.strips import TOKENS_FILE
from encoder_lab.reports.table import has_scores_of, probing_table
from encoder_lab.reports.terminal import measures_text, second_measures_text, suite_lines, table_text
from encoder_lab.reports.text import for_terminal
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


class WrittenScores(NamedTuple):
    """The scores of one model on one suite and the folder that holds them."""

    folder: Path
    suite: str
    model: str  # as the user named it
    main: list[Evaluated]
    measures: list[ProbeRow]  # of control tasks, selectivity and codes


def write_scores(written: WrittenScores, settings: Mapping[str, Any]) -> None:
    """Write the scores, and the settings that made them, into their folder; report.py reads it."""
    with atomic_write(written.folder / "config.yaml") as file:
        file.write(as_yaml(settings))
    write_rows(written.folder / "probes.csv", [*(e.row for e in written.main), *written.measures])
    details = [{"task": e.row.task, "measure": m, "score": v} for e in written.main for m, v in e.details.items()]
    if details:
        upsert_csv(written.folder / "details.csv", details, ("task", "measure"))


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
    tables = requested_tables(published)
    for suite in dict.fromkeys(d.suite for d in written):
        scored = [d for d in written if d.suite == suite]
        runs = [read_run(d.folder) for d in scored]
        titles = distinct_names([models_of([run])[0].title for run in runs], [d.model for d in scored])
        texts = [table_text(probing_table(models_of(runs), suite, "last", reader, tables))]
        for title, d in zip(titles, scored, strict=True):
            if any(e.row.classifier == "surprisal" for e in d.main):
                texts.append(suite_lines(title, d.main, tables))
            elif lines := second_measures_text(title, d.main):
                texts.append(lines)
            if d.measures:
                texts.append(measures_text(title, [e.row for e in d.main], d.measures))
        first, *others = [{suite: {e.row.task: [e.row] for e in d.main}} for d in scored]
        notes = []
        for title, scores in zip(titles[1:], others, strict=True) if facts_of(suite).ranked else ():
            compared = compare.compare_tasks(scores, first)
            texts.append(f"A - B: {title} minus {titles[0]}, percentage points with 95% interval")
            texts.append(compare.as_text(compared, []))
            notes.append(f"{compare.test_note(compared)}\n")
        texts += dict.fromkeys(notes)  # one where all have the same tasks
        print(for_terminal("\n".join([*texts, *(f"{d.folder}/probes.csv" for d in scored)])))
