"""Reads run folders for reports."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from encoder_lab.errors import InputError, printable, shortened
from encoder_lab.reports.run_files import MetricRows, check_settings, read_details, read_metrics
from encoder_lab.reports.text import MAX_NAME_CHARACTERS
from encoder_lab.settings.run_settings import dotted_items, objective_of, read_settings
from encoder_lab.storage.reads import CORPUS_KEY, read_reads
from encoder_lab.storage.text_files import visible_files
from probes.facts import bounds_of
from probes.results import Epoch, ProbeRow, read_epoch, read_rows
from probes.statistics import Interval, bounded_mean_of_runs

OBJECTIVE_SCORES = ("bleu", "accuracy", "perplexity", "loss")  # the first selects, in a run that has no best_by
LOSS_NAMES = {"sdt": "SDT", "spp": "SPP", "nl": "NL"}  # in addition to NSP, in the order of Chen et al. 2019, Table 2
Key = TypeVar("Key")
Value = TypeVar("Value")
SETTINGS_FILE = "config.yaml"  # a folder with this file is a run folder
CONTENT_KEY = "corpus.content"  # among the settings: of what a run reads, by reads.json
EACH_EPOCH = "each epoch"  # the checkpoint of an evaluation of several epochs
# settings that may end a run before its last epoch; that of the schedule is infersent's
END_SETTINGS = ("early_stopping.patience", "schedule.cut", "trainer.max_steps", "trainer.max_time", "trainer.callbacks")
EVALUATIONS_FOLDER = "evaluations"  # in a run folder: scores of its epochs on more suites
# prefixes of the settings that, with its name, make an evaluated model
MODEL_SETTINGS = ("embeddings.", "corpus.", "checkpoint")
WEIGHT_SETTINGS = re.compile(  # the settings of a run that made its weights, without places of files
    r"seed$|(encoder|objective)_name$|(encoder|objective|datamodule|corpus|embeddings)\."
    r"(?!.*(root|path|more|source|target)$)"
)


def score_name(column: str) -> str:
    """The name of a score of metrics.csv in tables and figures: val/nmt_enfr/bleu is nmt_enfr BLEU, of multitask."""
    return " ".join("BLEU" if part == "bleu" else part for part in column.split("/")[1:] or [column])


@dataclass(frozen=True)
class Run:
    """One run folder, or the scores of an evaluated model."""

    folder: Path
    encoder: str
    objective: str
    settings: Mapping[str, Any]  # config.yaml, keys joined by dots
    rows: Sequence[ProbeRow]
    metrics: MetricRows
    tests: MetricRows = ()  # of evaluate.py suite=objective
    evaluations: Sequence[Path] = ()  # folders of evaluations that joined it, the newest first
    suite_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of those, by the suite they added

    def files_named(self, name: str) -> list[Path]:
        """The files of this name in its folder and evaluations; none of those of several epochs, which share one."""
        folders = [] if self.settings.get("checkpoint") == EACH_EPOCH else [self.folder, *self.evaluations]
        return [path for folder in folders if (path := folder / name).exists()]

    @property
    def details(self) -> Mapping[tuple[str, str], float]:
        """Other measures of its scores by task and measure (details.csv)."""
        return {key: score for path in reversed(self.files_named("details.csv")) for key, score in read_details(path)}

    @property
    def score(self) -> str:
        """The column of metrics.csv with the objective's own score, e.g. val/bleu; empty if there is none."""
        parts = self.settings.get("objective.parts")  # of multitask: its score is that of one part
        within = f"val/{self.settings.get('objective.select') or parts[0]}/" if parts else "val/"
        columns = [f"{within}{name}" for name in OBJECTIVE_SCORES] if self.metrics else []
        return self.settings.get("best_by.score") or next((name for name in columns if name in self.metrics[0]), "")

    @property
    def mode(self) -> str:
        """Whether the lowest or the highest own score is best: min or max."""
        return self.settings.get("best_by.mode") or ("min" if self.score.endswith(("loss", "perplexity")) else "max")

    @property
    def evaluated(self) -> str:
        """What an evaluation scored: the folder of a run, or another name of `model=`; empty for a run.

        An evaluation inside a run's folder is of that run. Otherwise a relative path is tried from every parent folder
        of the evaluation and from the current folder.
        """
        name = str(self.settings.get("model", ""))
        run = next((path.parent for path in self.folder.absolute().parents if path.name == EVALUATIONS_FOLDER), None)
        if name and run and (run / SETTINGS_FILE).exists():
            return str(run.resolve())
        bases = [*(self.folder.absolute().parents if "/" in name else []), Path()]
        path = next((base / name for base in bases if name and (base / name).exists()), None)
        return name if path is None else str((path.parents[1] if path.is_file() else path).resolve())

    def is_scored_by(self, evaluation: "Run") -> bool:
        """Whether this is the run, or another evaluation of the model, that an evaluation scored."""
        if "model" not in evaluation.settings:
            return False
        if "model" not in self.settings:  # the folder may have another run by now
            scored = {key[4:]: value for key, value in evaluation.settings.items() if key.startswith("run.")}
            made = {key: value for key, value in scored.items() if WEIGHT_SETTINGS.match(key)}
            same = all(str(self.settings.get(key, value)) == str(value) for key, value in made.items())
            return same and evaluation.evaluated == str(self.folder.resolve())
        scored_model, evaluated_model = ((run.evaluated, run.encoder, run.objective) for run in (self, evaluation))
        return scored_model == evaluated_model and settings_agree(self, evaluation, MODEL_SETTINGS)

    def has_suite(self, suite: str) -> bool:
        return any(row.suite == suite for row in self.rows)

    def objective_scores(self, test: bool = False) -> dict[Epoch, float]:
        return column_by_epoch(self.tests if test else self.metrics, self.score)

    @property
    def unfinished(self) -> str:
        """How much of its training a run has, as `2 of 5 epochs`; empty where all, or something else may end it."""
        limit, last = self.settings.get("trainer.max_epochs"), max(self.objective_scores(), default=0)
        ends = any(self.settings.get(key) not in (None, -1, []) for key in END_SETTINGS)
        trains = "model" not in self.settings and not self.objective.endswith("untrained") and not ends
        return f"{last} of {limit} epochs" if trains and isinstance(limit, int) and last < limit else ""

    def epoch(self, choice: str, suite: str) -> Epoch:
        """The last epoch probed until `choice`: last, a number, or best by its own score: never 0 if it trained."""
        probed = sorted({row.epoch for row in self.rows if row.suite == suite})
        probed = (choice == "best" and [e for e in probed if e > 0]) or probed
        limit = self.requested_epoch(choice)
        return max((e for e in probed if limit is None or e <= limit), default=probed[0])

    def requested_epoch(self, choice: str) -> Epoch | None:
        """The epoch that best, last or a number means; None if any epoch will do."""
        if choice == "best":
            return self.best_epoch()
        return int(choice) if choice != "last" else max([*self.objective_scores(), *(row.epoch for row in self.rows)])

    def best_epoch(self) -> Epoch | None:
        """The epoch of the best own score; of equals that of the lowest loss, then the last. None without scores."""
        sign = 1 if self.mode == "max" else -1
        losses = column_by_epoch(self.metrics, f"{self.score.rpartition('/')[0]}/loss")
        scores = {epoch: score for epoch, score in self.objective_scores().items() if math.isfinite(score)}
        ranks = {epoch: (sign * score, -losses.get(epoch, math.inf), epoch) for epoch, score in scores.items()}
        return max(ranks, key=ranks.__getitem__, default=None)

    @property
    def last_epoch(self) -> Epoch:
        """The last epoch that has a score; of an evaluated run the last one that it was trained for, where known."""
        max_epochs = 0 if self.objective.endswith("untrained") else self.settings.get("run.trainer.max_epochs")
        return max(max_epochs if isinstance(max_epochs, int) else 0, self.requested_epoch("last") or 0)


def column_by_epoch(table: Iterable[Mapping[str, str]], column: str) -> dict[Epoch, float]:
    """The numbers of a column of metrics.csv or test.csv, where it has them; none of a column without a name."""
    return {read_epoch(row["epoch"]): float(row[column]) for row in table if column and row.get(column)}


def run_folders(paths: Iterable[Path]) -> list[Path]:
    """Each run folder with its evaluations, once; other folders stand for those inside. Raises InputError for none."""
    runs: dict[Path, Path] = {}  # by their places: a link to a run is no copy of it
    for folder in paths:
        files = (file for file in visible_files(folder) if file.name == SETTINGS_FILE)
        below = [file.parent for file in files if "wandb" not in file.relative_to(folder).parts]
        if not below:
            problem = "no config.yaml there" if folder.exists() else "no such folder"
            raise InputError(f"{folder}: {problem}; give a run folder, runs/<objective>/<encoder>/<time>")
        is_run, evaluated = folder in below, folder / EVALUATIONS_FOLDER
        runs |= {run.resolve(): run for run in below if not is_run or run == folder or evaluated in run.parents}
    return list(runs.values())


def read_run(folder: Path) -> Run:
    """Read a run folder. Raises InputError naming the corrupt file."""
    items = dotted_items(read_settings(folder / SETTINGS_FILE))
    # settings of suites are no part of a model
    settings = {key: v for key, v in items if not isinstance(v, dict) and not key.startswith("suites.")}
    check_settings(folder / SETTINGS_FILE, settings)
    settings = with_whole_numbers(settings)
    *_, outer, inner, _ = ("?", "?", *folder.absolute().parts)  # runs/<objective>/<encoder>/<time>
    objective, encoder = settings.get("objective_name") or outer, settings.get("encoder_name") or inner
    if objective == "discourse":
        objective = _name_of_losses(settings.get("objective.losses", settings.get("run.objective.losses")))
    if "begun_from" in settings:
        objective = objective_of(settings | {"objective_name": objective})
    if content := read_reads(folder).get(CORPUS_KEY):
        settings[CONTENT_KEY] = content
    rows, metrics = read_rows(folder / "probes.csv"), read_metrics(folder / "metrics.csv")
    encoder, objective = (shortened(printable(str(name)), MAX_NAME_CHARACTERS) for name in (encoder, objective))
    return Run(folder, encoder, objective, settings, rows, metrics, read_metrics(folder / "test.csv"))


def with_whole_numbers(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Changes 512.0 to 512, since other programs write columns of floats; but of batches 1.0 is all and 1 is one."""
    return {
        key: int(value) if isinstance(value, float) and value.is_integer() and not key.endswith("_batches") else value
        for key, value in settings.items()
    }


def _name_of_losses(losses: Any) -> str:
    """The name of a combination of discourse losses in Chen et al. 2019, Table 2; discourse if it has none."""
    extra = [LOSS_NAMES[loss] for loss in LOSS_NAMES if loss in (losses or [])]
    if "nsp" not in (losses or []) or len(extra) == len(LOSS_NAMES):
        return "discourse"
    return "+ " + " + ".join(extra) if extra else "Baseline (NSP)"


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Groups values by key, in their order."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def mean_of_seeds(rows: Sequence[ProbeRow]) -> Interval:
    """The mean over seeds and its 95% interval, which ends where the scores of the task do."""
    share = all(row.answers and len(row.answers.right) for row in rows)
    lowest, highest = (0.0, 100.0) if share else bounds_of(rows[0].suite, rows[0].task, rows[0].classifier)
    return bounded_mean_of_runs([row.interval for row in rows], highest, lowest)


def final_rows(run: Run, suite: str, epoch: str, classifier: str) -> dict[str, ProbeRow]:
    """The run's scores by task at one epoch, by `classifier` if there is a choice."""
    if not run.has_suite(suite):
        return {}
    scored_epoch = run.epoch(epoch, suite)
    rows = [row for row in run.rows if row.suite == suite and row.epoch == scored_epoch]
    return {row.task: row for row in sorted(rows, key=lambda row: row.classifier == classifier)}


def rows_by_task(runs: Sequence[Run], suite: str, epoch: str, classifier: str) -> dict[str, list[ProbeRow]]:
    """The scores of all seeds of a model by task, at one epoch of each, by one classifier."""
    final = [list(final_rows(run, suite, epoch, classifier).values()) for run in runs]
    return grouped((row.task, row) for rows in rows_by_one_reader(final, classifier) for row in rows)


def rows_by_one_reader(runs: Sequence[Sequence[ProbeRow]], classifier: str) -> list[list[ProbeRow]]:
    """The rows of runs, each task by one reader: the requested classifier, where any row is by it."""
    rows = [row for rows in runs for row in rows]
    readers = {(row.suite, row.task): row.classifier for row in sorted(rows, key=lambda r: r.classifier == classifier)}
    return [[row for row in rows if row.classifier == readers[row.suite, row.task]] for rows in runs]


def settings_agree(run: Run, other: Run, prefixes: tuple[str, ...]) -> bool:
    """Whether the settings with these prefixes are equal, where both runs have them."""
    shared = [key for key in run.settings.keys() & other.settings.keys() if key.startswith(prefixes)]
    return all(str(run.settings[key]) == str(other.settings[key]) for key in shared)
