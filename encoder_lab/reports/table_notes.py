"""The notes below a table: what its rows show, and where that is not what was asked for."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from math import inf
from typing import Any

from encoder_lab.reports.chart import in_paper_order
from encoder_lab.reports.models import ReportedModel, RowsByTask, ScoredModels
from encoder_lab.reports.published import PUBLISHED_TEST_ITEMS, SOURCES, TABLE_NOTES
from encoder_lab.reports.runs import grouped
from probes.classifiers.grid import SENTEVAL_ONLY, Grid
from probes.facts import NO_CLASSIFIER, column_of, facts_of, unit_of
from probes.results import Epoch

PROTOCOL = "probes.classifier.protocol"
CLASSIFIER_NAMES = {"mlp": "MLP", "logreg": "logistic regression"}
RELATEDNESS_TASKS = ("SICK-R", "STSB")  # scores that are Pearson's r times 100
SIMILARITY_TASKS = ("STS12", "STS13", "STS14", "STS15", "STS16")


def notes_of(reported: ScoredModels, suite: str, epoch: str, classifier: str, quoted: bool, bounds: bool) -> list[str]:
    """What our rows show, and where that differs from the request."""
    runs = [run for model, _ in reported for run in model.runs]
    one_epoch = all("model" in run.settings and len({row.epoch for row in run.rows}) == 1 for run in runs)
    when = "as evaluated" if one_epoch else f"{f'epoch {epoch}' if epoch.isdigit() else f'{epoch} epoch'} of each run"
    choice = facts_of(suite).choice
    is_used = any(row.classifier == classifier for _, scores in reported for rows in scores.values() for row in rows)
    used = classifier if is_used else read_by(reported, classifier)
    instead = "" if used == classifier else f" (none by {CLASSIFIER_NAMES[classifier]})"
    by = f" by {CLASSIFIER_NAMES[used]}{instead}," if choice else ""
    units = sorted({unit_of(suite, r.classifier) for _, scores in reported for rows in scores.values() for r in rows})
    name = "Scores" if any(units) else "Test scores"  # those with a unit are of other data, as the objective's dev
    notes = [f"{name} in {' or '.join(unit or '%' for unit in units)},{by} {when}."]
    notes += _reader_notes(reported, used) if choice else []
    notes += protocol_notes([model for model, _ in reported], suite, quoted)
    notes += _smaller_test_notes([scores for _, scores in reported], suite) if quoted else []
    notes += _scaling_notes([model for model, _ in reported])
    notes += epoch_notes([model for model, _ in reported], suite, epoch)
    seeds = {model.title: {len(rows) for rows in scores.values()} for model, scores in reported}
    notes += ["With each score its 95% interval."] if bounds and any(1 in n for n in seeds.values()) else []
    notes += seeds_note(seeds, "of the test items and of the seeds" if bounds else "")
    return [*notes, *commit_notes([model for model, _ in reported])]


def run_notes(models: Sequence[ReportedModel], suite: str, epoch: str = "") -> list[str]:
    """What a report that has no notes of its own says of its runs: several protocols, epochs, unfinished training."""
    epochs = epoch_notes(models, suite, epoch) if epoch else unfinished_notes(models, suite)
    return [*protocol_notes(models, suite, always=False), *epochs]


def items_notes(models: Sequence[ReportedModel], suite: str) -> list[str]:
    """A note on the tasks of which two models share no test items, for reports that draw models next to each other."""
    tests: dict[str, list[set[str]]] = {}
    for model in models:
        rows = [row for run in model.runs for row in run.rows if row.suite == suite]
        for task, items in grouped((row.task, row.answers.test) for row in rows if row.answers).items():
            tests.setdefault(task, []).append(set(items))
    apart = in_paper_order([t for t, sets in tests.items() if any(a.isdisjoint(b) for a, b in combinations(sets, 2))])
    return [f"{', '.join(apart)}: models are of different test sentences: do not compare them."] if apart else []


def protocol_notes(models: Sequence[ReportedModel], suite: str, quoted: bool = False, always: bool = True) -> list[str]:
    """How our classifiers were trained (docs/probing_protocol.md); `quoted`: papers' scores are in the table.

    `always`: also where all were trained in one way.
    """
    runs = [(m.title, run) for m in models for run in m.runs if run.encoder != "baseline"]
    runs = [(t, run) for t, run in runs if {row.classifier for row in run.rows if row.suite == suite} - NO_CLASSIFIER]
    by = ((title, run.suite_settings.get(suite, run.settings)) for title, run in runs)
    trained = ((_trained_by(settings, suite), title) for title, settings in by if settings.get(PROTOCOL))
    used = grouped(dict.fromkeys(trained))
    if len(used) < (1 if always else 2):
        return []
    titles = {protocol: f" ({'; '.join(names)})" if len(used) > 1 else "" for protocol, names in used.items()}
    protocols = ", ".join(f"{protocol}{names}" for protocol, names in titles.items())
    papers = "; the papers': protocol=senteval" if quoted else ""
    return [f"Our classifiers: {protocols}{papers}."]


def _smaller_test_notes(by_model: Sequence[RowsByTask], suite: str) -> list[str]:
    """The columns with less test items than were published; those of a group are the items of all its tasks."""
    fewest: dict[str, float] = {}
    for scores in by_model:
        sizes = (
            (
                column_of(task, facts_of(suite).groups),
                min((sum(r.answers.sizes) for r in rows if r.answers), default=inf),
            )
            for task, rows in scores.items()
        )
        for column, counts in grouped(sizes).items():
            fewest[column] = min(fewest.get(column, inf), sum(counts))
    tasks: dict[tuple[float, int], list[str]] = {}
    for column, count in fewest.items():
        published = PUBLISHED_TEST_ITEMS.get(column, 10_000 if suite == "probing" else 0)
        if count < published:
            tasks.setdefault((count, published), []).append(column)
    return [
        f"{count:,} test items, {published:,} published, so do not compare: {', '.join(in_paper_order(names))}."
        for (count, published), names in tasks.items()
    ]


def _scaling_notes(models: Sequence[ReportedModel]) -> list[str]:
    """Which untrained encoders read word vectors that are not as in their file: their scores change most by it."""
    untrained = [model for model in models if (run := model.runs[0]).objective == "untrained" and run.encoder != "bov"]
    written = [m for m in untrained if "embeddings.freeze" in m.runs[0].settings]  # has word vectors
    scaled = [model.title for model in written if model.runs[0].settings.get("embeddings.scale") is None]
    if not scaled:
        return []
    return [f"Word vectors with mean square 1, the papers' as in their file (embeddings.scale=1): {'; '.join(scaled)}."]


def _trained_by(settings: Mapping[str, Any], suite: str) -> str:
    parts = [f"protocol={settings[PROTOCOL]}"]
    for name in ("widths", "dropouts", "l2", *SENTEVAL_ONLY):
        value, default = settings.get(f"probes.classifier.{name}"), getattr(Grid, name)
        if value is not None and (tuple(value) if isinstance(value, list) else value) != default:
            parts.append(f"{name}={value}")
    folds = settings.get(f"{suite}.kfold")
    return ", ".join([*parts, f"{folds} folds"] if folds else parts)


def seeds_note(seeds: Mapping[str, Collection[int]], errors: str) -> list[str]:
    """A note that names the models with several seeds and their number; `seeds`: the seeds of each model by title.

    `errors`: what the intervals are of; empty where none are shown.
    """
    counts = {title: sorted(numbers) for title, numbers in seeds.items() if max(numbers) > 1}
    if not counts:
        return []
    ranges = {title: "-".join(map(str, dict.fromkeys((n[0], n[-1])))) for title, n in counts.items()}
    same = len(set(ranges.values())) == 1
    count = next(iter(ranges.values())) if same else f"several ({'; '.join(f'{t}: {n}' for t, n in ranges.items())})"
    interval = f" with its 95% interval, {errors} (t)" if errors else ""
    return [f"Models with {count} seeds: their mean{interval}."]


def commit_notes(models: Sequence[ReportedModel]) -> list[str]:
    """The models with seeds that different code has trained."""
    titles = [m.title for m in models if len({run.settings.get("made_with.commit") for run in m.runs}) > 1]
    return [f"Seeds trained by different commits: {'; '.join(titles)}."] if titles else []


def read_by(reported: ScoredModels, classifier: str) -> str:
    """The classifier to name: the requested one, unless all tasks with a choice used the other one."""
    every = [row for _, scores in reported for rows in scores.values() for row in rows]
    rows = [row for row in every if row.task not in facts_of(row.suite).one_reader]
    readers = {row.classifier for row in rows} & CLASSIFIER_NAMES.keys()
    return readers.pop() if len(readers) == 1 else classifier


def _reader_notes(reported: ScoredModels, classifier: str) -> list[str]:
    """The tasks that have no score by `classifier`; where some models have one, the models that have none."""
    uses = [(task, row.classifier, m.title) for m, scores in reported for task, rows in scores.items() for row in rows]
    used = grouped(((task, reader), title) for task, reader, title in dict.fromkeys(uses) if reader in CLASSIFIER_NAMES)
    notes = grouped(  # classifier and models -> tasks; a baseline has no choice
        ((reader, f" ({'; '.join(titles)})" if (task, classifier) in used else ""), task)
        for (task, reader), titles in used.items()
        if reader != classifier
    )
    names = {(reader, only): ", ".join(in_paper_order(tasks)) for (reader, only), tasks in notes.items()}
    return [f"By {CLASSIFIER_NAMES[reader]}: {tasks}{only}." for (reader, only), tasks in names.items()]


def epoch_notes(models: Sequence[ReportedModel], suite: str, epoch: str) -> list[str]:
    """The models that have not had all epochs, that were not scored at the requested one, or not at their last one."""
    by_epoch: dict[Epoch, dict[str, None]] = {}
    for title, run in ((model.title, run) for model in models for run in model.runs if run.has_suite(suite)):
        scored_epoch = run.epoch(epoch, suite)
        untrained = scored_epoch == 0 and "model" in run.settings  # an evaluation of what has no epochs
        if run.requested_epoch(epoch) not in (None, scored_epoch) and not untrained:
            by_epoch.setdefault(scored_epoch, {})[title] = None
    notes = unfinished_notes(models, suite)
    notes += [f"At epoch {e}, as the requested one has no scores: {'; '.join(n)}." for e, n in by_epoch.items()]
    return notes if epoch.isdigit() else notes + _earlier_epoch_notes(models, suite, epoch)


def unfinished_notes(models: Sequence[ReportedModel], suite: str = "") -> list[str]:
    """The models that have not had all their epochs, of those with scores of a suite."""
    runs = [(model.title, run) for model in models for run in model.runs if not suite or run.has_suite(suite)]
    names = dict.fromkeys(f"{title} ({run.unfinished})" for title, run in runs if run.unfinished)
    return [f"Training was stopped, or goes on: {'; '.join(names)}."] if names else []


def _earlier_epoch_notes(models: Sequence[ReportedModel], suite: str, epoch: str) -> list[str]:
    early = []
    for model in models:
        epochs = [(run.epoch(epoch, suite), run.last_epoch) for run in model.runs if run.has_suite(suite)]
        if any(scored_epoch < last for scored_epoch, last in epochs):
            early.append(f"{model.title} (epoch {', '.join(f'{number} of {last}' for number, last in epochs)})")
    return [f"Scores of an epoch before the last: {'; '.join(early)}."] if early else []


def measure_notes(columns: Sequence[str]) -> list[str]:
    """Which columns are no accuracies (probes/downstream/scoring.py)."""
    related, similar = ([task for task in columns if task in tasks] for tasks in (RELATEDNESS_TASKS, SIMILARITY_TASKS))
    if not related + similar:
        return []
    mean = f" ({', '.join(similar)}: the mean of its parts' r)" if similar else ""
    return [f"{', '.join(related + similar)}: Pearson's r times 100{mean}; the others: accuracy."]


def source_notes(sources: Sequence[str]) -> list[str]:
    """Where the published rows are from; `sources` of all rows, "" of ours."""
    tables = [f"{name} ({SOURCES[name]})" for name in dict.fromkeys(sources) if name]
    notes = [TABLE_NOTES[name] for name in dict.fromkeys(sources) if name in TABLE_NOTES]
    return [f"Published, of the papers' own test sentences: {', '.join(tables)}.", *notes] if tables else []
