"""From the settings of a run to what it trains and probes."""

from collections.abc import Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from torch import nn

from datamodules.base import ResumableData
from datamodules.corpus import Corpus, exclude_sentences
from datamodules.excluded import LEFT_OUT_FILE, Excluded, left_out_lines
from datamodules.word_vectors.run_vectors import RunVectors
from encoder_lab.compute.devices import evaluation_mode
from encoder_lab.compute.matmul import multiplies_in_bfloat16
from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.settings.build import build, import_object
from encoder_lab.settings.run import RunSettings
from encoder_lab.settings.run_settings import CLASS_KEY, leaves, objective_of, trained_in_bfloat16
from encoder_lab.storage.content import cache_digests_in, content_of, contents_of
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.reads import (
    CORPUS_KEY,
    VECTORS_KEY,
    Reads,
    own_code,
    refuse_other_reads,
    warn_of_changed_code,
    write_reads,
)
from encoder_lab.training.devices import choose_accelerator, is_rank_zero, rank_zero_print
from encoder_lab.training.initial import source_of, take_weights
from encoder_lab.training.run_folder import run_vectors
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoded, Encoder
from encoders.example import random_words
from encoders.frozen import FrozenEncoder
from encoders.sources import bag_of, fingerprint
from objectives.dev_loss import DevLoss
from objectives.likelihood import TextLikelihood
from objectives.objective import MakeOptimizer, Objective
from probes.callback import ProbingCallback
from probes.classification import Classification
from probes.evaluation import distinct_sentences
from probes.suites import Suite, suites_of, tasks_and_measures, tasks_of
from probes.task import Task

STEP_IMPLEMENTATIONS = {"fused", "foreach", "differentiable"}  # of which an optimiser of torch takes one
SLOW_BF16 = "this processor has no instructions for bfloat16, so steps take longer than with trainer.precision=32-true"


def build_run(settings: RunSettings, run: Path) -> tuple[ResumableData, Objective, list[Suite], ProbingCallback]:
    """Data, model and probes of a run. Its word vectors go to its folder at the first call."""
    pl.seed_everything(settings.seed, workers=True, verbose=False)
    accelerator, precision = settings.trainer.accelerator, settings.trainer.precision
    if accelerator in ("gpu", "cuda") and not torch.cuda.is_available():
        raise InputError(f"trainer.accelerator={accelerator}: no NVIDIA GPU here; give cpu, or leave it out")
    device = probing_device(accelerator)
    if choose_accelerator(accelerator) == "cpu" and precision in ("16-mixed", "16", 16):
        raise InputError(f"trainer.precision={precision}: on a CPU Lightning takes bf16-mixed; give that, or a GPU")
    described = settings.objective.arguments.get("optimizer")
    optimizer = {"optimizer": trainable_optimizer(described, device)} if described else {}
    corpus = settings.corpus.build()
    cache = Path(settings.cache)
    cache_digests_in(cache)
    source = None
    if settings.init:
        needed = settings.encoder.written, settings.embeddings.source.arguments.get("dim"), settings.corpus.written
        source = source_of(settings.init, run, *needed, corpus.fingerprint())
    grid = settings.probes.classifier.build()
    suites = suites_of(settings.suites, grid, settings.seed, corpus, cache, settings.probes.measures)
    tasks = tasks_of(suites)
    refuse_without_decoder(settings, tasks)
    sentences = distinct_sentences(tasks)
    originals = (s for task in tasks if isinstance(task, Classification) for s in task.originals)
    left_out = Excluded([*sentences, *originals])
    text = exclude_sentences(corpus, left_out) if settings.exclude_task_sentences else corpus
    data = settings.datamodule.build(corpus=text, cache=cache, seed=settings.seed)
    vector_file = settings.embeddings.source.arguments.get("path")
    classes = own_classes(settings.written, settings.allow)
    if is_rank_zero():
        refuse_other_reads(run, reads_of(run, corpus, data, tasks, vector_file))
        warn_of_changed_code(run, classes)
    vectors = run_vectors(settings.embeddings.source.build(), run, data, sentences, cache, source)
    module, frozen = build_modules(settings, corpus, data, vectors, optimizer)
    if source:
        take_weights(source, frozen.encoder)
    write_run_files(run, module, data)
    if is_rank_zero():
        write_reads(run, {**reads_of(run, corpus, data, tasks, vector_file), **own_code(classes)})
    model = probed_model(settings, module, frozen, data, tasks, sentences)
    schedule = settings.probes.every_n_epochs, settings.seed, device, settings.probes.probing_steps
    cached = None if model.logprobs else cache  # the fingerprint has no weights of a decoder
    probing = ProbingCallback(tasks_and_measures(suites), model, run / "probes.csv", *schedule, cached)
    return data, module, suites, probing


def own_classes(written: Mapping[str, Any], packages: Sequence[str]) -> list[type]:
    """The objective, and the classes of the user's own `packages` of which encoder and data are made.

    Of ours the vectors of the encoder and the text of the data are compared themselves.
    """
    packages = (*packages, "objectives")
    groups = {name: written.get(name) for name in ("encoder", "objective", "datamodule", "corpus")}
    targets = {str(value) for name, value in leaves(groups) if name.endswith("_target_")}
    return [import_object(target) for target in sorted(targets) if target.partition(".")[0] in packages]


def build_modules(
    settings: RunSettings, corpus: Corpus, data: ResumableData, vectors: RunVectors, optimizer: Mapping[str, Any]
) -> tuple[Objective, FrozenEncoder]:
    """What is trained, and its encoder as it is probed. The weights depend on the seed alone."""
    pl.seed_everything(settings.seed, workers=True, verbose=False)
    embedding = WordEmbedding(vectors.matrix, freeze=settings.embeddings.freeze)
    encoder = settings.encoder.build(input_dim=embedding.dim)
    trains = settings.objective_name != "untrained"
    refuse_broken_encoder(encoder, embedding.dim, trains)
    parts = {"data": data} if trains else {}
    module = settings.objective.build(encoder=encoder, embedding=embedding, seed=settings.seed, **parts, **optimizer)
    spoken = corpus.source_language
    tokens = corpus.tokenize if spoken == "en" else partial(corpus.tokenize, language=spoken)
    narrow = trained_in_bfloat16(settings.written)
    words = vectors.vocabulary, vectors.lookup_oov
    return module, FrozenEncoder(encoder, embedding, *words, tokens, bfloat16=narrow, lowercase=data.lowercase)


def refuse_broken_encoder(encoder: Encoder, width: int, trains: bool = False) -> None:
    """Raises InputError for vectors of another type or width, not finite, or changed by padding. `width`: E.

    If it `trains`, also for weights that no gradient reaches.
    """
    words, lengths = random_words(width)
    with evaluation_mode(encoder):
        both, single = encoder(words, lengths), encoder(words[1:, :1], lengths[1:])
    if not isinstance(both, Encoded):
        raise InputError(f"encoder: forward gives {type(both).__name__}; return Encoded of encoders/encoder.py")
    together, alone, dim = both.vector, single.vector, getattr(encoder, "dim", None)
    if together.shape != (2, dim):
        raise InputError(f"encoder: two vectors are {tuple(together.shape)}, not (2, {dim}) as its dim says")
    if together.dtype != words.dtype or not together.isfinite().all():
        raise InputError(f"encoder: of random words its vectors are {together[0]}; give finite ones of {words.dtype}")
    if not torch.allclose(together[1:], alone, rtol=1e-3, atol=1e-4):
        raise InputError("encoder: padding changes the vector of a sentence; encoders/pooling.py leaves padding out")
    weights = {name: weight for name, weight in encoder.named_parameters() if weight.requires_grad}
    if trains and weights:
        read = (together.sum() + both.states.sum()).requires_grad_()
        gradients = torch.autograd.grad(read, [*weights.values()], allow_unused=True)
        if unused := [name for name, gradient in zip(weights, gradients, strict=True) if gradient is None]:
            remedy = "use them in forward, or give them requires_grad_(False)"
            raise InputError(f"encoder: no gradient reaches {', '.join(unused)}; {remedy}")


def probed_model(
    settings: RunSettings,
    module: Objective,
    frozen: FrozenEncoder,
    data: ResumableData,
    tasks: Sequence[Task],
    sentences: Sequence[str],
) -> Model:
    """The model as tasks see it: its vectors of their sentences, and what else they need."""
    needed = {task.needs for task in tasks}
    narrow = trained_in_bfloat16(settings.written)
    fast = multiplies_in_bfloat16(torch.device(probing_device(settings.trainer.accelerator)))
    if narrow and not fast:
        rank_zero_print(f"trainer.precision={settings.trainer.precision}: {SLOW_BF16}")
    return Model(
        settings.encoder_name,
        objective_of(settings.written),
        frozen.encode,
        partial(fingerprint, frozen, settings.encoder.written, sentences),
        logprobs=TextLikelihood(frozen.encode, module.likelihood()).logprobs if "surprisal" in needed else None,
        bag=bag_of(frozen),
        bfloat16=narrow and fast,
        loss=DevLoss(module, data, settings.objective.written) if "loss" in needed else None,
    )


def reads_of(run: Path, corpus: Corpus, data: ResumableData, tasks: Sequence[Task], vectors: str | None) -> Reads:
    """The content of what a run reads: corpus, the text made of it, tasks, vectors and decoder in its folder."""
    files = [path for folder in ("vectors", "decoder") for path in sorted((run / folder).glob("*")) if path.is_file()]
    return {
        CORPUS_KEY: corpus.fingerprint(),
        **{f"text {name}": digest for name, digest in (data.contents or {"": data.fingerprint}).items()},
        **{f"{task.suite} {task.name}": task.data for task in tasks},
        **({VECTORS_KEY: content_of(Path(vectors))} if vectors and Path(vectors).is_file() else {}),
        **dict(contents_of(files, run)),
    }


def write_run_files(run: Path, module: Objective, data: ResumableData) -> None:
    """Write what the decoder needs to score texts, and what training left out, to the run's folder where it is not."""
    if is_rank_zero() and data.left_out and not (run / LEFT_OUT_FILE).exists():
        with atomic_write(run / LEFT_OUT_FILE) as file:
            file.write(left_out_lines(data.left_out))
    for name, source in module.likelihood_files().items():
        copy = run / "decoder" / name
        if is_rank_zero() and not copy.exists():
            with atomic_write(copy, binary=True) as file:
                file.write(source.read_bytes())


def refuse_without_decoder(settings: RunSettings, tasks: Sequence[Task]) -> None:
    """Raises InputError for tasks that need the surprisal of texts, or a loss, that the objective does not have."""
    objective = import_object(settings.objective.target)
    for task in tasks:
        if task.needs == "surprisal" and (reason := objective.without_likelihood(settings.written)):
            fault = f"suite={task.suite} needs the surprisal of texts, and objective={settings.objective_name} has none"
            raise InputError(f"{fault}: {reason}; train objective=skipthought or discourse, or leave the suite out")
        if task.needs == "loss" and (reason := objective.without_use(settings.written)):
            fault = f"suite={task.suite} needs the loss of vectors, and objective={settings.objective_name} has none"
            raise InputError(f"{fault}: {reason}; leave the suite out, or give use.on=downstream")


def probing_device(chosen: str) -> str:
    """Where the classifiers run: where the run computes."""
    return "cuda" if choose_accelerator(chosen) != "cpu" and torch.cuda.is_available() else "cpu"


def trainable_optimizer(described: Mapping[str, Any], device: str) -> MakeOptimizer:
    """An optimiser that waits for its weights, `fused` where it can be. Raises InputError where it cannot train."""
    if not (target := described.get(CLASS_KEY)):
        raise InputError(f"objective.optimizer={dict(described)}: give {CLASS_KEY} with it, as torch.optim.Adam")
    make: Any = build({**described, "_partial_": True})
    may_fuse = "fused" in signature(make.func).parameters and not STEP_IMPLEMENTATIONS & make.keywords.keys()
    if may_fuse and not _step_error(fused := partial(make, fused=True), device):
        return fused
    if error := _step_error(make, device):
        # the setting that is also refused alone; else the optimiser, which cannot train dense weights
        settings = make.keywords.items()
        alone = (f"{key}={value}" for key, value in settings if _step_error(partial(make.func, **{key: value})))
        name = f"{CLASS_KEY}={target}"
        refused = name if _step_error(make.func) else next(alone, f"{name} with these settings")
        raise InputError(f"objective.optimizer.{refused}: {error}")
    return make


def _step_error(make: MakeOptimizer, device: str = "cpu") -> Exception | None:
    """What two steps of an optimiser on a vector and a matrix raise; the matrix is of a part that the second trains."""
    weights = [nn.Parameter(torch.ones(shape, device=device)) for shape in ((2,), (2, 3))]
    try:
        optimizer = make(weights)
        for weight in weights:
            weight.grad = torch.ones_like(weight)
            optimizer.step()
    except Exception as error:  # torch checks its settings in many ways
        return error
    return None
