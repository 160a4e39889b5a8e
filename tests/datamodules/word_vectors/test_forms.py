"""Vector files in every form in which they are given away: each is read alike, or named with the remedy."""

import bz2
import gzip
import io
import pickle
import tarfile
import zipfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.word_vectors.skipgram import train_bin
from datamodules.word_vectors.store import LookupResult, open_store, refuse_low_coverage
from encoder_lab.errors import InputError

WORDS = ["the", ",", "café", "1,000", "dog"]
ROWS = np.random.default_rng(1).normal(size=(len(WORDS), 7)).astype(np.float32)
SPACES, TABS, COMMAS = " ", "\t", ","


def as_text(separator: str, header: str = "", words: list[str] = WORDS) -> bytes:
    lines = [separator.join([word, *map(str, row)]) for word, row in zip(words, ROWS.tolist(), strict=True)]
    return "".join(f"{line}\n" for line in [*filter(None, [header]), *lines]).encode()


def word2vec(newline: bytes = b"\n") -> bytes:
    rows = (word.encode() + b" " + row.tobytes() + newline for word, row in zip(WORDS, ROWS, strict=True))
    return f"{len(WORDS)} 7\n".encode() + b"".join(rows)


def archived(data: bytes) -> bytes:
    written, entry = io.BytesIO(), tarfile.TarInfo("v.vec")
    entry.size = len(data)
    with tarfile.open(fileobj=written, mode="w") as archive:
        archive.addfile(entry, io.BytesIO(data))
    return written.getvalue()


FORMS = {
    "glove.txt": as_text(SPACES),
    "spaces.vec": as_text(SPACES, "5 7"),
    "aligned.txt": as_text("   ").replace(b"\n", b" \n"),
    "tabs.txt": as_text(TABS),
    "tabs.vec": as_text(TABS, "5\t7"),
    "tab_then_spaces.vec": as_text(SPACES, "5 7").replace(b"the ", b"the\t"),
    "commas.csv": as_text(COMMAS),
    "commas.vec": as_text(COMMAS, "5,7"),
    "quotes.csv": as_text(COMMAS, words=['"the"', '","', "café", '"1,000"', "dog"]),
    "word2vec.bin": word2vec(),
    "word2vec_of_gensim.bin": word2vec(b""),
    "word2vec_by_another_name": word2vec(),
}


def write(path: Path, data: bytes, pack: str) -> Path:
    path = path.with_name(path.name + pack)
    if pack == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("__MACOSX/x", b"")
            archive.writestr(f"folder/{path.stem}", data)
    else:
        path.write_bytes({".gz": gzip.compress, ".bz2": bz2.compress}.get(pack, bytes)(data))
    return path


@pytest.mark.parametrize("pack", ["", ".gz", ".bz2", ".zip"])
@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_vectors(name, pack, tmp_path) -> None:
    store = open_store(write(tmp_path / name, FORMS[name], pack), tmp_path / "cache")
    lookup = store.lookup(WORDS)
    assert lookup.present.all()
    np.testing.assert_allclose(lookup.matrix, ROWS, rtol=1e-6)
    assert store.subwords_bin is None


@pytest.mark.parametrize("pack", ["", ".gz", ".zip"])
def test_a_packed_fasttext_model_composes_words_as_the_plain_one(pack, tmp_path) -> None:
    (tmp_path / "text").write_text("the dog sees a cat .\n" * 50)
    model = tmp_path / "model.bin"
    how = {"dim": 6, "epoch": 20, "t": 1.0, "bucket": 300, "minn": 2, "maxn": 4, "thread": 1}
    train_bin(tmp_path / "text", model, how)
    plain = open_store(model, tmp_path / "cache").lookup(["dog", "dogs"])
    result = open_store(write(model, model.read_bytes(), pack), tmp_path / "cache").lookup(["dog", "dogs"])
    np.testing.assert_array_equal(result.matrix, plain.matrix)
    assert result.composed.tolist() == [False, True]


@given(size=st.integers(0, len(word2vec(b"")) - 1))
def test_word2vec_that_is_cut_off_anywhere_is_refused(size, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("cut") / "cut.bin"
    path.write_bytes(word2vec(b"")[:size])
    with pytest.raises(InputError, match=r"cut\.bin"):
        open_store(path, path.parent / "cache")


NAMED = {
    "gensim.kv": (pickle.dumps({"the": [1.0]}), "pickle, as gensim saves"),
    "v.npy": (b"\x93NUMPY\x01\x00", "NumPy array"),
    "v.txt": (gzip.compress(as_text(SPACES)), r"gzip; let its name end in \.gz"),
    "v.pt": (b"PK\x03\x04rest", "zip archive or PyTorch"),
    "v.magnitude": (b"SQLite format 3\x00", "Magnitude"),
    "v.txt.xz": (b"\xfd7zXZ\x00", "unxz"),
    "v.gz": (b"no gzip", "damaged or not what its name says; get it again"),
    "v.zip": (b"no zip", "damaged or not what its name says; get it again"),
    "v.vec": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "pointer of Git LFS .git lfs pull."),
    "v.tar": (archived(as_text(SPACES)), r"an archive; unpack it: tar xf v\.tar"),
    "words.txt": (b"the\na\n", r"words\.txt:1: no numbers"),
    "semicolons.txt": (as_text(";", words=["a", "b", "c", "d", "e"]), r"txt:1: no numbers"),
    "decimal_commas.txt": (b"the 0,5 0,25\n", "'0,5' is not a number"),
    "underscore.txt": (b"the 0.5 0.25\na 0.5 1_0\n", "txt:2: '1_0' is not a number"),
    "space.bin": (b"2 2\nNew York \0\0\x80?\0\0\0@\nb \0\0\xa0@\0\0\xc0@\n", "or a word there has a space in it"),
    "more.bin": (word2vec() + b"more", "more than the 5 words"),
    "not_finite.bin": (word2vec().replace(ROWS[2].tobytes(), np.full_like(ROWS[2], np.nan).tobytes()), "not finite"),
}


@pytest.mark.parametrize("name", NAMED)
def test_what_is_no_vector_file_is_named(name, tmp_path) -> None:
    data, message = NAMED[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message) as refused:
        open_store(tmp_path / name, tmp_path / "cache")
    assert str(tmp_path / name) in str(refused.value)
    assert "delete" not in str(refused.value)


def test_a_zip_of_several_files_is_refused_with_their_names(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "glove.zip", "w") as archive:
        for dim in (50, 100):
            archive.writestr(f"glove.{dim}d.txt", as_text(SPACES))
    with pytest.raises(InputError, match=r"2 files in it \(glove\.50d\.txt, glove\.100d\.txt\); unpack it"):
        open_store(tmp_path / "glove.zip", tmp_path / "cache")


@pytest.mark.parametrize(("known", "words", "refused"), [(0, 50, True), (4, 50, True), (5, 50, False), (0, 0, False)])
def test_vectors_of_less_than_a_tenth_of_the_words_are_refused_and_with_subwords_said(known, words, refused) -> None:
    present, numbers = np.arange(words) < known, np.zeros((words, 1), np.float32)
    looked_up = LookupResult(numbers, present, np.zeros(words, bool))
    composed = LookupResult(numbers, present, np.ones(words, bool))
    refusal = pytest.raises(InputError, match=rf"only {2 * known}\.0% of the words have a vector; ")
    warning = pytest.warns(UserWarning, match=rf"only {2 * known}\.0% of the words have a vector of their own")
    for result, answer in ((looked_up, refusal), (composed, warning)):
        with answer if refused else nullcontext():
            refuse_low_coverage(result, slice(None), "v.vec")
