"""The interface of sentence encoders. Letters: B sentences, T words, E input width, H state width, D vector width."""

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor, nn


class Encoded(NamedTuple):
    """The output of an encoder: `vector (B, D)` of sentences, `states (B, T, H)` of words, zero at padding."""

    vector: Tensor
    states: Tensor


class Encoder(nn.Module):
    """Word vectors in, one vector per sentence out.

    Padding must not change a result: a sentence gets the same vector alone and in any batch.
    """

    dim: int  # D
    state_dim: int  # H
    attention: bool = False  # whether decoders attend over the states, in addition to reading the vector
    batch_words: int = 1024  # padded words that a frozen encoder reads at a time on a CPU: they should fit the caches

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        """Encode word vectors `(B, T, E)` of sentences with `lengths (B,)`, each at least 1."""
        raise NotImplementedError

    def over(self, words: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
        """The function from ids (B, T), which are rows of `words` (U, E), and lengths (B,) to vectors (B, D).

        For an encoder in evaluation that reads many batches of the same words: it may compute once for each word what
        depends on the word alone. A class with a `forward` of its own and no `over` has this one.
        """
        return lambda ids, lengths: self(words[ids], lengths).vector

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "forward" in vars(cls) and "over" not in vars(cls):
            cls.over = Encoder.over  # type: ignore[method-assign]  # an inherited one would not call this `forward`
