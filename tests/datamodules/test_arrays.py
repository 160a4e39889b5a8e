"""Sequences of ids, streamed to files and back."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from datamodules import arrays as module
from datamodules.arrays import chunks, load_ragged, make_ragged, save_ragged


@given(rows=st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=5), max_size=40), size=st.integers(1, 50))
def test_a_stream_round_trips_for_any_chunks(rows, size) -> None:
    before, module.CHUNK_ROWS = module.CHUNK_ROWS, size
    try:
        with tempfile.TemporaryDirectory() as folder:
            save_ragged(Path(folder) / "x", iter(rows))
            result = load_ragged(Path(folder) / "x")
            expected = make_ragged(rows)
            np.testing.assert_array_equal(result.ids, expected.ids)
            np.testing.assert_array_equal(result.offsets, expected.offsets)
            assert (result.ids.dtype, result.offsets.dtype) == (expected.ids.dtype, expected.offsets.dtype)
    finally:
        module.CHUNK_ROWS = before


def test_what_is_written_is_numpys_own_format(tmp_path) -> None:
    save_ragged(tmp_path / "x", ([i] * (i % 3) for i in range(100_000)))
    assert np.load(tmp_path / "x.ids.npy").tolist() == [i for i in range(100_000) for _ in range(i % 3)]


def test_a_stream_is_never_held_whole() -> None:
    assert [len(chunk) for chunk in chunks(iter(range(10)), 4)] == [4, 4, 2]
