import pytest
import torch
from torch.nn import functional

from objectives import softmax
from objectives.softmax import cross_entropy_sum


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    monkeypatch.setattr(softmax, "CHUNK_LOGITS", 3 * 11)  # 3 rows at a time
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
