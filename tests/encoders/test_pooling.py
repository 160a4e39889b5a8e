import pytest
import torch
from torch import tensor

from encoders.bov import BagOfVectors
from encoders.packed import pack
from encoders.pooling import end_pool, last_pool, max_pool, mean_pool, packed_mean_pool, valid

#        sentence 1: two words and padding          sentence 2: three words
STATES = tensor([[[-1.0, 2, 5, 1], [-3, 4, 0, 2], [9, 9, 9, 9]], [[1, 1, 1, 1], [2, 0, 2, 0], [6, -1, 0, -1]]])
LENGTHS = tensor([2, 3])


def test_valid_marks_the_words() -> None:
    assert valid(LENGTHS, 3).tolist() == [[True, True, False], [True, True, True]]


@pytest.mark.parametrize(("pool", "vectors"), [
    (max_pool, [[-1, 4, 5, 2], [6, 1, 2, 1]]),  # a negative maximum stays negative
    (mean_pool, [[-2, 3, 2.5, 1.5], [3, 0, 1, 0]]),
    (last_pool, [[-3, 4, 5, 1], [6, -1, 1, 1]]),  # forward at the last word, backward at the first
    (end_pool, [[-3, 4, 0, 2], [6, -1, 0, -1]]),  # both directions at the last word
])  # fmt: skip
def test_words_are_pooled_without_padding(pool, vectors) -> None:
    assert pool(STATES, LENGTHS).tolist() == vectors


def test_the_mean_of_many_words_in_bfloat16_is_exact() -> None:
    lengths = tensor([2000, 3])
    states = torch.full((2, int(lengths.sum()), 2), 0.3, dtype=torch.bfloat16)
    mean = packed_mean_pool(states, pack(lengths, 2000))
    torch.testing.assert_close(mean, torch.full((2, 4), float(states[0, 0, 0])))


def test_nan_in_padding_does_not_change_the_maximum() -> None:
    states = STATES.clone()
    states[0, 2] = torch.nan
    assert not max_pool(states, LENGTHS).isnan().any()


def test_words_without_a_vector_are_left_out_of_a_bag_of_vectors() -> None:
    words = torch.tensor([[[2.0, 4.0], [0.0, 0.0], [4.0, 0.0], [9.0, 9.0]], [[0.0, 0.0]] * 4])
    assert BagOfVectors(2)(words, torch.tensor([3, 2])).vector.tolist() == [[3.0, 2.0], [0.0, 0.0]]
    assert BagOfVectors(2, "sum")(words, torch.tensor([3, 2])).vector.tolist() == [[6.0, 4.0], [0.0, 0.0]]
