from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from objectives import chunked_cross_entropy
from objectives.chunked_cross_entropy import ROW_MULTIPLE, cross_entropies, cross_entropy_sum

PRODUCTS = {getattr(torch.ops.aten, name) for name in ("mm", "addmm", "addmm_", "mv", "addmv", "addmv_")}
GOLD = torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 10, 10])


@pytest.fixture
def problem(monkeypatch) -> list[torch.Tensor]:
    monkeypatch.setattr(chunked_cross_entropy, "ROW_MULTIPLE", 3)
    monkeypatch.setitem(chunked_cross_entropy.CHUNK_BYTES, "cpu", 6 * 11 * 8)  # 6 rows, the last 2 are padding
    monkeypatch.setitem(chunked_cross_entropy.PART_NUMBERS, "cpu", 2 * 11)
    torch.manual_seed(0)
    return [t.double().requires_grad_() for t in [torch.randn(10, 4), torch.randn(11, 4), torch.randn(11)]]


def test_the_chunked_loss_and_gradient_equal_the_plain_ones(problem) -> None:
    hidden, weight, bias = problem
    plain = functional.cross_entropy(hidden @ weight.t() + bias, GOLD, reduction="sum")
    chunked = cross_entropy_sum(hidden, weight, bias, GOLD)
    torch.testing.assert_close(chunked, plain)
    with torch.no_grad():
        torch.testing.assert_close(cross_entropy_sum(hidden, weight, bias, GOLD), plain)
    for ours, expected in zip(*(torch.autograd.grad(loss * 0.5, problem) for loss in (chunked, plain)), strict=True):
        torch.testing.assert_close(ours, expected)


@given(hidden=st.integers(1, 130), spread=st.sampled_from([0.1, 30.0]))
@settings(max_examples=20)
def test_padding_to_whole_rows_changes_no_loss(hidden, spread) -> None:
    torch.manual_seed(hidden)
    states, weight, bias = spread * torch.randn(hidden, 4), torch.randn(5, 4), torch.randn(5)
    gold = torch.randint(5, (hidden,))
    plain = functional.cross_entropy(states @ weight.t() + bias, gold, reduction="none")
    torch.testing.assert_close(cross_entropies(states, weight, bias, gold), plain, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(cross_entropy_sum(states, weight, bias, gold), plain.sum(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("narrow", [False, True])
def test_a_second_pass_back_is_refused_as_the_first_scales_the_gradients_where_they_lie(problem, narrow) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=narrow):
        loss = cross_entropy_sum(*problem, GOLD) * 0.5
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="inplace operation"):
        loss.backward()


def test_under_autocast_only_the_products_have_lower_precision(problem, monkeypatch) -> None:
    monkeypatch.setitem(chunked_cross_entropy.CHUNK_BYTES, "cpu", 6 * 11 * 4)
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


@given(tokens=st.lists(st.integers(1, 400), min_size=2, max_size=6), narrow=st.booleans())
@settings(max_examples=10)
def test_few_shapes_reach_the_softmax_however_many_tokens_a_step_has(tokens, narrow) -> None:
    weight, bias = torch.randn(11, 4, requires_grad=True), torch.zeros(11, requires_grad=True)
    shapes = Shapes()
    for count in tokens:
        hidden, gold = torch.randn(count, 4, requires_grad=True), torch.randint(11, (count,))
        with shapes, torch.autocast("cpu", dtype=torch.bfloat16, enabled=narrow):
            cross_entropy_sum(hidden, weight, bias, gold).backward()
            cross_entropies(hidden, weight, bias, gold)
    assert {rows for rows in shapes.rows if rows > 11} == {-(-count // ROW_MULTIPLE) * ROW_MULTIPLE for count in tokens}


class Shapes(TorchDispatchMode):
    """Records the number of rows of every matrix that is multiplied."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket in PRODUCTS:
            self.rows |= {size for tensor in args if isinstance(tensor, torch.Tensor) for size in tensor.shape}
        return func(*args, **(kwargs or {}))
