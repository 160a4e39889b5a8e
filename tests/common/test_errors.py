"""Errors are said in one line."""

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException

from common.errors import InputError, in_one_line
from train import CONFIGS


def test_a_misspelt_choice_is_answered_with_those_there_are() -> None:
    with initialize_config_dir(str(CONFIGS), version_base="1.3"), pytest.raises(HydraException) as raised:
        compose("train", ["encoder=bilstm_mx"])
    said = in_one_line(raised.value)
    assert said.endswith("bigru_mean bilstm_att bilstm_last bilstm_max bov gated_convnet")


def test_what_hydra_wraps_is_said_alone() -> None:
    wrapped = ValueError("Error in call to target:\nEuroparl")
    wrapped.__cause__ = InputError("corpus.root= is missing")
    assert in_one_line(wrapped) == "corpus.root= is missing"
