"""Rows of tokens as trees of their beginnings."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from encoders.prefix_trees import prefix_tree, prefix_trees

ROWS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9).map(tuple), unique=True, max_size=12)


def test_two_rows_that_begin_alike_are_one_tree() -> None:
    tree = prefix_tree([(5, 6, 7), (5, 6, 8, 9)])
    assert (tree.ids.tolist(), tree.parents.tolist()) == ([5, 6, 7, 8, 9], [-1, 0, 1, 1, 3])
    assert tree.depths.tolist() == [0, 1, 2, 2, 3]
    assert [path.tolist() for path in tree.paths] == [[0, 1, 2], [0, 1, 3, 4]]


@given(ROWS, st.integers(1, 20))
def test_a_token_sees_the_tokens_before_it_in_its_rows_alone(rows, most) -> None:
    trees = list(prefix_trees(rows, most))
    assert sorted(row for tree in trees for row in tree.rows) == sorted(rows)
    for tree in trees:
        assert len(tree.ids) <= most or len(tree.rows) == 1
        assert len(tree.ids) == len({row[:end] for row in tree.rows for end in range(1, len(row) + 1)})
        sees = tree.attention_mask()
        for row, path in zip(tree.rows, tree.paths, strict=True):
            assert tuple(tree.ids[path]) == row
            assert tree.depths[path].tolist() == list(range(len(row)))
            for number, place in enumerate(path):
                assert np.flatnonzero(sees[place]).tolist() == path[: number + 1].tolist()
