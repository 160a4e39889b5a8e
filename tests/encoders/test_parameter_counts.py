"""Numbers of weights: computed by hand from the sizes in the papers."""

from pathlib import Path

import pytest
import torch
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import OmegaConf

FOLDER = Path(__file__).parents[2] / "configs" / "encoder"

# LSTM direction: 4 gates x H x (input + H + 2 biases); GRU: 3 gates
PROJECTION = 300 * 1024 + 1024
LSTM_1 = 2 * 4 * 256 * (1024 + 256 + 2)
LSTM_2 = 2 * 4 * 256 * (512 + 256 + 2)
CONVOLUTION = 3 * 512 * 1024 + 1024
# queries, keys, values and their mixture, the feed-forward network, two norms
LAYER = 4 * (512 * 512 + 512) + (512 * 2048 + 2048) + (2048 * 512 + 512) + 2 * 2 * 512
COUNTS = {
    "bilstm_max": PROJECTION + LSTM_1 + LSTM_2,  # 4,510,720: "2 layers of 512 hidden units (~4M parameters)"
    "bilstm_last": PROJECTION + LSTM_1 + LSTM_2,
    "bilstm_att": PROJECTION + LSTM_1 + LSTM_2,
    "gated_convnet": 300 * 512 + 512 + 8 * CONVOLUTION,  # 12,745,216: "~12M parameters"
    "bigru_mean": 2 * 3 * 1200 * (300 + 1200 + 2),  # 10,814,400
    "transformer": 300 * 512 + 512 + 4 * LAYER + 2 * 512,  # 12,764,672
    "transformer_max": 300 * 512 + 512 + 4 * LAYER + 2 * 512,
    "bov": 0,
    "borep": 0,
    "esn": 2 * 2048 * (300 + 2048 + 2),  # drawn, never trained
}


@pytest.mark.parametrize("name", COUNTS)
def test_an_encoder_has_as_many_weights_as_its_formula_says(name) -> None:
    with torch.device("meta"):
        encoder = instantiate(OmegaConf.load(FOLDER / f"{name}.yaml"), input_dim=300)
    assert sum(weight.numel() for weight in encoder.parameters()) == COUNTS[name]


@pytest.mark.parametrize("head", ["linear", "nonlinear"])
def test_infersent_is_one_lstm_directly_on_the_word_vectors(head) -> None:
    with initialize_config_dir(str(FOLDER.parent), version_base="1.3"):
        settings = compose("train", [f"experiment=conneau2017/infersent_{head}"]).encoder
    with torch.device("meta"):
        encoder = instantiate(settings, input_dim=300)
        assert encoder(torch.zeros(2, 5, 300), torch.ones(2, dtype=torch.int64)).vector.shape == (2, 4096)
    assert sum(weight.numel() for weight in encoder.parameters()) == 2 * 4 * 2048 * (300 + 2048 + 2)
    assert not [part for part in encoder.modules() if isinstance(part, torch.nn.Dropout) and part.p]


def test_the_papers_round_numbers_hold() -> None:
    assert round((LSTM_1 + LSTM_2) / 1e6) == 4
    assert 12e6 < 8 * CONVOLUTION < 13e6
