"""`init=`: a run that begins with the encoder and the word vectors of another run."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from datamodules.text.vocabulary import SPECIALS, Vocabulary
from datamodules.word_vectors.run_vectors import RunVectors, load_run_vectors
from datamodules.word_vectors.store import LookupResult, WordVectors
from encoder_lab.errors import InputError
from encoder_lab.settings.run_settings import INCIDENTAL_OF_TRAINER, dotted_items, earlier_runs, objective_of
from encoder_lab.storage.reads import refuse_changed_corpus
from encoder_lab.training.checkpoints import LAST, PREVIOUS
from encoders.encoder import Encoder
from encoders.example import warn_of_other_vectors
from encoders.load import find_checkpoint, open_run, read_config

# what was trained, and how
HASHED_PARTS = ("encoder", "embeddings", "corpus", "datamodule", "objective", "schedule", "early_stopping", "trainer")
MAY_DIFFER = ("dropout",)  # settings of an encoder that change no vector


class InitialRun(NamedTuple):
    """The run that another begins with."""

    name: str  # as `init=` gives it
    weights: dict[str, Tensor]
    vectors: RunVectors
    example: object = None  # the vectors of an example, when it was saved

    @property
    def table(self) -> np.ndarray:
        """Its word vectors (V, E): those in its folder, or the trained ones of its checkpoint."""
        trained = self.weights.get("embedding.table")
        return np.asarray(self.vectors.matrix) if trained is None else trained.numpy()


def source_of(
    init: str, folder: Path, encoder: Mapping[str, Any], dim: int | None, corpus: Mapping[str, Any], content: str
) -> InitialRun | None:
    """What the run begins with; None if it has begun. Raises InputError if encoder, vectors or corpus differ."""
    if any((folder / "checkpoints" / name).exists() for name in (LAST, PREVIOUS)):
        return None
    run = open_run(Path(init))
    source = InitialRun(init, run.weights, load_run_vectors(run.folder), run.example)
    refuse_changed_corpus(run.folder, run.config["corpus"], corpus, content)
    stored = run.config["encoder"]
    keys = {**stored, **encoder}
    if changed := [key for key in keys if key not in MAY_DIFFER and stored.get(key) != encoder.get(key)]:
        differs = ", ".join(f"encoder.{key}={stored.get(key)} there and {encoder.get(key)} here" for key in changed)
        raise InputError(f"init={init}: another encoder: {differs}; give the settings of that run")
    width = source.table.shape[1]
    if dim not in (None, width):
        raise InputError(f"init={init}: its word vectors have {width} numbers; give embeddings.dim={width}")
    return source


def init_history(init: str) -> list[Any]:
    """The runs before this one, in order; `settings` is a hash of the settings that make another model of a run."""
    checkpoint = find_checkpoint(Path(init))
    config = read_config(checkpoint.parents[1])
    items = dotted_items({part: config.get(part) for part in HASHED_PARTS})
    values = {key: value for key, value in items if key not in INCIDENTAL_OF_TRAINER and not isinstance(value, dict)}
    key = sha256(json.dumps([checkpoint.name, values], sort_keys=True, default=str).encode()).hexdigest()[:8]
    name = objective_of(config).rpartition(" → ")[2]
    return [*earlier_runs(config), {"objective": name, "corpus": config.get("corpus_name"), "settings": key}]


def extend_vocabulary(
    source: InitialRun, vocabulary: Vocabulary, file: WordVectors | None
) -> tuple[Vocabulary, LookupResult]:
    """All words of the new run and of its source, with the vectors that the source has, or composes, for them.

    The rows of `vocabulary` stay. `file`: the vector file that the source was made from, for words that it lacks. A
    word without a vector gets what the source gives to it: its row of unknown words.
    """
    words = vocabulary.extend(source.vectors.vocabulary.words)
    row = {word: index for index, word in enumerate(source.vectors.vocabulary.words)}
    source.vectors.lookup_oov.matrix = source.table
    compose = source.vectors.extend_lookup(file) if file else source.vectors.lookup_oov
    matrix = np.tile(source.table[1], (len(words), 1))
    looked_up, composed = np.zeros(len(words), dtype=bool), np.zeros(len(words), dtype=bool)
    for index, word in enumerate(words.words):
        if word in row:
            matrix[index] = source.table[row[word]]
            looked_up[index] = word in SPECIALS or matrix[index].any()  # a word without a vector there has none here
        elif (vector := compose(word)) is not None:
            matrix[index], composed[index] = vector, True
    return words, LookupResult(matrix, looked_up, composed)


def take_weights(source: InitialRun, encoder: Encoder) -> None:
    """Give the encoder the weights of the source. Raises InputError naming the first that does not fit."""
    saved = {key.removeprefix("encoder."): w for key, w in source.weights.items() if key.startswith("encoder.")}
    fresh = encoder.state_dict()
    for name in sorted({*saved, *fresh}):
        shapes: Sequence[Any] = [tuple(weights[name].shape) if name in weights else None for weights in (saved, fresh)]
        if shapes[0] != shapes[1]:
            raise InputError(f"init={source.name}: encoder weight {name} is {shapes[0]} there and {shapes[1]} here")
    encoder.load_state_dict(saved)
    warn_of_other_vectors(Path(source.name), encoder, source.table.shape[1], source.example)
