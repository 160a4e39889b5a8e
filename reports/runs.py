"""Reads run folders for reports, and groups the runs that are seeds of one model."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from common.errors import InputError, printable, shortened
from common.made_with import KEYS
from common.run_settings import objective_of, read_settings
from probes.classifiers.grid import SENTEVAL_ONLY, Grid
from probes.facts import facts_of
from probes.results import Epoch, ProbeRow, read_rows
from reports.escape import NAME
from reports.metrics import read_metrics
from reports.run_settings_check import check_settings

ENCODERS = {
    "bilstm_max": "BiLSTM-max",
    "bilstm_last": "BiLSTM-last",
    "bilstm_att": "BiLSTM-Att",
    "gated_convnet": "Gated ConvNet",
    "bigru_mean": "BiGRU",
    "transformer": "Transformer",
    "transformer_max": "Transformer-max",
    "bov": "BoV",
    "baseline": "Baselines",
}
OBJECTIVES = {
    "nmt_enfr": "NMT En-Fr",
    "nmt_ende": "NMT En-De",
    "nmt_enfi": "NMT En-Fi",
    "autoencoder": "AutoEncoder",
    "untrained": "Untrained",
    "seq2tree": "Seq2Tree",
    "skipthought": "SkipThought",
    "nli": "NLI",
    "majority": "Majority vote",
    "length": "Length",
    "nb-uni-tfidf": "NB-uni-tfidf",
    "nb-bi-tfidf": "NB-bi-tfidf",
    "bov": "BoV",
    "unigram": "Unigram",
    "ngram": "N-gram",
    "discourse": "Discourse",  # all losses; a combination of some is named after them
}
# the score that names an objective in the tables, the first that it reports; True where more is better
OWN_SCORES = {"bleu": True, "accuracy": True, "perplexity": False, "loss": False}
LOSSES = {"sdt": "SDT", "spp": "SPP", "nl": "NL"}  # in addition to NSP, in the order of Chen et al. 2019, Table 2
# settings in which the runs of one model may differ: where they were computed, and what was displayed
INCIDENTAL = {
    *("labels.encoder", "labels.objective", "labels.colour"),
    *("seed", "resume", "cache", "init"),
    *(f"checkpoints.{name}" for name in ("keep", "every_n_epochs", "steps", "every_n_steps")),
    *("probes.steps", "logger"),
    *(f"made_with.{key}" for key in KEYS),
    *(
        f"trainer.{name}"
        for name in ("accelerator", "strategy", "log_every_n_steps", "enable_model_summary", "enable_progress_bar")
    ),
}
UNNAMED = {  # settings that older runs do not name, with their defaults
    **{f"probes.classifier.{name}": getattr(Grid, name) for name in (*SENTEVAL_ONLY, "block_mb", "memory_mb")},
    "corpus.source_language": "en",
    **{f"embeddings.{part}lowercase": "auto" for part in ("", "source.")},
    **{f"embeddings.{part}scale": None for part in ("", "source.")},
}
SETTINGS = "config.yaml"  # a folder with this file is a run folder
EACH_EPOCH = "each epoch"  # the checkpoint of an evaluation of several epochs
EVALUATIONS = "evaluations"  # in a run folder: scores of its epochs on more suites
# prefixes of the settings that make the tasks, and of those that, with its name, make an evaluated model
TASKS = ("probes.source.", "probes.train_size", "probes.dev_size", "probes.test_size", "corpus.", "seed")
MODEL = ("embeddings.", "corpus.", "checkpoint")


@dataclass(frozen=True)
class Run:
    """One run folder, or the scores of an evaluated model."""

    folder: Path
    encoder: str
    objective: str
    settings: Mapping[str, Any]  # config.yaml, keys joined by dots
    rows: Sequence[ProbeRow]
    metrics: Sequence[Mapping[str, str]]

    @property
    def score(self) -> str:
        """The column of metrics.csv with the objective's own score, e.g. val/bleu; empty if there is none."""
        parts = self.settings.get("objective.parts")  # of multitask: its score is that of one part
        within = f"val/{self.settings.get('objective.select') or parts[0]}/" if parts else "val/"
        columns = [name for name in (self.metrics[0] if self.metrics else {}) if name.startswith(within)]
        ranked = [name for kind in OWN_SCORES for name in columns if name.rsplit("/", 1)[-1] == kind]
        return ranked[0] if ranked else ""

    @property
    def evaluated(self) -> str:
        """What an evaluation scored: the folder of a run, or another name of `model=`; empty for a run.

        An evaluation inside a run's folder is of that run. Otherwise a relative path is tried from the current folder
        and from every parent folder of the evaluation.
        """
        name = str(self.settings.get("model", ""))
        above = self.folder.absolute().parents
        around = next((path.parent for path in above if path.name == EVALUATIONS), None)
        if name and around and (around / SETTINGS).exists():
            return str(around.resolve())
        bases = [Path(), *(self.folder.absolute().parents if "/" in name else [])]
        path = next((base / name for base in bases if name and (base / name).exists()), None)
        if path is None:
            return name
        return str((path.parents[1] if path.is_file() else path).resolve())

    def is_of(self, evaluation: "Run") -> bool:
        """Whether this is the run, or another evaluation of the model, that an evaluation scored."""
        if "model" not in evaluation.settings:
            return False
        if "model" not in self.settings:
            return evaluation.evaluated == str(self.folder.resolve())
        names, theirs = ((one.evaluated, one.encoder, one.objective) for one in (self, evaluation))
        return names == theirs and _agree(self, evaluation, MODEL)

    def own_scores(self) -> dict[int, float]:
        """The objective's score by epoch."""
        score = self.score
        return {int(m["epoch"]): float(m[score]) for m in self.metrics if score and m.get(score)}

    def epoch(self, which: str, suite: str) -> Epoch:
        """The last epoch probed until `which`: last, a number, or best by the objective's score, never by a probe.

        The best epoch of a run that trained is never 0, which is before training: the first one probed stands for it.
        """
        probed = sorted({row.epoch for row in self.rows if row.suite == suite})
        probed = (which == "best" and [e for e in probed if e > 0]) or probed
        wanted = self.best_epoch() if which == "best" else None if which == "last" else int(which)
        return max((e for e in probed if wanted is None or e <= wanted), default=probed[0])

    def best_epoch(self) -> int | None:
        """The epoch of the best own score, the first of equals; none without scores."""
        scores = {epoch: score for epoch, score in self.own_scores().items() if math.isfinite(score)}
        choose = max if OWN_SCORES.get(self.score.rsplit("/", 1)[-1], True) else min
        return choose(sorted(scores), key=scores.__getitem__) if scores else None


@dataclass(frozen=True)
class ReportedModel:
    """Runs that differ only in their seed."""

    encoder: str
    objective: str
    variant: str  # settings that differ from models of the same encoder and objective, in parentheses; often empty
    runs: Sequence[Run]

    @property
    def name(self) -> str:
        return f"{self.objective} {self.variant}".rstrip()

    @property
    def title(self) -> str:
        return f"{self.encoder}, {self.name}"

    @property
    def colour(self) -> str:
        """The colour that its settings give it; empty: ours."""
        return str(self.runs[0].settings.get("labels.colour") or "")


def run_folders(given: Iterable[Path]) -> list[Path]:
    """Each run folder with the evaluations in it, once; any other folder stands for all run folders inside it.

    Raises InputError naming a folder without any.
    """
    found: dict[Path, None] = {}
    for folder in given:
        below = sorted(path.parent for path in folder.rglob(SETTINGS) if "wandb" not in path.parts)
        is_run = folder in below
        inside = [one for one in below if not is_run or one == folder or (folder / EVALUATIONS) in one.parents]
        if not folder.exists():
            raise InputError(f"{folder}: no such folder; give a run folder, runs/<objective>/<encoder>/<time>")
        if not inside:
            raise InputError(f"{folder}: no config.yaml there; give a run folder, runs/<objective>/<encoder>/<time>")
        found |= dict.fromkeys(inside)
    return list(found)


def read_run(folder: Path) -> Run:
    """Read a run folder. Raises InputError naming the corrupt file."""
    settings = _flat(OmegaConf.to_container(read_settings(folder / SETTINGS)))
    settings = {key: value for key, value in settings.items() if not key.startswith("suites.")}  # no part of a model
    check_settings(folder / SETTINGS, settings)
    if protocol := settings.pop("protocol", None):  # the key in evaluations made before 22 November 2026
        settings["probes.classifier.protocol"] = protocol
    settings = {key: value for key, value in settings.items() if not _is_default(key, value)}
    *_, above, parent, _ = ("?", "?", *folder.absolute().parts)  # runs/<objective>/<encoder>/<time>
    objective, encoder = settings.get("objective_name") or above, settings.get("encoder_name") or parent
    if objective == "discourse":
        objective = _named_after(settings.get("objective.losses"))
    if "begun_from" in settings:
        objective = objective_of(settings | {"objective_name": objective})
    rows, metrics = read_rows(folder / "probes.csv"), read_metrics(folder / "metrics.csv")
    encoder, objective = (shortened(printable(str(name)), NAME) for name in (encoder, objective))
    return Run(folder, encoder, objective, settings, rows, metrics)


def _is_default(key: str, value: Any) -> bool:
    """Whether it is one of `UNNAMED` at its default, also of an evaluated run."""
    name = key.removeprefix("run.")
    return name in UNNAMED and value == UNNAMED[name]


def _named_after(losses: Any) -> str:
    """The name of a combination of discourse losses in Chen et al. 2019, Table 2; discourse if it has none."""
    others = [LOSSES[loss] for loss in LOSSES if loss in (losses or [])]
    if "nsp" not in (losses or []) or len(others) == len(LOSSES):
        return "discourse"
    return "+ " + " + ".join(others) if others else "Baseline (NSP)"


def _flat(settings: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(settings, dict):
        return {prefix: settings}
    flat = (_flat(value, f"{prefix}.{key}" if prefix else str(key)) for key, value in settings.items())
    return {key: value for part in flat for key, value in part.items()}


def models_of(runs: Iterable[Run]) -> list[ReportedModel]:
    """Runs grouped into models, in the given order; models of one encoder come together."""
    joined = with_evaluations(runs)
    times = Counter((_kind(run), _seeds(run)) for run in joined)
    groups: dict[tuple, list[Run]] = {}
    for run in joined:
        copy = run.evaluated if times[_kind(run), _seeds(run)] > 1 else ""  # two runs of one seed are not two seeds
        groups.setdefault((_kind(run), copy), []).append(run)
    named: dict[tuple[str, str], list[list[Run]]] = {}
    for group in groups.values():
        named.setdefault((group[0].encoder, group[0].objective), []).append(group)
    models = [
        ReportedModel(
            _label(group, "encoder", ENCODERS.get(encoder, encoder)),
            _label(group, "objective", _shown(objective)),
            _difference(group, alike),
            group,
        )
        for (encoder, objective), alike in named.items()
        for group in alike
    ]
    first = {encoder: place for place, encoder in reversed(list(enumerate(model.encoder for model in models)))}
    return sorted(models, key=lambda model: first[model.encoder])


def _label(group: Sequence[Run], kind: str, otherwise: str) -> str:
    """The name that the settings of a run give its encoder or objective, also through an evaluation of it."""
    settings = group[0].settings
    return str(settings.get(f"labels.{kind}") or settings.get(f"run.labels.{kind}") or otherwise)


def _shown(objective: str) -> str:
    """The name of an objective, or of one after another, in tables."""
    return " → ".join(OBJECTIVES.get(one, one) for one in objective.split(" → "))


def each_seed_once(runs: Iterable[Run]) -> list[Run]:
    """Of runs with the same settings and seed, the last; of evaluations of one model, the newest."""
    kept: dict[tuple, Run] = {}
    for run in runs:
        place = _kind(run, "run."), _seeds(run), run.evaluated  # a run that was trained for longer is still that run
        if place not in kept or _age(run) >= _age(kept[place]):
            kept[place] = run
    return list(kept.values())


def _age(run: Run) -> tuple[Epoch, int]:
    """Larger is newer: the evaluated epoch, then the time; runs that are no evaluations are equal."""
    if "model" not in run.settings:
        return 0, 0
    return max((row.epoch for row in run.rows), default=0), (run.folder / SETTINGS).stat().st_mtime_ns


def with_evaluations(runs: Iterable[Run]) -> list[Run]:
    """Each run or evaluated model, with the additional scores from evaluations of the same one.

    These are scores on another suite, or on the same probing tasks by another classifier.
    """
    joined: list[Run] = []
    for run in sorted(runs, key=lambda run: "model" in run.settings):  # evaluations last, in the order given
        home = next((r for r in joined if r.is_of(run) and _fit(r, run)), None)
        if home is None:
            joined.append(run)
        else:
            each = run.settings.get("checkpoint") == EACH_EPOCH
            there = {_what(row, each) for row in home.rows}
            new = [row for row in run.rows if _what(row, each) not in there]
            joined[joined.index(home)] = replace(home, rows=[*home.rows, *new])
    return joined


def _fit(home: Run, more: Run) -> bool:
    """Whether the scores of both fit in one row: no score is there twice, a shared suite has the same settings."""
    ours, theirs = ({_what(row) for row in run.rows} for run in (home, more))
    if {suite for suite, *_ in ours}.isdisjoint(suite for suite, *_ in theirs):
        return True
    if more.settings.get("checkpoint") == EACH_EPOCH:  # more epochs of the same tasks
        return _agree(home, more, TASKS)
    twice = {what for what in ours & theirs if what[1] not in facts_of(what[0]).one_reader}
    return not twice and bool(theirs - ours) and _agree(home, more, TASKS)


def _what(row: ProbeRow, each_epoch: bool = False) -> tuple:
    return row.suite, row.task, row.classifier, row.epoch if each_epoch else None


def _agree(one: Run, other: Run, on: tuple[str, ...]) -> bool:
    """Whether the settings with these prefixes are equal, where both runs have them; an older run lacks newer ones."""
    both = [key for key in one.settings.keys() & other.settings.keys() if key.startswith(on)]
    return all(str(one.settings[key]) == str(other.settings[key]) for key in both)


def _kind(run: Run, *without: str) -> tuple:
    """What runs of one model share, except settings with the prefixes `without`; an evaluation has those of its run."""
    unsaid = (*without, "model") if "checkpoint" in run.settings else without
    return run.encoder, run.objective, *(item for item in _essence(run).items() if not item[0].startswith(unsaid))


def _seeds(run: Run) -> tuple[str, str]:
    """The seed of the run itself and, for an evaluation, of the evaluated run."""
    return str(run.settings.get("seed")), str(run.settings.get("run.seed"))


def _essence(run: Run) -> dict[str, str]:
    kept = {key: str(value) for key, value in run.settings.items() if key.removeprefix("run.") not in INCIDENTAL}
    return dict(sorted(kept.items()))


def _shared(group: Sequence[Run]) -> dict[str, str]:
    """The settings that are equal in all runs of a group."""
    first, *others = map(_essence, group)
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def _difference(group: Sequence[Run], alike: Sequence[Sequence[Run]]) -> str:
    """The settings of `group` that differ in other groups of its name, at most three."""
    mine, all_of = _shared(group), [_shared(other) for other in alike]
    keys = [key for key in mine if len({other.get(key) for other in all_of}) > 1]
    shown: dict[str, str] = {}  # value -> key: of two keys with one value, the first
    for key in [key for key in keys if not key.endswith("_target_")]:
        shown.setdefault(shortest_tails([mine[key], *(other[key] for other in all_of if key in other)])[0], key)
    said = ", ".join(shortened(printable(f"{key}={value}"), NAME) for value, key in list(shown.items())[:3])
    return f"({said})" if shown else ""


def shortest_tails(paths: Sequence[str]) -> list[str]:
    """The last parts of each path, as few as tell the different ones apart; a text without `/` stays as it is."""
    parts = [path.split("/") for path in paths]
    for size in range(1, max(map(len, parts)) + 1):
        tails = ["/".join(path[-size:]) for path in parts]
        if len(set(tails)) == len(set(paths)):
            return tails
    return list(paths)
