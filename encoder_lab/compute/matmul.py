"""Matrix products: exact float32 on a CPU with the faster of PyTorch's two libraries, or bfloat16.

By default PyTorch multiplies with MKL, which uses only half of an AMD processor. With
`torch.set_float32_matmul_precision("medium")` it multiplies with oneDNN, which is twice as fast there. "medium" permits
lower precision, but a processor without bfloat16 matrix units still computes in float32. We set "medium" only where a
test product loses no precision.

Products in bfloat16 are the user's choice. They save time only on machines that have instructions for them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch


@contextmanager
def fast_exact_matmul() -> Iterator[None]:
    """Inside this context float32 matrix products use the fastest library that keeps full precision.

    Changes nothing where "medium" would lose precision, as on a GPU, or where the user has configured precision with
    `torch.backends`. The setting is global to the process; overlapping contexts in several threads remain exact.
    """
    try:
        previous = torch.get_float32_matmul_precision()
    except RuntimeError:  # torch refuses to read it after torch.backends has set precision
        previous = None
    if previous is None or not _medium_is_exact():
        yield
        return
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(previous)


def multiplies_in_bfloat16(device: torch.device) -> bool:
    """Whether a device has instructions for products in bfloat16; without them they are slower than in float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and torch.cpu._is_avx512_bf16_supported()


@cache
def _medium_is_exact() -> bool:
    """Whether a product with precision "medium" is exact in float32 on this machine; never true with a GPU."""
    if torch.cuda.is_available():
        return False
    previous = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast("cpu", enabled=False):
            factor = torch.full((256, 256), 1 + 2**-12, dtype=torch.float32, device="cpu")
            # needs 13 bits; bfloat16 has 8, TF32 has 11
            return bool(torch.allclose(factor @ factor, 256 * factor.square(), rtol=1e-6))
    finally:
        torch.set_float32_matmul_precision(previous)
