"""Score frozen encoders on suites of tasks, next to baselines and published numbers.

  python evaluate.py model=runs/nmt_enfr/bilstm_max/2026-11-21_10-00-00
  python evaluate.py model=[bov,untrained/bilstm_max,majority,length,nb-uni-tfidf,nb-bi-tfidf,RUN]
  python evaluate.py model=hf:bert-base-uncased layers=all pooling=mean probes=senteval probes.root=DIR
  python evaluate.py model=[bov,RUN] suite=[probing,downstream] downstream.root=DIR protocol=senteval
  python evaluate.py model=[lm:PATH,ngram,unigram] suite=coherence coherence.paths=[DIR]
  python evaluate.py model=RUN epochs=all suite=discoeval           every epoch that a run kept
  python evaluate.py model=RUN suite=objective                      its objective on the test split of its corpus
  python evaluate.py write_sentences=all.txt                        then encode them elsewhere, and
  python evaluate.py model=vectors:all.npy sentences=all.txt
  python evaluate.py model=call:my_package.my_module:encode control=true mdl=true

model= is one or several of these; scores are cached:
  RUN or FILE.ckpt, bov, borep, esn, untrained/ENCODER, hf:NAME_OR_PATH, vectors:FILE.npy
  call:MODULE:FUNCTION, a function: sentences -> (N, D), an array, a tensor or lists
  the baselines majority, length, nb-uni-tfidf, nb-bi-tfidf (suite=downstream and suite=discoeval: majority alone)
and for suite=coherence, which needs the probability of texts:
  lm:PATH, a causal language model on disk; ngram and unigram, counted in corpus=; length
  call:MODULE:FUNCTION, a function: pairs (context, continuation) -> (tokens, offsets, log2 p)
"""

import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from multiprocessing import current_process
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encoder_lab.errors import InputError
from encoder_lab.settings.arguments import options_first, refuse_wrong_arguments, refuse_wrong_environment
from encoder_lab.settings.command_line import asks_for_help, exit_with, one_line_errors, show_help
from encoder_lab.settings.config_help import evaluate_help
from encoder_lab.settings.known import CONFIGS
from encoder_lab.settings.model_setting import MODEL_FORMS, refuse_missing_models
from encoder_lab.settings.quoting import requested_names

if TYPE_CHECKING:  # what takes seconds to import is imported where work begins
    from omegaconf import DictConfig

    from encoder_lab.model import Model
    from encoder_lab.reports.evaluations import WrittenScores
    from encoder_lab.settings.evaluate import EvaluationSettings
    from probes.suites import Suite

os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # errors reach one_line_errors
os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # so that a waiting thread soon frees its core


def evaluate(settings: "EvaluationSettings") -> list["WrittenScores"]:
    """Score every model of the configuration on every suite; writes each file at once, prints tables at the end."""
    refuse_wrong_settings(settings)  # before slow imports

    from encoder_lab.compute.devices import device_for
    from encoder_lab.compute.matmul import fast_exact_matmul
    from encoder_lab.evaluation.open_models import complete_models, open_models
    from encoder_lab.progress import print_progress_lines
    from encoder_lab.reports.evaluations import compare_states, note_unjoined_scores, refuse_published_of_other_tasks
    from encoder_lab.storage.content import cache_digests_in
    from encoder_lab.storage.files import scratch_folder
    from probes.evaluation import distinct_sentences
    from probes.suites import suites_of, tasks_of

    print_progress_lines()
    device = device_for(settings.device)
    cache = settings.cache_folder
    with fast_exact_matmul(), nullcontext(cache) if cache else scratch_folder() as work:
        cache_digests_in(work)
        opened = open_models(settings, device, work)
        corpus = settings.corpus.build()
        grid = settings.probes.classifier.build()
        suites = suites_of(settings.suites, grid, settings.random_seed, corpus, work, settings.measures)
        tasks = tasks_of(suites)
        if not tasks:
            raise InputError("no tasks; give suite=, and for suite=probing a source: probes=corpus, trees or senteval")
        refuse_published_of_other_tasks(settings.published, suites)
        if settings.write_sentences:
            write_sentences(distinct_sentences(tasks, "vectors"), Path(settings.write_sentences))
            return []
        written_scores: list[WrittenScores] = []
        try:
            models = complete_models(opened, corpus, tasks)
            if settings.epochs is None:  # all are complete before one is scored
                models = list(models)
            del opened  # with the weights that decoders were made of
            for name, model in models:
                written_scores += score_model(name, model, suites, settings, cache)
        except InputError:  # of a model that cannot encode: what the models before it scored is shown
            print_tables(written_scores, settings)
            raise
        compare_states(written_scores)
        if settings.epochs is not None:
            note_unjoined_scores(written_scores)
        by_folder = {scores.folder: scores for scores in written_scores}  # of the epochs of a run, the last
        for scores in written_scores:
            if (name := by_folder[scores.folder].model) != scores.model:
                warnings.warn(f"model={scores.model}: the same model as {name}; it counts once", stacklevel=1)
        return list(by_folder.values())


def refuse_wrong_settings(settings: "EvaluationSettings") -> None:
    """Raises InputError for settings that are wrong with any tasks."""
    from encoder_lab.reports.published import requested_tables
    from encoder_lab.settings.build import refuse_missing_text
    from encoder_lab.settings.run import names_of
    from probes.probing import refuse_unknown_tasks

    refuse_unknown_tasks(settings.probes.written)
    refuse_missing_text(settings.corpus)
    requested_tables(settings.published)
    if settings.models and settings.write_sentences:
        raise InputError("write_sentences= writes and stops, so model= is not scored; leave one of them out")
    if not settings.models and not settings.write_sentences:
        raise InputError(f"model= is missing; give {MODEL_FORMS}")
    if len(set(settings.models)) < len(settings.models):
        raise InputError(f"model=[{','.join(settings.models)}]: give each once")
    if settings.epochs is None:
        return
    if settings.epochs != "all" and not all(map(str.isdigit, names_of(settings.epochs))):
        raise InputError(f"epochs={settings.epochs}: give all, or numbers as [0,1,5]")
    for name in settings.models:
        if not Path(name).is_dir():
            raise InputError(f"model={name}: no run folder, so it has no epochs; leave out epochs=")


def score_model(
    name: str, model: "Model", suites: "Sequence[Suite]", settings: "EvaluationSettings", cache: Path | None
) -> "Iterator[WrittenScores]":
    """The scores of one model, suite by suite; each is written at once."""
    from encoder_lab.reports.evaluations import WrittenScores, write_scores, write_tokens
    from encoder_lab.reports.strips import TOKENS_FILE
    from encoder_lab.storage.content import key_of
    from probes.evaluation import Evaluation
    from probes.geometry.history import save_state
    from probes.suites import tasks_and_measures

    by_epoch = settings.epochs is not None
    out = Path(name) / settings.out if by_epoch else Path(settings.out)
    in_run = by_epoch and out.resolve().is_relative_to(Path(name).resolve())
    evaluation = Evaluation(model, tasks_and_measures(suites), cache=cache, seed=settings.random_seed)
    for suite in suites:
        main = evaluation.scores(suite.tasks)
        measures = evaluation.scores([task for task in suite.measures if model.encode or task.suite != "bits"])
        if not model.encode and any(task.suite == "bits" for task in suite.measures):
            print(f"{name}: no description length, as it has no vectors", file=sys.stderr)
        key = evaluation.key(suite.tasks, with_model=not by_epoch)
        key = key_of(key, str(Path(name).resolve()))[:8] if by_epoch and not in_run else key  # one folder for each run
        names = "-".join(filter(None, [model.encoder, model.objective]))
        folder = out / suite.name / f"{re.sub(r'[^a-zA-Z0-9_.-]+', '-', names)}-{key}"
        scores = WrittenScores(folder, suite.name, name, main, [score.row for score in measures])
        write_scores(scores, settings_of_scores(settings, suite, model, name))
        if by_epoch or not (folder / TOKENS_FILE).exists():  # the folder's name identifies model and tasks
            write_tokens(folder, suite.tasks, evaluation)
        save_state(folder, evaluation, suite.tasks, overwrite=by_epoch)
        yield scores


def settings_of_scores(settings: "EvaluationSettings", suite: "Suite", model: "Model", name: str) -> dict[str, Any]:
    """The settings that made the scores of a model on a suite, as their folder has them."""
    from encoder_lab.reports.runs import EACH_EPOCH

    choice = settings.suites[suite.name]
    names = {"encoder_name": model.encoder, "objective_name": model.objective, "corpus_name": None, "model": name}
    written: dict[str, Any] = {**names, "suite": suite.name, "seed": settings.random_seed}
    if any(task.needs == "vectors" for task in suite.tasks):
        written["probes"] = {"classifier": settings.probes.classifier.written}
    written |= {choice.group: choice.values} | ({"corpus": settings.corpus.written} if suite.uses_corpus else {})
    return {**written, **model.settings} | ({} if settings.epochs is None else {"checkpoint": EACH_EPOCH})


def print_tables(scores: "Sequence[WrittenScores]", settings: "EvaluationSettings") -> None:
    from encoder_lab.reports import evaluations

    reader = "mlp" if any(settings.probes.classifier.build().widths) else "logreg"
    evaluations.print_scores(scores, reader, settings.published)


def write_sentences(sentences: Sequence[str], path: Path) -> None:
    """The distinct sentences of the suites, one per line, to be encoded elsewhere."""
    from encoder_lab.storage.files import atomic_write

    if not sentences:
        raise InputError("write_sentences= is for suites of vectors; suite=coherence needs none")
    with atomic_write(path) as file:
        file.writelines(f"{sentence}\n" for sentence in sentences)
    print(f"{path}: {len(sentences):,} sentences, one per line")


def run_job(config: "DictConfig") -> None:
    from hydra.core.hydra_config import HydraConfig

    from encoder_lab.settings.check import mistakes_of_command
    from encoder_lab.settings.evaluate import evaluation_settings
    from encoder_lab.studies.compose import referenced_names, resolved_settings

    with one_line_errors(Path.cwd()):  # inside Hydra's job, as Hydra would print a line of its own
        written = resolved_settings(config)
        arguments = HydraConfig.get().overrides.task
        exit_with(mistakes_of_command("evaluate", written, referenced_names(config), arguments))
        folders = [source.path for source in HydraConfig.get().runtime.config_sources if source.schema == "file"]
        settings = replace(evaluation_settings(written), config_folders=tuple(map(Path, folders)))

    from encoder_lab.studies.cell import take_one_gpu

    take_one_gpu(current_process().name)  # with -m and hydra/launcher=joblib
    stopped = "stopped; the same command continues with the scores that it has"
    with one_line_errors(Path(settings.out), "fix this, then the same command again", stopped):
        if scores := evaluate(settings):
            print_tables(scores, settings)


def main(arguments: list[str]) -> None:
    """The command line: help, or an evaluation."""
    if asks_for_help(arguments):
        show_help(evaluate_help(__doc__))
        return
    with one_line_errors(Path.cwd()):
        refuse_wrong_environment()
        if "objective" in requested_names("suite", arguments):
            refuse_missing_models(arguments)
            from encoder_lab.training.test_scores import score_objectives

            print("\n".join(score_objectives(arguments)))
            return
        refuse_wrong_arguments("evaluate", arguments)
        refuse_missing_models(arguments)

        import hydra

        sys.argv[1:] = options_first(arguments)
        hydra.main(config_path=str(CONFIGS), config_name="evaluate", version_base="1.3")(run_job)()


if __name__ == "__main__":
    main(sys.argv[1:])
