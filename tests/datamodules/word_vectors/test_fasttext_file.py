"""A truncated or corrupt fastText model is refused in one line; fastText itself would hang or read garbage."""

import re
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import fasttext
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datamodules.word_vectors.fasttext_file import _Reader, check_bin, open_bin, open_lookup
from datamodules.word_vectors.formats import read_vectors
from datamodules.word_vectors.skipgram import train_bin
from encoder_lab.errors import InputError
from tests.fuzzing import refusal
from tests.storage.test_files import files_of_at_most

SKIPGRAM = {"dim": 6, "epoch": 1, "bucket": 300, "minn": 2, "maxn": 4, "thread": 1}
HEAD, MATRIX_HEAD = 92, 17  # bytes: magic number, settings and sizes; form, rows and columns
WORDS = ["", "the", "là", "w7", "__label__1", "</s>", "theirs", "<the>", "a\0b"]


class Dictionary(NamedTuple):
    """Of a model: how many words it has, and where it ends."""

    words: int
    end: int


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    """Sentences for a classifier; the first word is one of three hundred labels."""
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_text("".join(f"__label__{i % 300} the dog sees w{i} chat là .\n" for i in range(600)))
    return path


@pytest.fixture(scope="module")
def model(text) -> Path:
    out = text.with_name("model.bin")
    train_bin(text, out, SKIPGRAM)
    return out


@pytest.fixture(scope="module")
def dictionary(model) -> Dictionary:
    whole = fasttext.load_model(str(model))
    matrices = sum(m.nbytes + MATRIX_HEAD for m in (whole.get_input_matrix(), whole.get_output_matrix()))
    return Dictionary(len(whole.get_words()), model.stat().st_size - matrices)


@given(words=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9) | st.sampled_from(WORDS)))
def test_a_vector_from_the_file_itself_is_that_of_fasttext_to_the_bit(model, words) -> None:
    ours, loaded = open_lookup(model), open_bin(model)
    for word in words:
        np.testing.assert_array_equal(ours.get_word_vector(word), loaded.get_word_vector(word))


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_model_that_is_cut_off_anywhere_is_refused(model, tmp_path, share) -> None:
    cut, whole = tmp_path / "cut.bin", model.read_bytes()
    cut.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(InputError, match=r"cut\.bin: .*again"):
        read_vectors(cut, tmp_path / "matrix.npy")


@given(share=st.floats(0, 1), new=st.binary(min_size=1, max_size=8))
def test_a_model_with_a_damaged_head_is_refused_or_read(model, tmp_path, share, new) -> None:
    damaged, changed = tmp_path / "damaged.bin", bytearray(model.read_bytes())
    at = int(share * HEAD)
    changed[at : at + len(new)] = new
    damaged.write_bytes(changed)
    refusal(lambda: check_bin(damaged), damaged)


@settings(max_examples=20)  # fastText takes a tenth of a second to open a model of any size
@given(share=st.floats(0, 1), new=st.binary(min_size=1, max_size=8))
def test_with_a_corrupt_dictionary_all_words_are_read_or_none(model, dictionary, tmp_path, share, new) -> None:
    damaged, changed = tmp_path / "damaged.bin", bytearray(model.read_bytes())
    at = HEAD + int(share * (dictionary.end - HEAD - len(new)))
    changed[at : at + len(new)] = new
    damaged.write_bytes(changed)
    words: list[str] = []
    if refusal(lambda: words.extend(read_vectors(damaged, tmp_path / "matrix.npy")), damaged) is None:
        assert len(words) == dictionary.words


CHANGES = {  # the byte behind a word and its count says that it is a label
    "a label": (
        lambda whole, _: re.sub(rb"(chat\0.{8})\0", rb"\g<1>" + b"\x01", whole, flags=re.DOTALL),
        "not a fastText model, or damaged",
    ),
    "no UTF-8": (lambda whole, _: whole.replace(b"chat\0", b"ch\xfft\0"), "a word in it is not valid UTF-8"),
    "no number": (
        lambda whole, row: whole.replace(row.tobytes(), (row * np.nan).tobytes()),
        "the vector of '.*' is not finite",
    ),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES.keys())
def test_a_word_that_cannot_be_read_is_refused(model, tmp_path, change, message) -> None:
    damaged, row = tmp_path / "damaged.bin", fasttext.load_model(str(model)).get_input_vector(0)
    damaged.write_bytes(change(model.read_bytes(), row))
    with pytest.raises(InputError, match=rf"damaged\.bin: {message}"):
        read_vectors(damaged, tmp_path / "matrix.npy")


QUANTISED = {"plain": {}, "norms": {"qnorm": True}, "uneven parts": {"dsub": 4}, "output too": {"qout": True}}
QUANTISED |= {"pruned": {"qnorm": True, "qout": True, "cutoff": 700}}


def quantised(text: Path, folder: Path, how: dict) -> Path:
    """A small model made smaller."""
    trained = fasttext.train_supervised(str(text), dim=6, epoch=0, bucket=1000, minn=2, maxn=4, verbose=0)
    random = np.random.default_rng(0)  # for what was never trained may be no numbers
    trained.set_matrices(
        *(random.normal(size=m.shape) for m in (trained.get_input_matrix(), trained.get_output_matrix()))
    )
    trained.save_model(str(folder / "model.bin"))
    trained.quantize(**how)
    trained.save_model(str(folder / "model.ftz"))
    return folder / "model.ftz"


@pytest.mark.parametrize("how", QUANTISED.values(), ids=QUANTISED.keys())
def test_every_format_that_fasttext_writes_is_accepted(text, tmp_path, how) -> None:
    check_bin(quantised(text, tmp_path, how))
    check_bin(tmp_path / "model.bin")
    assert open_bin(tmp_path / "model.ftz").get_dimension() == 6


DAMAGE = {  # how many bytes behind the start of what the reader steps over, and what is written there
    "a hash beyond the buckets": ("_skip_subword_table", 0, 10**6),
    "a row beyond the matrix": ("_skip_subword_table", 4, 10**6),
    "a row before the matrix": ("_skip_subword_table", 4, -1),
    "as many codes as there are not": ("_skip_quantiser", -4, 7),
}


@pytest.mark.parametrize(("step", "behind", "number"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_smaller_model_that_points_beyond_itself_is_refused(text, tmp_path, step, behind, number) -> None:
    model, offsets = quantised(text, tmp_path, QUANTISED["pruned"]), []
    with pytest.MonkeyPatch.context() as patch, suppress(ValueError, InputError):
        patch.setattr(_Reader, step, lambda reader, *_: offsets.append(reader.offset))
        check_bin(model)
    changed = bytearray(model.read_bytes())
    changed[offsets[0] + behind : offsets[0] + behind + 4] = number.to_bytes(4, "little", signed=True)
    model.write_bytes(changed)
    with pytest.raises(InputError, match=r"model\.ftz: not a fastText model, or damaged"):
        check_bin(model)


def test_vectors_that_the_disk_had_no_room_for_are_not_taken_for_whole(text, tmp_path) -> None:
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN  # a write beyond the limit fails as on a full disk
    with pytest.raises(OSError, match="no room for the word vectors"), files_of_at_most(100_000):
        train_bin(text, tmp_path / "model.bin", {**SKIPGRAM, "bucket": 10_000})
