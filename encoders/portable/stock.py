"""sentence-transformers folders: stock modules where they give the same vectors, otherwise one bundled module."""

import json
import runpy
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from datamodules.batches import UNKNOWN
from encoder_lab.errors import InputError
from encoders.bilstm import BiLSTM
from encoders.bov import BagOfVectors
from encoders.frozen import MAX_SENTENCE_WORDS
from encoders.pooling import MAX
from encoders.portable.network import WEIGHTS, SentenceEncoder
from encoders.portable.parts import Parts
from encoders.portable.source import REMEDY

MODULE_NAME = "sentence_encoder"
SPACES_PATTERN = r"[\s\x1c-\x1f\x85]+"  # what str.split() splits at


def why_not_stock(parts: Parts) -> str:
    """Why stock modules cannot be used at all; empty if they can."""
    encoder = parts.encoder
    pooled = isinstance(encoder, BiLSTM) and encoder.pool is MAX
    mean = isinstance(encoder, BagOfVectors) and encoder.pooling == "mean"
    if type(encoder) not in (BiLSTM, BagOfVectors) or not (pooled or mean):
        return f"they have no {type(encoder).__name__}{'' if pooled else ' with its pooling'}"
    if parts.settings["lowercase"]:
        return "their words have capitals, and this run reads lower case"
    if parts.moses:
        return "they have no Moses tokenisation; raw=false reads tokenised text"
    return "they do not look words up in lower case" if parts.settings["lowercase_lookup"] else ""


def write_stock(parts: Parts, folder: Path) -> None:
    """Word vectors with the projection folded in, LSTM and Pooling, saved by the library itself."""
    try:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import LSTM, Pooling, WordEmbeddings, WordWeights
    except ImportError:
        raise InputError("modules=stock needs another package: pip install sentence-transformers") from None
    encoder = parts.encoder
    table = encoder.projection(parts.table) if isinstance(encoder, BiLSTM) else parts.table
    words = WordEmbeddings(_tokenizer(parts), table.numpy(), max_seq_length=MAX_SENTENCE_WORDS)
    if isinstance(encoder, BiLSTM):
        layers = len(encoder.lstm.forward_layers)
        lstm = LSTM(table.shape[1], encoder.dim // 2, layers, encoder.dropout.p if layers > 1 else 0.0)
        lstm.encoder.load_state_dict(_stacked_weights(encoder))
        modules: list[nn.Module] = [words, lstm, Pooling(encoder.dim, "max")]
    else:
        rows = list(parts.settings["words"])  # an unknown word is not counted
        counted = WordWeights(rows, dict.fromkeys(rows[UNKNOWN + 1 :], 1.0), unknown_word_weight=0.0)
        modules = [words, counted, Pooling(encoder.dim, "mean")]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder), create_model_card=False)


def _stacked_weights(encoder: BiLSTM) -> dict[str, Tensor]:
    """The weights of both directions under the names of a stacked bidirectional nn.LSTM."""
    weights = {}
    for direction, layers in (("", encoder.lstm.forward_layers), ("_reverse", encoder.lstm.backward_layers)):
        for number, layer in enumerate(layers):
            for name, weight in layer.state_dict().items():
                weights[f"{name.removesuffix('_l0')}_l{number}{direction}"] = weight
    return weights


def _tokenizer(parts: Parts) -> Any:
    """A tokenizer that splits composed Unicode at white space."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    rows = {word: row for row, word in enumerate(parts.settings["words"])}
    tokenizer = Tokenizer(models.WordLevel(rows, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(SPACES_PATTERN), "removed")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def write_bundled(parts: Parts, folder: Path) -> None:
    """One module of one Python file, which `SentenceTransformer(folder, trust_remote_code=True)` loads."""
    write_torch(parts, folder)
    modules = [{"idx": 0, "name": "0", "path": "", "type": f"{MODULE_NAME}.{SentenceEncoder.__name__}"}]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    versions = {"pytorch": torch.__version__, "numpy": np.__version__}
    with suppress(PackageNotFoundError):
        versions["sentence_transformers"] = version("sentence-transformers")
    config = {"__version__": versions, "similarity_fn_name": "cosine"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config), encoding="utf-8")


def write_torch(parts: Parts, folder: Path) -> None:
    """One safetensors file and one Python file that needs torch, numpy and safetensors alone."""
    parts.save_weights(folder / WEIGHTS)
    ending = f"SentenceEncoder.encoder_class = {type(parts.encoder).__name__}\n"
    code = parts.source(type(parts.encoder), SentenceEncoder, ending=ending)
    file = folder / f"{MODULE_NAME}.py"
    file.write_text(code, encoding="utf-8")

    def encode(texts: list[str]) -> np.ndarray:
        exported = runpy.run_path(str(file))
        exported["TextReader"].tokenize = staticmethod(str)
        return exported["SentenceEncoder"].load(str(folder)).encode(texts)  # type: ignore[no-any-return]

    parts.refuse_other_vectors(encode, REMEDY)
