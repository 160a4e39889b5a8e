import pytest
import torch
from torch.nn import functional

from objectives import chunked_cross_entropy
from objectives.chunked_cross_entropy import cross_entropy_sum


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    monkeypatch.setitem(chunked_cross_entropy.CHUNK_LOGITS, "cpu", 3 * 11)  # 3 rows at a time
    torch.manual_seed(0)
    tensors = [torch.randn(10, 4), torch.randn(11, 4), torch.randn(11)]
    return [t.double().requires_grad_() for t in tensors]


GOLD = torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 10, 10])


def test_the_chunked_loss_equals_the_plain_one(problem: list[torch.Tensor]) -> None:
    hidden, weight, bias = problem
    plain = functional.cross_entropy(hidden @ weight.t() + bias, GOLD, reduction="sum")
    torch.testing.assert_close(cross_entropy_sum(hidden, weight, bias, GOLD), plain)
    with torch.no_grad():
        torch.testing.assert_close(cross_entropy_sum(hidden, weight, bias, GOLD), plain)


def test_the_chunked_gradient_equals_autograds(problem: list[torch.Tensor]) -> None:
    hidden, weight, bias = problem
    plain = functional.cross_entropy(hidden @ weight.t() + bias, GOLD, reduction="sum")
    expected = torch.autograd.grad(plain * 0.5, problem)
    ours = torch.autograd.grad(cross_entropy_sum(hidden, weight, bias, GOLD) * 0.5, problem)
    for a, b in zip(ours, expected, strict=True):
        torch.testing.assert_close(a, b)


def test_under_autocast_only_the_products_have_lower_precision(problem: list[torch.Tensor]) -> None:
    wide = [tensor.detach().float().requires_grad_() for tensor in problem]
    plain = functional.cross_entropy(wide[0] @ wide[1].t() + wide[2], GOLD, reduction="sum")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        narrow = cross_entropy_sum(*wide, GOLD)
    assert narrow.dtype == torch.float32
    torch.testing.assert_close(narrow, plain, rtol=0.02, atol=0.0)
    expected = torch.autograd.grad(plain, wide)
    for ours, exact in zip(torch.autograd.grad(narrow, wide), expected, strict=True):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours, exact, rtol=0.05, atol=0.05)
