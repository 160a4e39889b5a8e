"""The law of a frozen encoder: sentences in, vectors out."""

from pathlib import Path

import cloudpickle
import numpy as np
import pyarrow
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from datamodules.text.vocabulary import Vocabulary
from encoder_lab.errors import InputError
from encoders import FrozenEncoder, frozen
from encoders.bilstm import BiLSTM
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoded, Encoder
from encoders.transformer import TransformerEncoder

WORDS = ["a", "b", "c", "d"]
MATRIX = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 2, 2]], dtype=np.float32)

sentences_of_words = st.lists(st.lists(st.sampled_from([*WORDS, "new"]), max_size=6).map(" ".join), max_size=12)


class Counting(BagOfVectors):
    """A bag of vectors that counts the sentences and words it is shown."""

    seen, padded = 0, 0

    def forward(self, embedded: torch.Tensor, lengths: torch.Tensor) -> Encoded:
        self.seen += len(lengths)
        self.padded += embedded.shape[0] * embedded.shape[1]
        return super().forward(embedded, lengths)


def freeze(encoder: Encoder, **more) -> FrozenEncoder:
    return FrozenEncoder(encoder, WordEmbedding(MATRIX), Vocabulary(WORDS), **more)


def bag(**more) -> FrozenEncoder:
    return freeze(Counting(3), **more)


def bilstm() -> FrozenEncoder:
    torch.manual_seed(1)
    return freeze(BiLSTM(3, dim=6, projection=5))


def test_the_vectors_of_a_bag_equal_hand_computed_ones() -> None:
    vectors = bag().encode(["a b", "d", "a a a b"])
    assert vectors.tolist() == [[0.5, 0.5, 0], [2, 2, 2], [0.75, 0.25, 0]]
    assert vectors.dtype == np.float32


def test_an_encoder_says_what_it_is() -> None:
    assert repr(bilstm()) == "FrozenEncoder(BiLSTM, 6 dimensions, 4 words, on cpu)"


@pytest.mark.filterwarnings("ignore:.*empty")
@settings(max_examples=25)
@given(sentences=sentences_of_words)
def test_a_sentence_gets_the_same_vector_alone_and_with_others(sentences) -> None:
    encoder = bilstm()
    together = encoder.encode(sentences)
    assert together.shape == (len(sentences), 6)
    for sentence, vector in zip(sentences, together, strict=True):
        np.testing.assert_allclose(encoder.encode([sentence])[0], vector, atol=1e-6)


@pytest.mark.parametrize("machine", [True, False])
def test_products_are_in_bfloat16_where_the_machine_has_it(machine, monkeypatch) -> None:
    monkeypatch.setattr(frozen, "multiplies_in_bfloat16", lambda _: machine)
    torch.manual_seed(1)
    encoder, sentences = TransformerEncoder(3, dim=8, layers=1, heads=2, feed_forward=8), ["a b c", "d d", "new a"]
    wide, narrow = (freeze(encoder, bfloat16=wish).encode(sentences) for wish in (False, True))
    assert (narrow.dtype, narrow) == (np.float32, pytest.approx(wide, abs=0.05))
    assert (narrow != wide).any() == machine


@pytest.mark.parametrize("encoder", [bilstm(), freeze(TransformerEncoder(3, dim=8, layers=1, heads=2))], ids=repr)
def test_products_are_in_float32_also_where_the_caller_computes_in_bfloat16(encoder) -> None:
    sentences = ["a b c", "d d", "new a", *WORDS, "a b", "b c"]
    alone = encoder.encode(sentences)
    with torch.autocast("cpu", torch.bfloat16):
        assert encoder.encode(sentences) == pytest.approx(alone, abs=1e-6)


def test_a_repeated_sentence_is_encoded_once() -> None:
    encoder = bag()
    vectors = encoder.encode(["a b", "c", "a b", "a b"])
    assert encoder.encoder.seen == 2
    assert vectors[[0, 2, 3]].tolist() == [[0.5, 0.5, 0]] * 3


def test_sentences_of_similar_length_are_encoded_together() -> None:
    encoder = bag()
    encoder.encoder.batch_words = 12
    encoder.encode([" ".join([*WORDS[:length], f"n{i}"]) for i in range(6) for length in (1, 3)])
    assert encoder.encoder.padded == 6 * 2 + 6 * 4


@pytest.mark.filterwarnings("ignore:.*empty")
@settings(max_examples=25)
@given(sentences=sentences_of_words, chunk=st.integers(1, 5))
def test_vectors_in_a_file_equal_those_in_memory(tmp_path_factory, sentences, chunk) -> None:
    out = tmp_path_factory.mktemp("out") / "vectors.npy"
    encoder = bilstm()
    in_memory = encoder.encode(sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frozen, "CHUNK_SENTENCES", chunk)
        in_file = encoder.encode(sentences, out=out)
    np.testing.assert_allclose(in_file, in_memory, atol=1e-6)
    np.testing.assert_array_equal(np.load(out), in_file)


def test_a_failure_leaves_no_half_written_file(tmp_path) -> None:
    encoder = bag(oov=lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        encoder.encode(["new"], out=tmp_path / "vectors.npy")
    assert list(tmp_path.iterdir()) == []


def test_empty_sentences_get_zeros_and_are_reported() -> None:
    encoder = bag()
    with pytest.warns(UserWarning, match=r"4 empty sentence\(s\) got the zero vector"):
        vectors = encoder.encode(["", " ", "\t ", "", "a"])  # one of them twice
    assert vectors.tolist() == [*[[0, 0, 0]] * 4, [1, 0, 0]]
    assert encoder.coverage == (4, 4, 0, 1, 0, 0)


def test_a_sentence_beyond_the_limit_is_cut_and_reported(monkeypatch) -> None:
    monkeypatch.setattr(frozen, "MAX_SENTENCE_WORDS", 2)
    encoder = bag()
    with pytest.warns(UserWarning, match=r"1 sentence\(s\) were cut after 2 words"):
        vectors = encoder.encode(["a b d d d", "a b"])
    assert vectors[0].tolist() == vectors[1].tolist()
    assert encoder.coverage.cut == 1


@pytest.mark.filterwarnings("ignore:.*empty")
def test_an_unknown_word_is_composed_or_zero_and_counted() -> None:
    encoder = bag(oov=composed)
    encoder.embedding.table[WORDS.index("c") + 2] = 0  # in the training text, and not in the file of vectors
    assert encoder.encode(["news a", "b what c", "", "c"]).tolist() == [[2.5, 2, 2], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert (encoder.coverage.words, encoder.coverage.unknown) == (6, 3)


def test_coverage_is_that_of_the_last_call() -> None:
    encoder = bag()
    encoder.encode(["x y z"])
    encoder.encode(["a", "a"])
    assert encoder.coverage == frozen.Coverage(sentences=1, words=1)


def test_coverage_counts_no_words_of_a_call_that_another_thread_makes_meanwhile() -> None:
    encoder = bag(oov=lambda _: encoder.encode(["a a b"])[0])  # a call that begins and ends within the other
    encoder.encode(["a new c d"])
    assert (encoder.coverage.words, encoder.coverage.unknown) == (4, 0)


@pytest.mark.parametrize("raw", [True, False])
def test_raw_text_is_tokenised_first_unless_a_call_says_otherwise(raw) -> None:
    encoder = bag(tokenize=lambda text: text.replace("-", " "), raw=raw)
    assert encoder.encode(["a-b"], tokenized=False).tolist() == [[0.5, 0.5, 0]]
    assert encoder.encode(["a-b"], tokenized=True).tolist() == [[0, 0, 0]]
    assert encoder.encode(["a-b"]).any() == raw


def test_code_written_for_sentence_transformers_runs(capsys) -> None:
    encoder = bag()
    assert encoder.get_sentence_embedding_dimension() == 3
    options = {"batch_size": 2, "show_progress_bar": True, "normalize_embeddings": True, "convert_to_tensor": True}
    options["convert_to_numpy"] = True
    with pytest.warns(UserWarning, match="empty"):
        vectors = encoder.encode(["a b", "d", ""], **options)
    assert "encoding" in capsys.readouterr().err
    torch.testing.assert_close(vectors, torch.tensor([[0.5**0.5, 0.5**0.5, 0], [3**-0.5] * 3, [0, 0, 0]]))


def test_a_batch_has_at_most_as_many_sentences_as_asked_for(monkeypatch) -> None:
    encoder, sizes = bag(), []
    forward = encoder.encoder.forward
    monkeypatch.setattr(encoder.encoder, "forward", lambda words, n: sizes.append(len(n)) or forward(words, n))
    vectors = encoder.encode([f"a {word}" for word in WORDS], batch_size=3)
    assert sizes == [3, 1]
    np.testing.assert_array_equal(vectors, encoder.encode([f"a {word}" for word in WORDS]))


@pytest.mark.parametrize(
    "options", [{"batch_size": 0}, {"out": Path("v.npy"), "convert_to_tensor": True}, {"convert_to_numpy": False}]
)
def test_options_that_cannot_work_are_refused(options) -> None:
    with pytest.raises(InputError, match=f"^{next(iter(options))}="):
        bag().encode(["a"], **options)


def composed(word: str) -> np.ndarray | None:
    return np.full(3, 4.0, np.float32) if word == "news" else None


def test_an_encoder_is_a_step_of_a_pipeline_that_other_processes_can_cross_validate() -> None:
    sentences = [f"{word} {other}" for word in "ab" for other in "cd"] * 3
    pipeline = make_pipeline(freeze(BagOfVectors(3), oov=composed), LogisticRegression())
    pipeline = cloudpickle.loads(cloudpickle.dumps(pipeline))  # what n_jobs=2 does
    assert cross_val_score(pipeline, sentences, [sentence[0] for sentence in sentences], cv=3).tolist() == [1, 1, 1]
    assert pipeline[:1].transform(["a b"]).tolist() == [[0.5, 0.5, 0]]


def test_encoding_leaves_modes_random_state_and_gradients_as_they_were() -> None:
    encoder = bilstm()
    expected = encoder.encode(["a b c", "d"])
    encoder.encoder.train()
    encoder.encoder.projection.eval()
    modes = [module.training for module in encoder.encoder.modules()]
    state = torch.get_rng_state()
    numpy_state = np.random.get_state()[1].copy()  # noqa: NPY002
    np.testing.assert_array_equal(encoder.encode(["a b c", "d"]), expected)  # without dropout
    assert [module.training for module in encoder.encoder.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)
    assert (np.random.get_state()[1] == numpy_state).all()  # noqa: NPY002
    assert all(weight.grad is None for weight in encoder.encoder.parameters())


@pytest.mark.parametrize(("sentences", "message"), [
    (["a", None], r"sentences\[1\] is 'None' \(NoneType\)"),
    ([["a", "b"], ["c"]], r"sentences\[0\] .* \(list\), not a text; join the words"),
    ([("a", "b")], r"sentences\[0\] .* \(tuple\), not a text; join the words"),
    ([b"a"], r"sentences\[0\] .* \(bytes\)"),
    (np.array(["a", None], dtype=object), r"sentences\[1\]"),
    (np.array([["a", "b"]]), r"one column of sentences, not ndarray \(1, 2\)"),
    (["a", "b \ud800"], r"sentences\[1\] has half of a character"),
    ({"a": 1}, "a list of sentences, not dict"),
    (b"a", "a list of sentences, not bytes"),
    (None, "a list of sentences, not NoneType"),
    ("a b", r"not one string: encode\(\['a b'\]\)"),
])  # fmt: skip
def test_what_is_no_text_is_refused_with_its_place(sentences, message) -> None:
    with pytest.raises(InputError, match=message):
        bag().encode(sentences)


def test_sentences_come_in_any_sequence_and_in_any_form_of_unicode() -> None:
    expected = bag().encode(["a b", "d"])
    sentences = ("a b", "d")
    for some in (sentences, np.array(sentences), pyarrow.chunked_array([sentences]), (text for text in sentences)):
        np.testing.assert_array_equal(bag().encode(some), expected)
    accented = FrozenEncoder(Counting(3), WordEmbedding(MATRIX), Vocabulary(["é", "b", "c", "d"]))
    assert accented.encode(["e\u0301"]).tolist() == [[1, 0, 0]]
