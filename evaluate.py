"""Score frozen encoders on suites of tasks, next to baselines and published numbers.

python evaluate.py model=runs/nmt_enfr/bilstm_max/2026-11-21_10-00-00 suite=probing
python evaluate.py model=[bov,majority,nb-uni-tfidf,RUN] probes=senteval probes.root=DIR protocol=senteval
python evaluate.py model=[bov,RUN] suite=[probing,downstream] downstream.root=DIR
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from common.choices import refuse_unknown_choices
from common.command_line import asks_for_help, one_line_errors, show_help
from common.config_help import evaluate_help
from common.errors import InputError
from common.known_settings import refuse_unknown_settings

if TYPE_CHECKING:  # what takes seconds to import is imported where work begins
    from omegaconf import DictConfig

    from common.model import Model
    from probes.suites import Suite
    from probes.task import Task
    from reports.evaluations import WrittenScores

os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # errors reach one_line_errors
os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # so that a waiting thread soon frees its core

CONFIGS = Path(__file__).parent / "configs"


def evaluate(config: "DictConfig") -> list["WrittenScores"]:
    """Score every model of the configuration on every suite; writes each file at once, prints tables at the end."""
    from hydra.utils import instantiate
    from omegaconf import OmegaConf

    from common.devices import device_for
    from common.matmul import fast_exact_matmul
    from encoders.by_name import forms, models_named
    from probes.baselines import BASELINES
    from probes.coherence.by_name import surprisal_model
    from probes.evaluation import distinct_sentences
    from probes.suites import suites_of, tasks_of
    from reports.evaluations import requested_tables, show

    device = device_for(config.device)  # refuse wrong values of these three now, not after the scores
    requested_tables(config)
    refuse_layers_of_no_transformer(config)
    refuse_broken_models(config)
    if config.protocol:  # also written with the scores
        config.probes.classifier.protocol = config.protocol
    with fast_exact_matmul(), workplace(config) as work:
        corpus = instantiate(config.corpus)
        suites = suites_of(config, corpus, work)
        tasks = tasks_of(suites)
        refuse_what_has_no_effect(config, suites)
        sentences, needs = distinct_sentences(tasks, "vectors"), {task.needs for task in tasks}
        if config.write_sentences:
            if "vectors" not in needs:
                raise InputError("write_sentences= is for suites of vectors; suite=coherence needs none")
            write_sentences(sentences, Path(config.write_sentences))
            return []
        if OmegaConf.is_missing(config, "model") or not config.model:
            raise InputError(f"model= is missing; give {forms(list(BASELINES))}")
        more = config, corpus, sentences, work, list(BASELINES)
        cache = work if caches(config) else None

        def built(name: str) -> "list[Model]":
            own = surprisal_model(name, needs, corpus, config.corpus)
            found = [own] if own else models_named(name, *more)
            if surprising := [task.suite for task in tasks if task.needs == "surprisal"]:
                found = [with_decoder(name, model, surprising[0], config) for model in found]
            for model in found:
                refuse_tasks_without_model(name, model, tasks)
            return found

        if config.epochs is not None:
            runs = [checkpoints_of(name, config) for name in several(config.model)]
            models = ((name, model) for name, kept in runs for path in kept for model in built(str(path)))
        else:  # all are built before one is scored
            models = (pair for pair in [(name, model) for name in several(config.model) for model in built(name)])
        done: list[WrittenScores] = []
        try:
            for name, model in models:
                for one in scored(name, model, suites, config, cache, device):
                    done.append(one)
        except InputError:  # of a model that cannot encode: what the models before it scored is shown
            show(done, config)
            raise
        return list({one.folder: one for one in done}.values())  # of the epochs of a run, the last


def scored(
    name: str, model: "Model", suites: "Sequence[Suite]", config: "DictConfig", cache: Path | None, device: str
) -> "Iterator[WrittenScores]":
    """The scores of one model, suite by suite; each is written at once."""
    from probes.classification import Classification
    from probes.evaluation import Evaluation
    from probes.facts import facts_of
    from probes.probing.controls import controls_of
    from probes.suites import tasks_of
    from reports.evaluations import ModelScores, write, write_tokens
    from reports.strips import TOKENS

    by_epoch = config.epochs is not None
    evaluation = Evaluation(model, tasks_of(suites), cache, config.seed, device)
    for suite in suites:
        controls = facts_of(suite.name).controls
        controlled = [task for task in suite.tasks if controls and isinstance(task, Classification)]
        main = evaluation.scores(suite.tasks)
        control = evaluation.scores(controls_of(controlled, config.seed)) if config.control else []
        mdl = evaluation.descriptions(controlled) if config.mdl and model.encode else []
        key = evaluation.key(suite.tasks, of_model=not by_epoch)
        done = write(name, model, suite, ModelScores(key, main, control, mdl), config)
        if by_epoch or not (done.folder / TOKENS).exists():  # the folder's name says which model and tasks it is of
            write_tokens(done.folder, suite.tasks, evaluation)
        yield done


def checkpoints_of(name: str, config: "DictConfig") -> tuple[str, list[Path]]:
    """The folder of a run and its checkpoints that `epochs=` asks for. Raises InputError where there is none."""
    from encoders.load import find_checkpoint, kept_checkpoints

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


def with_decoder(name: str, model: "Model", suite: str, config: "DictConfig") -> "Model":
    """A run together with its decoder as a language model; other models unchanged. Raises InputError."""
    from common.devices import device_for
    from objectives.likelihood import NoLikelihood, TextLikelihood
    from objectives.load import load_likelihood

    if model.encode is None or "run" not in model.settings:
        return model
    if not config.bos:
        raise InputError(f"model={name}: bos=false: the mark that begins a sentence is always context; leave it out")
    try:
        likelihood = load_likelihood(Path(name), ends=config.eos)
    except NoLikelihood as why:
        raise InputError(f"model={name}: has no language model, which suite={suite} needs: {why}") from None
    likelihood.network.to(device_for(config.device))
    known = f"{model.fingerprint} eos {config.eos}" if config.eos else model.fingerprint
    return model._replace(logprobs=TextLikelihood(model.encode, likelihood).logprobs, fingerprint=known)


def refuse_what_has_no_effect(config: "DictConfig", suites: "Sequence[Suite]") -> None:
    """Raises InputError if no suite has tasks, or a setting applies to none of the suites."""
    from probes.facts import facts_of
    from reports.evaluations import refuse_published_of_other_tasks

    if not any(suite.tasks for suite in suites):
        raise InputError("no tasks; give suite=, and for suite=probing a source: probes=corpus, trees or senteval")
    if (config.control or config.mdl) and not any(facts_of(suite.name).controls for suite in suites):
        names = ",".join(suite.name for suite in suites)
        raise InputError(f"control= and mdl= apply only to probing tasks; leave them out with suite={names}")
    refuse_published_of_other_tasks(config, suites)


def refuse_broken_models(config: "DictConfig") -> None:
    """Raises InputError for a model that cannot be opened, before text is read and word vectors are trained."""
    from omegaconf import OmegaConf

    from encoders.by_name import check_name
    from probes.baselines import BASELINES

    for name in [] if OmegaConf.is_missing(config, "model") or not config.model else several(config.model):
        check_name(name, config, list(BASELINES))


def refuse_layers_of_no_transformer(config: "DictConfig") -> None:
    """Raises InputError where a setting of `hf:` models is given and none of the models is one."""
    from omegaconf import OmegaConf

    names = [] if OmegaConf.is_missing(config, "model") else several(config.model)
    if any(name.startswith("hf:") for name in names):
        return
    for key, default in (("layers", "last"), ("pooling", "mean")):
        if config[key] != default:
            said = "only a Hugging Face model has it; give model=hf:NAME_OR_PATH, or leave it out"
            raise InputError(f"{key}={config[key]}: {said}")


def refuse_tasks_without_model(name: str, model: "Model", tasks: "Sequence[Task]") -> None:
    """Raises InputError where a task needs what the model does not give, or has no such baseline."""
    from probes.coherence.by_name import FORMS

    for task in tasks:
        if task.needs == "surprisal":
            if model.logprobs is None:
                raise InputError(f"model={name}: has no language model, which suite={task.suite} needs; give {FORMS}")
        elif model.encode is None and name not in task.baselines:
            if model.encoder != "baseline":
                raise InputError(f"model={name}: has no vectors, which suite={task.suite} needs; give another suite=")
            there = ", ".join(task.baselines)
            raise InputError(f"model={name}: a baseline of other suites; suite={task.suite} has {there} alone")


def write_sentences(sentences: Sequence[str], path: Path) -> None:
    """The distinct sentences of the suites, one per line, to be encoded elsewhere."""
    from common.files import atomic_write

    with atomic_write(path) as file:
        file.writelines(f"{sentence}\n" for sentence in sentences)
    print(f"{path}: {len(sentences):,} sentences, one per line")


@contextmanager
def workplace(config: "DictConfig") -> Iterator[Path]:
    """The cache; with cache=off a temporary folder."""
    from common.scratch import scratch

    with nullcontext(Path(config.cache)) if caches(config) else scratch() as place:
        yield place


def caches(config: "DictConfig") -> bool:
    return str(config.cache) not in ("off", "False", "None")


def several(setting: object) -> list[str]:
    """The names in a setting that is a list or one name."""
    from omegaconf import ListConfig

    return [str(name) for name in setting] if isinstance(setting, ListConfig) else [str(setting)]


def start(config: "DictConfig") -> None:
    """Check the settings, score, print."""
    from common.config_check import check
    from common.known_settings import refuse_unread_settings

    with one_line_errors(Path.cwd()):  # inside Hydra's job, as Hydra would print a line of its own
        refuse_unread_settings(config, "evaluate")
        check(config)

    from reports.evaluations import show

    stopped = "stopped; the same command continues with the scores that it has"
    with one_line_errors(Path(config.out), "make room, then the same command again", stopped):
        if done := evaluate(config):
            show(done, config)


def command(arguments: list[str]) -> None:
    """The command line: help, or an evaluation."""
    if asks_for_help(arguments):
        show_help(evaluate_help(CONFIGS))
        return
    with one_line_errors(Path.cwd()):
        refuse_unknown_choices(CONFIGS, arguments)
        refuse_unknown_settings(CONFIGS, "evaluate", arguments)

        import hydra

        hydra.main(config_path=str(CONFIGS), config_name="evaluate", version_base="1.3")(start)()


if __name__ == "__main__":
    command(sys.argv[1:])
