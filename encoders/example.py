"""The vectors of an example, which a checkpoint has with its weights: other code of the encoder gives others."""

import warnings
from itertools import chain
from pathlib import Path

import torch
from torch import Tensor

from encoder_lab.compute.devices import evaluation_mode
from encoders.encoder import Encoded, Encoder

EXAMPLE_KEY = "example_vectors"  # in a checkpoint
TOLERANCE = 0.01  # of the largest number: products of a GPU in TF32 differ by a tenth of it


def random_words(width: int) -> tuple[Tensor, Tensor]:
    """Two sentences of three words and one: word vectors (2, 3, E) and lengths (2,). `width`: E."""
    words = torch.randn(2, 3, width, generator=torch.Generator().manual_seed(0))
    words[1, 1:] = 0
    return words, torch.tensor([3, 1])


def example_vectors(encoder: Encoder, width: int) -> Tensor:
    """The vectors (2, D) of random words, without dropout, on a CPU. `width`: of a word vector."""
    weight = next(chain(encoder.parameters(), encoder.buffers()), torch.empty(0, dtype=torch.float32))
    words, lengths = random_words(width)
    with evaluation_mode(encoder), torch.no_grad():
        encoded: Encoded = encoder(words.to(weight), lengths.to(weight.device))
    return encoded.vector.float().cpu()


def warn_of_other_vectors(path: Path, encoder: Encoder, width: int, expected: object) -> None:
    """Warn if an encoder with the weights of the checkpoint `path` gives other vectors than when it was saved."""
    if not isinstance(expected, Tensor):
        return  # a new run, or a checkpoint without an example
    vectors, expected = example_vectors(encoder, width), expected.float()
    if expected.shape != vectors.shape:
        return
    tolerance = TOLERANCE * expected.abs().max().item()
    if not torch.allclose(vectors, expected, rtol=0, atol=tolerance, equal_nan=True):
        cause = "its code or a library has changed since; put that back, or train again"
        warnings.warn(f"{path}: the encoder gave other vectors when this was saved: {cause}", stacklevel=2)
