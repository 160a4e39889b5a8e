"""Splits have equal classes; where that is impossible, the error says what is possible."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from probes.probing.build.pool import Sizes
from probes.probing.build.sampling import plan_classes

few = st.integers(0, 400)
counts = st.tuples(few, few, few)
asked = st.integers(2, 2000)


@given(counts, counts, st.builds(Sizes, asked, asked, asked))
def test_who_asks_for_what_an_error_calls_possible_gets_it(first, second, sizes) -> None:
    splits = [{"a": ["a"] * a, "b": ["b"] * b} for a, b in zip(first, second, strict=True)]
    try:
        plan_classes("Tense", splits, sizes)
    except InputError as error:
        possible = {part: int(most) for most, part in re.findall(r"(\d+) (train|dev|test) sentences", str(error))}
        assume(possible)
        assert plan_classes("Tense", splits, sizes._replace(**possible)).counts[0] > 0


def test_a_test_split_that_is_asked_to_be_too_large_is_named() -> None:
    splits = [{"Plur": ["we"] * a, "Sing": ["I"] * b} for a, b in ((63, 236), (36, 115), (35, 98))]
    with pytest.raises(InputError, match="the splits shrink equally: ask for at most 351 test sentences"):
        plan_classes("SubjNum", splits, Sizes(301, 300, 500))
