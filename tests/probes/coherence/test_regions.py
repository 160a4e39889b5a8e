"""From the surprisals of tokens to those of regions."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from probes.coherence.length import Length
from probes.coherence.regions import regions_of, text_of, values
from probes.coherence.suite_file import METRICS

TEXT = ["the cat sat on the mat .", "a naïve cat — she sat 😀 there", "where is the mat ?", "sat on it, then left"] * 20
Offsets = Callable[[str], np.ndarray]


def byte_level_bpe() -> Offsets:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(TEXT, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet))
    tokenizer.decoder = decoders.ByteLevel()
    return lambda text: np.array(tokenizer.encode(text).offsets).reshape(-1, 2)


def wordpiece() -> Offsets:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(TEXT, trainers.WordPieceTrainer(vocab_size=90, special_tokens=["[UNK]"]))
    return lambda text: np.array(tokenizer.encode(text).offsets).reshape(-1, 2)


def sentence_piece(folder: Path) -> Offsets:
    (folder / "text").write_text("\n".join(TEXT))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "m"),
        vocab_size=60,
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=9,
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "m.model"))

    def offsets(text: str) -> np.ndarray:
        pieces = model.encode(text, return_type="proto").pieces
        place = np.cumsum([0, *(len(character.encode()) for character in text)])  # pieces count bytes
        return np.searchsorted(place, [(piece.begin, piece.end) for piece in pieces]).reshape(-1, 2)

    return offsets


def whole_words() -> Offsets:
    return lambda text: Length().logprobs([("", text)])[0].offsets


@pytest.fixture(scope="module", params=["byte-level BPE", "WordPiece", "SentencePiece", "whole words"])
def offsets(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Offsets:
    return {
        "byte-level BPE": byte_level_bpe,
        "WordPiece": wordpiece,
        "SentencePiece": lambda: sentence_piece(tmp_path_factory.mktemp("pieces")),
        "whole words": whole_words,
    }[request.param]()


def by_character(starts: Sequence[int], regions: Sequence[str]) -> list[int]:
    """The region of each token, from a list of the region of each character."""
    owner: list[int] = []
    for number, region in enumerate(regions):
        if region:
            owner += [number] * (len(region) + bool(owner))
    return [owner[start] for start in starts]


REGION = st.lists(st.sampled_from(["the", "cat", "mat", ".", "naïve", "😀", "—", "sat", "itchy"]), max_size=3).map(
    " ".join
)


@given(st.lists(REGION, min_size=1, max_size=5).filter(any))
def test_a_token_belongs_to_the_region_of_its_first_character(offsets: Offsets, regions: list[str]) -> None:
    starts = offsets(text_of(regions))[:, 0]
    assert regions_of(starts, regions).tolist() == by_character(starts, regions)


@given(st.lists(REGION, min_size=1, max_size=5).filter(any))
def test_every_region_with_text_has_the_tokens_of_its_words(offsets: Offsets, regions: list[str]) -> None:
    text = text_of(regions)
    tokens = offsets(text)
    owners = regions_of(tokens[:, 0], regions)
    for number in set(owners):
        mine = tokens[owners == number]
        assert text[mine[:, 0].min() : mine[:, 1].max()].strip() == regions[number]
    assert set(owners) == {number for number, region in enumerate(regions) if region}


def test_tokens_across_a_boundary_go_where_they_start() -> None:
    regions = ["ab", "", "cd", "e"]  # "ab cd e"
    assert text_of(regions) == "ab cd e"
    assert regions_of(np.array([0, 1]), regions).tolist() == [0, 0]  # "a" and "b c": wholly in the first
    assert regions_of(np.array([0, 2, 3, 5]), regions).tolist() == [0, 2, 2, 3]  # a space belongs to what follows it
    assert regions_of(np.array([0, 7]), regions).tolist() == [0, 3]  # the end of the text, where its last token is


def test_an_empty_first_region_moves_no_edge() -> None:
    assert regions_of(np.array([0, 1, 2, 3]), ["", "ab", "c"]).tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize(("metric", "wanted"), [
    ("sum", [7.0, 0.0, 5.0, 6.0]),
    ("mean", [3.5, np.nan, 5.0, 2.0]),
    ("median", [3.5, np.nan, 5.0, 1.5]),
    ("range", [5.0, np.nan, 0.0, 3.5]),
    ("max", [6.0, np.nan, 5.0, 4.0]),
    ("min", [1.0, np.nan, 5.0, 0.5]),
])  # fmt: skip
def test_metrics_have_the_values_worked_out_by_hand(metric: str, wanted: list[float]) -> None:
    surprisals = np.array([6.0, 1.0, 5.0, 4.0, 1.5, 0.5])
    segments = np.array([0, 0, 2, 3, 3, 3])
    np.testing.assert_array_equal(values(metric, surprisals, segments, 4), wanted)


def test_without_a_token_only_the_sum_has_a_value() -> None:
    nothing = np.array([]), np.array([], np.int64)
    assert values("sum", *nothing, 2).tolist() == [0, 0]
    assert np.isnan(values("max", *nothing, 2)).all()


PLAIN = {"sum": np.sum, "mean": np.mean, "median": np.median, "range": np.ptp, "max": np.max, "min": np.min}


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 40)), max_size=30), st.sampled_from(METRICS), st.randoms())
def test_all_segments_at_once_equal_one_at_a_time(tokens: list[tuple[int, float]], metric: str, random) -> None:
    segments = np.array([segment for segment, _ in tokens], np.int64)
    surprisals = np.array([bits for _, bits in tokens])
    together = values(metric, surprisals, segments, 6)
    for segment in range(6):
        own = surprisals[segments == segment]
        wanted = PLAIN[metric](own) if len(own) or metric == "sum" else np.nan
        assert together[segment] == pytest.approx(wanted, nan_ok=True)
    order = random.sample(range(len(tokens)), len(tokens))
    np.testing.assert_array_equal(values(metric, surprisals[order], segments[order], 6), together)
