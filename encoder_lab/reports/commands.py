"""The reports of report.py, a function for each. They take the settings of the command line.

report.py imports this module only to make a report, because it loads scipy.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

from encoder_lab.errors import InputError, printable
from encoder_lab.progress import Progress
from encoder_lab.reports import compare, correlation, layers, order, pareto, sizes, stability, subspaces, use
from encoder_lab.reports.chart import FIGURES, ChartSection
from encoder_lab.reports.claims import CLAIMS
from encoder_lab.reports.curves import Panel, by_chart, charts_by_model, charts_by_task, panel_of
from encoder_lab.reports.escape import for_terminal
from encoder_lab.reports.evidence import evidence_of, published_evidence
from encoder_lab.reports.findings import as_markdown, check
from encoder_lab.reports.findings_chart import chart_of_findings
from encoder_lab.reports.models import ReportedModel, models_of, scored_suites, shortest_tails
from encoder_lab.reports.page import FORMATS, page
from encoder_lab.reports.published import TRAINING
from encoder_lab.reports.runs import by_one_reader
from encoder_lab.reports.scores import as_csv, runs_in
from encoder_lab.reports.scores import scores as scores_of_runs
from encoder_lab.reports.strips import TOKENS, StripItem, strip_items
from encoder_lab.reports.table import (
    Table,
    mixed,
    no_scores,
    objective_cell,
    probing_table,
    refuse_without_effect,
    training_table,
)
from encoder_lab.reports.table_notes import at_another_epoch, stopped
from encoder_lab.storage.files import atomic_write

DEFAULT_SUITE = "probing"  # of which the page shows the order of tasks
CORRELATED = "probing", "downstream"
PICTURES = (*FIGURES, ".pdf", ".eps", ".jpg", ".jpeg", ".gif", ".webp")  # endings that are never those of a text


def reported(arguments: SimpleNamespace, or_published: bool = False) -> list[ReportedModel]:
    """The models of the runs. Raises InputError for none, unless the report needs only published numbers."""
    if not arguments.positional and or_published and arguments.published:
        return []
    instead = ", or published=true for the papers' own numbers" if or_published else ""
    return models_of(runs_in(folders(arguments, instead)))


def folders(arguments: SimpleNamespace, instead: str = "") -> list[Path]:
    """The paths of the runs. Raises InputError for none."""
    if not arguments.positional:
        raise InputError(f"give run folders, runs/<objective>/<encoder>/<time>{instead}")
    return list(map(Path, arguments.positional))


def quoted(arguments: SimpleNamespace) -> list[str] | None:
    """The requested published tables; None leaves the choice to the table."""
    return [] if arguments.published == ["none"] else arguments.published


def report_table(arguments: SimpleNamespace) -> None:
    models = reported(arguments, or_published=True)
    requested = arguments.epoch, arguments.classifier, quoted(arguments), arguments.tasks or (), arguments.intervals
    table = probing_table(models, arguments.suite, *requested)
    refuse_without_effect(quoted(arguments) or [], [table] if models else [])
    write_table(replace(table, transposed=arguments.transpose), arguments)


def report_scores(arguments: SimpleNamespace) -> None:
    write_text(as_csv(scores_of_runs(*folders(arguments))), arguments.out)


def report_compare(arguments: SimpleNamespace) -> None:
    (first_title, first), (second_title, second) = compare.two_models(folders(arguments, ", of two models, A and B"))
    compared = compare.compare_models(first, second, arguments.suite, arguments.epoch, arguments.classifier)
    notes = compare.notes_on(compared, [first_title, second_title], [first, second], arguments.epoch)
    write_text(compare.FORMATS[arguments.format](compared, notes), arguments.out)


def report_training(arguments: SimpleNamespace) -> None:
    models = reported(arguments, or_published=True)
    table = training_table(models, quoted(arguments))
    refuse_without_effect(quoted(arguments) or [], [table] if models else [])
    write_table(table, arguments)


def report_stability(arguments: SimpleNamespace) -> None:
    runs = runs_in(folders(arguments))
    scores = stability.scores_by_condition(runs, arguments.suite, arguments.epoch)
    write_text(stability.as_text(stability.stability(scores)), arguments.out)
    tell(at_another_epoch(models_of(runs), arguments.suite, arguments.epoch))


def report_curves(arguments: SimpleNamespace) -> None:
    models = reported(arguments)
    panels = panels_of(models, arguments.suite, arguments.classifier)
    if not panels:
        raise no_scores(models, arguments.suite)
    save((charts_by_task if arguments.overlay else charts_by_model)(panels), arguments.out)
    tell(stopped(models, arguments.suite))


def report_correlation(arguments: SimpleNamespace) -> None:
    models = reported(arguments, or_published=True)
    save(correlations(models, arguments, arguments.published), arguments.out)
    final = arguments.epoch, arguments.classifier
    rows = [probing_table(models, suite, *final, []).rows for suite in CORRELATED if models]
    notes = [at_another_epoch(models, suite, arguments.epoch) for suite in CORRELATED]
    tell(dict.fromkeys(chain(*notes, *map(mixed, rows))))


def report_size(arguments: SimpleNamespace) -> None:
    models = reported(arguments)
    runs = [run for model in models for run in model.runs]
    sized = sizes.by_size(runs)
    section = sizes.charts_by_size(sized, arguments.suite, arguments.epoch, arguments.classifier)
    without = {
        "no encoder.dim": [str(run.folder) for run in runs if not sizes.has_size(run)],
        "one size alone": [model.title for model in sized if len(model.sizes) < 2],
    }
    tell(f"left out, {reason}: {'; '.join(names)}" for reason, names in without.items() if names)
    tell(at_another_epoch(models, arguments.suite, arguments.epoch))
    save(section, arguments.out)


def report_layers(arguments: SimpleNamespace) -> None:
    models = reported(arguments, or_published=True)
    layered = layers.layers_of_models(models, arguments.epoch, arguments.classifier) if models else []
    layered += layers.published_layers() if arguments.published is not False else []
    save(layers.charts_by_layer(layered), arguments.out, layers.as_text(layered))


def report_order(arguments: SimpleNamespace) -> None:
    models = reported(arguments)
    learnt = order.orders(models, arguments.suite, arguments.classifier)
    save(order.charts_of_order(learnt), arguments.out, order.as_text(learnt))
    tell(stopped(models, arguments.suite))


def report_use(arguments: SimpleNamespace) -> None:
    models = reported(arguments)
    used = use.use_of(models, arguments.epoch, arguments.classifier)
    notes = at_another_epoch(models, "use", arguments.epoch)
    save(use.charts_of_use(used), arguments.out, "\n".join([use.as_text(used), *notes]))


def report_pareto(arguments: SimpleNamespace) -> None:
    models = reported(arguments)
    fronts = pareto.fronts_of(models, arguments.suite, arguments.epoch, arguments.classifier)
    save(pareto.charts_of_fronts(fronts, arguments.suite), arguments.out, pareto.as_text(fronts))
    tell(at_another_epoch(models, arguments.suite, arguments.epoch))


def report_subspaces(arguments: SimpleNamespace) -> None:
    paths = folders(arguments, ", of one run")
    if len(paths) > 1:
        raise InputError("report.py subspaces: give one run; the axes of two runs have nothing to do with each other")
    compared = subspaces.read_subspaces(paths[0])
    if arguments.out.suffix == ".csv":
        write_text(subspaces.as_csv(compared), arguments.out)
        return
    save(subspaces.charts_of_subspaces([compared]), arguments.out, subspaces.as_text(compared))


def report_findings(arguments: SimpleNamespace) -> None:
    if arguments.published and arguments.positional:
        raise InputError(f"{arguments.positional[0]}: published=true checks no runs; leave one of them out")
    evidence = published_evidence() if arguments.published else evidence_of(reported(arguments), arguments.epoch)
    checked, claim = check(CLAIMS, evidence), arguments.claim
    selected = [finding for finding in checked if claim is None or finding.name == claim.replace("_", " ")]
    if not selected:
        raise InputError(f"no claim {claim!r}; there are {', '.join(finding.name for finding in checked)}")
    if arguments.out and arguments.out.suffix in FIGURES:
        save(chart_of_findings(selected), arguments.out)
        tell(evidence.notes)
    else:
        write_text(selected[0].in_full if claim else as_markdown(selected, evidence.notes), arguments.out)


def report_html(arguments: SimpleNamespace) -> None:
    models, requested = reported(arguments), quoted(arguments)
    suites = scored_suites(models)
    tables = [probing_table(models, s, arguments.epoch, arguments.classifier, requested) for s in suites]
    if any(map(objective_cell, models)):
        tables.append(training_table(models, requested and [name for name in requested if name == TRAINING]))
    refuse_without_effect(requested or [], tables)
    evidence = evidence_of(models, arguments.epoch)
    sections = list(Progress(charts(models, arguments), desc="drawing", unit=" charts", leave=False))
    items = items_of(models, arguments)
    findings = check(CLAIMS, evidence)
    title = "Sentence encoders: what they learned"
    write_text(page(title, tables, sections, findings, items, evidence.notes), arguments.out)


def items_of(models: list[ReportedModel], arguments: SimpleNamespace) -> list[StripItem]:
    """The items of coherence suites to show. Raises InputError where a requested one is in no evaluation."""
    scored = [(model.title, path) for model in models for run in model.runs for path in run.files(TOKENS)]
    items = [item for title, path in scored for item in strip_items(title, path.parent, arguments.item)]
    names = {f"{item.records[0]['suite']}:{item.records[0]['item']}" for item in items}
    if missing := [name for name in arguments.item or () if name not in names]:
        raise InputError(f"item={missing[0]}: no such item in {TOKENS} of the evaluations; give SUITE:NUMBER")
    return items


def charts(models: list[ReportedModel], arguments: SimpleNamespace) -> Iterator[ChartSection]:
    """Every chart that the runs allow: reports refuse the others."""
    final = arguments.epoch, arguments.classifier
    runs = [run for model in models for run in model.runs]
    for suite in scored_suites(models):
        panels = panels_of(models, suite, arguments.classifier)
        if trained := [curves for curves in panels if any(len(line.x) > 1 for line in curves.lines)]:
            yield charts_by_task(trained)
            yield charts_by_model(trained)
        with suppress(InputError):
            yield sizes.charts_by_size(sizes.by_size(runs), suite, *final)
        with suppress(InputError):
            yield pareto.charts_of_fronts(pareto.fronts_of(models, suite, *final), suite)
    with suppress(InputError):
        yield use.charts_of_use(use.use_of(models, *final))
    with suppress(InputError):
        yield order.charts_of_order(order.orders(models, DEFAULT_SUITE, arguments.classifier))
    spaces = []
    for run, title in zip(runs, shortest_tails([str(run.folder) for run in runs]), strict=True):
        with suppress(InputError):
            spaces.append(subspaces.read_subspaces(run.folder)._replace(title=title))
    if spaces:
        yield subspaces.charts_of_subspaces(spaces)
    with suppress(InputError):
        yield layers.charts_by_layer([*layers.layers_of_models(models, *final), *layers.published_layers()])
    with suppress(InputError):
        yield correlations(models, arguments, published=False)


def panels_of(models: list[ReportedModel], suite: str, classifier: str) -> list[Panel]:
    """The curves of the models that have scores of the suite, in each of its units."""
    charts = dict.fromkeys(chart for model in models for run in model.runs for chart in by_chart(run.rows))
    units = [unit for name, unit in charts if name == suite]
    return [curves for model in models for unit in units if (curves := panel(model, suite, classifier, unit)).lines]


def panel(model: ReportedModel, suite: str, classifier: str, unit: str) -> Panel:
    """The curves of a model on one suite in one unit, by the requested classifier where a task has several."""
    charts = [by_chart(run.rows).get((suite, unit), []) for run in model.runs]
    rows = by_one_reader(charts, classifier)
    # several seeds of one checkpoint each are one point, also if their best epochs differ
    if all(run.evaluated and len({row.epoch for row in run.rows}) < 2 for run in model.runs):
        last = max((row.epoch for seed_rows in rows for row in seed_rows), default=0)
        rows = [[replace(row, epoch=last) for row in seed_rows] for seed_rows in rows]
    curves = panel_of(model.title, rows, model.score, [run.metrics for run in model.runs])
    return curves._replace(colour=model.colour)


def correlations(models: list[ReportedModel], arguments: SimpleNamespace, published: bool) -> ChartSection:
    """Of the scores of our models on both suites and, if requested, of the published ones. Raises InputError."""

    def suite_scores(suite: str) -> correlation.ScoresByModel:
        epoch, reader, of = arguments.epoch, arguments.classifier, correlation.scores_of
        measured = of(probing_table(models, suite, epoch, reader, [])) if models else {}
        printed = of(probing_table([], suite)) if published else {}
        return measured | {f"{name} (published)": scores for name, scores in printed.items()}

    return correlation.chart_of_correlations(correlation.correlate(*map(suite_scores, CORRELATED)))


def save(section: ChartSection, out: Path, text: str = "") -> None:
    """Write the charts as a figure, after printing the text; loads matplotlib."""
    from encoder_lab.reports.figure import draw, save_figure

    figure = draw(section)
    if text:
        print(for_terminal(text))
    print(save_figure(figure, out))


def tell(notes: Iterable[str]) -> None:
    """Print notes on a report that cannot show them itself."""
    for note in notes:
        print(printable(note), file=sys.stderr)


def write_table(table: Table, arguments: SimpleNamespace) -> None:
    write_text(FORMATS[arguments.format](table), arguments.out)


def write_text(text: str, out: Path | None) -> None:
    """Write to the file, or to standard output. Raises InputError for the ending of a picture."""
    if out is None:
        print(for_terminal(text), end="")
        return
    if out.suffix.lower() in PICTURES:
        raise InputError(f"{out}: this report is a text; a picture of it, where there is one, ends in .png or .svg")
    with atomic_write(out) as file:
        file.write(text)
    print(out)
