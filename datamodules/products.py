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
    """Float32 products keep their 32 bits meanwhile, whatever was set before, and are as fast as that allows."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium" if _medium_is_whole() else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@cache
def _medium_is_whole() -> bool:
    """Whether a product that is allowed fewer bits has all of them here; of a GPU it never has."""
    if torch.cuda.is_available():
        return False
    torch.set_float32_matmul_precision("medium")
    factor = torch.full((256, 256), 1 + 2**-12)  # needs 13 bits; bfloat16 has 8, TF32 11
    return bool(torch.allclose(factor @ factor, 256 * factor.square(), rtol=1e-6))
