"""Builds the models of `model=`: `python evaluate.py model=NAME`."""

from collections.abc import Sequence
from pathlib import Path

import torch
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from common.errors import InputError
from common.model import Model
from datamodules.corpus import Corpus
from datamodules.word_vectors.store import FromFile
from encoders.hugging_face import pretrained
from encoders.language_model import CausalLM
from encoders.model_sources import called, initialised, of_files, precomputed, trained

CONFIGS = Path(__file__).parents[1] / "configs"
FORMS = (
    "a run folder or checkpoint, bov, untrained/ENCODER, hf:NAME_OR_PATH, vectors:FILE.npy, call:MODULE:FUNCTION, "
    "for suite=coherence lm:PATH, ngram, unigram, or a baseline: "
)


def forms(baselines: Sequence[str]) -> str:
    """The possible values of `model=`."""
    return FORMS + ", ".join(baselines)


def models_named(
    name: str, config: DictConfig, corpus: Corpus, sentences: list[str], work: Path, baselines: Sequence[str]
) -> list[Model]:
    """The models of a name; all layers of a transformer are a model each. Raises InputError for an unknown name."""
    kind, colon, rest = name.partition(":")
    if name in baselines:
        return [Model("baseline", name, None, "baseline")]
    if name == "bov" or name.startswith("untrained/"):
        return [untrained(name.removeprefix("untrained/"), config, corpus, sentences, work)]
    if colon and kind == "hf":
        return pretrained(rest, config.layers, config.pooling, config.device, work)
    if colon and kind == "vectors":
        return [precomputed(Path(rest), config.sentences and Path(config.sentences))]
    if colon and kind == "lm":
        return [language_model(Path(rest), config)]
    if colon and kind == "call":
        return [called(rest)]
    if not Path(name).exists():
        raise InputError(f"model={name}: no such run folder; give {forms(baselines)}")
    source = instantiate(config.embeddings.source)
    more = source.vectors(list, "", work) if isinstance(source, FromFile) else None
    one = trained(Path(name), config.device, more, config.allow)
    return [one._replace(settings={**one.settings, "embeddings": config.embeddings}) if more else one]


def language_model(path: Path, config: DictConfig) -> Model:
    """A causal language model on disk, with what counts as its text: `bos` and `eos`."""
    found = CausalLM(path, config.device, config.bos, config.eos)
    files = sorted(file for file in path.iterdir() if file.is_file())
    known = f"{of_files(files)} bos {config.bos} eos {config.eos}"
    settings = {"bos": config.bos, "eos": config.eos}
    return Model(path.resolve().name, "language model", None, known, settings=settings, logprobs=found.logprobs)


def untrained(encoder: str, config: DictConfig, corpus: Corpus, sentences: list[str], work: Path) -> Model:
    """bov, or an encoder with initial weights from the seed."""
    path = CONFIGS / "encoder" / f"{encoder}.yaml"
    if not path.exists():
        there = ", ".join(sorted(p.stem for p in path.parent.glob("*.yaml")))
        raise InputError(f"model=untrained/{encoder}: no such encoder; there are {there}")
    source = instantiate(config.embeddings.source)
    store = source.vectors(lambda: corpus.sentences("train"), corpus.fingerprint(), work)
    torch.manual_seed(config.seed)
    settings = OmegaConf.load(path)
    made = instantiate(settings, input_dim=store.matrix.shape[1])
    objective = "bov" if encoder == "bov" else "untrained"
    one = initialised(encoder, objective, made, OmegaConf.to_yaml(settings), sentences, store, config.device)
    text = {} if isinstance(source, FromFile) else {"corpus": config.corpus}  # that word vectors were trained on
    return one._replace(settings={"embeddings": config.embeddings, **text})
