"""From the settings of a run to what it trains and probes."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytorch_lightning as pl
import torch
from hydra.utils import instantiate
from omegaconf import DictConfig

from common.errors import InputError
from datamodules.base import ResumableData
from encoders.embedding import WordEmbedding
from encoders.frozen import FrozenEncoder
from objectives.objective import Objective
from probes.callback import ProbingCallback
from probes.evaluation import distinct_sentences
from probes.suites import Suite, suites_of, tasks_of
from probes.task import Task
from training.devices import accelerator
from training.run_folder import run_vectors


class Built(NamedTuple):
    """The parts of a run."""

    data: ResumableData
    module: Objective
    suites: list[Suite]
    probing: ProbingCallback


def build(config: DictConfig, run: Path) -> Built:
    """Data, model and probes of a run. Its word vectors go to its folder at the first call."""
    pl.seed_everything(config.seed, workers=True, verbose=False)
    corpus = instantiate(config.corpus)
    cache = Path(config.cache)
    data = instantiate(config.datamodule, corpus=corpus, cache=cache, seed=config.seed)
    suites = suites_of(config, corpus, cache)
    tasks = tasks_of(suites)
    refuse_surprisals(tasks)
    vectors = run_vectors(config, run, data, distinct_sentences(tasks), cache)

    pl.seed_everything(config.seed, workers=True, verbose=False)  # weights depend on the seed alone
    embedding = WordEmbedding(vectors.matrix, freeze=config.embeddings.freeze)
    encoder = instantiate(config.encoder, input_dim=embedding.dim)
    known = {"data": data} if config.objective_name != "untrained" else {}
    module = instantiate(config.objective, encoder=encoder, embedding=embedding, seed=config.seed, **known)
    frozen = FrozenEncoder(encoder, embedding, vectors.vocabulary, oov=vectors.lookup_oov, tokenize=corpus.tokenize)
    results, device = run / "probes.csv", probing_device(config)
    probing = ProbingCallback(tasks, frozen, results, config.probes.every_n_epochs, config.seed, device)
    return Built(data, module, suites, probing)


def refuse_surprisals(tasks: Sequence[Task]) -> None:
    """Raises InputError for tasks that need the probability of texts: a run has the vectors of its encoder."""
    for task in tasks:
        if task.needs == "surprisal":
            other = f"score language models with python evaluate.py model=lm:PATH suite={task.suite}"
            raise InputError(f"suite={task.suite}: needs a language model, and a run has vectors alone; {other}")


def probing_device(config: DictConfig) -> str:
    """Where the classifiers run: where the run computes."""
    return "cuda" if accelerator(config) != "cpu" and torch.cuda.is_available() else "cpu"
