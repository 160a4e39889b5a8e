"""Products of matrices in 32 bits, by the faster of PyTorch's two libraries for a CPU.

PyTorch multiplies with MKL, which leaves half of an AMD processor unused. Allowed to use fewer bits
(`torch.set_float32_matmul_precision("medium")`) it multiplies with oneDNN, which is twice as fast there, and keeps all
32 bits where the processor has no tiles for fewer. So that is allowed where a product is seen to lose nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch


@contextmanager
def whole_products() -> Iterator[None]:
    """Float32 products are meanwhile as fast as they can be with all their bits.

    Where fewer would be taken, as on a GPU, and where the user has set products by `torch.backends`, nothing changes.
    The setting is the process's: threads that begin and end this one within another still multiply whole.
    """
    before = _setting()
    if before is None or not _medium_is_whole():
        yield
        return
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _setting() -> str | None:
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:  # torch refuses to mix it with those of torch.backends
        return None


@cache
def _medium_is_whole() -> bool:
    """Whether a product that is allowed fewer bits has all of them here; of a GPU it never has."""
    if torch.cuda.is_available():
        return False
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast("cpu", enabled=False):
            factor = torch.full((256, 256), 1 + 2**-12, dtype=torch.float32, device="cpu")
            # 13 bits; bfloat16 has 8, TF32 11
            return bool(torch.allclose(factor @ factor, 256 * factor.square(), rtol=1e-6))
    finally:
        torch.set_float32_matmul_precision(before)
