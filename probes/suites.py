"""From settings to tasks: the suites that a run or an evaluation asks for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from hydra.utils import get_method, instantiate
from omegaconf import DictConfig

from datamodules.corpus import Corpus
from encoder_lab.settings.check import refuse_wrong
from probes.classifiers.grid import Grid
from probes.task import Task


@dataclass
class Context:
    """What the suites of one run share."""

    grid: Grid  # the classifiers of `probes.classifier`
    seed: int
    cache: Path  # a folder for what is built once
    given_corpus: Corpus
    corpus_used: bool = field(default=False, init=False)  # whether tasks were made from it

    @property
    def corpus(self) -> Corpus:
        """The corpus of `corpus=`."""
        self.corpus_used = True
        return self.given_corpus


@dataclass(frozen=True)
class Suite:
    """The tasks of a suite."""

    name: str  # its folder in probes/
    tasks: list[Task]
    of_corpus: bool  # whether they were made from the corpus


def suites_of(config: DictConfig, corpus: Corpus, cache: Path) -> list[Suite]:
    """The suites of `suite=` in its order.

    `suites.NAME` has the function that builds a suite (`_target_`) and the key of its settings (`settings`). Raises
    InputError if a suite lacks its source.
    """
    grid = instantiate(config.probes.classifier, _convert_="all")
    suites = []
    for name, suite in (config.get("suites") or {}).items():
        context = Context(grid, config.seed, cache, corpus)
        make, settings = get_method(suite["_target_"]), instantiate(config[suite["settings"]], _convert_="all")
        tasks = make(context, declared(make, settings, suite["settings"]))
        suites.append(Suite(str(name), tasks, context.corpus_used))
    return suites


def declared(make: Callable[..., Any], settings: Mapping[str, Any], group: str) -> Any:
    """The settings of a suite as the dataclass that its function takes; unchanged where it takes a mapping.

    Raises InputError for a value that the dataclass does not take.
    """
    hint = get_type_hints(make).get("settings")
    if not isinstance(hint, type) or not is_dataclass(hint):
        return settings
    made = hint(**settings)
    refuse_wrong(made, group)
    return made


def tasks_of(suites: Iterable[Suite]) -> list[Task]:
    """The tasks of all suites."""
    return [task for suite in suites for task in suite.tasks]
