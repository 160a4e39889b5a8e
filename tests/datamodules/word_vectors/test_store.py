import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

import datamodules.word_vectors.store as store_module
from datamodules.demo import Demo
from datamodules.text.vocabulary import Vocabulary
from datamodules.word_vectors.run_vectors import RunVectors, load_run_vectors, save_run_vectors
from datamodules.word_vectors.store import FromFile, Trained, WordVectors, open_store
from encoder_lab.errors import InputError, disk_error_line
from encoder_lab.storage.content import contents_of
from encoder_lab.storage.reads import write_reads
from tests.conftest import ROOT
from tests.storage.test_files import files_of_at_most

SENTENCES = ["the dog sees a cat .", "a house is there .", "the cats\u00a0sleep ."] * 40
DAMAGED = {"matrix.npy": b"", "scale.npy": b"", "words.txt": b"red\nbl\xff\n"}


def trained(cache: Path, dim: int = 8):
    how = {"dim": dim, "epochs": 1, "words": 100, "lr": 0.1, "sampling": 0.001, "bucket": 200, "minn": 3, "maxn": 4}
    return Trained(**how, threads=1).vectors(lambda: SENTENCES, "text", cache)


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> WordVectors:
    return trained(tmp_path_factory.mktemp("trained"))


@pytest.mark.parametrize("header", ["3 2\n", ""], ids=["vec", "glove"])
def test_vectors_of_a_text_file_are_found_by_word(tmp_path, header) -> None:
    (tmp_path / "v.txt").write_text(header + "a 1 2\nb 3 4\na 9 9\n")
    lookup = open_store(tmp_path / "v.txt", tmp_path / "cache").lookup(["b", "a", "c", "<pad>"])
    np.testing.assert_array_equal(lookup.matrix, [[3, 4], [1, 2], [0, 0], [0, 0]])  # of a repeated word the first
    assert lookup.present.tolist() == [True, True, False, True]


@pytest.mark.parametrize(("last", "notes"), [("a 9 9\n", ["1 words are there again"]), ("A 9 9\n", [])])
def test_words_that_a_file_has_twice_are_named(tmp_path, caplog, last, notes) -> None:
    (tmp_path / "v.txt").write_text(f"a 1 2\nb 3 4\n{last}")
    FromFile(str(tmp_path / "v.txt")).vectors(lambda: [], "", tmp_path / "cache")
    assert [note for note in notes if note in caplog.text] == notes
    assert len(caplog.messages) == len(notes)


def test_the_line_of_a_lookup_counts_words_and_not_the_special_rows_of_a_vocabulary(tmp_path) -> None:
    (tmp_path / "v.txt").write_text("a 1 2\nb 3 4\n")
    lookup = open_store(tmp_path / "v.txt", tmp_path / "cache").lookup(Vocabulary(["b", "a", "c"]).words)
    assert lookup.coverage == "word vectors: 2 of 3 words found, 0 composed of subwords, 1 without a vector"


def test_a_glove_word_may_hold_spaces(tmp_path) -> None:
    (tmp_path / "v.txt").write_text("a 1 2\n. . . 3 4\n")
    assert open_store(tmp_path / "v.txt", tmp_path / "cache").lookup([". . ."]).matrix.tolist() == [[3, 4]]


def test_the_second_opening_reads_the_store_and_not_the_file(tmp_path, monkeypatch) -> None:
    path = tmp_path / "v.vec"
    path.write_text("1 2\na 1 2\n")
    open_store(path, tmp_path / "cache")
    monkeypatch.setattr(store_module, "read_vectors", lambda *_: pytest.fail("read again"))
    assert open_store(path, tmp_path / "cache").lookup(["a"]).matrix.tolist() == [[1, 2]]


def test_training_on_the_same_text_gives_the_same_vectors(store, tmp_path) -> None:
    np.testing.assert_array_equal(store.matrix, trained(tmp_path).matrix)
    assert np.isfinite(store.matrix).all()


@pytest.mark.parametrize(("max_bytes", "dim"), [(1000, 8), (4000, 100)], ids=["the text", "first vectors"])
def test_a_cache_that_is_too_small_for_what_training_writes_is_named(tmp_path, max_bytes, dim) -> None:
    with pytest.raises(OSError, match="File too large") as caught, files_of_at_most(max_bytes):
        trained(tmp_path / "cache", dim)
    assert disk_error_line(caught.value, tmp_path / "run").startswith(str(tmp_path / "cache"))


def test_an_unknown_word_is_composed_of_its_character_ngrams(store) -> None:
    lookup = store.lookup(["houses", "house", "cats"])
    assert lookup.present.tolist() == [False, True, True]
    assert lookup.composed.tolist() == [True, False, False]
    assert lookup.matrix[0].any()


def test_a_store_is_made_without_holding_its_vectors(tmp_path) -> None:
    rows = np.random.default_rng(0).integers(-9, 9, size=(3000, 200)).astype(np.float32)
    lines = [f"w{i} {' '.join(map(str, row))}\n" for i, row in enumerate(rows.tolist())]
    (tmp_path / "v.vec").write_text("3000 200\n" + "".join(lines))
    tracemalloc.start()
    store = open_store(tmp_path / "v.vec", tmp_path / "cache")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < rows.nbytes / 2
    np.testing.assert_array_equal(store.matrix, rows)


HUGE = ("1 99999999999", "1 999999999999999", "2 9999999999999999999999", "\u00b2 \u00b3")
BROKEN = {
    "too few numbers": ("2 2\na 1 2\nb 1\n", r"v\.vec:3"),
    "too many numbers": ("2 2\na 1 2\nb 1.5 2.5 3.5\n", r"v\.vec:3: more numbers than the 2 of the first line"),
    "too few numbers on the first line": ("a 1.5\nb -1e-3 .5\nc .25 1.5\n", r"v\.vec:3: more numbers than the 1"),
    "no number": ("2 2\na 1 2\nb 1 x\n", r"v\.vec:3"),
    "not finite": ("2 2\na 1 2\nb 1 nan\n", r"v\.vec:3"),
    "more than declared": ("1 2\na 1 2\nb 1 2\n", r"v\.vec:3"),
    "cut off": ("5 2\na 1 2\n", "cut off"),
    "empty": ("", r"v\.vec.*empty"),
    **{header: (f"{header}\na 1 2\n", r"v\.vec:[12]") for header in HUGE},  # they allocate nothing
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_vector_file_names_the_line(tmp_path, text, message) -> None:
    (tmp_path / "v.vec").write_text(text)
    with pytest.raises(InputError, match=message):
        open_store(tmp_path / "v.vec", tmp_path / "cache")


@pytest.mark.parametrize(("name", "content"), DAMAGED.items(), ids=DAMAGED.keys())
def test_damaged_vectors_of_a_run_are_named(tmp_path, name, content) -> None:
    two_of_three(tmp_path)
    (tmp_path / "run" / "vectors" / name).write_bytes(content)
    with pytest.raises(InputError, match=name.replace(".txt", ".txt:2")):
        load_run_vectors(tmp_path / "run")


@pytest.mark.parametrize("change", [lambda path: np.save(path, np.full((1,), 2.0)), Path.unlink])
def test_vectors_that_the_run_did_not_write_are_named(tmp_path, change) -> None:
    two_of_three(tmp_path)
    run, path = tmp_path / "run", tmp_path / "run" / "vectors" / "scale.npy"
    write_reads(run, dict(contents_of([path], run)))
    load_run_vectors(run)
    change(path)
    with pytest.raises(InputError, match=r"vectors/scale\.npy: not as the run wrote it"):
        load_run_vectors(run)


@pytest.mark.parametrize("lowercase", [False, True])
def test_a_run_keeps_its_vectors_and_composes_new_words(store, tmp_path, lowercase) -> None:
    store = WordVectors(store.folder, store.subwords_bin, lowercase)
    vocabulary = Vocabulary(["dog", "cat"])
    looked_up = store.lookup(vocabulary.words)
    save_run_vectors(tmp_path / "run", vocabulary, looked_up.matrix, store.subwords_bin, lowercase=lowercase)
    vectors = load_run_vectors(tmp_path / "run")
    assert vectors.vocabulary.words == vocabulary.words
    np.testing.assert_array_equal(vectors.matrix, looked_up.matrix)
    for lookup in (vectors.lookup_oov, pickle.loads(pickle.dumps(vectors.lookup_oov))):
        for word in ("house", "Houses", "DOG"):
            np.testing.assert_array_equal(lookup(word), store.lookup([word]).matrix[0])


def two_of_three(folder: Path) -> tuple[WordVectors, RunVectors]:
    """A store of three words, and a run that kept two of them, at twice their size."""
    (folder / "v.vec").write_text("3 2\nred 1 2\nblue 3 -1\ngreen 5 6\n")
    store, vocabulary = open_store(folder / "v.vec", folder / "cache"), Vocabulary(["red", "blue"])
    save_run_vectors(folder / "run", vocabulary, store.lookup(vocabulary.words).matrix, scale=2.0)
    return store, load_run_vectors(folder / "run")


def test_words_missing_in_the_run_folder_are_found_in_its_store(tmp_path) -> None:
    store, vectors = two_of_three(tmp_path)
    assert vectors.lookup_oov("green") is None
    lookup = vectors.extend_lookup(store)
    np.testing.assert_array_equal(lookup("green"), [10, 12])
    assert lookup("grey") is None


def test_a_run_looks_words_up_in_its_store_as_it_does_itself(tmp_path) -> None:
    (tmp_path / "v.vec").write_text("3 2\nred 1 2\nRed 3 -1\ngreen 5 6\n")
    store, vocabulary = open_store(tmp_path / "v.vec", tmp_path / "cache"), Vocabulary(["Red", "red"])
    matrix = store.lookup(["<pad>", "<unk>", "red", "red"]).matrix
    save_run_vectors(tmp_path / "run", vocabulary, matrix, lowercase=True)
    vectors = load_run_vectors(tmp_path / "run")
    vectors.lookup_oov.matrix = 7 * matrix  # trained since then
    lookup = vectors.extend_lookup(store)
    assert [lookup(word).tolist() for word in ("GREEN", "RED")] == [[5, 6], [7, 14]]  # type: ignore[union-attr]


@pytest.mark.parametrize("other", ["3 2\nred 1 2\nblue 3 1\ngreen 5 6\n", "2 3\nred 1 2 3\ngreen 5 6 7\n"])
def test_a_store_of_other_vectors_is_not_used_and_a_warning_is_given(tmp_path, other) -> None:
    _, vectors = two_of_three(tmp_path)
    (tmp_path / "w.vec").write_text(other)
    with pytest.warns(UserWarning, match=r"w\.vec.* holds not the word vectors that this run was made from"):
        lookup = vectors.extend_lookup(open_store(tmp_path / "w.vec", tmp_path / "cache"))
    assert lookup("green") is None


def test_vectors_of_a_short_text_differ_between_words(tmp_path) -> None:
    config = OmegaConf.load(ROOT / "configs" / "embeddings" / "train.yaml")
    how = {key: value for key, value in config.items() if key not in ("source", "freeze")}
    text = list(Demo(size=1500).sentences("train"))
    store = Trained(**{**how, "dim": 10}).vectors(lambda: text, "text", tmp_path)
    words = store.lookup(Vocabulary.count(text).words[2:500]).matrix
    words = words / np.linalg.norm(words, axis=1, keepdims=True)
    assert (words @ words.T).mean() < 0.6
    single, many, other = store.lookup(["teacher", "teachers", "bread"]).matrix
    assert single @ many > single @ other


@settings(max_examples=20)
@given(size=st.floats(1e-3, 1e3))
def test_a_run_scales_vectors_to_a_mean_square_of_one(tmp_path, size) -> None:
    rows = np.random.default_rng(0).normal(size=(7, 5)) * size
    path = tmp_path / f"{size}.vec"
    path.write_text("7 5\n" + "".join(f"w{i} {' '.join(map(str, row))}\n" for i, row in enumerate(rows)))
    store = open_store(path, tmp_path / "cache")
    words = Vocabulary([f"w{i}" for i in range(7)])
    save_run_vectors(tmp_path, words, store.lookup(words.words).matrix, scale=store.scale)
    scaled = load_run_vectors(tmp_path).matrix[2:]
    np.testing.assert_allclose(np.square(scaled).mean(), 1, rtol=1e-4)
    np.testing.assert_allclose(scaled / scaled[0, 0], rows / rows[0, 0], rtol=1e-4)


@pytest.mark.parametrize(("words", "lowercase", "present"), [
    ("the cat", "auto", [True, True, True]),  # no capitals in the file
    ("the Cat", "auto", [False, True, True]),
    ("the Cat", True, [True, True, False]),
    ("the cat", False, [False, True, False]),
])  # fmt: skip
def test_words_are_looked_up_in_lower_case_where_file_or_user_says_so(tmp_path, words, lowercase, present) -> None:
    (tmp_path / "v.txt").write_text("".join(f"{word} 1 2\n" for word in words.split()))
    store = FromFile(str(tmp_path / "v.txt"), lowercase).vectors(list, "", tmp_path / "cache")
    for copy in (store, pickle.loads(pickle.dumps(store))):  # as another process gets it
        assert copy.lookup(["The", "the", "Cat"]).present.tolist() == present


def test_the_scale_is_the_users_or_makes_the_mean_square_1(tmp_path) -> None:
    (tmp_path / "v.txt").write_text("a 2 0\nb 0 2\n")
    stores = [
        FromFile(str(tmp_path / "v.txt"), scale=scale).vectors(list, "", tmp_path / "cache") for scale in (None, 1)
    ]
    for some in (stores, pickle.loads(pickle.dumps(stores))):
        assert [store.scale for store in some] == pytest.approx([0.5**0.5, 1])
