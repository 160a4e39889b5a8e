"""A run says how many examples of dev and test are training examples too."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.corpora.documents import JsonDocuments
from datamodules.corpora.parallel import Parallel
from datamodules.discourse import SentencesInDocuments
from datamodules.repeats import REPEATS_FILE, notes_on_repeats, write_repeats
from datamodules.seq2seq import TextPairs

pairs = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=9)


@given(pairs, pairs, pairs)
def test_an_example_is_repeated_if_train_has_all_of_its_sides(tmp_path, train, dev, test) -> None:
    splits = {"train": train, "dev": dev, "test": test}
    write_repeats(tmp_path, {split: [iter(side) for side in zip(*rows, strict=True)] for split, rows in splits.items()})
    counts = json.loads((tmp_path / REPEATS_FILE).read_text())
    assert counts == {name: [sum(row in train for row in splits[name]), len(splits[name])] for name in ("dev", "test")}


@pytest.mark.parametrize(("repeats", "notes"), [(1, 0), (2, 1)])
def test_more_repeats_than_two_texts_have_by_chance_are_a_note(tmp_path, repeats, notes) -> None:
    (tmp_path / REPEATS_FILE).write_text(json.dumps({"dev": [repeats, 100], "test": [0, 0]}))
    assert len(notes_on_repeats(tmp_path)) == notes


def test_pairs_that_a_file_has_twice_are_held_out_and_trained_on_and_a_run_says_so(tmp_path) -> None:
    for side in ("source", "target"):
        (tmp_path / side).write_text("".join(f"{side} {number % 37}\n" for number in range(2000)))
    corpus = Parallel(str(tmp_path / "source"), str(tmp_path / "target"), target_language="fr")
    data = TextPairs(corpus, "fr", tmp_path / "cache", seed=1, codes=20)
    assert data.notes[0] == "100 of 100 dev examples are training examples too, which makes its scores too high"


def test_documents_that_a_file_has_under_several_ids_are_said_too(tmp_path) -> None:
    lines = [json.dumps({"id": str(i), "sentences": [f"Story {i % 9} .", "It ends ."]}) for i in range(300)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    data = SentencesInDocuments(JsonDocuments(str(tmp_path), tokenized=True), tmp_path / "cache", seed=1)
    assert [note.partition(" examples")[0].split()[-1] for note in data.notes] == ["dev", "test"]
