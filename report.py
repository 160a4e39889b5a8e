"""Tables and figures from run folders, next to the published numbers.

python report.py table runs/nmt_enfr runs/nli
python report.py html runs evaluations out=report.html
"""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from encoder_lab.errors import InputError
from encoder_lab.reports.published import SOURCES
from encoder_lab.settings import command_line
from encoder_lab.settings.command_line import BOOLEAN, FILE, INTEGER, NAMES, TEXT, Command, Setting, ValueType, one_of

# how the names of the files that reports write end, by report or by `format=`
PICTURES = (".png", ".svg")
TEXTS = (".md", ".txt")
ENDINGS = {
    **{"markdown": TEXTS, "latex": (".tex",), "csv": (".csv",), "html": (".html",), "text": TEXTS},
    **{"scores": (".csv",), "stability": TEXTS, "findings": (*TEXTS, *PICTURES), "subspaces": (*PICTURES, ".csv")},
}
RUNS = "run folders, folders with runs inside, as runs/, or files of report.py scores; "
RUNS += "runs that differ only in their seed are one model"
FORMATS = ("markdown", "latex", "csv", "html")
COMPARE_FORMATS = ("text", "csv", "latex")
RUN_TABLES = ("probes.csv", "answers.csv", "details.csv", "metrics.csv", "test.csv")  # in the folder of a run
DEFAULTS = {"suite": "probing", "epoch": "best", "classifier": "mlp", "published": None}


def _epoch(text: str) -> str:
    return text if text in ("best", "last") else str(INTEGER.parse(text))


SUITE = Setting("suite", "which tasks", TEXT, DEFAULTS["suite"])
EPOCHS = ValueType("best|last|N", "best, last or a whole number", _epoch)
EPOCH = Setting("epoch", "best is by the objective's own score", EPOCHS, DEFAULTS["epoch"], needs="RUN...")
CLASSIFIER = Setting("classifier", "where a task has both", one_of("mlp", "logreg"), DEFAULTS["classifier"])
TABLES = Setting("published", f"instead of the published table that fits: none, or some of {', '.join(SOURCES)}", NAMES)
FORMAT = Setting("format", "of the table", one_of(*FORMATS), FORMATS[0])
FINAL_SETTINGS = (SUITE, EPOCH, CLASSIFIER)
OVERVIEW = """\
table: Models by tasks, best in bold, 95% intervals below (Conneau et al. 2018, Table 2).
training: The objectives' own scores (Conneau et al. 2018, Table 3).
compare: Two models or groups of seeds, paired over test items and seeds: effect, interval, p corrected over tasks.
scores: Every score of every run as one CSV file of long form, for pandas; other reports read it as run folders.
curves: Scores by epoch with the objective's own, models side by side (Conneau et al. 2018, Figure 1).
correlation: Spearman correlation of probing with downstream scores over models (Conneau et al. 2018, Figure 2).
size: Scores by size of the sentence vector (Conneau et al. 2018, Figure 3).
stability: Rank correlation of models between classifiers, sizes and other settings of probing (Eger et al. 2020).
layers: Scores by layer of Hugging Face models, tasks by layers (Chen et al. 2019, Figure 8).
order: When tasks are learnt: the step of half, 90% and 95% of each gain, and Kendall's tau of models and seeds.
use: Known against used: accuracy of each property, and what the objective loses without it; seeds are compared.
pareto: Accuracy against the complexity of the classifier: cells that no simpler one equals (Pimentel et al. 2020).
subspaces: Where tasks live: overlaps of their subspaces, and how early the final ones are there; out=NAME.csv: angles.
findings: Which published findings hold for these runs: rules, numbers, verdicts; out=NAME.png or .svg draws them.
html: All tables, figures and findings on one page that opens offline."""
TEXT_REPORTS = ("table", "training", "compare", "scores", "stability", "findings")  # on standard output without out=
SETTINGS: dict[str, Sequence[Setting]] = {
    "table": [
        *(*FINAL_SETTINGS, TABLES, FORMAT),
        Setting("tasks", "these columns alone, in this order", NAMES),
        Setting("transpose", "tasks as rows, models as columns", BOOLEAN, False),
        Setting("intervals", "where each 95% interval stands", one_of("below", "inline", "none"), "below"),
    ],
    "training": [TABLES, FORMAT],
    "compare": [
        Setting("suite", "which tasks (default: all that both have)", TEXT),
        *(EPOCH, CLASSIFIER, Setting("format", "of the comparison", one_of(*COMPARE_FORMATS), COMPARE_FORMATS[0])),
    ],
    "scores": [],
    "curves": [SUITE, CLASSIFIER, Setting("overlay", "models in one panel for each task", BOOLEAN, False)],
    "correlation": [
        *(EPOCH, CLASSIFIER, Setting("published", "with the models of the paper's Tables 2 and 5", BOOLEAN, False))
    ],
    "size": FINAL_SETTINGS,
    "stability": [SUITE, EPOCH],
    "layers": [CLASSIFIER, Setting("published", "also ELMo and BERT of the paper's Figure 8 (default: true)", BOOLEAN)],
    "order": [SUITE, CLASSIFIER],
    "use": [EPOCH, CLASSIFIER],
    "pareto": FINAL_SETTINGS,
    "subspaces": [],
    "findings": [
        *(EPOCH, Setting("published", "check the papers' own tables instead of runs", BOOLEAN, False)),
        Setting("claim", "one of them with every comparison, as max_is_above_last", TEXT),
    ],
    "html": [
        *(EPOCH, CLASSIFIER, TABLES),
        Setting("item", "of a coherence suite, as story_cloze:3; without it the most right and most wrong ones", NAMES),
    ],
}


def _command(name: str, purpose: str) -> Command:
    out = None if name in TEXT_REPORTS else Path("report.html" if name == "html" else f"{name}.png")
    output = Setting("out", f"the file to write{'' if out else ' (default: standard output)'}", FILE, out)
    absent = "no such folder; give a run folder, runs/<objective>/<encoder>/<time>"
    settings, endings = (*SETTINGS[name], output), {"": ENDINGS.get(name, PICTURES), **ENDINGS}
    usage, remedy = f"python report.py {name} [RUN...]", "fix this, or choose another out="
    return Command(usage, purpose, settings, meaning=RUNS, absent=absent, endings=endings, remedy=remedy)


REPORTS = {name: _command(name, purpose) for name, purpose in (line.split(": ", 1) for line in OVERVIEW.split("\n"))}


def overview() -> str:
    lines = [f"  {name:<12} {command.purpose}" for name, command in REPORTS.items()]
    footer = "The settings of a report: python report.py REPORT --help"
    return "\n".join([(__doc__ or "").strip(), "", "reports:", *lines, "", footer])


def main(arguments: list[str]) -> int:
    """Make one report; the exit status."""
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in REPORTS:
        return REPORTS[name]._replace(work=partial(make_report, name)).run(rest)
    if command_line.asks_for_help(arguments):
        command_line.show_help(overview())
        return 0
    if name:
        return command_line.fail(f"{name}: {command_line.unknown_name_message('report', name, list(REPORTS))}")
    return command_line.fail(f"give a report: {', '.join(REPORTS)}")


def make_report(name: str, options: SimpleNamespace) -> None:
    """Make a report; imports scipy only now. Raises InputError for an `out=` that is a table of a run."""
    if options.out and options.out.name in RUN_TABLES and (options.out.parent / "config.yaml").exists():
        raise InputError(f"out={options.out}: the table of a run; choose another name")
    from encoder_lab.reports import commands

    getattr(commands, f"report_{name}")(SimpleNamespace(**{**DEFAULTS, **vars(options)}))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
