"""Matrix products keep full float32 precision, and the user's settings stay as they are."""

from collections.abc import Iterator

import pytest
import torch

from encoder_lab.compute import matmul as products
from encoder_lab.compute.matmul import fast_exact_matmul


@pytest.fixture(params=["highest", "high", "medium"])
def before(request) -> Iterator[str]:
    torch.set_float32_matmul_precision(request.param)
    yield request.param
    torch.set_float32_matmul_precision("highest")


@pytest.mark.parametrize("rows", [1, 64, 300])
def test_products_equal_float64_products_up_to_float32_rounding(rows) -> None:
    left, right = torch.randn(2, 300, 300, generator=torch.Generator().manual_seed(0))
    some = left[:rows]
    with fast_exact_matmul():
        fast = [some @ right, some @ right.t(), torch.addmm(right[0], some, right), torch.bmm(some[None], right[None])]
    exact = some.double() @ right.double()
    expected = [exact, some.double() @ right.double().t(), exact + right[0], exact[None]]
    for ours, whole in zip(fast, expected, strict=True):
        torch.testing.assert_close(ours.double(), whole, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("whole", [True, False])
def test_medium_precision_is_set_only_where_it_is_exact(before, monkeypatch, whole) -> None:
    monkeypatch.setattr(products, "_medium_is_exact", lambda: whole)
    with fast_exact_matmul():
        assert torch.get_float32_matmul_precision() == ("medium" if whole else before)
    assert torch.get_float32_matmul_precision() == before


def test_the_previous_setting_is_restored_after_an_error(before) -> None:
    with pytest.raises(ZeroDivisionError), fast_exact_matmul():
        _ = 1 / 0
    assert torch.get_float32_matmul_precision() == before


@pytest.mark.parametrize("lost", [False, True])
def test_a_product_that_loses_precision_is_detected(before, monkeypatch, lost) -> None:
    multiply = torch.Tensor.__matmul__

    def in_bfloat16(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        assert torch.get_float32_matmul_precision() == "medium"
        dtype = torch.bfloat16 if lost else torch.float64
        return multiply(left.to(dtype), right.to(dtype)).float()

    monkeypatch.setattr(torch.Tensor, "__matmul__", in_bfloat16)
    assert products._medium_is_exact.__wrapped__() is not lost
    assert torch.get_float32_matmul_precision() == before


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_the_precision_check_uses_float32_under_any_user_setting(dtype) -> None:
    usual = products._medium_is_exact.__wrapped__()
    torch.set_default_dtype(dtype)
    try:
        with torch.autocast("cpu", torch.bfloat16), torch.device("meta"):
            assert products._medium_is_exact.__wrapped__() == usual
    finally:
        torch.set_default_dtype(torch.float32)


def test_settings_of_torch_backends_are_not_changed() -> None:
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    try:
        with fast_exact_matmul():
            assert torch.backends.cuda.matmul.fp32_precision == "tf32"
        assert torch.backends.cuda.matmul.fp32_precision == "tf32"
    finally:
        torch.set_float32_matmul_precision("highest")
