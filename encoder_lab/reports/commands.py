"""The reports of report.py, a function for each, which takes the settings of the command line. Loads scipy."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

from encoder_lab.errors import InputError, printable
from encoder_lab.progress import Progress
from encoder_lab.reports import compare, correlation, layers, order, pareto, sizes, stability, subspaces, table, use
from encoder_lab.reports.chart import ChartSection
from encoder_lab.reports.claims import CLAIMS
from encoder_lab.reports.curves import Panel, charts_by_model, charts_by_task, panel_of, rows_by_chart
from encoder_lab.reports.evidence import evidence_of, published_evidence
from encoder_lab.reports.findings import as_markdown, chart_of_findings, check_claims
from encoder_lab.reports.models import ReportedModel, models_of, scored_suites, shortest_tails
from encoder_lab.reports.page import TABLE_FORMATS, html_page
from encoder_lab.reports.published import TRAINING_TABLE
from encoder_lab.reports.runs import grouped, rows_by_one_reader
from encoder_lab.reports.scores import as_csv, read_runs
from encoder_lab.reports.scores import scores as scores_of_runs
from encoder_lab.reports.strips import TOKENS_FILE, StripItem, strip_items
from encoder_lab.reports.table_notes import epoch_notes, items_notes, run_notes
from encoder_lab.reports.text import for_terminal
from encoder_lab.reports.training_table import objective_cell, training_table
from encoder_lab.storage.files import atomic_write

CORRELATED_SUITES = "probing", "downstream"


def reported_models(arguments: SimpleNamespace, or_published: bool = False) -> list[ReportedModel]:
    """The models of the runs. Raises InputError for none, unless the report needs only published numbers."""
    if not arguments.positional and or_published and arguments.published:
        return []
    instead = ", or published=true for the papers' own numbers" if or_published else ""
    return models_of(read_runs(run_paths(arguments, instead)))


def run_paths(arguments: SimpleNamespace, instead: str = "") -> list[Path]:
    """The paths of the runs. Raises InputError for none."""
    if not arguments.positional:
        raise InputError(f"give run folders, runs/<objective>/<encoder>/<time>{instead}")
    return list(map(Path, arguments.positional))


def quoted_tables(arguments: SimpleNamespace) -> list[str] | None:
    """The requested published tables; None leaves the choice to the table."""
    return [] if arguments.published == ["none"] else arguments.published


def report_table(arguments: SimpleNamespace) -> None:
    models = reported_models(arguments, or_published=True)
    quoted, final = quoted_tables(arguments), (arguments.epoch, arguments.classifier)
    if arguments.format == "csv" and arguments.intervals == "inline":
        raise InputError("intervals=inline: a CSV table has columns for them; give another format=, or leave it out")
    result = table.probing_table(models, arguments.suite, *final, quoted, arguments.tasks or (), arguments.intervals)
    table.refuse_without_effect(quoted or [], [result] if models else [])
    write_text(TABLE_FORMATS[arguments.format](replace(result, transposed=arguments.transpose)), arguments.out)


def report_scores(arguments: SimpleNamespace) -> None:
    write_text(as_csv(scores_of_runs(*run_paths(arguments))), arguments.out)


def report_compare(arguments: SimpleNamespace) -> None:
    (first_title, first), (second_title, second) = compare.two_models(run_paths(arguments, ", of two models, A and B"))
    compared = compare.compare_models(first, second, arguments.suite, arguments.epoch, arguments.classifier)
    notes = compare.comparison_notes(compared, [first_title, second_title], [first, second], arguments.epoch)
    write_text(compare.FORMATS[arguments.format](compared, notes), arguments.out)


def report_training(arguments: SimpleNamespace) -> None:
    models = reported_models(arguments, or_published=True)
    result = training_table(models, quoted_tables(arguments))
    table.refuse_without_effect(quoted_tables(arguments) or [], [result] if models else [])
    write_text(TABLE_FORMATS[arguments.format](result), arguments.out)


def report_stability(arguments: SimpleNamespace) -> None:
    runs = read_runs(run_paths(arguments))
    scores = stability.scores_by_condition(runs, arguments.suite, arguments.epoch)
    write_text(stability.as_text(stability.stability(scores)), arguments.out)
    print_notes(stability.mixed_items_notes(runs, arguments.suite, arguments.epoch))
    print_notes(epoch_notes(models_of(runs), arguments.suite, arguments.epoch))


def report_curves(arguments: SimpleNamespace) -> None:
    models = reported_models(arguments)
    panels = panels_of(models, arguments.suite, arguments.classifier)
    if not panels:
        raise table.no_scores_error(models, arguments.suite)
    save_charts((charts_by_task if arguments.overlay else charts_by_model)(panels), arguments.out)
    print_notes(items_notes(models, arguments.suite) + run_notes(models, arguments.suite))


def report_correlation(arguments: SimpleNamespace) -> None:
    models = reported_models(arguments, or_published=True)
    save_charts(correlation_section(models, arguments, arguments.published), arguments.out)
    final = arguments.epoch, arguments.classifier
    rows = [table.probing_table(models, suite, *final, []).rows for suite in CORRELATED_SUITES if models]
    notes = [run_notes(models, suite, arguments.epoch) for suite in CORRELATED_SUITES]
    print_notes(dict.fromkeys(chain(*notes, *map(table.mixed_items_notes, rows))))


def report_size(arguments: SimpleNamespace) -> None:
    models = reported_models(arguments)
    runs = [run for model in models for run in model.runs]
    sized = sizes.group_by_size(runs)
    section = sizes.charts_by_size(sized, arguments.suite, arguments.epoch, arguments.classifier)
    without = {
        "no encoder.dim": [str(run.folder) for run in runs if not sizes.has_size(run)],
        "one size alone": [model.title for model in sized if len(model.sizes) < 2],
    }
    print_notes(f"left out, {reason}: {'; '.join(names)}" for reason, names in without.items() if names)
    print_notes(run_notes(models, arguments.suite, arguments.epoch))
    save_charts(section, arguments.out)


def report_layers(arguments: SimpleNamespace) -> None:
    models = reported_models(arguments, or_published=True)
    layered = layers.layers_of_models(models, arguments.epoch, arguments.classifier) if models else []
    layered += layers.published_layers() if arguments.published is not False else []
    save_charts(layers.charts_by_layer(layered), arguments.out, layers.as_text(layered))
    single = [model for model in models if layers.layer_of(model.name)]
    notes = (run_notes(single, suite, arguments.epoch) for suite in scored_suites(single))
    print_notes(dict.fromkeys(chain(layers.source_notes(single), *notes)))


def report_order(arguments: SimpleNamespace) -> None:
    models = reported_models(arguments)
    learnt = order.model_orders(models, arguments.suite, arguments.classifier)
    print(for_terminal(order.as_text(learnt)))  # also where no task has a gain to draw
    print_notes(items_notes(models, arguments.suite) + run_notes(models, arguments.suite))
    save_charts(order.charts_of_order(learnt), arguments.out)


def report_use(arguments: SimpleNamespace) -> None:
    models = reported_models(arguments)
    used = use.use_of(models, arguments.epoch, arguments.classifier)
    notes = run_notes(models, "use", arguments.epoch)
    save_charts(use.charts_of_use(used), arguments.out, "\n".join([use.as_text(used), *notes]))


def report_pareto(arguments: SimpleNamespace) -> None:
    models = reported_models(arguments)
    fronts = pareto.fronts_of(models, arguments.suite, arguments.epoch, arguments.classifier)
    save_charts(pareto.charts_of_fronts(fronts, arguments.suite), arguments.out, pareto.as_text(fronts))
    print_notes(run_notes(models, arguments.suite, arguments.epoch) + items_notes(models, arguments.suite))


def report_subspaces(arguments: SimpleNamespace) -> None:
    paths = run_paths(arguments, ", of one run")
    if len(paths) > 1:
        raise InputError("report.py subspaces: give one run; the axes of two runs have nothing to do with each other")
    compared = subspaces.read_subspaces(paths[0])
    if arguments.out.suffix == ".csv":
        write_text(subspaces.as_csv(compared), arguments.out)
        return
    save_charts(subspaces.charts_of_subspaces([compared]), arguments.out, subspaces.as_text(compared))


def report_findings(arguments: SimpleNamespace) -> None:
    if arguments.published and arguments.positional:
        raise InputError(f"{arguments.positional[0]}: published=true checks no runs; leave one of them out")
    evidence = published_evidence() if arguments.published else evidence_of(reported_models(arguments), arguments.epoch)
    checked, claim = check_claims(CLAIMS, evidence), arguments.claim
    selected = [finding for finding in checked if claim is None or finding.name == claim.replace("_", " ")]
    if not selected:
        raise InputError(f"no claim {claim!r}; there are {', '.join(finding.name for finding in checked)}")
    picture = arguments.out and arguments.out.suffix in (".png", ".svg")
    if picture:
        save_charts(chart_of_findings(selected), arguments.out)
    else:
        write_text(selected[0].full_text if claim else as_markdown(selected, evidence.notes), arguments.out)
    if picture or claim:
        print_notes(evidence.notes)


def report_html(arguments: SimpleNamespace) -> None:
    models, requested = reported_models(arguments), quoted_tables(arguments)
    final = arguments.epoch, arguments.classifier
    tables = [table.probing_table(models, suite, *final, requested) for suite in scored_suites(models)]
    if any(map(objective_cell, models)):
        quoted = requested and [name for name in requested if name == TRAINING_TABLE]
        tables.append(training_table(models, quoted))
    table.refuse_without_effect(requested or [], tables)
    evidence = evidence_of(models, arguments.epoch)
    sections = list(Progress(chart_sections(models, arguments), desc="drawing", unit=" charts", leave=False))
    items = items_of(models, arguments)
    findings = check_claims(CLAIMS, evidence)
    title = "Sentence encoders: what they learned"
    write_text(html_page(title, tables, sections, findings, items, evidence.notes), arguments.out)


def items_of(models: list[ReportedModel], arguments: SimpleNamespace) -> list[StripItem]:
    """The items of coherence suites to show. Raises InputError where a requested one is in no evaluation."""
    scored = [(model.title, path) for model in models for run in model.runs for path in run.files_named(TOKENS_FILE)]
    items = [item for title, path in scored for item in strip_items(title, path.parent, arguments.item)]
    names = {f"{item.records[0]['suite']}:{item.records[0]['item']}" for item in items}
    if missing := [name for name in arguments.item or () if name not in names]:
        raise InputError(f"item={missing[0]}: no such item in {TOKENS_FILE} of the evaluations; give SUITE:NUMBER")
    return items


def chart_sections(models: list[ReportedModel], arguments: SimpleNamespace) -> Iterator[ChartSection]:
    """Every chart that the runs allow: reports refuse the others."""
    final = arguments.epoch, arguments.classifier
    runs = [run for model in models for run in model.runs]
    for suite in scored_suites(models):
        panels = panels_of(models, suite, arguments.classifier)
        if trained := [curves for curves in panels if any(len(line.x) > 1 for line in curves.lines)]:
            yield charts_by_task(trained)
            yield charts_by_model(trained)
        with suppress(InputError):
            yield sizes.charts_by_size(sizes.group_by_size(runs), suite, *final)
        try:
            yield pareto.charts_of_fronts(pareto.fronts_of(models, suite, *final), suite)
        except pareto.OldFront as error:
            print_notes([f"no accuracy against complexity: {error}"])
        except InputError:  # no front at all
            pass
    with suppress(InputError):
        yield use.charts_of_use(use.use_of(models, *final))
    with suppress(InputError):
        yield order.charts_of_order(order.model_orders(models, "probing", arguments.classifier))
    spaces = []
    for run, title in zip(runs, shortest_tails([str(run.folder) for run in runs]), strict=True):
        with suppress(InputError):
            spaces.append(subspaces.read_subspaces(run.folder)._replace(title=title))
    if spaces:
        yield subspaces.charts_of_subspaces(spaces)
    with suppress(InputError):
        yield layers.charts_by_layer([*layers.layers_of_models(models, *final), *layers.published_layers()])
    with suppress(InputError):
        yield correlation_section(models, arguments, published=False)


def panels_of(models: list[ReportedModel], suite: str, classifier: str) -> list[Panel]:
    """The curves of the models that have scores of the suite, in each of its units."""
    charts = dict.fromkeys(chart for model in models for run in model.runs for chart in rows_by_chart(run.rows))
    units = [unit for name, unit in charts if name == suite]
    panels = (model_panel(model, suite, classifier, unit) for model in models for unit in units)
    return [panel for panel in panels if panel.lines]


def model_panel(model: ReportedModel, suite: str, classifier: str, unit: str) -> Panel:
    """The curves of a model on one suite in one unit, by the requested classifier where a task has several."""
    charts = [rows_by_chart(run.rows).get((suite, unit), []) for run in model.runs]
    rows = rows_by_one_reader(charts, classifier)
    epochs = grouped((row.task, row.epoch) for seed_rows in rows for row in seed_rows)
    seeds = Counter(task for seed_rows in rows for task in {row.task for row in seed_rows})
    # several seeds of one checkpoint each are one point, also if their best epochs differ
    last = {task: max(of_seeds) for task, of_seeds in epochs.items() if len(of_seeds) == seeds[task]}
    rows = [[replace(row, epoch=last.get(row.task, row.epoch)) for row in seed_rows] for seed_rows in rows]
    return panel_of(model.title, rows, model.score, [run.metrics for run in model.runs])._replace(colour=model.colour)


def correlation_section(models: list[ReportedModel], arguments: SimpleNamespace, published: bool) -> ChartSection:
    """Figure 2 of the scores of our models on both suites and, if requested, published ones. Raises InputError."""

    def suite_scores(suite: str) -> correlation.ScoresByModel:
        epoch, reader, of = arguments.epoch, arguments.classifier, correlation.scores_of
        measured = of(table.probing_table(models, suite, epoch, reader, [])) if models else {}
        printed = of(table.probing_table([], suite)) if published else {}
        return measured | {f"{name} (published)": scores for name, scores in printed.items()}

    return correlation.chart_of_correlations(correlation.correlate(*map(suite_scores, CORRELATED_SUITES)))


def save_charts(section: ChartSection, out: Path, text: str = "") -> None:
    """Write the charts as a figure, after printing the text; loads matplotlib."""
    from encoder_lab.reports.figure import draw_section, save_figure

    figure = draw_section(section)
    if text:
        print(for_terminal(text))
    print(save_figure(figure, out))


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on a report that cannot show them itself."""
    for note in notes:
        print(printable(note), file=sys.stderr)


def write_text(text: str, out: Path | None) -> None:
    """Write to the file, or to standard output."""
    if out is None:
        print(for_terminal(text), end="")
        return
    with atomic_write(out) as file:
        file.write(text)
    print(out)
