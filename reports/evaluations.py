"""The output of an evaluation: a folder for each model and suite, and tables on the terminal."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omegaconf import DictConfig, OmegaConf

from common.csv_files import upsert_csv
from common.files import atomic_write
from common.model import Model
from probes.coherence.tasks import Coherence
from probes.evaluation import Evaluated, Evaluation
from probes.results import write_rows
from probes.suites import Suite
from probes.task import Task
from reports.published import published
from reports.runs import models_of, read_run
from reports.strips import TOKENS
from reports.table import probing_table
from reports.terminal import comparisons, descriptions, plain, second_measures, selectivities


class ModelScores(NamedTuple):
    """The scores of one model on one suite; `key` identifies the model, the tasks and the settings."""

    key: str
    main: list[Evaluated]
    control: Sequence[Evaluated] = ()
    mdl: Sequence[dict[str, str | float]] = ()


class WrittenScores(NamedTuple):
    """The scores of one model on one suite and the folder that holds them."""

    title: str
    folder: Path
    suite: str
    scores: ModelScores


def write(name: str, model: Model, suite: Suite, scores: ModelScores, config: DictConfig) -> WrittenScores:
    """Write the scores of one model on one suite into a folder that report.py reads."""
    title = ", ".join(filter(None, [model.encoder, model.objective]))
    folder = Path(config.out) / suite.name / f"{re.sub(r'[^a-zA-Z0-9_.-]+', '-', title)}-{scores.key}"
    names = {"encoder_name": model.encoder, "objective_name": model.objective, "corpus_name": None, "model": name}
    key = config.suites[suite.name].settings
    kept = {"suite": suite.name, "seed": config.seed}
    if any(task.needs == "vectors" for task in suite.tasks):
        kept["probes"] = {"classifier": config.probes.classifier}
    kept |= {key: config[key]} | ({"corpus": config.corpus} if suite.of_corpus else {})
    with atomic_write(folder / "config.yaml") as file:
        file.write(OmegaConf.to_yaml({**names, **kept, **model.settings}, resolve=False))
    write_rows(folder / "probes.csv", [e.row for e in (*scores.main, *scores.control)])
    if scores.mdl:
        upsert_csv(folder / "mdl.csv", scores.mdl, ("task",))
    details = [{"task": e.row.task, "measure": m, "score": v} for e in scores.main for m, v in e.details.items()]
    if details:
        upsert_csv(folder / "details.csv", details, ("task", "measure"))
    return WrittenScores(title, folder, suite.name, scores)


def write_tokens(folder: Path, tasks: Sequence[Task], evaluation: Evaluation) -> None:
    """The bits of every token that the tasks' scores are made of; nothing where they are made of vectors."""
    read = [task for task in tasks if isinstance(task, Coherence)]
    if not read:
        return
    with atomic_write(folder / TOKENS) as file:
        for task in read:
            for record in task.records(evaluation.surprisals):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def requested_tables(config: DictConfig) -> list[str] | None:
    """The requested published table; None leaves the choice to the table. Raises InputError for an unknown one."""
    if config.published == "paper":
        return None
    if config.published:
        published(config.published)
    return [config.published] if config.published else []


def show(done: Sequence[WrittenScores], config: DictConfig) -> None:
    """Print the scores of each suite next to the published ones, then control tasks and description lengths."""
    for suite in dict.fromkeys(d.suite for d in done):
        _show([d for d in done if d.suite == suite], suite, config)


def _show(done: Sequence[WrittenScores], suite: str, config: DictConfig) -> None:
    models = models_of(read_run(d.folder) for d in done)
    reader = "mlp" if any(config.probes.classifier.widths) else "logreg"
    print(plain(probing_table(models, suite, "last", reader, requested_tables(config))))
    for d in done:
        if measures := second_measures(d.title, d.scores.main):
            print(measures)
        if d.scores.control:
            print(selectivities(d.title, d.scores.main, d.scores.control))
        if d.scores.mdl:
            print(descriptions(d.title, d.scores.mdl))
        elif config.mdl:
            print(f"{d.title}: no description length, as it has no vectors\n")
    if len(done) > 1:
        print(comparisons([(d.title, d.scores.main) for d in done]))
    print("\n".join(f"{d.folder}/probes.csv" for d in done))
