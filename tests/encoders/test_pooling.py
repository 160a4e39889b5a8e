import torch
from torch import tensor

from encoders.bov import BagOfVectors
from encoders.pooling import end_pool, last_pool, max_pool, mean_pool, valid

#        sentence 1: two words and padding          sentence 2: three words
STATES = tensor([[[-1.0, 2, 5, 1], [-3, 4, 0, 2], [9, 9, 9, 9]], [[1, 1, 1, 1], [2, 0, 2, 0], [6, -1, 0, -1]]])
LENGTHS = tensor([2, 3])


def test_valid_marks_the_words() -> None:
    assert valid(LENGTHS, 3).tolist() == [[True, True, False], [True, True, True]]


def test_a_negative_maximum_stays_negative() -> None:
    assert max_pool(STATES, LENGTHS).tolist() == [[-1, 4, 5, 2], [6, 1, 2, 1]]


def test_the_mean_divides_by_the_number_of_words() -> None:
    assert mean_pool(STATES, LENGTHS).tolist() == [[-2, 3, 2.5, 1.5], [3, 0, 1, 0]]


def test_last_is_forward_at_the_last_word_and_backward_at_the_first() -> None:
    assert last_pool(STATES, LENGTHS).tolist() == [[-3, 4, 5, 1], [6, -1, 1, 1]]


def test_the_end_is_both_directions_at_the_last_word() -> None:
    assert end_pool(STATES, LENGTHS).tolist() == [[-3, 4, 0, 2], [6, -1, 0, -1]]


def test_nan_in_padding_does_not_change_the_maximum() -> None:
    states = STATES.clone()
    states[0, 2] = torch.nan
    assert not max_pool(states, LENGTHS).isnan().any()


def test_words_without_a_vector_are_left_out_of_a_bag_of_vectors() -> None:
    words = torch.tensor([[[2.0, 4.0], [0.0, 0.0], [4.0, 0.0], [9.0, 9.0]], [[0.0, 0.0]] * 4])
    found = BagOfVectors(2)(words, torch.tensor([3, 2])).vector
    assert found.tolist() == [[3.0, 2.0], [0.0, 0.0]]
    summed = BagOfVectors(2, "sum")(words, torch.tensor([3, 2])).vector
    assert summed.tolist() == [[6.0, 4.0], [0.0, 0.0]]
