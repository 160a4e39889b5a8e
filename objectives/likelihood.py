"""The surprisal of texts for a trained objective: each sentence is given the vector of the one before it."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from datamodules.text.sentences import sentence_spans
from encoder_lab.compute.devices import evaluation_mode
from encoder_lab.compute.matmul import fast_exact_matmul
from encoder_lab.errors import InputError
from encoder_lab.model import TokenLogprobs
from encoder_lab.storage.reads import refuse_changed_files
from encoders.length_batches import length_batches
from encoders.load import SavedRun

BATCH_TOKENS = 2048  # padded tokens per batch: on a CPU a batch should fit the caches,
GPU_BATCH_TOKENS = 1 << 16  # on a GPU it should use all cores


class NoLikelihood(InputError):
    """The objective gives no probability to a text; the message says why."""


class SentenceTokens(NamedTuple):
    """The T tokens of a sentence that are scored."""

    ids: list[int]
    tokens: list[str]
    offsets: np.ndarray  # (T, 2) int64, first character and the one after the last, in the sentence


class SentenceLikelihood(Protocol):
    """The probability of a sentence given the vector of its neighbour."""

    network: nn.Module

    def tokens(self, sentence: str) -> SentenceTokens:
        """The tokens of a sentence that are scored."""
        ...

    def log_probabilities(self, vectors: Tensor, rows: Sequence[list[int]]) -> Tensor:
        """log p (B, T), in nats, of the tokens `rows` given vectors (B, D); anything where a row has no token."""
        ...


def decoder_file(run: SavedRun, name: str) -> Path:
    """A file that the decoder of a run needs. Raises InputError where it is missing, or not as the run wrote it."""
    path = run.folder / "decoder" / name
    if not path.is_file():
        again = f"python train.py resume={run.folder}"
        raise InputError(f"{path}: missing, as in runs of earlier versions; {again} writes it")
    refuse_changed_files(run.folder, path.parent.name)
    return path


class TextLikelihood:
    """A language model of texts from the probability of a sentence after another.

    The first sentence of a text is given a vector of zeros. Each distinct sentence is encoded once, and scored once
    after each distinct sentence before it. Scoring changes neither modes nor random state.
    """

    def __init__(self, encode: Callable[[list[str]], np.ndarray], sentence: SentenceLikelihood) -> None:
        """`encode` gives the vectors (N, D) of sentences."""
        self.encode, self.sentence = encode, sentence

    def logprobs(self, pairs: Sequence[tuple[str, str]]) -> list[TokenLogprobs]:
        """log2 p of the tokens of each continuation. A token that begins in the context is context."""
        split = {pair: list(sentence_spans("".join(pair))) for pair in pairs}
        texts = (("".join(pair), spans) for pair, spans in split.items())
        # of each text every sentence with the one before it, "" for the first
        chains = [list(pairwise(["", *(text[start:end] for start, end in spans)])) for text, spans in texts]
        scores = self._score_links(list(dict.fromkeys(link for links_of_pair in chains for link in links_of_pair)))
        scored = {}
        for (pair, spans), chain in zip(split.items(), chains, strict=True):
            parts = [scores[link] for link in chain]
            names = [name for part in parts for name in part.tokens]
            shifts = [start - len(pair[0]) for start, _ in spans]
            offsets = [part.offsets + shift for part, shift in zip(parts, shifts, strict=True)]
            token_spans = np.concatenate([np.empty((0, 2), np.int64), *offsets])
            bits = np.concatenate([np.empty(0), *(part.logprobs for part in parts)])
            first = int((token_spans[:, 0] < 0).sum())
            scored[pair] = TokenLogprobs(names[first:], token_spans[first:], bits[first:])
        return [scored[pair] for pair in pairs]

    @fast_exact_matmul()
    def _score_links(self, links: list[tuple[str, str]]) -> dict[tuple[str, str], TokenLogprobs]:
        """The tokens of each sentence after the one before it, "" for the first."""
        contexts = {sentence: row for row, sentence in enumerate(dict.fromkeys(first for first, _ in links if first))}
        vectors = torch.from_numpy(np.asarray(self.encode(list(contexts)), np.float32))
        vectors = torch.cat([vectors, torch.zeros(1, vectors.shape[1])])  # the last row is for first sentences
        tokens = {sentence: self.sentence.tokens(sentence) for sentence in dict.fromkeys(text for _, text in links)}
        device = next(self.sentence.network.parameters()).device
        budget = BATCH_TOKENS if device.type == "cpu" else GPU_BATCH_TOKENS
        scored = {}
        with (
            evaluation_mode(self.sentence.network),
            torch.inference_mode(),
            tqdm(total=len(links), desc="scoring", disable=None, leave=False) as bar,
        ):
            lengths = np.array([len(tokens[current].ids) for _, current in links], np.int64)
            for indices in length_batches(np.argsort(-lengths, kind="stable"), lengths, budget):
                batch = [links[index] for index in indices]
                rows = [contexts.get(previous, len(contexts)) for previous, _ in batch]
                context = vectors[rows].to(device)
                nats = self.sentence.log_probabilities(context, [tokens[text].ids for _, text in batch])
                bits = nats.double().cpu().numpy() / math.log(2)
                for link, row in zip(batch, bits, strict=True):
                    ids, names, offsets = tokens[link[1]]
                    scored[link] = TokenLogprobs(names, offsets, row[: len(ids)])
                bar.update(len(batch))
        return scored


def pad_ids(rows: Sequence[list[int]], device: torch.device) -> Tensor:
    """Ids (B, T) with zeros on the right."""
    return pad_sequence([torch.tensor(row, dtype=torch.int64) for row in rows], batch_first=True).to(device)
