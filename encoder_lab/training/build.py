"""From the settings of a run to what it trains and probes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytorch_lightning as pl
import torch
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf

from datamodules.base import ResumableData
from datamodules.corpus import Corpus
from encoder_lab.compute.matmul import multiplies_in_bfloat16
from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.settings.run_settings import objective_of, trained_in_bfloat16
from encoder_lab.storage.content import cache_digests_in, content_of, contents_of
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.reads import CORPUS, VECTORS, Reads, refuse_other_reads, write_reads
from encoder_lab.training.devices import accelerator, is_first
from encoder_lab.training.initial import source_of, take_weights
from encoder_lab.training.optimizers import prepare_optimizer
from encoder_lab.training.run_folder import run_vectors
from encoders.embedding import WordEmbedding
from encoders.fingerprint import fingerprint
from encoders.frozen import FrozenEncoder
from objectives.likelihood import TextLikelihood
from objectives.objective import Objective
from probes.callback import ProbingCallback
from probes.evaluation import distinct_sentences
from probes.suites import Suite, suites_of, tasks_of
from probes.task import Task


class Built(NamedTuple):
    """The parts of a run."""

    data: ResumableData
    module: Objective
    suites: list[Suite]
    probing: ProbingCallback


def build(config: DictConfig, run: Path) -> Built:
    """Data, model and probes of a run. Its word vectors go to its folder at the first call."""
    pl.seed_everything(config.seed, workers=True, verbose=False)
    prepare_optimizer(config, probing_device(config))
    corpus = instantiate(config.corpus)
    cache = Path(config.cache)
    cache_digests_in(cache)
    data = instantiate(config.datamodule, corpus=corpus, cache=cache, seed=config.seed)
    suites = suites_of(config, corpus, cache)
    tasks = tasks_of(suites)
    refuse_without_decoder(config, tasks)
    if is_first():
        refuse_other_reads(run, reads_of(config, run, corpus, data, tasks))
    source = source_of(config, run, corpus)
    sentences = distinct_sentences(tasks)
    vectors = run_vectors(config, run, data, sentences, cache, source)

    pl.seed_everything(config.seed, workers=True, verbose=False)  # weights depend on the seed alone
    embedding = WordEmbedding(vectors.matrix, freeze=config.embeddings.freeze)
    encoder = instantiate(config.encoder, input_dim=embedding.dim)
    parts = {"data": data} if config.objective_name != "untrained" else {}
    module = instantiate(config.objective, encoder=encoder, embedding=embedding, seed=config.seed, **parts)
    if source:
        take_weights(source, encoder)
    spoken = corpus.source_language
    tokens = corpus.tokenize if spoken == "en" else partial(corpus.tokenize, language=spoken)
    frozen = FrozenEncoder(
        encoder, embedding, vectors.vocabulary, vectors.lookup_oov, tokens, bfloat16=trained_in_bfloat16(config)
    )
    keep_files(run, module)
    if is_first():
        write_reads(run, reads_of(config, run, corpus, data, tasks))
    surprised = any(task.needs == "surprisal" for task in tasks)
    settings: Any = OmegaConf.to_container(config.encoder)
    device = probing_device(config)
    model = Model(
        config.encoder_name,
        objective_of(config),
        frozen.encode,
        partial(fingerprint, frozen, settings, sentences),
        logprobs=TextLikelihood(frozen.encode, module.likelihood()).logprobs if surprised else None,
        bfloat16=trained_in_bfloat16(config) and multiplies_in_bfloat16(torch.device(device)),
    )
    when = config.probes.every_n_epochs, config.seed, device, config.probes.get("steps", ())
    known = None if surprised else cache  # the fingerprint has no weights of a decoder
    probing = ProbingCallback(tasks, model, run / "probes.csv", *when, known)
    return Built(data, module, suites, probing)


def reads_of(config: DictConfig, run: Path, corpus: Corpus, data: ResumableData, tasks: Sequence[Task]) -> Reads:
    """The content of what a run reads: its corpus, the text made of it, its tasks, and what its folder has of both."""
    inside = [path for folder in ("vectors", "decoder") for path in sorted((run / folder).glob("*")) if path.is_file()]
    vectors = config.embeddings.get("path")
    return {
        CORPUS: corpus.fingerprint(),
        **{f"text {name}": digest for name, digest in (data.contents or {"": data.fingerprint}).items()},
        **{f"{task.suite} {task.name}": task.data for task in tasks},
        **({VECTORS: content_of(Path(vectors))} if vectors and Path(vectors).is_file() else {}),
        **dict(contents_of(inside, run)),
    }


def keep_files(run: Path, module: Objective) -> None:
    """Write what the decoder needs to score texts to the run's folder, where it is not there yet."""
    for name, source in module.likelihood_files().items():
        kept = run / "decoder" / name
        if is_first() and not kept.exists():
            with atomic_write(kept, binary=True) as file:
                file.write(source.read_bytes())


def refuse_without_decoder(config: DictConfig, tasks: Sequence[Task]) -> None:
    """Raises InputError for tasks that need the surprisal of texts where the objective has no likelihood of them."""
    kind: Any = get_class(config.objective._target_)
    why = kind.without_likelihood(config)
    for task in tasks:
        if why and task.needs == "surprisal":
            wrong = f"suite={task.suite} needs the surprisal of texts, and objective={config.objective_name} has none"
            raise InputError(f"{wrong}: {why}; train objective=skipthought or discourse, or leave the suite out")


def probing_device(config: DictConfig) -> str:
    """Where the classifiers run: where the run computes."""
    return "cuda" if accelerator(config) != "cpu" and torch.cuda.is_available() else "cpu"
