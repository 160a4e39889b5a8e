"""Tables of models by tasks, as in the papers: what is in them, not how they are written (formats.py)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from common.errors import InputError
from probes.results import ProbeRow
from probes.statistics import ENOUGH, mean_of_runs
from probes.suite import LOGISTIC_ONLY
from reports.drawing import in_order
from reports.published import SOURCES, TRAINING, Published, fitting, published
from reports.runs import OWN_SCORES, Model, Run

BASELINES = ("baseline", "bov")  # encoders that are the papers' rows of kind baseline: nothing in them was trained
CLASSIFIERS = {"mlp": "MLP", "logreg": "logistic regression"}
RELATEDNESS = ("SICK-R", "STSB")  # scores that are Pearson's r times 100
SIMILARITY = ("STS12", "STS13", "STS14", "STS15", "STS16")
Found = dict[str, list[ProbeRow]]  # a model's scores by task, one for each seed


class Cell(NamedTuple):
    """A score in percent; its interval and what a reader may ask, where known."""

    score: float
    low: float | None = None
    high: float | None = None
    about: str = ""


@dataclass
class Row:
    """One model. Rows of one `source` compete for the bold face, unless they are no trained encoders."""

    source: str  # "" for ours, else the published table
    encoder: str
    name: str
    cells: dict[str, Cell]
    competes: bool = True

    @property
    def embeds(self) -> bool:
        """Whether the scores are of sentence vectors: a bag of vectors has some, though it is no rival of encoders."""
        return self.competes or "BoV" in f"{self.encoder} {self.name}"


@dataclass
class Table:
    """Models by columns."""

    title: str
    columns: list[str]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    lower_is_better: frozenset[str] = frozenset()

    def best(self, row: Row, column: str) -> bool:
        """Whether no competitor has a better score, at the precision that is printed; alone there is no best."""
        rivals = [r for r in self.rows if r.competes and r.source == row.source and column in r.cells]
        if not row.competes or column not in row.cells or len(rivals) < 2:
            return False
        scores = [round(r.cells[column].score, 1) for r in rivals]
        return round(row.cells[column].score, 1) == (min if column in self.lower_is_better else max)(scores)


def probing_table(
    models: Sequence[Model],
    suite: str,
    epoch: str = "best",
    classifier: str = "mlp",
    beside: Sequence[str] | None = None,
) -> Table:
    """Table 2 of Conneau et al. 2018 for our models, published tables `beside` below them; None is the one that fits.

    A task that has no score by `classifier` shows the one it has (WordContent is logistic regression), and a model
    that has none at `epoch` shows another; notes say which.
    """
    found = [(model, scores) for model in models if (scores := _found(model, suite, epoch, classifier))]
    rows = [_row(model, scores) for model, scores in found]
    tables = fitting(suite, _read_by(found, classifier)) if beside is None else beside
    quoted = [row for table in tables for row in published_rows(published(table))]
    columns = in_order([task for row in rows or quoted for task in row.cells])
    if not columns:
        raise no_scores(models, suite)
    shown = [row for row in quoted if row.cells.keys() & set(columns)]
    notes = _notes(found, suite, epoch, classifier) if found else []
    return Table(f"{suite} scores", columns, rows + shown, [*notes, *_measures(columns), *_quoting(shown)])


def no_scores(models: Sequence[Model], suite: str) -> InputError:
    """What to say where no model has scores of the suite asked for."""
    there = sorted({row.suite for model in models for run in model.runs for row in run.rows})
    return InputError(f"no scores of the suite {suite!r}; there are {', '.join(there) or 'none at all'}")


def training_table(models: Sequence[Model], beside: Sequence[str] | None = None) -> Table:
    """Table 3 of Conneau et al. 2018: how well each encoder does on what it was trained for."""
    rows: dict[tuple[str, str], Row] = {}
    lower = set()
    for model, cell in ((m, cell) for m in models if (cell := own_cell(m))):
        kind = next(run.score for run in model.runs if run.score).rsplit("/", 1)[-1]
        column, name = _own_column(model.objective, kind), f"{model.encoder} {model.variant}".rstrip()
        rows.setdefault(("", name), Row("", "", name, {})).cells[column] = cell
        lower |= set() if OWN_SCORES[kind] else {column}
    ours = {column for row in rows.values() for column in row.cells}
    tables = [TRAINING] if beside is None else beside
    for score in (score for table in tables for score in published(table)):
        column = _own_column(score.model, score.task.lower())
        if column in ours or not models:
            row = rows.setdefault((score.table, score.encoder), Row(score.table, "", score.encoder, {}))
            row.cells[column] = Cell(score.score)
    if not rows:
        raise InputError("no run has a score of its own yet (metrics.csv); an untrained encoder has none")
    columns = list(dict.fromkeys(column for row in rows.values() for column in row.cells))
    shown = list(rows.values())
    which = ["Ours: dev scores of the best epoch."] if ours else []
    notes = [*which, *_of_seeds({len(model.runs) for model in models if own_cell(model)}), *_quoting(shown)]
    return Table("scores on the training tasks", columns, shown, notes, frozenset(lower))


def published_rows(scores: Sequence[Published]) -> list[Row]:
    """One row for each model of a published table."""
    rows: dict[tuple[str, str], Row] = {}
    for s in scores:
        row = rows.setdefault((s.encoder, s.model), Row(s.table, s.encoder, s.model, {}, competes=not s.kind))
        row.cells[s.task] = Cell(s.score)
    return list(rows.values())


def final_rows(run: Run, suite: str, epoch: str, classifier: str) -> dict[str, ProbeRow]:
    """The run's scores by task at one epoch; `classifier` where there is a choice."""
    if not any(row.suite == suite for row in run.rows):
        return {}
    at = [row for row in run.rows if row.suite == suite and row.epoch == run.epoch(epoch, suite)]
    return {row.task: row for row in sorted(at, key=lambda row: row.classifier == classifier)}


def own_cell(model: Model) -> Cell | None:
    """The model's best score on what it was trained for; None while it has no finite one."""
    best = [(run.own_scores()[epoch], epoch) for run in model.runs if (epoch := run.best_epoch()) is not None]
    if not best:
        return None
    scores = [score for score, _ in best]
    about = ", ".join(f"{score:.2f} at epoch {epoch}" for score, epoch in best)
    if len(scores) == 1:
        return Cell(scores[0], about=about)
    return Cell(*mean_of_runs([(score, score, score) for score in scores]), about)


def _found(model: Model, suite: str, epoch: str, classifier: str) -> Found:
    found: Found = {}
    for run in model.runs:
        for task, row in final_rows(run, suite, epoch, classifier).items():
            found.setdefault(task, []).append(row)
    return found


def _row(model: Model, found: Found) -> Row:
    cells = {task: _cell(rows) for task, rows in found.items()}
    return Row("", model.encoder, model.name, cells, competes=model.runs[0].encoder not in BASELINES)


def _cell(rows: Sequence[ProbeRow]) -> Cell:
    scores = [row.test_accuracy for row in rows]
    if len(rows) == 1:
        settings = ", ".join(f"{name} {value}" for name, value in rows[0].hyperparameters.items())
        about = f"epoch {rows[0].epoch}, {rows[0].classifier}, {settings}, dev {rows[0].dev_accuracy:.1f}"
        return Cell(scores[0], rows[0].test_low, rows[0].test_high, about)
    about = f"{len(rows)} seeds: " + ", ".join(f"{score:.1f}" for score in scores)
    return Cell(*mean_of_runs([(row.test_accuracy, row.test_low, row.test_high) for row in rows]), about)


def _own_column(objective: str, kind: str) -> str:
    return f"{objective} {'BLEU' if kind == 'bleu' else kind}"


def _notes(found: Sequence[tuple[Model, Found]], suite: str, epoch: str, classifier: str) -> list[str]:
    """What our rows show, and where it is not what was asked for."""
    when = f"epoch {epoch}" if epoch.isdigit() else f"{epoch} epoch"
    choice = suite != "downstream"  # each of its tasks has one scorer
    by = f" by {CLASSIFIERS.get(classifier, classifier)}," if choice else ""
    notes = [f"Test scores in %,{by} {when} of each run."]
    notes += _otherwise_classified(found, classifier) if choice else []
    notes += _by_protocol([model for model, _ in found])
    notes += _at_another_epoch([model for model, _ in found], suite, epoch)
    seeds = {len(rows) for _, scores in found for rows in scores.values()}
    notes += ["With each score its 95% interval."] if seeds & {1} else []
    return [*notes, *_of_seeds(seeds)]


def _by_protocol(models: Sequence[Model]) -> list[str]:
    """How our classifiers were trained (docs/probing_protocol.md); baselines without vectors have none."""
    used: dict[str, list[str]] = {}
    for model in models:
        protocol = model.runs[0].settings.get("probes.classifier.protocol")  # the same for all seeds
        if protocol and model.runs[0].encoder != "baseline":
            used.setdefault(str(protocol), []).append(model.title)
    if not used:
        return []
    titles = {protocol: f" ({'; '.join(names)})" if len(used) > 1 else "" for protocol, names in used.items()}
    ours = ", ".join(f"protocol={protocol}{names}" for protocol, names in titles.items())
    return [f"Our classifiers: {ours}; the papers': protocol=senteval."]


def _of_seeds(seeds: Collection[int]) -> list[str]:
    """What the scores of models are that have so many seeds."""
    several = [number for number in seeds if number > 1]
    if not several:
        return []
    few = f"; with fewer than {ENOUGH} it is too narrow" if min(several) < ENOUGH else ""
    how = f"by bootstrap over the seeds, which knows of their luck alone{few}"
    return [f"Models with several seeds: their mean with its 95% interval {how}."]


def _read_by(found: Sequence[tuple[Model, Found]], classifier: str) -> str:
    """The classifier asked for, unless all that had a choice were read by the other one."""
    rows = [row for _, scores in found for task, rows in scores.items() if task not in LOGISTIC_ONLY for row in rows]
    kinds = {row.classifier for row in rows} & CLASSIFIERS.keys()
    return kinds.pop() if len(kinds) == 1 else classifier


def _otherwise_classified(found: Sequence[tuple[Model, Found]], classifier: str) -> list[str]:
    """The tasks that have no score by `classifier`; where some models have one, the models that have none."""
    used: dict[str, dict[str, list[str]]] = {}  # task -> classifier -> models; that of a baseline is no choice
    for model, scores in found:
        for task, kind in dict.fromkeys((task, row.classifier) for task, rows in scores.items() for row in rows):
            if kind in CLASSIFIERS:
                used.setdefault(task, {}).setdefault(kind, []).append(model.title)
    alike: dict[tuple[str, str], list[str]] = {}  # (classifier instead, models) -> tasks
    for task, titles in used.items():
        for kind in titles.keys() - {classifier}:
            alike.setdefault((kind, f" ({'; '.join(titles[kind])})" if classifier in titles else ""), []).append(task)
    return [f"By {CLASSIFIERS[kind]}: {', '.join(in_order(tasks))}{only}." for (kind, only), tasks in alike.items()]


def _at_another_epoch(models: Sequence[Model], suite: str, epoch: str) -> list[str]:
    """The models that were not scored at the epoch asked for."""
    others: dict[int, dict[str, None]] = {}
    for title, run in ((model.title, run) for model in models for run in model.runs):
        if any(row.suite == suite for row in run.rows):
            shown = run.epoch(epoch, suite)
            if _asked(run, epoch) not in (None, shown):
                others.setdefault(shown, {})[title] = None
    return [f"At epoch {e}, as there are no scores of that one: {'; '.join(names)}." for e, names in others.items()]


def _asked(run: Run, epoch: str) -> int | None:
    """The epoch that best, last or a number means for a run; None where all are as good."""
    if epoch == "best":
        return run.best_epoch()
    return int(epoch) if epoch.isdigit() else max([*run.own_scores(), *(row.epoch for row in run.rows)])


def _measures(columns: Sequence[str]) -> list[str]:
    """Which columns are no accuracies (probes/downstream/suite.py)."""
    related, similar = ([task for task in columns if task in tasks] for tasks in (RELATEDNESS, SIMILARITY))
    if not related + similar:
        return []
    mean = f" ({', '.join(similar)}: the mean of its parts' r)" if similar else ""
    return [f"{', '.join(related + similar)}: Pearson's r times 100{mean}; the others: accuracy."]


def _quoting(rows: Sequence[Row]) -> list[str]:
    tables = [f"{name} ({SOURCES[name]})" for name in dict.fromkeys(row.source for row in rows if row.source)]
    return [f"Published, of the papers' own test sentences: {', '.join(tables)}."] if tables else []
