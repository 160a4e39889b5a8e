"""From the surprisals of tokens to those of regions; tests/encoders/test_alignment.py has real tokenizers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.coherence.regions import regions_of, segment_values, text_of
from probes.coherence.suite_file import METRICS

PLAIN = {"sum": np.sum, "mean": np.mean, "median": np.median, "range": np.ptp, "max": np.max, "min": np.min}


def test_tokens_across_a_boundary_go_where_they_start() -> None:
    regions = ["ab", "", "cd", "e"]  # "ab cd e"
    assert text_of(regions) == "ab cd e"
    assert regions_of(np.array([0, 1]), regions).tolist() == [0, 0]  # "a" and "b c": wholly in the first
    assert regions_of(np.array([0, 2, 3, 5]), regions).tolist() == [0, 2, 2, 3]  # a space belongs to what follows it
    assert regions_of(np.array([0, 7]), regions).tolist() == [0, 3]  # the end of the text, where its last token is


def test_an_empty_first_region_moves_no_edge() -> None:
    assert regions_of(np.array([0, 1, 2, 3]), ["", "ab", "c"]).tolist() == [1, 1, 2, 2]


def test_without_a_token_only_the_sum_has_a_value() -> None:
    nothing = np.array([]), np.array([], np.int64)
    assert segment_values("sum", *nothing, 2).tolist() == [0, 0]
    assert np.isnan(segment_values("max", *nothing, 2)).all()


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 40)), max_size=30), st.sampled_from(METRICS), st.randoms())
def test_all_segments_at_once_equal_one_at_a_time(tokens, metric, random) -> None:
    segments = np.array([segment for segment, _ in tokens], np.int64)
    surprisals = np.array([bits for _, bits in tokens])
    together = segment_values(metric, surprisals, segments, 6)
    for segment in range(6):
        bits = surprisals[segments == segment]
        expected = PLAIN[metric](bits) if len(bits) or metric == "sum" else np.nan
        assert together[segment] == pytest.approx(expected, nan_ok=True)
    order = random.sample(range(len(tokens)), len(tokens))
    np.testing.assert_array_equal(segment_values(metric, surprisals[order], segments[order], 6), together)
