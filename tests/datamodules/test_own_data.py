"""The user's own text: parallel files in any languages, saved data sets, and the source language of every corpus."""

import json
import os
import re
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datamodules.corpora.arrow import SavedDataset
from datamodules.corpora.documents import JsonDocuments
from datamodules.corpora.europarl import Europarl
from datamodules.corpora.markdown import Markdown
from datamodules.corpora.multi30k import Multi30k
from datamodules.corpora.parallel import Parallel
from datamodules.corpora.plain_text import PlainText
from datamodules.corpora.wikipedia import Wikipedia
from datamodules.corpus import Inference
from datamodules.demo import Demo
from datamodules.seq2seq import TextPairs
from encoder_lab.errors import InputError

FIXTURES = Path(__file__).parents[1] / "fixtures" / "corpora"
TEXT_OF_PAGE = "<revision><text>{}</text></revision>"


def files(folder: Path, rows: int, name: str = "train") -> dict[str, str]:
    result = {}
    for side, word in (("source", "maison"), ("target", "Haus")):
        path = folder / f"{name}.{side}"
        path.write_text("".join(f"{word} {i}\n" for i in range(rows)))
        result[side if name == "train" else f"{name}_{side}"] = str(path)
    return result


@settings(max_examples=10)
@given(rows=st.integers(3, 60), every=st.integers(3, 20))
def test_each_pair_is_in_one_split_and_the_shares_are_held_out(tmp_path_factory, rows, every) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    corpus = Parallel(**files(folder, rows), source_language="fr", target_language="de", held_out=every)
    result = {split: list(corpus.parallel(split, "de")) for split in ("train", "dev", "test")}
    pairs = [(f"maison {i}", f"Haus {i}") for i in range(rows)]
    assert (result["dev"], result["test"]) == (pairs[0::every], pairs[1::every])
    assert sorted(pair for some in result.values() for pair in some) == sorted(pairs)
    assert list(corpus.sentences("dev")) == [first for first, _ in result["dev"]]


def test_files_for_dev_leave_the_other_rows_to_train_and_another_target_is_refused(tmp_path) -> None:
    paths = files(tmp_path, 10) | files(tmp_path, 2, "dev") | files(tmp_path, 3, "test")
    corpus = Parallel(**paths, source_language="fr", target_language="de", held_out=5, size=8)
    assert [len(list(corpus.parallel(split, "de"))) for split in ("train", "dev", "test")] == [8, 2, 3]
    with pytest.raises(InputError, match="has fr-de, not en"):
        corpus.parallel("train", "en")


@pytest.mark.parametrize("role", ["target", "dev_source"])
def test_a_text_has_one_role(tmp_path, role) -> None:
    paths = files(tmp_path, 10) | files(tmp_path, 9, "dev")
    Path(paths[role]).write_text(Path(paths["source"]).read_text())
    with pytest.raises(InputError, match=r"the same text as .*train\.source"):
        Parallel(**paths, target_language="de")


@pytest.mark.parametrize(("more", "message"), [
    ({"target_language": None}, "corpus.target_language=LANGUAGE"),
    ({"dev_source": "x"}, "dev_source= and corpus.dev_target=: give both"),
    ({"source": "/no/such/file"}, "/no/such/file: no such file"),
])  # fmt: skip
def test_what_is_missing_is_named(tmp_path, more, message) -> None:
    with pytest.raises(InputError, match=message):
        Parallel(**(files(tmp_path, 5) | {"target_language": "de"} | more))


def test_the_demo_translates_from_any_of_its_languages(tmp_path) -> None:
    french, english = Demo(60, source_language="fr"), Demo(60)
    assert list(french.parallel("dev", "en")) == [(b, a) for a, b in english.parallel("dev", "fr")]
    data = TextPairs(french, "en", tmp_path, seed=1)
    assert list(data.source_sentences()) == list(french.sentences("train"))
    assert data.validation_targets() == list(english.sentences("dev"))
    with pytest.raises(InputError, match="target=fr is the source language"):
        TextPairs(french, "fr", tmp_path, seed=1)
    assert TextPairs(french, "same", tmp_path, seed=1).validation_targets() == list(french.sentences("dev"))


def test_views_that_are_english_alone_are_refused_in_other_languages() -> None:
    french = Demo(60, source_language="fr")
    assert french.fingerprint() != Demo(60).fingerprint()
    for view in (french.trees, french.documents, french.inference):
        with pytest.raises(InputError, match="in English alone, not in fr"):
            list(view("dev"))


def test_published_pairs_are_read_in_both_directions() -> None:
    for corpus, root in ((Multi30k, "multi30k"), (Europarl, "europarl")):
        english, french = (corpus(str(FIXTURES / root), source_language=language) for language in ("en", "fr"))
        forth = list(english.parallel("train", "fr"))
        assert [(b, a) for a, b in forth] == list(french.parallel("train", "en"))
        assert [b for _, b in forth] == list(french.sentences("train"))


@pytest.mark.parametrize(("corpus", "name", "form"), [
    (PlainText, "t.txt", "{}"),
    (Markdown, "t.md", "{}"),
    (JsonDocuments, "t.jsonl", '{{"id": "a", "sentences": ["{}"]}}'),
    (Wikipedia, "t.xml", f"<mediawiki><page><title>a</title><id>1</id>{TEXT_OF_PAGE}</page></mediawiki>"),
])  # fmt: skip
def test_text_is_tokenised_in_its_language(tmp_path, corpus, name, form) -> None:
    (tmp_path / name).write_text(form.format("L'homme n'est pas là."))
    (result,) = (d.read() for d in corpus(str(tmp_path), source_language="fr").unread_documents())
    assert result.sections[0].paragraphs == [["L' homme n' est pas là ."]]


def saved(folder: Path, columns: dict[str, list], names: list[str] | None = None) -> Path:
    """A data set in the two parts that `save_to_disk` writes."""
    folder.mkdir(parents=True)
    table = pyarrow.table(columns)
    paths = []
    for part in range(2):
        rows = table.slice(part * (len(table) // 2), None if part else len(table) // 2)
        paths.append({"filename": f"data-{part:05d}-of-00002.arrow"})
        with pyarrow.ipc.new_stream(str(folder / paths[-1]["filename"]), table.schema) as file:
            file.write_table(rows)
    (folder / "state.json").write_text(json.dumps({"_data_files": paths}))
    features = {"label": {"names": names, "_type": "ClassLabel"}} if names else {}
    (folder / "dataset_info.json").write_text(json.dumps({"features": features}))
    return folder


@pytest.mark.parametrize("name", ["../elsewhere.arrow", "/etc/passwd", "a/../../x", "..", "", None, 5, ["a"]])
def test_a_data_set_that_names_a_file_elsewhere_is_refused_before_it_is_opened(tmp_path, name) -> None:
    os.mkfifo(tmp_path / "elsewhere.arrow")  # to open it would never end
    saved(tmp_path / "train", {"text": ["A dog barks ."] * 4})
    (tmp_path / "train" / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    with pytest.raises(InputError, match="outside of this folder; it was not opened"):
        list(SavedDataset(str(tmp_path)).sentences("train"))


def test_a_saved_data_set_is_a_source_of_text_and_pairs(tmp_path) -> None:
    saved(tmp_path / "train", {"translation": [{"en": f"house {i} .", "fr": f"maison {i} ."} for i in range(10)]})
    columns = {"text": "translation.en", "target": "translation.fr", "target_language": "fr"}
    corpus = SavedDataset(str(tmp_path), **columns, held_out=5)
    assert list(corpus.sentences("dev")) == ["house 0 .", "house 5 ."]
    assert list(corpus.parallel("test", "fr")) == [("house 1 .", "maison 1 ."), ("house 6 .", "maison 6 .")]
    assert len(list(corpus.sentences("train"))) == 6


def test_each_usual_name_of_dev_is_read_and_a_split_that_is_not_is_named(tmp_path, caplog) -> None:
    for name in ("train", "valid", "unsupervised"):
        saved(tmp_path / name, {"text": [name] * 4})
    assert set(SavedDataset(str(tmp_path)).sentences("dev")) == {"valid"}
    assert caplog.messages == [f"{tmp_path}: splits that are not read: unsupervised"]


def test_a_saved_data_set_is_a_source_of_nli_with_the_names_of_its_labels(tmp_path) -> None:
    rows = {"premise": ["a b"] * 4, "hypothesis": ["c", "d", "e", "f"], "label": [0, 1, 2, -1]}
    saved(tmp_path / "train", rows, ["contradiction", "neutral", "entailment"])
    saved(tmp_path / "validation", rows | {"label": [2, 1, 0, -1]}, ["entailment", "neutral", "contradiction"])
    corpus = SavedDataset(str(tmp_path), held_out=3)
    labels = "contradiction", "neutral", "entailment"
    assert [*corpus.inference("dev")] == [Inference("a b", h, label) for h, label in zip("cde", labels, strict=True)]
    assert [pair.label for pair in corpus.inference("train")] == ["contradiction", "entailment"]  # row 1 is test
    saved(tmp_path / "test", rows)
    with pytest.raises(InputError, match=r"^corpus\.held_out=3: .* has a dev and a test split; leave it out"):
        SavedDataset(str(tmp_path), held_out=3)


def test_labels_that_are_a_field_of_a_column_have_their_names(tmp_path) -> None:
    folder = saved(tmp_path / "set", {"pair": [{"premise": "a", "hypothesis": "b", "label": 0}] * 3})
    labels = {"names": ["contradiction", "neutral", "entailment"], "_type": "ClassLabel"}
    (folder / "dataset_info.json").write_text(json.dumps({"features": {"pair": {"label": labels}}}))
    columns = {name: f"pair.{name}" for name in ("premise", "hypothesis", "label")}
    assert {pair.label for pair in SavedDataset(str(folder), **columns).inference("train")} == {"contradiction"}


def test_size_counts_pairs_with_a_gold_label_and_premises_are_tokenised_in_their_language(tmp_path) -> None:
    rows = {"premise": ["a"] * 5, "hypothesis": list("bcdef"), "label": [0, 0, -1, 1, 2]}
    corpus = SavedDataset(str(saved(tmp_path / "set", rows)), held_out=5, size=2)
    assert [pair.hypothesis for pair in corpus.inference("train")] == ["e", "f"]
    folder = saved(tmp_path / "french", {"premise": ["L'homme ."], "hypothesis": ["Il n'est là ."], "label": [0]})
    (pair,) = SavedDataset(str(folder), source_language="fr").inference("dev")
    assert pair == Inference("L' homme .", "Il n' est là .", "entailment")


@pytest.mark.parametrize("label", [True, 3, 1.0, "ENTAILMENT"])
def test_a_label_that_is_none_of_the_three_is_named(tmp_path, label) -> None:
    folder = saved(tmp_path / "set", {"premise": ["a"], "hypothesis": ["b"], "label": [label]})
    with pytest.raises(InputError, match=f"label {label!r}, expected entailment, neutral, contradiction"):
        list(SavedDataset(str(folder), held_out=3).inference("dev"))


@pytest.mark.parametrize(("break_it", "message"), [
    ("column", "no column words; there are text"),
    ("file", "data-00000-of-00002.arrow: not a table of this form, or damaged"),
    ("indices", r"rows are chosen by another file; flatten_indices\(\)"),
])  # fmt: skip
def test_a_broken_data_set_is_named(tmp_path, break_it, message) -> None:
    folder = saved(tmp_path / "set", {"text": ["a", "b"]})
    if break_it == "file":
        (folder / "data-00000-of-00002.arrow").write_bytes(b"not arrow")
    elif break_it == "indices":  # as `select(...)` and `save_to_disk` left a data set until 2021
        state, indices = json.loads((folder / "state.json").read_text()), [{"filename": "indices.arrow"}]
        (folder / "state.json").write_text(json.dumps(state | {"_indices_data_files": indices}))
    corpus = SavedDataset(str(folder), text="words" if break_it == "column" else "text")
    with pytest.raises(InputError, match=message):
        list(corpus.sentences("train"))


@pytest.mark.parametrize(("values", "column", "message"), [
    (["a", None, "b"], "text", "row 1 of column text is None (NoneType), not a text"),
    ([["a"], ["b"]], "text", "row 0 of column text is ['a'] (list), not a text"),
    ([{"en": "a", "fr": "b"}, {"en": None, "fr": "c"}], "text.en", "row 1 of column text.en is None"),
    ([{"en": "a", "fr": "b"}, None], "text.en", "row 1 of column text.en is None"),
    ([{"en": "a", "fr": "b"}], "text.de", "no column text with a field de; there are en, fr"),
    (["a"], "text.de", "no column text with a field de; there are none"),
])  # fmt: skip
def test_a_value_that_is_no_text_and_a_field_that_is_not_there_are_named(tmp_path, values, column, message) -> None:
    corpus = SavedDataset(str(saved(tmp_path / "set", {"text": values})), text=column, held_out=2)
    with pytest.raises(InputError, match=re.escape(message)):
        list(corpus.sentences("train"))
