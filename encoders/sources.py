"""Frozen models from runs, files and functions."""

import json
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch

from datamodules.arrays import read_numbers
from datamodules.text.vocabulary import Vocabulary
from datamodules.word_vectors.store import LookupResult, WordVectors, refuse_low_coverage
from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.settings.run_settings import objective_of, trained_in_bfloat16
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import content_of, contents_of, key_of
from encoder_lab.storage.made_with import without_made_with
from encoder_lab.storage.reads import CORPUS_KEY, read_reads
from encoder_lab.storage.text_files import read_lines
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from encoders.frozen import FrozenEncoder
from encoders.load import SavedRun, load_encoder

TOLERANCE = 1e-3  # of the largest number, by which two vectors of a sentence may differ
MAX_UNKNOWN_SHARE = 0.02  # share of words without a vector from which there is a warning


def code_of_encoder(frozen: FrozenEncoder) -> list[str]:
    """The code that computes the encoder's vectors."""
    return [code_of(type(frozen.encoder)), code_of(FrozenEncoder)]


def fingerprint(frozen: FrozenEncoder, settings: Mapping[str, Any], sentences: Iterable[str]) -> str:
    """A hash: equal hashes mean equal vectors of these sentences. It reads each weight and word once."""
    texts = (sentence.lower() if frozen.lowercase else sentence for sentence in sentences)
    words = {word for sentence in texts for word in sentence.split()} - set(frozen.vocabulary.words)
    composed = {word: frozen.oov(word) for word in sorted(words)} if frozen.oov else {}
    vectors = {word: None if vector is None else vector.tobytes().hex() for word, vector in composed.items()}
    arithmetic = [str(frozen.embedding.table.device), frozen.bfloat16, frozen.lowercase]
    parts = [*code_of_encoder(frozen), settings, *arithmetic, vectors, frozen.vocabulary.words]
    digest = sha256(json.dumps(parts).encode())
    for name, tensor in (*frozen.encoder.state_dict().items(), ("word vectors", frozen.embedding.table)):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def trained_model(run: SavedRun, device: str, store: WordVectors | None = None, allow: Sequence[str] = ()) -> Model:
    """The frozen encoder of a run; `store`: vectors for words that it lacks; `allow`: packages of the user."""
    files = [p for folder in ("vectors", "decoder") for p in sorted((run.folder / folder).glob("*")) if p.is_file()]
    frozen = load_encoder(run, device, store, allow, bfloat16=trained_in_bfloat16(run.config))

    def encode(sentences: list[str]) -> np.ndarray:
        vectors = frozen.encode(sentences)
        coverage = frozen.coverage
        if coverage.unknown > MAX_UNKNOWN_SHARE * coverage.words:
            share = f"{100 * coverage.unknown / coverage.words:.0f}% of the words have no vector in this run"
            remedy = "its training vectors may have more (embeddings=file embeddings.path=)"
            warnings.warn(f"{run.checkpoint}: {share}; {remedy}", stacklevel=2)
        return vectors

    settings_read = sha256(without_made_with((run.folder / "config.yaml").read_bytes())).hexdigest()
    contents = [content_of(run.checkpoint), settings_read, *contents_of(files, run.folder)]
    source = store and (store.folder.name, store.lowercase)
    fingerprint = key_of(code_of_encoder(frozen), contents, source, frozen.bfloat16)
    content = read_reads(run.folder).get(CORPUS_KEY)
    corpus = {**run.config["corpus"], "content": content} if content else run.config["corpus"]
    settings = {"run": {**run.config, "corpus": corpus}, "checkpoint": run.checkpoint.name}
    names = str(run.config.get("encoder_name", "?")), objective_of(run.config)
    model = Model(*names, encode, fingerprint, run.epoch, run.step, settings, device=device, bfloat16=frozen.bfloat16)
    return model._replace(bag=bag_of(frozen))


def bag_of(frozen: FrozenEncoder) -> Model:
    """A bag of the word vectors that an encoder reads."""
    network = BagOfVectors(frozen.embedding.dim).eval()
    words = frozen.embedding, frozen.vocabulary, frozen.oov
    return Model("bov", "bov", FrozenEncoder(network, *words, lowercase=frozen.lowercase).encode)


def precomputed_model(path: Path, sentences: Path | None) -> Model:
    """A matrix (N, D) in a .npy file: row i is the vector of line i of a text file."""
    if sentences is None:
        raise InputError(f"{path}: needs sentences=FILE, the text file with one line for each row")
    matrix = read_numbers(path)
    lines = [line for _, line in read_lines(sentences)]
    if matrix.ndim != 2 or len(matrix) != len(lines):
        raise InputError(f"{path}: {matrix.shape} is not one vector for each of the {len(lines)} lines of {sentences}")
    row: dict[str, int] = {}
    for i, line in enumerate(lines):
        first = row.setdefault(line, i)
        if first < i and not np.allclose(
            matrix[i], matrix[first], rtol=0, atol=TOLERANCE * np.abs(matrix[first]).max()
        ):
            raise InputError(f"{sentences}:{i + 1}: the sentence of line {first + 1} with another vector; keep one")

    def encode(requested: list[str]) -> np.ndarray:
        if missing := [s for s in requested if s not in row]:
            remedy = "write the suite's sentences with write_sentences=FILE and encode those"
            raise InputError(f"{sentences}: {len(missing)} sentences are not in it, as {missing[0]!r}; {remedy}")
        return np.asarray(matrix[[row[s] for s in requested]], dtype=np.float32)

    return Model(path.stem, "precomputed", encode, key_of(content_of(path), content_of(sentences)))


def untrained_model(
    name: str,
    objective: str,
    encoder: Encoder,
    settings: str,
    sentences: Sequence[str],
    store: WordVectors,
    device: str,
) -> Model:
    """An untrained encoder with the word vectors of a store: bov and untrained/ENCODER."""
    vocabulary = Vocabulary.count(sentences)
    looked_up = store.lookup(vocabulary.words)
    print_coverage(name, sentences, vocabulary, looked_up, store)
    embedding = WordEmbedding(looked_up.matrix * np.float32(store.scale))
    digest = sha256(settings.encode())  # the weights do not contain the pooling
    digest.update(np.ascontiguousarray(embedding.table.numpy()).tobytes())
    for key, value in encoder.state_dict().items():
        digest.update(key.encode() + value.numpy().tobytes())
    frozen = FrozenEncoder(encoder.eval().requires_grad_(False).to(device), embedding.to(device), vocabulary)
    fingerprint = key_of(code_of_encoder(frozen), digest.hexdigest())
    bag = None if name == "bov" else bag_of(frozen)
    return Model(name, objective, frozen.encode, fingerprint, device=device, bag=bag)


def print_coverage(
    name: str, sentences: Iterable[str], vocabulary: Vocabulary, looked_up: LookupResult, store: WordVectors
) -> None:
    """Print how many words have no vector, a warning if more than `MAX_UNKNOWN_SHARE`."""
    rows = np.fromiter((row for sentence in sentences for row in vocabulary.rows(sentence)), np.int64)
    missing = int((~looked_up.known[rows]).sum())
    share = missing / max(1, len(rows))
    lookup = f"{'looked up in lower case, ' if store.lowercase else ''}vectors times {store.scale:.3g}"
    line = f"{name}: {missing:,} of {len(rows):,} words ({100 * share:.1f}%) have no vector; {lookup}"
    remedy = "" if store.lowercase else "; embeddings.lowercase=true may find more"
    refuse_low_coverage(looked_up, np.unique(rows), f"{name}, embeddings")
    print(f"warning: {line}{remedy}" if share > MAX_UNKNOWN_SHARE else line, file=sys.stderr)
