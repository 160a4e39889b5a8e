"""The parts of a run that an export writes: weights, words, n-grams, settings."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from datamodules.corpora.on_disk import OnDisk
from datamodules.corpus import Corpus
from datamodules.text.tokenize import tokenize
from datamodules.word_vectors.fasttext_file import open_bin
from datamodules.word_vectors.run_vectors import ComposedVectors
from encoder_lab.errors import InputError, first_line
from encoders.encoder import Encoder
from encoders.frozen import MAX_SENTENCE_WORDS, FrozenEncoder
from encoders.load import import_class, load_encoder, open_run
from encoders.portable.network import SentenceEncoder, TextReader
from encoders.portable.source import bundled_source

OWN_PACKAGES = ("encoder_lab", "datamodules", "encoders")


class Parts(NamedTuple):
    """A run, ready to be exported."""

    run: Path
    config: Mapping[str, Any]
    epoch: int | float
    encoder: Encoder
    table: Tensor  # (V, E), the run's words, then those that its subwords know in addition
    ngrams: np.ndarray | None  # (buckets, E) of the character n-grams that compose other words
    settings: dict[str, Any]  # what the exported reader needs
    moses: bool  # raw text is tokenised by Moses, in `language`; otherwise words are separated by spaces
    language: str
    allow: tuple[str, ...]

    def source(self, *roots: Any, ending: str = "") -> str:
        """One Python file without our imports that has `roots` and what they need."""
        extra_roots = [tokenize] if self.moses else []
        text = bundled_source([*extra_roots, *roots], [*OWN_PACKAGES, *self.allow])
        spoken = f"TextReader.tokenize = staticmethod(lambda text: tokenize(text, {self.language!r}))\n"
        tokenized = spoken if self.moses else ""
        title = '"""An encoder exported from Sentence Encoder Lab; README.md shows how to use it."""'
        return f"{title}\n\n{text}\n\n{tokenized}{ending}"

    def refuse_other_vectors(self, encode: Callable[[list[str]], np.ndarray], remedy: str) -> None:
        """Raises InputError where an exported encoder gives other vectors of words of the run, or fails."""
        words = self.settings["words"][2:]
        texts, reader = [" ".join(words[:7]), "", words[0]], TextReader(self.settings, self.ngrams)
        expected = SentenceEncoder(self.encoder, self.table, reader).eval().encode(texts)
        try:
            problem = "" if np.allclose(encode(texts), expected, atol=1e-5) else "gives other vectors"
        except Exception as error:  # of code of the user
            problem = f"fails ({first_line(error)})"
        if problem:
            raise InputError(f"{type(self.encoder).__name__}: its export {problem}; {remedy}")

    def save_weights(self, path: Path) -> None:
        """One safetensors file of everything that is no code: tensors, words, settings."""
        tensors = {"table": self.table, **self.encoder.state_dict()}
        tensors |= {} if self.ngrams is None else {"ngrams": torch.from_numpy(self.ngrams)}
        tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
        save_file(tensors, path, {"format": "pt", "settings": json.dumps(self.settings)})


def parts_of(path: Path, raw: bool, allow: Sequence[str]) -> Parts:
    """The parts of a run folder (its best checkpoint) or checkpoint; `raw`: the export tokenises."""
    run = open_run(path)
    config, frozen = run.config, load_encoder(run, "cpu", None, allow)
    frozen.encoder.float(), frozen.embedding.float()  # also of a run in 64 bits
    words, table, ngrams, ngram_sizes = _word_table(frozen, run.folder)
    encoder_settings = {key: value for key, value in config["encoder"].items() if key != "_target_"}
    sizes = {"input_dim": table.shape[1], "dim": frozen.dim, "ngram_sizes": ngram_sizes, "longest": MAX_SENTENCE_WORDS}
    sizes["lowercase"] = frozen.lowercase
    sizes["lowercase_lookup"] = composed_vectors_of(frozen).words is not None
    settings = {"encoder": encoder_settings, **sizes, "words": words}
    moses = raw and _is_moses(run.folder / "config.yaml", config, allow)
    reads = moses, str(config["corpus"].get("source_language", "en"))
    return Parts(run.folder, config, run.epoch, frozen.encoder, table, ngrams, settings, *reads, tuple(allow))


def _word_table(frozen: FrozenEncoder, run: Path) -> tuple[list[str], Tensor, np.ndarray | None, list[int]]:
    """Words, their table, the vectors of n-grams and their shortest and longest size."""
    words, table = frozen.vocabulary.words, frozen.embedding.table.detach().clone()
    path = run / "vectors" / "subwords.bin"
    if not path.exists():
        return words, table, None, [0, 0]
    composed = composed_vectors_of(frozen)
    model = open_bin(path)
    if model.is_quantized():
        raise InputError(
            f"{path}: quantised, so that its n-grams cannot be exported; train with the .bin file it is of"
        )
    arguments = model.f.getArgs()
    known = set(words)
    new = [word for word in model.get_words() if word not in known and len(word.split()) == 1]
    new_vectors = {word: vector for word in new if (vector := composed(word)) is not None}
    if new_vectors:
        words = [*words, *new_vectors]
        table = torch.cat([table, torch.from_numpy(np.stack(list(new_vectors.values())))])
    scale = np.float32(composed.scale)
    ngrams = np.ascontiguousarray(model.get_input_matrix()[len(model.get_words()) :] * scale, dtype=np.float32)
    return words, table, ngrams if arguments.maxn and len(ngrams) else None, [arguments.minn, arguments.maxn]


def composed_vectors_of(frozen: FrozenEncoder) -> ComposedVectors:
    """What gives an encoder of a run folder the vectors of words that it does not have."""
    return getattr(frozen.oov, "__wrapped__")  # type: ignore[no-any-return]  # noqa: B009


def _is_moses(path: Path, config: Mapping[str, Any], allow: Sequence[str]) -> bool:
    """Whether the run's corpus is tokenised by Moses. Raises InputError if it has a tokeniser of its own."""
    corpus_class = import_class(("datamodules", *allow), str(config["corpus"].get("_target_")), Corpus)
    tokenizer = getattr(corpus_class, "tokenize", None)
    if tokenizer not in (Corpus.tokenize, OnDisk.tokenize):
        raise InputError(f"{path}: its corpus has its own tokenisation, which cannot be exported; give raw=false")
    return tokenizer is OnDisk.tokenize
