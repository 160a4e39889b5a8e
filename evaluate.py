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

from encoder_lab.errors import InputError
from encoder_lab.evaluation.names import refuse_missing_models
from encoder_lab.settings.arguments import refuse_wrong_arguments
from encoder_lab.settings.command_line import asks_for_help, one_line_errors, show_help
from encoder_lab.settings.config_help import evaluate_help

if TYPE_CHECKING:  # what takes seconds to import is imported where work begins
    from omegaconf import DictConfig

    from encoder_lab.model import Model
    from encoder_lab.reports.evaluations import WrittenScores
    from probes.suites import Suite

os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # errors reach one_line_errors
os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # so that a waiting thread soon frees its core

CONFIGS = Path(__file__).parent / "configs"


def evaluate(config: "DictConfig") -> list["WrittenScores"]:
    """Score every model of the configuration on every suite; writes each file at once, prints tables at the end."""
    from hydra.utils import instantiate

    from encoder_lab.compute.devices import device_for
    from encoder_lab.compute.matmul import fast_exact_matmul
    from encoder_lab.evaluation.open_models import complete_models, open_models
    from encoder_lab.evaluation.settings import caches, refuse_what_has_no_effect, refuse_wrong_settings
    from encoder_lab.reports.evaluations import show
    from encoder_lab.storage.content import cache_digests_in
    from probes.evaluation import distinct_sentences
    from probes.suites import suites_of, tasks_of

    device = device_for(config.device)
    refuse_wrong_settings(config)
    if config.protocol:  # also written with the scores
        config.probes.classifier.protocol = config.protocol
    if config.seed is None:
        config.seed = 1111 if config.probes.classifier.protocol == "senteval" else 1  # as the published toolkit
    with fast_exact_matmul(), workplace(config) as work:
        cache_digests_in(work)
        opened = open_models(config, device, work)
        corpus = instantiate(config.corpus)
        suites = suites_of(config, corpus, work)
        tasks = tasks_of(suites)
        refuse_what_has_no_effect(config, suites)
        sentences = distinct_sentences(tasks, "vectors")
        if config.write_sentences:
            write_sentences(sentences, Path(config.write_sentences))
            return []
        cache = work if caches(config) else None
        done: list[WrittenScores] = []
        try:
            models = complete_models(opened, corpus, tasks)
            if config.epochs is None:  # all are complete before one is scored
                models = list(models)
            del opened  # with the weights that decoders were made of
            for name, model in models:
                done += scored(name, model, suites, config, cache)
        except InputError:  # of a model that cannot encode: what the models before it scored is shown
            show(done, config)
            raise
        return list({one.folder: one for one in done}.values())  # of the epochs of a run, the last


def scored(
    name: str, model: "Model", suites: "Sequence[Suite]", config: "DictConfig", cache: Path | None
) -> "Iterator[WrittenScores]":
    """The scores of one model, suite by suite; each is written at once."""
    from encoder_lab.reports.evaluations import ModelScores, write, write_tokens
    from encoder_lab.reports.strips import TOKENS
    from probes.classification import Classification
    from probes.evaluation import Evaluation
    from probes.facts import facts_of
    from probes.probing.controls import controls_of
    from probes.suites import tasks_of

    by_epoch = config.epochs is not None
    evaluation = Evaluation(model, tasks_of(suites), cache=cache, seed=config.seed)
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


def write_sentences(sentences: Sequence[str], path: Path) -> None:
    """The distinct sentences of the suites, one per line, to be encoded elsewhere."""
    from encoder_lab.storage.files import atomic_write

    if not sentences:
        raise InputError("write_sentences= is for suites of vectors; suite=coherence needs none")
    with atomic_write(path) as file:
        file.writelines(f"{sentence}\n" for sentence in sentences)
    print(f"{path}: {len(sentences):,} sentences, one per line")


@contextmanager
def workplace(config: "DictConfig") -> Iterator[Path]:
    """The cache; with cache=off a temporary folder."""
    from encoder_lab.evaluation.settings import caches
    from encoder_lab.storage.scratch import scratch

    with nullcontext(Path(config.cache)) if caches(config) else scratch() as place:
        yield place


def start(config: "DictConfig") -> None:
    """Check the settings, score, print."""
    from encoder_lab.settings.check import check
    from encoder_lab.studies.compose import plain, referred

    with one_line_errors(Path.cwd()):  # inside Hydra's job, as Hydra would print a line of its own
        check("evaluate", plain(config), referred(config))

    from encoder_lab.reports.evaluations import show

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
        refuse_wrong_arguments(CONFIGS, "evaluate", arguments)
        refuse_missing_models(arguments)

        import hydra

        hydra.main(config_path=str(CONFIGS), config_name="evaluate", version_base="1.3")(start)()


if __name__ == "__main__":
    command(sys.argv[1:])
