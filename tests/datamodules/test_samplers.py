import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.arrays import Ragged
from datamodules.base import ResumableData
from datamodules.batches import PADDING
from datamodules.samplers import POOL_BATCHES, LengthBatches, pad
from encoder_lab.errors import InputError

lengths = st.lists(st.integers(1, 30), min_size=1, max_size=300).map(np.array)


budgets = st.sampled_from([None, 1, 20, 90])


def batches_of(
    lengths: np.ndarray, epoch: int = 0, start: int = 0, batch_size: int = 7, **how: int | None
) -> list[list[int]]:
    sampler = LengthBatches([lengths], batch_size, seed=3, **how)  # type: ignore[arg-type]
    sampler.set_epoch(epoch)
    sampler.start = start
    return [batch.tolist() for batch in sampler]


@given(lengths, budgets, st.integers(0, 5))
def test_every_example_comes_once_in_an_epoch_of_a_fixed_number_of_batches_that_can_be_resumed(
    lengths, tokens, epoch
) -> None:
    batches = batches_of(lengths, epoch, tokens=tokens)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(batches)
    assert len(batches) == len(LengthBatches([lengths], 7, seed=3, tokens=tokens))
    half = len(batches) // 2
    assert batches_of(lengths, epoch, start=half, tokens=tokens) == batches[half:]


def test_batches_by_tokens_have_about_that_many_tokens() -> None:
    random = np.random.default_rng(0)
    lengths, others = random.integers(1, 60, 20_000), random.integers(1, 60, 20_000)
    batches = list(LengthBatches([lengths, others], 7, seed=3, tokens=2000))
    tokens = [lengths[batch].sum() + others[batch].sum() for batch in batches]
    assert 1800 < min(tokens) <= max(tokens) < 2200
    assert max(map(len, batches)) > 1.5 * min(map(len, batches))


@given(lengths, st.integers(1, 4), st.sampled_from([None, 20]))
def test_processes_together_see_the_batches_of_one_process(lengths, world, tokens) -> None:
    parts = [batches_of(lengths, rank=rank, world=world, tokens=tokens) for rank in range(world)]
    whole = batches_of(lengths, batch_size=7 * world, tokens=tokens and tokens * world)
    shared = [sorted({i for batch in step for i in batch}) for step in zip(*parts, strict=True)]
    assert shared == [sorted(batch) for batch in whole]
    assert all(batch for part in parts for batch in part)


def batches_as_once(lengths: list[np.ndarray], sampler: LengthBatches) -> list[list[int]]:
    """All batches of an epoch at once, in int64: the arithmetic that made the runs of earlier versions."""
    sampler.lengths = lengths
    random = np.random.default_rng([sampler.seed, sampler.epoch])
    shuffled = random.permutation(len(lengths[0]))
    batches: list[np.ndarray] = []
    for first in range(0, len(shuffled), sampler._size * POOL_BATCHES):
        pool = shuffled[first : first + sampler._size * POOL_BATCHES]
        pool = pool[np.lexsort([key[pool] for key in reversed(lengths)])]
        batches += np.split(pool, sampler._batch_cuts(pool))
    random.shuffle(batches)  # type: ignore[arg-type]
    return [batch.tolist() for batch in batches]


@given(st.integers(1, 2000), st.integers(1, 300), st.sampled_from([None, 1, 20, 90, 900]), st.integers(0, 3))
def test_the_order_equals_that_of_earlier_versions(count, longest, tokens, epoch) -> None:
    lengths = list(np.random.default_rng(count).integers(1, longest + 1, (2, count)))
    sampler = LengthBatches(lengths, 3, seed=3, tokens=tokens)
    sampler.set_epoch(epoch)
    assert [batch.tolist() for batch in sampler] == batches_as_once(lengths, sampler)


def test_an_epoch_needs_little_memory_and_starts_at_once() -> None:
    lengths = np.full(1_000_000, 25, dtype=np.uint8)
    sampler = LengthBatches([lengths, lengths], 64, seed=3)
    tracemalloc.start()
    next(iter(sampler))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * len(lengths)


@given(st.lists(st.lists(st.integers(2, 99), min_size=1, max_size=9), min_size=1, max_size=20), st.data())
def test_padding_adds_nothing_but_padding(texts, data) -> None:
    ragged = Ragged(np.array([i for text in texts for i in text], dtype=np.int32), np.cumsum([0, *map(len, texts)]))
    rows = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=9)))
    batch = pad(ragged, rows)
    for ids, length, row in zip(batch.ids.tolist(), batch.lengths.tolist(), rows, strict=True):
        assert ids[:length] == texts[row]
        assert set(ids[length:]) <= {PADDING}


def among(processes: int, done: int = 0, limit: float = 1.0) -> Any:
    """A datamodule in a trainer with `processes`, after some of 100 batches."""
    data: Any = ResumableData(batch_size=4, seed=1)
    progress = SimpleNamespace(batch_progress=SimpleNamespace(current=SimpleNamespace(ready=done)))
    loops = SimpleNamespace(epoch_loop=progress)
    trainer = {"world_size": processes, "num_training_batches": 100, "limit_train_batches": limit}
    data.trainer = SimpleNamespace(**trainer, fit_loop=loops)
    return data


def test_an_epoch_resumes_only_with_the_same_number_of_processes() -> None:
    stopped = among(processes=1, done=60).state_dict()
    among(processes=1).load_state_dict(stopped)
    with pytest.raises(InputError, match="began with 1, and now it is 4; resume with 1, or"):
        among(processes=4).load_state_dict(stopped)


def test_an_epoch_resumes_only_with_the_same_part_of_its_batches() -> None:
    with pytest.raises(InputError, match=r"limit_train_batches: .* began with 1.0, and now it is 1; resume with 1.0"):
        among(processes=1, limit=1).load_state_dict(among(processes=1, done=60).state_dict())


def test_both_may_change_between_epochs() -> None:
    among(processes=4, limit=2).load_state_dict(among(processes=1, done=100).state_dict())
