"""The text of a treebank: each sentence in the split of its file, and none of dev and test in train."""

from pathlib import Path

import pytest

from datamodules.corpora.ud import TreebankText
from datamodules.trees.conllu import conllu_text, read_conllu
from encoder_lab.errors import InputError

SPLITS = {"train": ["a b", "c d", "e f"], "dev": ["c d"], "test": ["g h", "i du"]}


def sentence(text: str) -> str:
    """A sentence in CoNLL-U; `du` is a token of two words."""
    rows, place = [], 0
    for token in text.split():
        words = ["de", "le"] if token == "du" else [token]
        rows += [f"{place + 1}-{place + 2}\t{token}" + "\t_" * 8] if len(words) > 1 else []
        for word in words:
            place += 1
            rows.append(f"{place}\t{word}\t_\tX\t_\t_\t{place - 1}\t{'dep' if place > 1 else 'root'}\t_\t_")
    return "\n".join(rows) + "\n\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    for name, texts in SPLITS.items():
        (tmp_path / f"x-ud-{name}.conllu").write_text("".join(map(sentence, texts)))
    return tmp_path


def test_sentences_keep_their_splits_and_those_of_dev_and_test_are_not_in_train(folder) -> None:
    corpus = TreebankText(str(folder))
    result = {split: list(corpus.sentences(split)) for split in ("train", "dev", "test", "probe")}  # type: ignore[arg-type]
    assert result == {**SPLITS, "train": ["a b", "e f"], "probe": ["c d", "g h", "i du"]}


def test_more_text_is_tokenised_and_counts_towards_the_size(folder) -> None:
    (folder / "more.txt").write_text("L'homme dort.\nC, d!\n\nIl dort.\n")
    corpus = TreebankText(str(folder), 3, "fr", [str(folder / "more.txt")])
    assert list(corpus.sentences("train")) == ["a b", "e f", "L' homme dort ."]
    assert [*TreebankText(str(folder), None, "fr", [str(folder / "more.txt")]).sentences("train")][3:] == ["Il dort ."]
    assert corpus.fingerprint() != TreebankText(str(folder), 3, "fr").fingerprint()


def test_more_text_without_letters_is_left_out_where_dev_has_it(folder) -> None:
    (folder / "y-ud-dev.conllu").write_text(sentence("! !"))
    (folder / "more.txt").write_text("!!\n??\n")
    corpus = TreebankText(str(folder), more=[str(folder / "more.txt")])
    assert list(corpus.sentences("train")) == ["a b", "e f", "? ?"]


def test_a_treebank_of_another_language_than_the_setting_is_refused(folder) -> None:
    (folder / "x-ud-train.conllu").rename(folder / "qaf_x_y-ud-train-a.conllu")
    with pytest.raises(InputError, match=r"another language, by its name; give corpus\.source_language=qaf"):
        TreebankText(str(folder)).fingerprint()
    assert len(TreebankText(str(folder), source_language="qaf").files()) == 3
    (folder / "qaf_x_y-ud-train-a.conllu").rename(folder / "sme_giella-ud-train.conllu")  # of Sami, which is se
    assert len(TreebankText(str(folder), source_language="se").files()) == 3


def test_files_that_are_missing_are_named(folder) -> None:
    with pytest.raises(InputError, match=r"corpus\.more: .*nowhere\.txt: no such file"):
        TreebankText(str(folder), more=[str(folder / "nowhere.txt")])
    (folder / "more.txt").write_text("One more .\n")
    assert len(TreebankText(str(folder), more=[str(folder / "more.txt")] * 2).more) == 1
    with pytest.raises(InputError, match=r"no ud there; give a folder with the train, dev and test files"):
        TreebankText(str(folder / "nowhere"))
    (folder / "x-ud-train.conllu").unlink()
    with pytest.raises(InputError, match="no CoNLL-U file there with train in its name"):
        list(TreebankText(str(folder)).sentences("train"))


def test_a_written_tree_reads_back_as_itself(folder) -> None:
    trees = list(read_conllu(folder / "x-ud-test.conllu"))
    (folder / "again.conllu").write_text("".join(map(conllu_text, trees)))
    assert list(read_conllu(folder / "again.conllu")) == trees
    assert "2-3\tdu\t_" in (folder / "again.conllu").read_text()
