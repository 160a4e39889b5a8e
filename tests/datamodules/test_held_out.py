"""Which text is held out: splits of documents and trees, in any form of their files."""

import bz2
import gzip
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.corpora.held_out import split_of
from datamodules.corpora.markdown import Markdown
from datamodules.corpora.plain_text import PlainText
from datamodules.corpora.trees import Trees
from datamodules.corpus import Split
from datamodules.trees.penn import read_trees
from encoder_lab.errors import InputError

SPLITS: tuple[Split, ...] = ("train", "dev", "test", "probe")


def many_documents(folder: Path, count: int = 200) -> PlainText:
    """Documents of two sentences each."""
    text = "\n\n".join(f"Story {i} begins .\nStory {i} ends ." for i in range(count))
    (folder / "many.txt").write_text(text, encoding="utf-8")
    return PlainText(str(folder), tokenized=True)


def test_packed_text_and_other_ends_of_lines_have_the_splits_of_the_plain_one(tmp_path) -> None:
    for line, held_out in (("the line is here .\n\n", 20), ("the line .\n\n", 10)):  # more than 500 KB, and less
        text = (line * 40_000).encode()
        (tmp_path / "a.txt").write_bytes(text)
        (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text))
        (tmp_path / "c.txt").write_bytes(text.replace(b"\n", b"\r\n"))
        assert {PlainText(str(path)).held_out for path in tmp_path.iterdir()} == {held_out}


def test_a_file_that_is_there_plain_packed_and_hidden_is_read_once(tmp_path, caplog) -> None:
    corpus = many_documents(tmp_path)
    sentences = [*corpus.sentences("train")]
    (tmp_path / ".ipynb_checkpoints").mkdir()
    packs = {"many.txt.gz": gzip.compress, "many.txt.bz2": bz2.compress, ".ipynb_checkpoints/many.txt": bytes}
    for name, pack in packs.items():
        (tmp_path / name).write_bytes(pack((tmp_path / "many.txt").read_bytes()))
    assert [*corpus.sentences("train")] == sentences
    assert f"many.txt.bz2: left out, as {tmp_path / 'many.txt'} is there too; left out in all: 2 copies" in caplog.text
    shutil.copytree(tmp_path, tmp_path / "copy")
    assert [*corpus.sentences("train")] == sentences


@pytest.mark.parametrize(("files", "noted"), [
    (["train.txt", "test.txt"], "test, train"),
    (["train/a.txt", "valid/b.txt", "c.txt"], "train, valid"),
    (["train.txt", "b.txt"], ""),
])  # fmt: skip
def test_names_of_splits_that_choose_none_are_noted(files, noted, tmp_path, caplog) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    PlainText(str(tmp_path)).files()
    assert caplog.messages == [f"{tmp_path}: the names of its files and folders choose no split: {noted}"] * bool(noted)


@given(st.text(min_size=1), st.sampled_from(SPLITS[:3]))
def test_a_published_split_is_kept_except_for_the_probe_share(id, published) -> None:
    expected = {"probe"} if (published, split_of(id)) == ("train", "probe") else {published}
    assert {split_of(id, published)} == expected


def test_the_split_of_a_document_is_the_same_on_every_machine() -> None:
    drawn = [split_of(f"document {i}") for i in range(60)]
    assert [drawn.index(split) for split in SPLITS] == [0, 40, 44, 15]


def test_every_document_is_in_exactly_one_split(tmp_path) -> None:
    corpus = many_documents(tmp_path)
    ids = [document.id for split in SPLITS for document in corpus.documents(split)]
    assert sorted(ids) == sorted(unread.read().id for unread in corpus.unread_documents())
    assert all(0 < share < 60 for share in [len(list(corpus.documents(split))) for split in SPLITS[1:]])


@pytest.mark.parametrize(("make", "ending"), [(PlainText, "txt"), (Markdown, "md")])
def test_spaces_and_blank_lines_at_an_end_change_no_split(tmp_path, make, ending) -> None:
    texts = {tmp_path / f"{i}.{ending}": f"Story {i} begins .\nStory {i} ends .\n" for i in range(60)}
    splits = []
    for old, new in (("\n", "\n"), ("\n", "  \r\n"), ("ends .\n", "ends .\n \n\n")):
        for path, text in texts.items():
            path.write_text(text.replace(old, new))
        splits.append([[*make(str(tmp_path)).sentences(split)] for split in SPLITS])
    assert splits[0] == splits[1] == splits[2]


def test_plain_text_without_blank_lines_is_answered_with_what_separates_documents(tmp_path) -> None:
    (tmp_path / "a.txt").write_text("A line .\n" * 900)
    with pytest.raises(InputError, match=r"none of its 1 documents falls .* \(blank lines separate them\), or a sm"):
        [list(PlainText(str(tmp_path / "a.txt")).sentences(split)) for split in SPLITS]


@pytest.mark.parametrize("held_out", [5, 20])
def test_one_document_in_so_many_is_dev_one_test_and_two_are_for_probing(held_out) -> None:
    drawn = Counter(split_of(str(i), None, held_out) for i in range(20_000))
    expected = {"dev": 1 / held_out, "test": 1 / held_out, "probe": 2 / held_out}
    assert all(abs(drawn[split] / 20_000 - share) < 0.015 for split, share in expected.items())


@pytest.mark.parametrize("stretch", [1, 50])
def test_trees_that_are_not_for_probing_train(tmp_path, stretch) -> None:
    trees = [f"(ROOT (S (NP (NN word{i})) (VP (VBZ falls))))" for i in range(2000)]
    (tmp_path / "a.mrg").write_text("\n".join(trees))
    corpus = Trees(str(tmp_path), stretch=stretch, held_out=20, probe_split=False)
    counts = {split: len(list(corpus.trees(split))) for split in ("train", "dev", "test")}
    assert sum(counts.values()) == 2000
    assert 1700 < counts["train"] < 1950
    alone = [split_of(tree, None, 20, probe=False) for tree in map(str, read_trees(tmp_path / "a.mrg"))]
    assert (Counter(alone) == counts) == (stretch == 1)
    with pytest.raises(InputError, match="probe_split=false"):
        next(corpus.trees("probe"))


@pytest.mark.parametrize("setting", [{"held_out": 7}, {"stretch": 3}])
def test_how_trees_are_drawn_is_refused_where_none_is(tmp_path, setting) -> None:
    for name in ("train", "dev"):
        (tmp_path / f"{name}.mrg").write_text("(ROOT (S (NP (NN rain)) (VP (VBZ falls))))")
    Trees(str(tmp_path), **setting)
    Trees(str(tmp_path), probe_split=False)
    with pytest.raises(InputError, match="say every split; leave both out"):
        Trees(str(tmp_path), probe_split=False, **setting)


def test_documents_that_are_not_for_probing_train(tmp_path) -> None:
    many_documents(tmp_path)
    every, some = (PlainText(str(tmp_path), tokenized=True, probe_split=probe) for probe in (False, True))
    ids = {split: [d.id for d in some.documents(split)] for split in SPLITS}
    assert sorted(d.id for d in every.documents("train")) == sorted(ids["train"] + ids["probe"])
    assert [d.id for d in every.documents("dev")] == ids["dev"]
    assert every.fingerprint() != some.fingerprint()
    with pytest.raises(InputError, match="probe_split=false"):
        next(every.documents("probe"))


def test_size_counts_training_sentences_of_documents(tmp_path) -> None:
    many_documents(tmp_path)
    corpus = PlainText(str(tmp_path), size=7, tokenized=True)
    assert (len(list(corpus.sentences("train"))), len(list(corpus.documents("train")))) == (7, 4)


def test_a_fingerprint_changes_with_the_text_and_the_settings(tmp_path) -> None:
    corpus = many_documents(tmp_path)
    before = corpus.fingerprint()
    assert PlainText(str(tmp_path), tokenized=True).fingerprint() == before
    assert PlainText(str(tmp_path), tokenized=False).fingerprint() != before
    assert PlainText(str(tmp_path), size=3, tokenized=True).fingerprint() != before
    (tmp_path / "more.txt").write_text("More .\n")
    assert corpus.fingerprint() != before
