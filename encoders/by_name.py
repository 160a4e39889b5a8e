"""Builds the models of `model=`: `python evaluate.py model=NAME`."""

from pathlib import Path
from typing import Any

import torch
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from datamodules.corpus import Corpus, made_of
from datamodules.word_vectors.store import FromFile
from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import contents_of, key_of
from encoders.hugging_face import pretrained
from encoders.language_model import CausalLM
from encoders.load import load_encoder
from encoders.model_names import BASELINES, FORMS, WORDS, encoder_file
from encoders.model_sources import called, initialised, precomputed, trained


def models_named(name: str, config: DictConfig, corpus: Corpus, sentences: list[str], work: Path) -> list[Model]:
    """The models of a name that `check_name` accepts; all layers of a transformer are a model each."""
    kind, colon, rest = name.partition(":")
    if name in BASELINES:
        return [Model("baseline", name, None, "baseline")]
    if name == "bov" or name.startswith("untrained/"):
        return [untrained(name.removeprefix("untrained/"), config, corpus, sentences, work)]
    if colon and kind == "hf":
        return pretrained(rest, config.layers, config.pooling, config.device, work, config.prompt)
    if colon and kind == "vectors":
        return [precomputed(Path(rest), config.sentences and Path(config.sentences))]
    if colon and kind == "lm":
        return [language_model(Path(rest), config)]
    if colon and kind == "call":
        return [called(rest)]
    source = instantiate(config.embeddings.source)
    more = source.vectors(list, "", work) if isinstance(source, FromFile) else None
    one = trained(Path(name), config.device, more, config.allow)
    return [one._replace(settings={**one.settings, "embeddings": config.embeddings}) if more else one]


def check_name(name: str, config: DictConfig) -> None:
    """Raises InputError for a name that is no model, a broken run or a missing function: what needs no text to know."""
    kind, colon, rest = name.partition(":")
    if name.startswith("untrained/"):
        encoder_file(name.removeprefix("untrained/"))
    elif colon and kind == "call":
        called(rest)
    elif colon and kind == "vectors":
        precomputed(Path(rest), config.sentences and Path(config.sentences))
    elif name not in WORDS and not (colon and kind in ("hf", "lm")):
        if not Path(name).exists():
            raise InputError(f"model={name}: no such run folder or checkpoint; give {FORMS}")
        load_encoder(Path(name), "cpu", allow=config.allow)


def language_model(path: Path, config: DictConfig) -> Model:
    """A causal language model on disk, with what counts as its text: `bos` and `eos`."""
    found = CausalLM(path, config.device, config.bos, config.eos)
    files = (file for file in path.rglob("*") if file.is_file())
    known = key_of(code_of(CausalLM), contents_of(files, path), config.bos, config.eos)
    settings = {"bos": config.bos, "eos": config.eos}
    name = path.resolve().name
    return Model(name, "language model", None, known, 0, 0, settings, found.logprobs, found.long_texts)


def untrained(encoder: str, config: DictConfig, corpus: Corpus, sentences: list[str], work: Path) -> Model:
    """bov, or an encoder with initial weights from the seed."""
    path = encoder_file(encoder)
    source = instantiate(config.embeddings.source)
    store = source.vectors(lambda: corpus.sentences("train"), key_of(made_of(corpus)), work)
    torch.manual_seed(config.seed)
    loaded: Any = OmegaConf.load(path)
    settings = loaded.get("encoder", loaded)  # of a YAML that also has labels
    made = instantiate(settings, input_dim=store.matrix.shape[1])
    objective = "bov" if encoder == "bov" else "untrained"
    one = initialised(encoder, objective, made, OmegaConf.to_yaml(settings), sentences, store, config.device)
    text = {} if isinstance(source, FromFile) else {"corpus": config.corpus}  # that word vectors were trained on
    return one._replace(settings={"embeddings": config.embeddings, **text})
