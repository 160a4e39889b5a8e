"""fastText models with odd numbers in their head and dictionary: refused, or read without harm in a child process."""

import os
import struct
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from datamodules.word_vectors.fasttext_file import check_bin, open_bin, open_lookup
from tests.attack.attack import Attack, refused

HEAD = "<14id3i2q"
FIELDS = 20
WORDS = [b"</s>", b"the", b"dog", b"ch\xc3\xa2t", b"__label__1"]
ASKED = ["the", "cats", "châteaux", "", "</s>", "__label__1", "a" * 300]
ODD = [0, 1, -1, 2, 3, 5, 6, 7, 100, 101, 2**31 - 1, -(2**31)]


@cache
def _numbers() -> list[Any]:
    magic, version, dim, bucket = 793712314, 12, 4, 6
    arguments = [dim, 5, 5, 1, 5, 1, 2, 2, bucket, 2, 4, 100]
    return [magic, version, *arguments, 1e-4, len(WORDS), len(WORDS) - 1, 1, 90, -1]


def model(changes: list[list[int]], rows: int, counts: list[int]) -> bytes:
    """A small model, with some numbers of its head replaced, another number of rows, and counts of the words."""
    numbers = _numbers().copy()
    for place, value in changes:
        numbers[place] = value
    words = b"".join(
        word + b"\0" + struct.pack("<qb", count, word.startswith(b"__label__"))
        for word, count in zip(WORDS, counts, strict=True)
    )
    dim = 4
    matrices = [np.random.default_rng(0).normal(size=(n, dim)).astype("<f4") for n in (rows, len(WORDS))]
    stored = b"".join(b"\0" + struct.pack("<2q", *m.shape) + m.tobytes() for m in matrices)
    return struct.pack(HEAD, *numbers) + words + stored


def loaded(case: Any, folder: Path) -> None:
    """The child process ends in order, and its vectors are numbers."""
    changes, rows, counts = case
    path = folder / "model.bin"
    path.write_bytes(model(changes, rows, counts))
    if refused(lambda: check_bin(path)):
        return
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if refused(lambda: _read(path)) is None else 3
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    assert ended in (0, 3 << 8), f"the process ended with {ended}"


def _read(path: Path) -> None:
    loaded, ours = open_bin(path), open_lookup(path)
    for word in ASKED:
        vector = loaded.get_word_vector(word)
        assert np.isfinite(vector).all()
        assert np.abs(vector).max() < 100, "memory of something else"
        assert np.array_equal(ours.get_word_vector(word), vector)


_change = st.integers(0, FIELDS - 1).flatmap(
    lambda place: st.tuples(st.just(place), st.sampled_from(ODD) if place != 14 else st.just(0)).map(list)
)
_cases = st.tuples(
    st.lists(_change, max_size=3),
    st.sampled_from([4 + 6, 4, 5, 0, 1]),
    st.lists(st.sampled_from([1, 5, 0, -1, 10**15, 2**62]), min_size=5, max_size=5) | st.just([9, 7, 5, 3, 1]),
)
ATTACKS = [Attack("fastText model", _cases, loaded)]
