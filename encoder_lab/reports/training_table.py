"""The table of the objectives' own scores (Conneau et al. 2018, Table 3)."""

import math
from collections.abc import Sequence

from encoder_lab.errors import InputError
from encoder_lab.reports import table_notes
from encoder_lab.reports.chart import PERCENT_SCORES
from encoder_lab.reports.models import ReportedModel
from encoder_lab.reports.published import TRAINING_TABLE, published
from encoder_lab.reports.runs import CONTENT_KEY, score_name
from encoder_lab.reports.table import Table, TableCell, TableRow, mixed_items_notes
from probes.statistics import bounded_mean_of_runs


def training_table(models: Sequence[ReportedModel], published_names: Sequence[str] | None = None) -> Table:
    """Table 3 of Conneau et al. 2018: the score of each encoder on its training task."""
    rows: dict[tuple[str, str], TableRow] = {}
    lower = set()
    for model, cell in ((m, cell) for m in models if (cell := objective_cell(m))):
        column = f"{model.objective} {score_name(model.score)}"
        name = f"{model.encoder} {model.variant}".rstrip()
        cells = rows.setdefault(("", name), TableRow("", "", name, {})).cells
        cells[f"{column} (dev)"] = cell._replace(model=model.title)
        if test := objective_cell(model, test=True):
            cells[column] = test._replace(model=model.title)
        lower |= {column, f"{column} (dev)"} if model.runs[0].mode == "min" else set()
    our_columns = {column.removesuffix(" (dev)") for row in rows.values() for column in row.cells}
    tables = [TRAINING_TABLE] if published_names is None else published_names
    for score in (score for table in tables for score in published(table)):
        column = f"{score.model} {score.task}"
        if column in our_columns or not models:
            row = rows.setdefault((score.table, score.encoder), TableRow(score.table, "", score.encoder, {}))
            row.cells[column] = TableCell(score.score)
    if not rows:
        raise InputError("no run has a score of its own yet (metrics.csv); an untrained encoder has none")
    columns = list(dict.fromkeys(column for row in rows.values() for column in row.cells))
    all_rows = list(rows.values())
    note = "Ours: the best epoch on dev; without (dev): on test, by evaluate.py model=RUN suite=objective."
    seeds = {model.title: [len(cell.runs)] for model in models if (cell := objective_cell(model))}
    notes = [note] if our_columns else []
    notes += table_notes.unfinished_notes(models)
    notes += mixed_items_notes([row for row in all_rows if not row.source], "corpora")
    notes += table_notes.seeds_note(seeds, errors="of the seeds")
    notes += table_notes.commit_notes(models)
    notes += table_notes.source_notes([row.source for row in all_rows])
    return Table("scores on the training tasks", columns, all_rows, notes, frozenset(lower))


def objective_cell(model: ReportedModel, test: bool = False) -> TableCell | None:
    """The model's best score on its training task, or that of the same epoch on test; None while a run has none."""
    epochs = [(run, epoch) for run in model.runs if (epoch := run.best_epoch()) is not None]
    scored = [(run.objective_scores(test).get(epoch), epoch) for run, epoch in epochs]
    best = [(score, epoch) for score, epoch in scored if score is not None]
    if not best or len(best) < len(scored):
        return None
    scores = [(score,) * 3 for score, _ in best]
    tooltip = ", ".join(f"{score:.2f} at epoch {epoch}" for score, epoch in best)
    content = model.runs[0].settings.get(CONTENT_KEY)
    corpus = frozenset([str(content)] if content else [])
    if len(scores) == 1:
        return TableCell(scores[0][0], tooltip=tooltip, test=corpus, runs=scores)
    highest = 100.0 if score_name(model.score).endswith(PERCENT_SCORES) else math.inf
    return TableCell(*bounded_mean_of_runs(scores, highest), tooltip, test=corpus, runs=scores)
