"""Groups the runs that are seeds of one model, and names the models by what differs between them."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from encoder_lab.errors import printable, shortened
from encoder_lab.reports.runs import CONTENT_KEY, EACH_EPOCH, SETTINGS_FILE, Run, grouped, settings_agree
from encoder_lab.reports.text import MAX_NAME_CHARACTERS
from encoder_lab.settings.run_settings import INCIDENTAL_OF_TRAINER
from encoder_lab.storage.made_with import MADE_WITH_KEYS
from probes.facts import facts_of
from probes.results import Epoch, ProbeRow

ENCODERS = {
    "bilstm_max": "BiLSTM-max", "bilstm_last": "BiLSTM-last", "bilstm_att": "BiLSTM-Att", "lstm_last": "LSTM-last",
    "gated_convnet": "Gated ConvNet", "bigru_mean": "BiGRU", "transformer": "Transformer",
    "transformer_max": "Transformer-max", "bov": "BoV", "borep": "BOREP", "esn": "ESN", "baseline": "Baselines",
}  # fmt: skip
OBJECTIVES = {  # "discourse": all losses; a combination of some is named after them
    "nmt_enfr": "NMT En-Fr", "nmt_ende": "NMT En-De", "nmt_enfi": "NMT En-Fi", "autoencoder": "AutoEncoder",
    "untrained": "Untrained", "seq2tree": "Seq2Tree", "skipthought": "SkipThought", "nli": "NLI",
    "majority": "Majority vote", "length": "Length", "nb-uni-tfidf": "NB-uni-tfidf", "nb-bi-tfidf": "NB-bi-tfidf",
    "bov": "BoV", "unigram": "Unigram", "ngram": "N-gram", "discourse": "Discourse",
}  # fmt: skip
UNSET_TEXT = "none"  # an empty list or null, in titles
SETTING_NAME = re.compile(r"[\w.]+(?==)")
MODEL_KEY = re.compile(r"\b(?:run\.)?(?:encoder|objective|trainer)\.(\w+)(?==)")
# settings in which the runs of one model may differ: where they were computed, and what was displayed
INCIDENTAL_SETTINGS = {
    *("labels.encoder", "labels.objective", "labels.colour"),
    *("seed", "resume", "cache", "init", "best_by.score", "best_by.mode"),
    *(f"checkpoints.{name}" for name in ("keep", "every_n_epochs", "steps", "every_n_steps")),
    *("probes.steps", "probes.every_n_epochs", "probes.measures", "probes.classifier.memory_mb", "logger"),
    *(f"made_with.{key}" for key in MADE_WITH_KEYS),
    *INCIDENTAL_OF_TRAINER,
}
# prefixes of the settings that make the tasks; those of the corpus do where tasks are made of it
TASK_SETTINGS = ("probes.source.", "probes.train_size", "probes.dev_size", "probes.test_size", "seed")
PLACES_OF_TASKS = (".tasks", ".root", ".paths", ".more", ".analyses")  # ends of settings: which tasks, and where
RowsByTask = dict[str, list[ProbeRow]]  # a model's scores by task, one for each seed


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
        return self.name if self.encoder == self.objective else f"{self.encoder}, {self.name}"

    @property
    def score(self) -> str:
        """The column of metrics.csv with the objective's own score; empty while no run has one."""
        return next((run.score for run in self.runs if run.score), "")

    @property
    def colour(self) -> str:
        """The colour that its settings give it; empty: ours."""
        return _label(self.runs[0], "colour")


ScoredModels = Sequence[tuple[ReportedModel, RowsByTask]]


def models_of(runs: Iterable[Run]) -> list[ReportedModel]:
    """Runs grouped into models, in the given order; models of one encoder come together, and seeds in their order."""
    joined = join_evaluations(runs)
    times = Counter((model_identity(run), seeds_of(run)) for run in joined)
    # copies are not two seeds
    copies = [run.evaluated if times[model_identity(run), seeds_of(run)] > 1 else "" for run in joined]
    groups = grouped(((model_identity(run), copy), run) for run, copy in zip(joined, copies, strict=True))
    models = [
        ReportedModel(*names, variant, sorted(group, key=lambda run: [seed.zfill(20) for seed in seeds_of(run)]))
        for names, namesakes in grouped((_paper_names(group[0]), group) for group in groups.values()).items()
        for group, variant in zip(namesakes, _variants(namesakes), strict=True)
    ]
    first = {encoder: index for index, encoder in reversed(list(enumerate(model.encoder for model in models)))}
    return sorted(models, key=lambda model: first[model.encoder])


def _variants(namesakes: Sequence[Sequence[Run]]) -> list[str]:
    """What tells apart the models of one name: settings; folders where these settings are the same."""
    variants = _shorten_names([_difference(group, namesakes) for group in namesakes])
    return distinct_names(variants, [str(group[0].folder) for group in namesakes])


def _shorten_names(variants: Sequence[str]) -> list[str]:
    """Settings of the encoder, the objective and the trainer by their last part, if no other has it: dim=1024."""
    keys = {key for variant in variants for key in SETTING_NAME.findall(variant)}
    tails = Counter(key.rpartition(".")[2] for key in keys)
    return [MODEL_KEY.sub(lambda key: key[1] if tails[key[1]] == 1 else key[0], variant) for variant in variants]


def _paper_names(run: Run) -> tuple[str, str]:
    """Encoder and objective as in the papers, or as the settings name them, also through an evaluation of the run."""
    names = ENCODERS.get(run.encoder, run.encoder), " → ".join(OBJECTIVES.get(n, n) for n in run.objective.split(" → "))
    return _label(run, "encoder") or names[0], _label(run, "objective") or names[1]


def _label(run: Run, part: str) -> str:
    return str(run.settings.get(f"labels.{part}") or run.settings.get(f"run.labels.{part}") or "")


def scored_suites(models: Iterable[ReportedModel]) -> list[str]:
    return list(dict.fromkeys(row.suite for model in models for run in model.runs for row in run.rows))


def one_run_per_seed(runs: Iterable[Run]) -> list[Run]:
    """Of runs with the same settings and seed, the last, with a line; of evaluations of a model, the newest scores."""
    # a run that was trained for longer is still that run
    groups = grouped(((model_identity(run, "run."), seeds_of(run), run.evaluated), run) for run in runs)
    left_out = set()
    for *older, last in (group for group in groups.values() if "model" not in group[0].settings):
        left_out |= {str(run.folder.resolve()) for run in older}  # with their evaluations
        for run in older:
            print(f"{run.folder}: left out, as {last.folder} has the same settings and seed", file=sys.stderr)
    return [_newest_scores(group) for group in groups.values() if group[0].evaluated not in left_out]


def _newest_scores(group: Sequence[Run]) -> Run:
    """The last run; of evaluations the newest, and the scores of tasks that only older ones have."""
    *older, last = sorted(group, key=_age)
    rows = list(last.rows)
    for run in reversed(older) if "model" in last.settings else ():
        keys = {_row_key(row) for row in rows}
        rows += [row for row in run.rows if _row_key(row) not in keys]
    folders = [run.folder for run in reversed(older)] if "model" in last.settings else []
    return replace(last, rows=rows, evaluations=folders)


def _age(run: Run) -> tuple[Epoch, int]:
    """Larger is newer: the evaluated epoch, then the time; runs that are no evaluations are equal."""
    if "model" not in run.settings:
        return 0, 0
    alone = run.settings.get("checkpoint") != EACH_EPOCH
    epoch = max((row.epoch for row in run.rows), default=0) if alone else 0
    return epoch, (run.folder / SETTINGS_FILE).stat().st_mtime_ns


def join_evaluations(runs: Iterable[Run]) -> list[Run]:
    """Each run with what evaluations of it add: other suites, or the same tasks by another classifier."""
    joined: list[Run] = []
    parts: list[list[Run]] = []  # of each of them
    # evaluations last, of the best epoch before another one, and those of several epochs, to which one adds nothing
    places = {"None": 1, "best.ckpt": 1, EACH_EPOCH: 3}

    def place(run: Run) -> int:
        return places.get(str(run.settings.get("checkpoint")), 2) if "model" in run.settings else 0

    for run in sorted(runs, key=place):
        index = next((i for i, r in enumerate(joined) if r.is_scored_by(run) and _scores_fit(r, run, parts[i])), None)
        if index is None:
            joined.append(run)
            parts.append([run])
        else:
            base = joined[index]
            each_epoch = run.settings.get("checkpoint") == EACH_EPOCH
            keys = {_row_key(row, each_epoch) for row in base.rows}
            new = [row for row in run.rows if _row_key(row, each_epoch) not in keys]
            folders = [*base.evaluations, *(() if each_epoch else (run.folder, *run.evaluations))]
            added = dict.fromkeys((row.suite for row in new if not base.has_suite(row.suite)), run.settings)
            settings = {**added, **run.suite_settings, **base.suite_settings}
            joined[index] = replace(base, rows=[*base.rows, *new], evaluations=folders, suite_settings=settings)
            parts[index].append(run)
    return joined


def task_differences(base: Run, other: Run) -> str:
    """How the tasks of an evaluation of a run differ from those of the run; empty where its scores join the run's."""
    if len(join_evaluations([base, other])) == 1:
        return ""
    prefixes = (*TASK_SETTINGS, "corpus.", *scoring_settings(base, other))
    keys = sorted(key for key in base.settings.keys() & other.settings.keys() if key.startswith(prefixes))
    pairs = [(key, setting_text(base.settings[key]), setting_text(other.settings[key])) for key in keys]
    return ", ".join(f"{key}={here} and not {there}" for key, here, there in pairs if here != there)


def scoring_settings(base: Run, other: Run) -> list[str]:
    """The scoring settings of a shared suite that both have; another reader has others."""
    suites = {row.suite for row in base.rows} & {row.suite for row in other.rows}
    chosen = [
        {(row.suite, row.classifier) for row in run.rows if row.task not in facts_of(row.suite).one_reader}
        for run in (base, other)
    ]
    classifier = "probes.classifier." if set.intersection(*chosen) else "probes.classifier.protocol"
    prefixes = (classifier, *(f"{suite}." for suite in suites)) if suites else ()
    keys = base.settings.keys() & other.settings.keys()
    places = {key for key in keys if key.endswith(PLACES_OF_TASKS)}
    return [key for key in keys - places - INCIDENTAL_SETTINGS if key.startswith(prefixes)]


def _scores_fit(base: Run, other: Run, parts: Sequence[Run]) -> bool:
    """Whether both fit in one row: each score once, and shared suites by the same settings as all `parts` of `base`."""
    if not all(settings_agree(part, other, tuple(scoring_settings(part, other))) for part in parts):
        return False
    a, b = ({_row_key(row): row.interval for row in run.rows} for run in (base, other))
    if {suite for suite, *_ in a}.isdisjoint(suite for suite, *_ in b):
        return True
    if other.settings.get("checkpoint") == EACH_EPOCH:  # more epochs of the same tasks
        return _same_tasks(base, other)
    evaluations = "model" in base.settings  # of which one may ask for tasks of the other again
    twice = {key for key in a.keys() & b if key[1] not in facts_of(key[0]).one_reader}
    twice = {key for key in twice if not evaluations or a[key] != b[key]}
    return not twice and (evaluations or bool(b.keys() - a)) and _same_tasks(base, other)


def _same_tasks(base: Run, other: Run) -> bool:
    """Whether tasks of one name have the same items: by their test items, or else by the settings of the corpus."""
    a, b = ({(r.suite, r.task): r.answers.test if r.answers else "" for r in run.rows} for run in (base, other))
    shared = a.keys() & b.keys()
    same = bool(shared) and all(a[task] == b[task] != "" for task in shared)
    return settings_agree(base, other, TASK_SETTINGS) and (same or settings_agree(base, other, ("corpus.",)))


def _row_key(row: ProbeRow, each_epoch: bool = False) -> tuple:
    return row.suite, row.task, row.classifier, row.epoch if each_epoch else None


def model_identity(run: Run, *without: str) -> tuple:
    """What runs of one model share, and their evaluations; not settings with prefixes `without`, or without a value."""
    excluded = (*without, "model") if "checkpoint" in run.settings else without
    items = [item for item in _identifying_settings(run).items() if item[1] not in ("", UNSET_TEXT)]
    return run.encoder, run.objective, *(item for item in items if not item[0].startswith(excluded))


def seeds_of(run: Run) -> tuple[str, str]:
    """The seed of the run itself and, for an evaluation, of the evaluated run."""
    return str(run.settings.get("seed")), str(run.settings.get("run.seed"))


def _identifying_settings(run: Run) -> dict[str, str]:
    keys = sorted(key for key in run.settings if key.removeprefix("run.") not in INCIDENTAL_SETTINGS)
    return {key: setting_text(run.settings[key]) for key in keys}


def setting_text(value: Any) -> str:
    """A setting as titles show it."""
    if value is None or value == []:
        return UNSET_TEXT
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _shared_settings(group: Sequence[Run]) -> dict[str, str]:
    first, *rest = map(_identifying_settings, group)
    return {key: value for key, value in first.items() if all(settings.get(key) == value for settings in rest)}


def _difference(group: Sequence[Run], namesakes: Sequence[Sequence[Run]]) -> str:
    """The settings of `group` that differ in other groups of its name, at most three."""
    shared, groups = _shared_settings(group), [_shared_settings(other) for other in namesakes]
    keys = [key for key in shared if len({other.get(key) for other in groups}) > 1]
    keys = [key for key in keys if not key.endswith(CONTENT_KEY)] or keys  # settings of the corpus say it better
    common = [key for key in keys if all(key in other for other in groups)]  # not of a suite that some alone have
    keys = common if len({tuple(other[key] for key in common) for other in groups}) == len(groups) else keys
    labels: dict[str, str] = {}  # value -> key: of two keys with one value, the first
    for key in [key for key in keys if not key.endswith("_target_")]:
        labels.setdefault(shortest_tails([shared[key], *(other[key] for other in groups if key in other)])[0], key)
    if len(labels) > 1:
        labels.pop(UNSET_TEXT, None)  # the others say more
    texts = [shortened(printable(f"{key}={value}"), MAX_NAME_CHARACTERS) for value, key in labels.items()]
    return f"({', '.join(texts[:3])})" if labels else ""


def distinct_names(names: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The names; a name that several have is followed by the end of its path in brackets."""
    named = zip(names, shortest_tails(paths), strict=True)
    return [f"{name} ({tail})".lstrip() if names.count(name) > 1 else name for name, tail in named]


def shortest_tails(paths: Sequence[str]) -> list[str]:
    """The shortest ends of paths that are different for different paths; a text without `/` is unchanged."""
    parts = [path.split("/") for path in paths]
    tails = (["/".join(path[-size:]) for path in parts] for size in range(1, max(map(len, parts)) + 1))
    return next(ends for ends in tails if len(set(ends)) == len(set(paths)))
