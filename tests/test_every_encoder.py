"""The laws of an encoder, for every file in configs/encoder: new files are tested automatically."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hydra.utils import instantiate
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from encoder_lab.settings.declared import parameters
from encoders import Encoded, Encoder
from tests.packages import ENCODERS

FOLDER = Path(__file__).parents[1] / "configs" / "encoder"
LOADED = {path.stem: OmegaConf.load(path) for path in sorted(FOLDER.glob("*.yaml"))}
CONFIGS = {name: loaded.get("encoder", loaded) for name, loaded in LOADED.items()}
SMALL = {"dim": 10, "projection": 7, "layers": 3, "heads": 2, "feed_forward": 12}
WIDTH = 6

OURS = [name for name in CONFIGS if name in ENCODERS]
every_encoder = pytest.mark.parametrize("name", CONFIGS)
lengths_of_a_batch = st.lists(st.integers(1, 9), min_size=1, max_size=5)


def build(name: str) -> Encoder:
    """The encoder of a configuration, with fewer and narrower layers."""
    smaller = {key: value for key, value in SMALL.items() if key in CONFIGS[name]}
    torch.manual_seed(0)
    return instantiate(CONFIGS[name], input_dim=WIDTH, **smaller)


@cache
def at_rest(name: str) -> Encoder:
    """The encoder in evaluation, which no test changes."""
    return build(name).eval()


def batch(lengths: list[int], padding: float = 0.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Random word vectors for sentences of these lengths; the value of `padding` must not matter."""
    words = torch.from_numpy(np.random.default_rng(len(lengths)).normal(size=(len(lengths), max(lengths), WIDTH)))
    for row, length in enumerate(lengths):
        words[row, length:] = padding
    return words.float(), torch.tensor(lengths)


@every_encoder
@settings(max_examples=15)
@given(lengths=lengths_of_a_batch, padding=st.sampled_from([0.0, 3.0, -50.0]))
def test_padding_never_changes_a_vector(name, lengths, padding) -> None:
    encoder = at_rest(name)
    words, all_lengths = batch(lengths, padding)
    together = encoder(words, all_lengths)
    for row, length in enumerate(lengths):
        alone = encoder(words[row : row + 1, :length], all_lengths[row : row + 1])
        torch.testing.assert_close(together.vector[row], alone.vector[0], atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(together.states[row, :length], alone.states[0], atol=1e-6, rtol=1e-5)


@every_encoder
def test_states_are_zero_at_padding(name) -> None:
    states = build(name)(*batch([2, 5, 1], padding=9.0)).states
    assert not states[0, 2:].any()
    assert not states[2, 1:].any()


@every_encoder
def test_an_encoder_states_its_widths(name) -> None:
    encoder = build(name)
    encoded = encoder(*batch([3, 4]))
    assert isinstance(encoded, Encoded)
    assert encoded.vector.shape == (2, encoder.dim)
    assert encoded.states.shape == (2, 4, encoder.state_dim)


@pytest.mark.parametrize("name", OURS)
def test_the_order_of_words_matters_unless_it_is_a_bag(name) -> None:
    encoder = build(name).eval()
    words, lengths = batch([5])
    same = torch.allclose(encoder(words, lengths).vector, encoder(words.flip(1), lengths).vector, atol=1e-6)
    assert same == (name in ("bov", "borep"))


@every_encoder
def test_the_gradient_of_the_vector_reaches_every_weight_and_word_but_no_padding(name) -> None:
    encoder = build(name).eval()  # no dropout: a unit that happens to be dropped has no gradient
    words, lengths = batch([3, 6], padding=1.0)
    words.requires_grad_()
    encoded = encoder(words, lengths)
    (encoded.vector.square().sum() + encoded.states.square().sum()).backward()
    trained = [(key, weight) for key, weight in encoder.named_parameters() if weight.requires_grad]
    assert [key for key, weight in trained if weight.grad is None or not weight.grad.any()] == []
    assert words.grad is not None
    assert words.grad.any(2).tolist() == [[True] * 3 + [False] * 3, [True] * 6]


@every_encoder
def test_weights_survive_a_round_trip_and_give_the_same_bits(name) -> None:
    encoder, other = build(name).eval(), build(name).eval()
    for weight in other.state_dict().values():
        weight.zero_()
    other.load_state_dict(encoder.state_dict())
    assert torch.equal(other(*batch([3, 7])).vector, encoder(*batch([3, 7])).vector)


@every_encoder
def test_an_encoder_computes_in_the_precision_of_its_weights(name) -> None:
    words, lengths = batch([3, 7])
    assert build(name).bfloat16()(words.bfloat16(), lengths).vector.dtype == torch.bfloat16


@pytest.mark.parametrize("dim", [512, 1024, 2048, 4096])
@pytest.mark.parametrize("name", [name for name in CONFIGS if "dim" in CONFIGS[name]])
def test_the_sizes_of_figure_3_are_one_config_value(name, dim) -> None:
    with torch.device("meta"):
        assert instantiate(CONFIGS[name], input_dim=300, dim=dim).dim == dim


@pytest.mark.parametrize("name", OURS)
def test_every_key_of_a_configuration_is_explained(name) -> None:
    assert (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").startswith("# ")
    declared = parameters(CONFIGS[name]._target_) or {}
    assert [key for key in CONFIGS[name] if key != "_target_" and not declared[key].description] == []


@every_encoder
@settings(max_examples=15)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_batches_of_the_same_words_get_the_vectors_of_their_words(name, lengths) -> None:
    encoder = at_rest(name)
    words, ids = batch([4])[0][0], torch.randint(4, (len(lengths), max(lengths)))
    with torch.no_grad():
        vectors = encoder.over(words)(ids, torch.tensor(lengths))
    torch.testing.assert_close(vectors, encoder(words[ids], torch.tensor(lengths)).vector, atol=1e-6, rtol=1e-5)


@every_encoder
def test_a_class_with_a_forward_of_its_own_is_not_passed_by(name) -> None:
    class Ones(type(build(name))):
        def forward(self, embedded: torch.Tensor, lengths: torch.Tensor) -> Encoded:
            return Encoded(torch.ones(len(lengths), self.dim), embedded)

    encoder = build(name)
    encoder.__class__ = Ones
    assert (encoder.over(torch.zeros(2, WIDTH))(torch.ones(1, 3, dtype=torch.int64), torch.tensor([3])) == 1).all()
