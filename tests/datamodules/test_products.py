"""Products keep 32 bits, on any processor and whatever was set before."""

import pytest
import torch

from datamodules import products
from datamodules.products import whole_products


@pytest.fixture(params=["highest", "high", "medium"])
def before(request: pytest.FixtureRequest) -> str:
    torch.set_float32_matmul_precision(request.param)
    yield request.param
    torch.set_float32_matmul_precision("highest")


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("rows", [1, 64, 300])
def test_products_are_those_of_64_bits_but_for_the_last(rows: int) -> None:
    left, right = torch.randn(2, 300, 300, generator=torch.Generator().manual_seed(0))
    some = left[:rows]
    with whole_products():
        found = [some @ right, some @ right.t(), torch.addmm(right[0], some, right), torch.bmm(some[None], right[None])]
    exact = some.double() @ right.double()
    expected = [exact, some.double() @ right.double().t(), exact + right[0], exact[None]]
    for ours, whole in zip(found, expected, strict=True):
        torch.testing.assert_close(ours.double(), whole, rtol=1e-5, atol=2e-5)


def test_what_was_set_before_is_set_again_even_after_an_error(before: str) -> None:
    with pytest.raises(ZeroDivisionError), whole_products():
        _ = 1 / 0
    assert torch.get_float32_matmul_precision() == before


@pytest.mark.usefixtures("before")
def test_where_fewer_bits_would_be_fewer_none_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_medium_is_whole", lambda: False)
    with whole_products():
        assert torch.get_float32_matmul_precision() == "highest"
