"""Tables and figures from run folders, beside the published numbers.

python report.py table runs/nmt_enfr runs/nli
python report.py html runs evaluations --out report.html
"""

import argparse
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from common.errors import InputError, of_the_disk
from common.files import atomic_write
from reports.claims import CLAIMS
from reports.correlation import FEWEST, Scores, correlate, draw_correlations, scores_of
from reports.curves import Panel, draw_panels, panel_of
from reports.drawing import save_figure
from reports.evidence import evidence_of, published_evidence
from reports.findings import as_markdown, check
from reports.formats import FORMATS
from reports.overlay import draw_overlay
from reports.page import page
from reports.published import SOURCES, TRAINING
from reports.runs import Model, each_seed_once, models_of, read_run, run_folders
from reports.sizes import by_size, draw_sizes, has_size
from reports.table import Table, no_scores, own_cell, probing_table, training_table

RUNS = "run folders, or folders of such, as runs/ or a study's; runs that differ in their seed alone are one model"


def given(arguments: argparse.Namespace, or_published: bool = False) -> list[Model]:
    """The models of the runs given. Raises InputError for none, unless published numbers are enough for the report."""
    if not arguments.runs and not (or_published and arguments.published):
        instead = ", or --published for the papers' own numbers" if or_published else ""
        raise InputError(f"give run folders, runs/<objective>/<encoder>/<time>{instead}")
    return models_of(each_seed_once(map(read_run, run_folders(arguments.runs))))


def quoted(arguments: argparse.Namespace) -> list[str] | None:
    """The published tables asked for; None leaves the choice to the table."""
    return [] if arguments.published == ["none"] else arguments.published


def table(arguments: argparse.Namespace) -> None:
    models = given(arguments, or_published=True)
    made = probing_table(models, arguments.suite, arguments.epoch, arguments.classifier, quoted(arguments))
    write_table(made, arguments)


def training(arguments: argparse.Namespace) -> None:
    write_table(training_table(given(arguments, or_published=True), quoted(arguments)), arguments)


def curves(arguments: argparse.Namespace) -> None:
    models = given(arguments)
    panels = panels_of(models, arguments)
    if not panels:
        raise no_scores(models, arguments.suite)
    print(save_figure((draw_overlay if arguments.overlay else draw_panels)(panels), arguments.out))


def correlation(arguments: argparse.Namespace) -> None:
    models = given(arguments, or_published=True)
    probing, downstream = (both(models, arguments, suite, arguments.published) for suite in ("probing", "downstream"))
    found = correlate(probing, downstream)
    print(save_figure(draw_correlations(found), arguments.out))


def size(arguments: argparse.Namespace) -> None:
    runs = [run for model in given(arguments) for run in model.runs]
    models = by_size(runs)
    figure = draw_sizes(models, arguments.suite, arguments.epoch, arguments.classifier)
    left_out("no encoder.dim", [str(run.folder) for run in runs if not has_size(run)])
    left_out("one size alone", [model.title for model in models if len(model.sizes) < 2])
    print(save_figure(figure, arguments.out))


def findings(arguments: argparse.Namespace) -> None:
    ours = None if arguments.published else given(arguments, or_published=True)
    evidence = published_evidence() if ours is None else evidence_of(ours, arguments.epoch)
    found = check(CLAIMS, evidence)
    if arguments.claim is None:
        write_text(as_markdown(found, evidence.notes), arguments.out)
        return
    named = [finding for finding in found if finding.name == arguments.claim.replace("_", " ")]
    if not named:
        raise InputError(f"no claim {arguments.claim!r}; there are {', '.join(finding.name for finding in found)}")
    write_text(named[0].in_full, arguments.out)


def html(arguments: argparse.Namespace) -> None:
    models = given(arguments)
    suites = dict.fromkeys(row.suite for model in models for run in model.runs for row in run.rows)
    asked = quoted(arguments)
    tables = [probing_table(models, s, arguments.epoch, arguments.classifier, asked) for s in suites]
    if any(map(own_cell, models)):
        tables.append(training_table(models, asked and [name for name in asked if name == TRAINING]))
    found = check(CLAIMS, evidence_of(models, arguments.epoch))
    with atomic_write(arguments.out) as file:
        file.write(page("Sentence encoders: what they learned", tables, figures(models, arguments), found))
    print(arguments.out)


def figures(models: list[Model], arguments: argparse.Namespace) -> list[tuple[str, Figure]]:
    """Every figure that the runs allow, with its heading."""
    panels = panels_of(models, arguments)
    drawn = [("by epoch: all models", draw_overlay(panels))] if len(panels) > 1 else []
    drawn += [(f"by epoch: {one.title}", draw_panels([one])) for one in panels]
    sized = by_size(run for model in models for run in model.runs)
    with suppress(InputError):  # there are no sizes to compare
        figure = draw_sizes(sized, arguments.suite, arguments.epoch, arguments.classifier)
        drawn.append(("by size of the sentence vector", figure))
    suites = {row.suite for model in models for run in model.runs for row in run.rows}
    if suites >= {"probing", "downstream"}:
        probing, downstream = (both(models, arguments, suite, False) for suite in ("probing", "downstream"))
        if len(probing.keys() & downstream) >= FEWEST:
            drawn.append(("probing against downstream", draw_correlations(correlate(probing, downstream))))
    return drawn


def panels_of(models: list[Model], arguments: argparse.Namespace) -> list[Panel]:
    """The curves of the models that have scores of the suite."""
    return [found for model in models if (found := panel(model, arguments)).lines]


def panel(model: Model, arguments: argparse.Namespace) -> Panel:
    """The curves of a model on one suite, by the classifier asked for where a task has several."""
    rows = [
        sorted(
            (row for row in run.rows if row.suite == arguments.suite),
            key=lambda row: row.classifier == arguments.classifier,
        )
        for run in model.runs
    ]
    if all(run.evaluated for run in model.runs):  # one checkpoint each: the best ones of several seeds are one point,
        last = max((row.epoch for found in rows for row in found), default=0)  # whatever their epochs
        rows = [[replace(row, epoch=last) for row in found] for found in rows]
    return panel_of(model.title, rows, model.runs[0].score, [run.metrics for run in model.runs])


def both(models: list[Model], arguments: argparse.Namespace, suite: str, published: bool) -> Scores:
    """Scores on a suite of our models and, if asked for, of the published ones."""
    ours = scores_of(probing_table(models, suite, arguments.epoch, arguments.classifier, [])) if models else {}
    theirs = scores_of(probing_table([], suite)) if published else {}
    return ours | {f"{name} (published)": scores for name, scores in theirs.items()}


def left_out(why: str, names: list[str]) -> None:
    """Say in one line what a figure does without."""
    if names:
        print(f"left out, {why}: {'; '.join(names)}", file=sys.stderr)


def write_table(made: Table, arguments: argparse.Namespace) -> None:
    text = page(made.title, [made], []) if arguments.format == "html" else FORMATS[arguments.format](made)
    write_text(text, arguments.out)


def write_text(text: str, out: Path | None) -> None:
    """To the file, or to standard output."""
    if out is None:
        print(text, end="")
        return
    with atomic_write(out) as file:
        file.write(text)
    print(out)


def epoch(text: str) -> str:
    if text in ("best", "last") or text.isdigit():
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is none of best, last or a number")


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "report.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(title="reports", required=True, metavar="REPORT")

    def add(action: Callable[[argparse.Namespace], None], meaning: str, out: str | None) -> argparse.ArgumentParser:
        command = commands.add_parser(action.__name__, help=meaning.replace("%", "%%"), description=meaning)
        command.set_defaults(action=action, suite="probing", epoch="best", classifier="mlp", published=None)
        command.add_argument("runs", nargs="*", type=Path, metavar="RUN", help=RUNS)
        where = f"file to write (default: {out or 'standard output'})"
        command.add_argument("--out", type=Path, default=out and Path(out), metavar="FILE", help=where)
        return command

    tables = [
        add(table, "models by tasks, best in bold, 95% intervals below (Conneau et al. 2018, Table 2)", None),
        add(training, "the objectives' own scores (Table 3)", None),
    ]
    for command in tables:
        command.add_argument("--format", choices=FORMATS, default="markdown", help="default: %(default)s")
    drawn = add(curves, "scores by epoch beside the objective's own, models side by side (Figure 1)", "curves.png")
    drawn.add_argument("--overlay", action="store_true", help="models over each other, one panel for each task")
    related = add(correlation, "Spearman, probing against downstream scores over models (Figure 2)", "correlation.png")
    related.add_argument("--published", action="store_true", help="with the models of the paper's Tables 2 and 5")
    sized = add(size, "scores by size of the sentence vector (Figure 3)", "size.png")
    checked = add(findings, "which published findings hold for these runs: rules, numbers, verdicts", None)
    checked.add_argument("--published", action="store_true", help="check the papers' own tables instead of runs")
    checked.add_argument("--claim", metavar="NAME", help="one of them with every comparison, e.g. 'max is above last'")
    paged = add(html, "all tables, figures and findings on one page that opens offline", "report.html")

    for command in (*tables, paged):
        names = f"instead of the published table that fits: none, or one or more of {', '.join(SOURCES)}"
        command.add_argument("--published", action="append", metavar="TABLE", help=names)
    for command in (tables[0], drawn, sized):
        command.add_argument("--suite", default="probing", help="which tasks (default: %(default)s)")
    for command in (tables[0], drawn, related, sized, paged):
        command.add_argument("--classifier", choices=("mlp", "logreg"), default="mlp", help="where a task has both")
    for command in (tables[0], related, sized, checked, paged):
        said = "best by the objective's own score (default), last, or a number"
        command.add_argument("--epoch", type=epoch, default="best", help=said)
    return parser


def main(arguments: list[str]) -> int:
    """Run one report; what the user can mend is said in one line."""
    parsed = command_line().parse_args(arguments)
    try:
        parsed.action(parsed)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = parsed.out or Path("standard output")
        print(f"error: {of_the_disk(error, where)}; make room there, or choose another --out", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that had enough, as head, ends us quietly
    sys.exit(main(sys.argv[1:]))
