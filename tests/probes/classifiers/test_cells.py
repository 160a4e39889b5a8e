"""A cell in a grid is the cell alone, and both are what torch's own layers and optimiser would be."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.sequential import network
from probes.classifiers.blocks import split_into_blocks
from probes.classifiers.cells import Cell, Cells, predict_classes
from probes.classifiers.grid import Grid

L2 = (1e-5, 1e-3, 1e-1)
MIXED = Grid(widths=(4, 7), dropouts=(0.0, 0.3), l2=L2)  # twelve cells


def data(sentences: int, inputs: int, classes: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return (torch.randn(sentences, inputs, generator=draw), torch.randint(0, classes, (sentences,), generator=draw))


def pass_over(cells: Cells, x: torch.Tensor, y: torch.Tensor, batch: int = 16) -> None:
    for a, b in zip(x.split(batch), y.split(batch), strict=True):
        cells.step(a, b)


def whole(grid: Grid, seed: int) -> Cells:
    """All cells of a grid in one model, as on a GPU."""
    (cells,) = split_into_blocks(6, 3, grid, device="cuda")
    return Cells(6, 3, cells, seed)


@settings(max_examples=15)
@given(
    grid=st.sampled_from([MIXED, MIXED.logistic()]),
    sentences=st.integers(1, 50),
    place=st.integers(0, 11),
    seed=st.integers(0, 99),
)
def test_a_cell_among_others_equals_the_cell_alone(grid, sentences, place, seed) -> None:
    x, y = data(sentences, 6, 3, seed)
    together = whole(grid, seed)
    place %= len(together)
    alone = Cells(6, 3, [together.cells[place]], seed)
    for cells in (together, alone):
        pass_over(cells, x, y)
    for ours, single in zip(together.snapshot(place), alone.snapshot(0), strict=True):
        torch.testing.assert_close(ours, single)


@pytest.mark.parametrize("grid", [MIXED, MIXED.logistic()], ids=["hidden", "logistic"])
def test_in_bfloat16_the_gradient_is_that_in_32_bits_to_a_hundredth(grid) -> None:
    x, y = data(50, 6, 3, seed=1)
    wide, narrow = (Cells(6, 3, split_into_blocks(6, 3, grid, "cuda")[0], 2, bfloat16=wish) for wish in (False, True))
    for cells in (wide, narrow):
        cells.step(x, y)
    for ours, exact in zip(narrow.gradients, wide.gradients, strict=True):
        assert ours.dtype == torch.float32
        assert 1e-5 < (ours - exact).norm() / exact.norm() < 1e-2


@pytest.mark.parametrize("grid", [MIXED, MIXED.logistic()], ids=["hidden", "logistic"])
def test_the_accuracy_of_a_cell_is_that_of_its_predictions(grid) -> None:
    x, y = data(50, 6, 3, seed=1)
    cells = whole(grid, seed=2)
    pass_over(cells, x, y)
    predicted = [predict_classes(cells.snapshot(place), x) for place in range(len(cells))]
    assert cells.accuracy(x, y) == pytest.approx([100 * float((classes == y).double().mean()) for classes in predicted])


@pytest.mark.parametrize(("right", "items"), [(23, 160), (49, 160), (46, 320), (1, 3)])
def test_an_accuracy_rounds_as_in_the_published_toolkit(right, items) -> None:
    x, _ = data(items, 6, 3, seed=1)
    cells = Cells(6, 3, [Cell(0, 0.0, 1e-3)], seed=2)
    predicted = predict_classes(cells.snapshot(0), x)
    y = torch.where(torch.arange(items) < right, predicted, (predicted + 1) % 3)
    assert cells.accuracy(x, y) == [100 * (right / items)]  # 23 of 160 is 14.37; 100 * 23 / 160 would be 14.38


@pytest.mark.parametrize("width", [0, 7])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_cell_takes_the_steps_of_torch_autograd_and_adam(width, dropout, classes, reduction) -> None:
    x, y = data(50, 6, classes, seed=1)
    cells = Cells(6, classes, [Cell(width, dropout, l2) for l2 in L2], seed=5)
    torch.manual_seed(5)
    model = network(6, classes, width, dropout)
    optimizer = torch.optim.Adam(model.parameters(), weight_decay=L2[2])
    for a, b in zip(x.split(16), y.split(16), strict=True):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(a), b, reduction=reduction).backward()
        optimizer.step()
        cells.step(a, b, scale=1.0 if reduction == "sum" else None)
    for ours, theirs in zip(cells.snapshot(2), model.parameters(), strict=True):
        torch.testing.assert_close(ours.view_as(theirs), theirs.detach())


@settings(max_examples=15)
@given(stay=st.sets(st.integers(0, 11), min_size=1).map(sorted))
@pytest.mark.parametrize("grid", [MIXED, MIXED.logistic()], ids=["hidden", "logistic"])
def test_dropped_cells_do_not_affect_the_others(grid, stay) -> None:
    x, y = data(50, 6, 3, seed=1)
    all_of_them, shrinking = both = whole(grid, seed=2), whole(grid, seed=2)
    stay = sorted({place % len(shrinking) for place in stay})
    for cells in both:
        pass_over(cells, x, y)
    shrinking.keep(stay)
    for cells in both:
        pass_over(cells, x, y)
    assert shrinking.cells == [all_of_them.cells[place] for place in stay]
    for after, before in enumerate(stay):
        for ours, theirs in zip(shrinking.snapshot(after), all_of_them.snapshot(before), strict=True):
            torch.testing.assert_close(ours, theirs)


@settings(max_examples=15)
@given(first=st.integers(1, 11))
@pytest.mark.parametrize("grid", [MIXED, MIXED.logistic()], ids=["hidden", "logistic"])
def test_joined_models_go_on_as_one_model_would(grid, first) -> None:
    x, y = data(50, 6, 3, seed=1)
    together = whole(grid, seed=2)
    some = 1 + first % (len(together) - 1)
    parts = [Cells(6, 3, cells, seed=2) for cells in (together.cells[:some], together.cells[some:])]
    for cells in (together, *parts):
        pass_over(cells, x, y)
    parts[0].join(parts[1])
    for cells in (together, parts[0]):
        pass_over(cells, x, y)
    assert parts[0].cells == together.cells
    for place in range(len(together)):
        for ours, theirs in zip(parts[0].snapshot(place), together.snapshot(place), strict=True):
            torch.testing.assert_close(ours, theirs)


def test_a_snapshot_does_not_change_with_its_cell() -> None:
    x, y = data(50, 6, 3, seed=1)
    cells = whole(MIXED, seed=2)
    snapshot = cells.snapshot(1)
    before = predict_classes(snapshot, x)
    for _ in range(20):
        pass_over(cells, x, y)
    assert torch.equal(predict_classes(snapshot, x), before)
    assert not torch.equal(predict_classes(cells.snapshot(1), x), before)


@pytest.mark.parametrize("megabytes", [1, 3, 100])
def test_blocks_respect_the_memory_limit(megabytes) -> None:
    grid = Grid(widths=(50, 100), dropouts=(0.1,), l2=(1e-5, 1e-4, 1e-3, 1e-2), block_mb=megabytes)
    made = [Cells(600, 3, block, seed=1) for block in split_into_blocks(600, 3, grid, device="cpu")]

    def taken(cells: Cells) -> int:
        state = (cells.parameters, cells.means, cells.squares, cells.gradients)
        return sum(4 * tensor.numel() for tensors in state for tensor in tensors)

    assert sum(map(len, made)) == 8
    assert all(taken(cells) <= 1.01 * megabytes * 2**20 for cells in made if len(cells) > 1)
    assert max(map(len, made)) == {1: 2, 3: 4, 100: 4}[megabytes]


def drawn(cells: Cells, sentences: int) -> torch.Tensor:
    """The mask (W, B) of a step of the only cell."""
    return cells._mask(*cells.cells[0][:2], sentences)


@pytest.mark.parametrize("as_torch", [True, False])
@pytest.mark.parametrize("dropout", [0.1, 0.2, 0.5])
def test_dropout_drops_its_share_of_units_and_scales_the_others(as_torch, dropout) -> None:
    cells = Cells(6, 2, [Cell(50, dropout, 1e-3)], seed=1, as_torch=as_torch)
    masks = torch.cat([drawn(cells, size) for size in (500, 499, 1)], 1)
    assert masks.shape == (50, 1000)
    assert masks.unique().tolist() == pytest.approx([0, 1 / (1 - dropout)])
    for over in (0, 1):  # a unit, and a sentence: within five standard deviations
        spread = (dropout * (1 - dropout) / masks.shape[over]) ** 0.5
        assert ((masks == 0).double().mean(over) - dropout).abs().max() < 5 * spread


@pytest.mark.parametrize("as_torch", [True, False])
def test_each_step_draws_other_dropout_and_a_seed_the_same(as_torch) -> None:
    cells, same = (Cells(6, 2, [Cell(50, 0.5, 1e-3)], seed=1, as_torch=as_torch) for _ in range(2))
    first, second = (drawn(cells, 40) for _ in range(2))
    assert not first.equal(second)
    assert first.equal(drawn(same, 40))
