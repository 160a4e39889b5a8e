"""Texts in the published formats, and the suites that shuffle them and exchange their endings."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from probes.coherence.build.cloze import build_cloze
from probes.coherence.build.draft import with_final_mark
from probes.coherence.build.order import build_order
from probes.coherence.build.report import controls
from probes.coherence.build.texts import ANSWER, CONTEXT, ENDINGS, SourceText, distinct_texts, read_texts
from probes.coherence.scoring import pairs_of, score_suite
from probes.coherence.suite_file import TestSuite
from probes.surprisals import score_pairs

SENTENCE = st.sampled_from(["She ran.", "It rained.", "He slept all day.", "The end."])
STORIES = st.lists(st.lists(SENTENCE, min_size=1, max_size=12), max_size=6)


def texts(stories: list[list[str]], dialogue: bool = False) -> list[SourceText]:
    return [SourceText(f"story {number}", story, dialogue) for number, story in enumerate(stories)]


def control_scores(suite: TestSuite) -> list[float]:
    return [
        prediction.percent
        for model in controls(suite).values()
        for prediction in score_suite(suite, score_pairs(model, pairs_of(suite))).predictions
    ]


@given(STORIES, st.booleans(), st.integers(0, 9))
def test_a_shuffled_text_has_the_same_sentences_in_another_order(stories, dialogue, seed) -> None:
    whole, context = build_order(texts(stories, dialogue), seed).suites
    for suite in (whole, context):
        for item in suite.items:
            original, shuffled = (" ".join(regions) for regions in item.texts)
            assert original != shuffled
            assert Counter(original.split()) == Counter(shuffled.split())
        if suite.items:
            assert control_scores(suite) == [50, 50]
    for item in context.items:
        assert item.texts[0][1] == item.texts[1][1]
    if not dialogue:
        scored = [text for item in whole.items for text in item.texts[0]]
        assert all(sum(text.count(end) for end in ("ran.", "ned.", "day.", "end.")) == 5 for text in scored)


def test_an_item_is_shuffled_in_the_same_way_in_any_company() -> None:
    first, second = ["a", "b", "c", "d", "e"], ["f", "g", "h", "i", "j"]
    both = build_order(texts([first, second]), 3).suites[0]
    assert both.items[1].texts == build_order(texts([first, second])[1:], 3).suites[0].items[0].texts
    assert len({build_order(texts([first]), seed).suites[0].items[0].texts for seed in range(5)}) > 1


def test_the_turns_of_a_dialogue_have_a_separator_between_them_where_it_is_asked_for() -> None:
    whole, context = build_order([SourceText("a", ["Hi.", "Yes?", "Go."], True)], 0, separator=True).suites
    assert whole.items[0].texts[0] == ("Hi. [SEP] Yes? [SEP] Go.",)
    assert context.items[0].texts == (("Hi. [SEP] Yes? [SEP]", "Go."), ("Yes? [SEP] Hi. [SEP]", "Go."))
    story = texts([["a", "b", "c", "d", "e"]])
    assert build_order(story, 0, separator=True) == build_order(story, 0)


@given(st.lists(st.lists(SENTENCE, min_size=4, max_size=11), max_size=8))
def test_stories_exchange_their_endings_in_pairs(stories) -> None:
    (suite,) = build_cloze(texts(stories)).suites
    right, wrong = (Counter(item.texts[at][1] for item in suite.items) for at in (0, 1))
    assert right == wrong
    for item in suite.items:
        assert item.texts[0][0] == item.texts[1][0]
        assert item.texts[0][1] != item.texts[1][1]
    if suite.items:
        assert control_scores(suite) == [50, 50]


COLUMNS = ["InputStoryid", *CONTEXT, *ENDINGS, ANSWER]
CLOZE = f"""{",".join(COLUMNS)}
b9,My friends dance.,They invite me.,I went along.,"I danced, badly.",They invited me again.,I stayed home.,2
c1,Tom was hungry.,He had no food.,He went out.,He found a shop.,He bought bread.,He hated bread.,1
"""
ROC = """storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5
9a,The Test,Jen had a test.,She studied.,She slept.,She wrote it.,"She said ""hi""."
"""
PERSONA = """1 your persona: i like cats.
2 partner's persona: i run.
3 hello .\thi , how are you ?\t\tno|yes
4 fine .\tgood to hear .\t\tno|yes
1 your persona: i ski.
2 __SILENCE__\thello there .\t\tno|yes
3 hi .\tdo you ski ?\t\tno|yes
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_story_cloze_test_is_read(tmp_path) -> None:
    first, second = build_cloze(read_texts(written(tmp_path / "cloze.csv", CLOZE))).suites[0].items
    context = "My friends dance. They invite me. I went along. I danced, badly."
    assert first.texts == ((context, "I stayed home."), (context, "They invited me again."))
    assert (first.source, second.texts[0][1]) == ("cloze.csv:b9", "He bought bread.")


def test_rocstories_and_personachat_are_read(tmp_path) -> None:
    (story,) = read_texts(written(tmp_path / "roc.csv", ROC))
    assert story.sentences[-1] == 'She said "hi".'
    first, second = read_texts(written(tmp_path / "chat.txt", PERSONA))
    assert first == SourceText("chat.txt:1", ["hello .", "hi , how are you ?", "fine .", "good to hear ."], True)
    assert second == SourceText("chat.txt:5", ["hello there .", "hi .", "do you ski ?"], True)


@pytest.mark.parametrize(("name", "text", "sentences"), [
    ("chat.txt", "1 hello , you\tfine\t\tno|yes\n2 ok .\tbye !\n", ["hello , you .", "fine .", "ok .", "bye !"]),
    ("talk.jsonl", '{"turns": [{"speaker": "A", "text": "Hi"}, {"speaker": "B", "text": "Well?"}]}', ["Hi.", "Well?"]),
])  # fmt: skip
def test_turns_of_a_dialogue_end_with_a_mark(tmp_path, name, text, sentences) -> None:
    (dialogue,) = read_texts(written(tmp_path / name, text))
    assert dialogue.sentences == sentences


def test_json_lines_are_read(tmp_path) -> None:
    records = [
        {"id": "a", "sentences": ["One .", " Two  words . "]},
        {"id": "b", "sentences": ["One ."], "text": ["One."]},
        {"turns": [{"speaker": "A", "text": "Hi."}, {"speaker": "B", "text": ""}]},
        {"id": "d", "sections": [{"title": "T", "paragraphs": [["One."], ["Two.", "Three."]]}]},
    ]
    path = tmp_path / "texts.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    assert list(read_texts(path)) == [
        SourceText("texts.jsonl.gz:a", ["One .", "Two words ."]),
        SourceText("texts.jsonl.gz:b", ["One."]),
        SourceText("texts.jsonl.gz:3", ["Hi."], True),
        SourceText("texts.jsonl.gz:d", ["One.", "Two.", "Three."]),
    ]


def test_a_story_that_is_there_twice_is_read_once_in_any_order_of_files(tmp_path, caplog) -> None:
    files = [tmp_path / "b.jsonl", tmp_path / "a.jsonl"]
    for path, names in zip(files, ("yx", "xyx"), strict=True):
        path.write_text("".join(json.dumps({"sentences": [name, "."]}) + "\n" for name in names))
    assert [text.sentences[0] for text in distinct_texts(files)] == ["x", "y"]
    assert "3 of 5 texts left out" in caplog.text


@pytest.mark.parametrize(("text", "expected"), [
    ("i am a nurse", "i am a nurse."), ("hi , i ski", "hi , i ski ."), ("is it ?", "is it ?"),
    ("He said “no”", "He said “no”"), ("", ""),
])  # fmt: skip
def test_a_turn_without_a_final_mark_gets_a_full_stop(text, expected) -> None:
    assert with_final_mark(text) == expected


@pytest.mark.parametrize("text", ["", "\n"])
def test_a_table_without_a_header_is_an_error(tmp_path, text) -> None:
    with pytest.raises(InputError, match=r"stories\.csv"):
        list(read_texts(written(tmp_path / "stories.csv", text)))
