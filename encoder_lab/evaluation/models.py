"""The models that an evaluation scores: each name in `model=`, at each epoch that is asked for."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from omegaconf import DictConfig

from datamodules.corpus import Corpus
from encoder_lab.compute.devices import device_for
from encoder_lab.errors import InputError
from encoder_lab.evaluation.settings import models_wanted, several
from encoder_lab.model import Model
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import key_of
from encoders.by_name import models_named
from encoders.load import find_checkpoint, kept_checkpoints
from objectives.likelihood import NoLikelihood, TextLikelihood
from objectives.load import load_likelihood
from probes.coherence.by_name import FORMS, surprisal_model
from probes.task import Task

NamedModel = tuple[str, Model]  # as written in `model=`


def models_asked(
    config: DictConfig, corpus: Corpus, tasks: Sequence[Task], sentences: list[str], work: Path
) -> Iterable[NamedModel]:
    """Every model by its name. All are built before one is scored; with `epochs=`, each when its turn comes.

    Raises InputError for a model that does not exist, or that lacks what a task needs.
    """
    needs = {task.needs for task in tasks}
    surprising = next((task.suite for task in tasks if task.needs == "surprisal"), None)

    def built(name: str, path: str) -> Iterator[NamedModel]:
        own = surprisal_model(path, needs, corpus, config.corpus)
        for model in [own] if own else models_named(path, config, corpus, sentences, work):
            complete = with_decoder(path, model, surprising, config) if surprising else model
            _refuse_tasks_without_model(path, complete, tasks)
            yield name, complete

    names = models_wanted(config)
    if config.epochs is None:
        return [named for name in names for named in built(name, name)]
    runs = [checkpoints_of(name, config) for name in names]
    return (named for name, kept in runs for path in kept for named in built(name, str(path)))


def checkpoints_of(name: str, config: DictConfig) -> tuple[str, list[Path]]:
    """The folder of a run and its checkpoints that `epochs=` asks for. Raises InputError where there is none."""
    if config.mdl:
        raise InputError("mdl=true: a run has one description length of a task; leave out epochs=")
    if not Path(name).is_dir():
        raise InputError(f"model={name}: no run folder, so it has no epochs; leave out epochs=")
    run = find_checkpoint(Path(name)).parents[1]
    if config.epochs != "all":
        if not all(epoch.isdigit() for epoch in several(config.epochs)):
            raise InputError(f"epochs={config.epochs}: give all, or numbers as [0,1,5]")
        return str(run), [find_checkpoint(run, int(epoch)) for epoch in several(config.epochs)]
    kept = kept_checkpoints(run)
    if not kept:
        raise InputError(f"model={name}: keeps no epoch; train with checkpoints.keep=every, or leave out epochs=")
    return str(run), kept


def with_decoder(name: str, model: Model, suite: str, config: DictConfig) -> Model:
    """A run together with its decoder as a language model; other models unchanged. Raises InputError."""
    if model.encode is None or "run" not in model.settings:
        return model
    if not config.bos:
        raise InputError(f"model={name}: bos=false: the mark that begins a sentence is always context; leave it out")
    try:
        likelihood = load_likelihood(Path(name), ends=config.eos)
    except NoLikelihood as why:
        raise InputError(f"model={name}: has no language model, which suite={suite} needs: {why}") from None
    likelihood.network.to(device_for(config.device))
    known = key_of(model.fingerprint, code_of(type(likelihood)), code_of(TextLikelihood), config.eos)
    return model._replace(logprobs=TextLikelihood(model.encode, likelihood).logprobs, fingerprint=known)


def _refuse_tasks_without_model(name: str, model: Model, tasks: Sequence[Task]) -> None:
    """Raises InputError where a task needs what the model does not give, or has no such baseline."""
    for task in tasks:
        if task.needs == "surprisal":
            if model.logprobs is None:
                raise InputError(f"model={name}: has no language model, which suite={task.suite} needs; give {FORMS}")
        elif model.encode is None and name not in task.baselines:
            if model.encoder != "baseline":
                raise InputError(f"model={name}: has no vectors, which suite={task.suite} needs; give another suite=")
            there = ", ".join(task.baselines)
            raise InputError(f"model={name}: a baseline of other suites; suite={task.suite} has {there} alone")
