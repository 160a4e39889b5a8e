"""From settings to tasks: the suites that a run or an evaluation asks for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from datamodules.corpus import Corpus
from encoder_lab.errors import InputError
from encoder_lab.settings.build import SuiteSettings, build, import_object
from encoder_lab.settings.check import refuse_wrong_fields
from probes.classifiers.grid import Grid
from probes.facts import NO_CLASSIFIER, facts_of
from probes.measures import measures_of
from probes.results import MAX_NAME_LENGTH, is_valid_name
from probes.task import Task

NO_HIDDEN_LAYER = {"logreg", "regression"}  # readers


@dataclass
class Context:
    """What the suites of one run share."""

    grid: Grid  # the classifiers of `probes.classifier`
    seed: int
    cache: Path  # a folder for what is built once
    given_corpus: Corpus
    earlier: Sequence[Task] = ()  # of the suites before this one
    corpus_used: bool = field(default=False, init=False)  # whether tasks were made from it

    @property
    def corpus(self) -> Corpus:
        self.corpus_used = True
        return self.given_corpus


@dataclass(frozen=True)
class Suite:
    """One suite: its tasks, and the measures of these tasks."""

    name: str  # its folder in probes/
    tasks: list[Task]
    uses_corpus: bool  # whether they were made from the corpus
    measures: Sequence[Task] = ()  # control tasks, and codes of the labels


def suites_of(
    suites: Mapping[str, SuiteSettings],
    grid: Grid,
    seed: int,
    corpus: Corpus,
    cache: Path,
    measures: Sequence[str] = (),
) -> list[Suite]:
    """The suites of `suite=` in its order, with the `measures` of those that have control tasks.

    Raises InputError if a suite lacks its source, or no suite has these measures or such classifiers.
    """
    if set(measures) - {"accuracy"} and not any(facts_of(name).controls for name in suites):
        names = ",".join(suites)
        remedy = f"leave them out with suite={names}"
        raise InputError(f"probes.measures=, control= and mdl= apply only to probing tasks; {remedy}")
    built: list[Suite] = []
    for name, suite in suites.items():
        context = Context(grid, seed, cache, corpus, tasks_of(built))
        make = import_object(suite.target)
        tasks = make(context, settings_as_declared(make, build(suite.values), suite.group))
        measure_tasks = measures_of(tasks, measures, grid, seed) if facts_of(name).controls else ()
        if invalid := [task.name for task in (*tasks, *measure_tasks) if not is_valid_name(task.name)]:
            limits = f"the name of a task is one line of at most {MAX_NAME_LENGTH} characters"
            raise InputError(f"suite={name}: {invalid[0][:40]!r}: {limits}; rename it")
        built.append(Suite(name, tasks, context.corpus_used, measure_tasks))
    _refuse_idle_classifiers(grid, {task.reader for task in tasks_of(built)})
    return built


def _refuse_idle_classifiers(grid: Grid, readers: set[str]) -> None:
    names = [each.name for each in fields(Grid) if each.name != "protocol"]  # which sets the seed, too
    changed = [name for name in names if getattr(grid, name) != getattr(Grid, name)]
    trained = readers - NO_CLASSIFIER
    if changed and not trained and "cosine" in readers:
        raise InputError(f"probes.classifier.{changed[0]}: no task here has a classifier; leave it out")
    if trained and trained <= NO_HIDDEN_LAYER and not grid.is_logistic and {*changed} & {"widths", "dropouts"}:
        raise InputError("probes.classifier: no task here has a hidden layer; leave widths= and dropouts= out")


def settings_as_declared(make: Callable[..., Any], settings: Mapping[str, Any], group: str) -> Any:
    """The settings of a suite as the dataclass that its function takes, or as they are. Raises InputError."""
    hint = get_type_hints(make).get("settings")
    if not isinstance(hint, type) or not is_dataclass(hint):
        return settings
    declared_settings = hint(**settings)
    refuse_wrong_fields(declared_settings, group)
    return declared_settings


def tasks_of(suites: Iterable[Suite]) -> list[Task]:
    """The tasks of all suites, without measures."""
    return [task for suite in suites for task in suite.tasks]


def tasks_and_measures(suites: Iterable[Suite]) -> list[Task]:
    """The tasks of all suites, and the measures of each after its tasks."""
    return [task for suite in suites for task in (*suite.tasks, *suite.measures)]
