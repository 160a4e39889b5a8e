"""From a name in `model=` to its models, one for each epoch of `epochs=`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from datamodules.corpus import Corpus, corpus_key
from datamodules.word_vectors.store import FromFile
from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.settings.build import build
from encoder_lab.settings.call import function_named
from encoder_lab.settings.evaluate import EvaluationSettings
from encoder_lab.settings.known import settings_with_defaults
from encoder_lab.settings.model_setting import BASELINES, UNTRAINED_ENCODERS, encoder_file, refuse_other_path
from encoder_lab.settings.run import names_of
from encoder_lab.settings.run_settings import as_yaml
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import contents_of, key_of
from encoder_lab.storage.reads import refuse_changed_corpus
from encoder_lab.storage.text_files import visible_files
from encoders.hugging_face import pretrained
from encoders.language_model import CausalLM
from encoders.load import SavedRun, find_checkpoint, intermediate_checkpoints, open_run
from encoders.sources import precomputed_model, trained_model, untrained_model
from objectives.likelihood import NoLikelihood, TextLikelihood
from probes.coherence.ngram import ORDERS, NgramModel, lazy_ngram_model, length_logprobs
from probes.evaluation import distinct_sentences
from probes.task import Task

CompleteModels = Callable[[Corpus, Sequence[Task]], list[Model]]  # adds to an open model what depends on text
SURPRISAL_MODELS = "a run of skipthought or discourse, lm:PATH, ngram, unigram, length or call:MODULE:FUNCTION"


def open_models(settings: EvaluationSettings, device: str, work: Path) -> list[tuple[str, CompleteModels]]:
    """Every name in `model=`, open before text is read; with `epochs=` each in its turn. Raises InputError."""
    if settings.epochs is None:
        return [(name, open_model(name, settings, device, work)) for name in settings.models]
    runs = [checkpoints_of(name, settings) for name in settings.models]
    paths = [(run, str(path)) for run, checkpoints in runs for path in checkpoints]
    return [(run, lambda *text, p=path: open_model(p, settings, device, work)(*text)) for run, path in paths]


def complete_models(
    opened: Iterable[tuple[str, CompleteModels]], corpus: Corpus, tasks: Sequence[Task]
) -> Iterable[tuple[str, Model]]:
    """Each model by its name. Raises InputError where it lacks what a task needs, if its name says so before all."""
    opened = list(opened)
    for name, model in ((name, model_by_name(name)) for name, _ in opened):
        if model:
            _refuse_tasks_without_model(name, model, tasks)
    for name, complete in opened:
        for model in complete(corpus, tasks):
            _refuse_tasks_without_model(name, model, tasks)
            yield name, model


def model_by_name(name: str) -> Model | None:
    """What a name says of its model: whether it has vectors or a language model. None where this depends on files."""
    if name in UNTRAINED_ENCODERS or name.startswith(("untrained/", "hf:", "vectors:")):
        return Model(name, "", encode=len)
    if name in (*ORDERS, *BASELINES):
        surprisal = length_logprobs if name in (*ORDERS, "length") else None
        return Model("baseline", name, None, "baseline", logprobs=surprisal)
    return Model("language model", "", None, logprobs=length_logprobs) if name.startswith("lm:") else None


def open_model(name: str, settings: EvaluationSettings, device: str, work: Path) -> CompleteModels:
    """The models of a name, open as far as they need no text; all layers of a transformer are a model each."""
    form, _, rest = name.partition(":")
    models: list[Model] = []
    if name in ORDERS:
        return lambda corpus, _: [_ngram_baseline(name, corpus, settings.corpus.written)]
    if name in UNTRAINED_ENCODERS or name.startswith("untrained/"):
        encoder, options = name.removeprefix("untrained/"), (settings, device)
        encoder_file(encoder, settings.config_folders)
        return lambda corpus, tasks: [
            untrained_encoder(encoder, *options, corpus, distinct_sentences(tasks, "vectors"), work)
        ]
    if form == "call" and rest:
        function = function_named(rest, "turns sentences into vectors, or scores (context, continuation) pairs")
        return lambda _, tasks: [_model_of_function(rest, function, device, tasks)]
    if name in BASELINES and (baseline := model_by_name(name)):
        models = [baseline]
    elif form == "hf" and rest:
        models = pretrained(rest, settings.layers, settings.pooling, device, work, settings.prompt)
    elif form == "vectors" and rest:
        models = [precomputed_model(Path(rest), Path(settings.sentences) if settings.sentences else None)]
    elif form == "lm" and rest:
        models = [_language_model(Path(rest), settings, device)]
    else:
        refuse_other_path(name)
        run = open_run(Path(name))
        model = _trained_model(run, settings, device, work)

        def complete(corpus: Corpus, tasks: Sequence[Task]) -> list[Model]:
            refuse_changed_corpus(run.folder, run.config["corpus"], settings.corpus.written, corpus.fingerprint())
            loss = None
            if any(task.needs == "loss" for task in tasks):
                from objectives.load import load_dev_loss  # imports Lightning: half of all imports

                loss = load_dev_loss(run, device, work, settings.allow)
            return [_with_decoder(name, model._replace(loss=loss), run, tasks, settings.bos, settings.eos)]

        return complete
    return lambda *_: [model._replace(device=device) for model in models]


def checkpoints_of(name: str, settings: EvaluationSettings) -> tuple[str, list[Path]]:
    """The folder of a run and its checkpoints that `epochs=` asks for. Raises InputError where there is none."""
    run = find_checkpoint(Path(name)).parents[1]
    if settings.epochs != "all":
        return str(run), [find_checkpoint(run, int(epoch)) for epoch in names_of(settings.epochs)]
    checkpoints = intermediate_checkpoints(run)
    if not checkpoints:
        raise InputError(f"model={name}: keeps no epoch; train with checkpoints.keep=every, or leave out epochs=")
    return str(run), checkpoints


def _trained_model(run: SavedRun, settings: EvaluationSettings, device: str, work: Path) -> Model:
    """The frozen encoder of a run, with the vectors of `embeddings=file` for words that it does not have."""
    source = settings.embeddings.source.build()
    vectors = source.vectors(list, "", work) if isinstance(source, FromFile) else None
    model = trained_model(run, device, vectors, settings.allow)
    return model._replace(settings={**model.settings, "embeddings": settings.embeddings.written}) if vectors else model


def _with_decoder(name: str, model: Model, run: SavedRun, tasks: Sequence[Task], bos: bool, eos: bool) -> Model:
    """With the decoder of the run as a language model, where a task needs surprisal. Raises InputError."""
    suite = next((task.suite for task in tasks if task.needs == "surprisal"), None)
    if suite is None or model.encode is None:
        return model
    if not bos:
        raise InputError(f"model={name}: bos=false: the mark that begins a sentence is always context; leave it out")
    from objectives.load import load_likelihood

    try:
        likelihood = load_likelihood(run, ends=eos)
    except NoLikelihood as error:
        raise InputError(f"model={name}: has no language model, which suite={suite} needs: {error}") from None
    likelihood.network.to(model.device)
    fingerprint = key_of(model.fingerprint, code_of(type(likelihood)), code_of(TextLikelihood), eos)
    return model._replace(logprobs=TextLikelihood(model.encode, likelihood).logprobs, fingerprint=fingerprint)


def _model_of_function(name: str, function: Callable[..., Any], device: str, tasks: Sequence[Task]) -> Model:
    """Any Python function: sentences to (N, D) numbers, or pairs to surprisals where the tasks need those alone."""
    needs = {task.needs for task in tasks}
    if needs == {"vectors", "surprisal"}:
        gives = "gives vectors or surprisals, not both"
        raise InputError(f"model=call:{name}: {gives}; evaluate suite=coherence by itself")
    logprobs = function if needs == {"surprisal"} else None
    return Model(name, "callable", None if logprobs else function, logprobs=logprobs, device=device)


def untrained_encoder(
    encoder: str, settings: EvaluationSettings, device: str, corpus: Corpus, sentences: Sequence[str], work: Path
) -> Model:
    """bov, or an encoder with initial weights from the seed."""
    source = settings.embeddings.source.build()
    store = source.vectors(lambda: corpus.sentences("train"), key_of(corpus_key(corpus)), work)
    torch.manual_seed(settings.random_seed)
    described = settings_with_defaults(encoder_file(encoder, settings.config_folders))["encoder"]
    network = build(described, input_dim=store.matrix.shape[1])
    objective = "bov" if encoder == "bov" else "untrained"
    model = untrained_model(encoder, objective, network, as_yaml(described), sentences, store, device)
    trained_on = {} if isinstance(source, FromFile) else {"corpus": settings.corpus.written}
    return model._replace(settings={"embeddings": settings.embeddings.written, **trained_on})


def _language_model(path: Path, settings: EvaluationSettings, device: str) -> Model:
    """A causal language model on disk, with what counts as its text: `bos`, `eos`, and how `[SEP]` is read.

    With `coherence.compat=beyer2021` as the wrappers of the paper do: no BOS, and `[SEP]` in word pieces.
    Raises InputError where `eos=true` asks for a token that these do not score.
    """
    wrapped = "coherence" in settings.suites and settings.suites["coherence"].values["compat"] == "beyer2021"
    if wrapped and settings.eos:
        raise InputError("eos=true: coherence.compat=beyer2021 scores no token that ends a text; leave one of them out")
    bos, eos = settings.bos and not wrapped, settings.eos
    model = CausalLM(path, device, bos, eos, separator=not wrapped)
    fingerprint = key_of(code_of(CausalLM), contents_of(visible_files(path), path), bos, eos, wrapped)
    name, marks = path.resolve().name, {"bos": bos, "eos": eos}
    return Model(name, "language model", None, fingerprint, 0, 0, marks, model.logprobs, model.long_texts)


def _ngram_baseline(name: str, corpus: Corpus, written: Mapping[str, Any]) -> Model:
    fingerprint, logprobs = key_of(name, corpus_key(corpus), code_of(NgramModel)), lazy_ngram_model(corpus, name)
    return Model("baseline", name, None, fingerprint, settings={"corpus": written}, logprobs=logprobs)


def _refuse_tasks_without_model(name: str, model: Model, tasks: Sequence[Task]) -> None:
    for task in tasks:
        needs = f"which suite={task.suite} needs; give"
        if task.needs == "surprisal":
            if model.logprobs is None:
                raise InputError(f"model={name}: has no language model, {needs} {SURPRISAL_MODELS}")
        elif task.needs == "loss" and model.loss is None:
            remedy = "a run folder, or use.on=downstream (docs/use.md)"
            raise InputError(f"model={name}: has no loss of an objective, {needs} {remedy}")
        elif model.encode is None and name not in task.baselines:
            if model.encoder != "baseline" or not task.baselines:
                raise InputError(f"model={name}: has no vectors, {needs} another suite=")
            baselines = ", ".join(task.baselines)
            raise InputError(f"model={name}: a baseline of other suites; suite={task.suite} has {baselines} alone")
