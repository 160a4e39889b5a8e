"""What decides an encoder's vectors, as a short text: for scores that were computed before for the same encoder."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import torch

from encoder_lab.storage.code import code_of
from encoders.frozen import FrozenEncoder


def code_of_encoder(frozen: FrozenEncoder) -> list[str]:
    """The code that computes its vectors."""
    return [code_of(type(frozen.encoder)), code_of(FrozenEncoder)]


def fingerprint(frozen: FrozenEncoder, settings: Mapping[str, Any], sentences: Iterable[str]) -> str:
    """The same text means the same vectors of these sentences; it reads each weight and word once."""
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
