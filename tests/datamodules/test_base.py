import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from datamodules.corpus import Document, Section, Split, exclude_sentences
from datamodules.excluded import Excluded
from datamodules.seq2seq import TextPairs, next_sentence_pairs
from datamodules.seq2tree import SentenceTrees
from encoder_lab.errors import InputError
from encoder_lab.storage.content import key_of
from encoder_lab.storage.files import CONTENTS_FILE, build_once
from tests.conftest import ROOT
from tests.tiny_corpus import TinyCorpus


class Scripted(TinyCorpus):
    """A corpus of given pairs."""

    def __init__(self, *pairs: tuple[str, str]) -> None:
        self.pairs = pairs

    def fingerprint(self) -> str:
        return repr(self.pairs)

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        return iter(self.pairs)


def test_a_build_that_fails_leaves_nothing_and_what_is_built_is_built_once(tmp_path) -> None:
    def fail(work: Path) -> None:
        (work / "half").write_text("done")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        build_once(tmp_path / "made", fail)
    assert [path.name for path in tmp_path.iterdir()] == [".made.lock"]
    calls: list[Path] = []
    for _ in range(2):
        build_once(tmp_path / "made", calls.append)
    assert len(calls) == 1


def test_what_a_killed_build_left_goes_with_the_next_one(tmp_path) -> None:
    code = f"""
import os, time
from pathlib import Path
from encoder_lab.storage.files import build_once
def build(work):
    (work / "half").touch()
    os._exit(9)
build_once(Path({str(tmp_path / "made")!r}), build)
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert [path.name for path in tmp_path.rglob("half")] == ["half"]
    build_once(tmp_path / "made", lambda work: (work / "whole").touch())
    assert {path.name for path in tmp_path.rglob("*")} == {".made.lock", "made", CONTENTS_FILE, "whole"}


CACHED_FILES = ["words.txt", "skipped.json", "train.source.ids.npy", "train.source.offsets.npy", "subwords.model"]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "of other brackets": lambda path: path.write_bytes(path.read_bytes().replace(b"{", b"[")),
    "emptied": lambda path: path.write_bytes(b"[]".ljust(path.stat().st_size)),
    "deleted": Path.unlink,
}


@pytest.mark.parametrize(("damage", "name"), [
    *[("cut off", name) for name in (*CACHED_FILES, "train.source.txt", CONTENTS_FILE)],
    *[(damage, name) for name in ("skipped.json", CONTENTS_FILE) for damage in ("of other brackets", "emptied")],
    ("deleted", "words.txt"),
])  # fmt: skip
def test_a_damaged_cache_names_the_folder_to_delete(tmp_path, damage, name) -> None:
    data = TextPairs(TinyCorpus(), "same", tmp_path, seed=1, codes=40)
    DAMAGES[damage](data.folder / name)
    with pytest.raises(InputError, match=rf"{data.folder.name}: .*delete this folder"):
        TextPairs(TinyCorpus(), "same", tmp_path, seed=1, codes=40)


def test_the_key_knows_what_it_was_made_of() -> None:
    assert key_of("a", 1) == key_of("a", 1) != key_of("a", 2)


def test_empty_and_long_pairs_are_counted_and_left_out(tmp_path) -> None:
    """The mark of SentencePiece in a target is a space, as in what it decodes."""
    corpus = Scripted(("one two", "\u2581a"), ("", "b"), ("one", "c c c c"), ("two", "d"), ("two", "\u2581 e\u2581e"))
    data = TextPairs(corpus, "fr", tmp_path, seed=1, codes=20, max_words=3)
    assert data.skipped["train"]._asdict() == {"empty": 1, "too_long": 1, "in_tasks": 0}
    assert list(data.source_sentences()) == ["one two", "two", "two"]
    assert data.validation_targets() == ["a", "d", "e e"]


def test_each_text_says_what_it_left_out_itself(tmp_path) -> None:
    tasks = Excluded(["one", "two"])
    for word in ("one", "two"):
        corpus = exclude_sentences(Scripted((word, "a"), ("three", "b")), tasks)
        assert TextPairs(corpus, "fr", tmp_path, seed=1, codes=20).left_out == {word}


def test_a_corpus_without_a_usable_pair_is_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="1 empty, 1 too long"):
        TextPairs(Scripted(("", "x"), ("one two three", "y")), "fr", tmp_path, seed=1, max_words=2)


def test_the_next_sentence_is_of_the_same_document() -> None:
    pairs = list(next_sentence_pairs(TinyCorpus().documents("train")))
    assert len(pairs) == 4 * 5
    assert pairs[:3] == [("dog0", "dog1 dog1"), ("dog1 dog1", "dog2 dog2 dog2"), ("dog2 dog2 dog2", "dog3")]
    assert all(a.split()[0][:3] == b.split()[0][:3] for a, b in pairs)


@pytest.mark.parametrize("documents", [1, 3])
def test_documents_of_one_sentence_have_no_next_one(documents) -> None:
    with pytest.raises(InputError, match="every document has one sentence"):
        list(next_sentence_pairs(Document(str(i), None, [Section(None, None, [["a b"]])]) for i in range(documents)))


@pytest.mark.parametrize("limit", [1, 0.5])
def test_each_batch_of_a_limited_validation_has_all_lengths(tmp_path, limit) -> None:
    data: Any = TextPairs(TinyCorpus(), "same", tmp_path, seed=1, codes=40, batch_size=1)
    data.trainer = SimpleNamespace(limit_val_batches=limit, global_rank=0, world_size=1)
    lengths = np.repeat(np.arange(1, 11), 100)
    batches = list(data.validation_loader(lengths, lambda rows: rows))
    assert sorted(np.concatenate(batches).tolist()) == list(range(1000))
    assert all(abs(lengths[rows].mean() - 5.5) < 0.1 for rows in batches)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_part_that_leaves_a_process_without_a_dev_batch_is_refused_in_each(tmp_path, rank) -> None:
    data: Any = TextPairs(TinyCorpus(), "same", tmp_path, seed=1, codes=40)
    data.trainer = SimpleNamespace(limit_val_batches=0.5, global_rank=rank, world_size=2)
    with pytest.raises(InputError, match=r"limit_val_batches=0\.5: less than one of the 1 dev batches of a process"):
        data.validation_loader(np.ones(9), lambda rows: rows)  # two batches and one


@pytest.mark.parametrize("count", [1, 256, 257, 1000])
def test_validation_sees_every_example_the_longest_first(tmp_path, count) -> None:
    data = TextPairs(TinyCorpus(), "same", tmp_path, seed=1, codes=40)
    lengths = np.random.default_rng(0).integers(1, 30, count).astype(np.uint8)
    batches: Any = list(data.validation_loader(lengths, lambda rows: rows))  # type: ignore[arg-type, return-value]
    order = np.concatenate(batches)
    assert max(map(len, batches)) <= 256
    assert sorted(order) == list(range(count))
    assert (np.diff(lengths[order].astype(int)) <= 0).all()


def test_a_batch_has_sentences_or_tokens_not_both(tmp_path) -> None:
    with pytest.raises(InputError, match=r"batch_size=3: .* datamodule\.batch_tokens=90; give null"):
        TextPairs(TinyCorpus(), "same", tmp_path, seed=1, codes=40, batch_size=3, batch_tokens=90)


def test_trees_become_symbols_between_marks(tmp_path) -> None:
    data = SentenceTrees(TinyCorpus(), tmp_path, seed=1)
    batch = next(iter(data.val_dataloader()))
    row, length = batch.target.ids[0].tolist(), int(batch.target.lengths[0])
    assert [data.symbols.words[i] for i in (row[0], row[length - 1])] == ["<s>", "</s>"]
    assert " ".join(data.symbols_of(row[:length])) == ("(ROOT (S (NP DT NN )NP (VP VBZ (NP DT NN )NP )VP . )S )ROOT")


def test_an_adopted_vocabulary_renames_rows_not_words(tmp_path) -> None:
    data, same = (TextPairs(TinyCorpus(), "same", tmp_path, seed=1, codes=40) for _ in range(2))
    larger = TextPairs(TinyCorpus(), "next", tmp_path, seed=1, codes=40).vocabulary.extend(data.vocabulary.words)
    data.use_vocabulary(larger)
    for ours, theirs in zip(data.train_dataloader(), same.train_dataloader(), strict=True):
        words = [[larger.words[i] for i in row] for row in ours.source.ids.tolist()]
        assert words == [[same.vocabulary.words[i] for i in row] for row in theirs.source.ids.tolist()]


def test_symbols_are_counted_a_part_at_a_time(tmp_path, monkeypatch) -> None:
    data = TextPairs(TinyCorpus(), "fr", tmp_path, seed=1)
    whole = np.bincount(data.ids("train", "target").ids, minlength=data.target_size)
    monkeypatch.setattr("datamodules.seq2seq.CHUNK_SYMBOLS", 7)
    assert data.target_counts().tolist() == whole.tolist()


def test_lengths_are_exact_in_as_few_bytes_as_they_need(tmp_path) -> None:
    long = " ".join(["a"] * 300)
    data = TextPairs(Scripted(("a b", "x"), (long, "y"), ("c", "z")), "fr", tmp_path, seed=1, max_words=1000)
    assert data.lengths("train", "source").tolist() == [2, 300, 1]
    assert data.lengths("train", "source").dtype == np.uint16
    assert data.lengths("train", "target").dtype == np.uint8


def test_batches_in_words_are_the_sentences_that_they_were_made_of(tmp_path) -> None:
    for data in (TextPairs(TinyCorpus(), "fr", tmp_path, 1, 40), SentenceTrees(TinyCorpus(), tmp_path, 1)):
        files = {side: (data.folder / f"train.{side}.txt").read_text().splitlines() for side in ("source", "target")}
        written = [line for batch in data.train_dataloader() for line in data.readable_lines(batch)]
        assert sorted(written) == sorted(f"{side}\t{text}" for side, texts in files.items() for text in texts)
