"""Errors are printed on one line."""

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException

from encoder_lab.errors import InputError, in_one_line
from train import CONFIGS


def test_a_misspelt_choice_lists_the_valid_ones() -> None:
    with initialize_config_dir(str(CONFIGS), version_base="1.3"), pytest.raises(HydraException) as raised:
        compose("train", ["encoder=bilstm_mx"])
    said = in_one_line(raised.value)
    assert said.endswith("bigru_mean bilstm_att bilstm_last bilstm_max bov gated_convnet transformer transformer_max")


def test_the_message_comes_without_the_text_of_hydra() -> None:
    wrapped = ValueError("Error in call to target:\nEuroparl")
    wrapped.__cause__ = InputError("corpus.root= is missing")
    assert in_one_line(wrapped) == "corpus.root= is missing"
