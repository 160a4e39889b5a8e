"""Coherence suites built from the published formats and from open data."""

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.trees.gum import conllu_sentences
from encoder_lab.errors import InputError
from probes.coherence.build.__main__ import COMMAND
from probes.coherence.build.cloze import build_cloze
from probes.coherence.build.connectives import CONNECTIVES, build_connectives
from probes.coherence.build.draft import with_final_mark
from probes.coherence.build.gum import read_documents
from probes.coherence.build.order import build_order
from probes.coherence.build.remention import build_remention
from probes.coherence.build.report import controls
from probes.coherence.build.speakers import build_speakers
from probes.coherence.build.texts import ANSWER, CONTEXT, ENDINGS, SourceText, distinct_texts, read_texts
from probes.coherence.build.winograd import build_winograd, noun_for_pronoun
from probes.coherence.scoring import pairs_of, score_suite
from probes.coherence.suite_file import TestSuite, read_suite
from probes.surprisals import score_pairs
from tests.fuzzing import any_damage_is_read_or_refused

DATA = Path(__file__).parents[5] / "shared" / "data"
SENTENCE = st.sampled_from(["She ran.", "It rained.", "He slept all day.", "The end."])
STORIES = st.lists(st.lists(SENTENCE, min_size=1, max_size=12), max_size=6)
SENTENCE_OF_SCHEMA = "The trophy does not fit into the suitcase because it is too large."
SCHEMA = {"text": SENTENCE_OF_SCHEMA, "pronoun": "it", "pronoun_loc": 50, "options": ["The trophy", "the suitcase"]}
SCHEMA |= {"label": 0}


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


def story_file(folder: Path, count: int) -> Path:
    """Stories of five sentences each."""
    stories = [{"id": n, "sentences": [f"Word{n} a{m}." for m in range(5)]} for n in range(count)]
    return written(folder / "stories.jsonl", "\n".join(map(json.dumps, stories)))


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


def test_a_schema_has_its_pronoun_replaced(tmp_path) -> None:
    full, partial = build_winograd(written(tmp_path / "wsc.jsonl", json.dumps(SCHEMA))).suites
    before = "The trophy does not fit into the suitcase because"
    rest = "is too large."
    assert partial.items[0].texts == ((before, "the trophy", rest), (before, "the suitcase", rest))
    assert full.items[0].texts[0] == (f"{before} the trophy {rest}",)


COLLECTION = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE collection SYSTEM "schema.dtd">
<collection>
<schema>
<text>
<txt1>The trophy does not fit into the suitcase because</txt1>
<pron>it</pron>
<txt2>is too  large.</txt2>
</text>
<quote><quote1></quote1><pron>it</pron><quote2>is too large</quote2></quote>
<answers><answer>The trophy</answer><answer>the suitcase</answer></answers>
<correctAnswer> A. </correctAnswer>
<source>(Levesque)</source>
</schema>
</collection>
"""


def test_the_published_collection_gives_the_same_schemas_and_one_that_defines_entities_is_refused(tmp_path) -> None:
    published = build_winograd(written(tmp_path / "wsc.xml", COLLECTION))
    ours = build_winograd(written(tmp_path / "wsc.jsonl", json.dumps(SCHEMA)))
    for suite, expected in zip(published.suites, ours.suites, strict=True):
        assert [item.texts for item in suite.items] == [item.texts for item in expected.items]
        assert suite.items[0].source == "wsc.xml:1"
    path = written(tmp_path / "wsc.xml", COLLECTION.replace('"schema.dtd"', '[<!ENTITY a "b">]'))
    with pytest.raises(InputError, match="entities"):
        build_winograd(path)


@pytest.mark.parametrize(("option", "pronoun", "before", "after", "expected"), [
    ("The man", "he", "The man saw the boy because", "ran", "the man"),
    ("Bill", "his", "John hit Bill on", "nose", "Bill's"),
    ("the boy", "He", "The man saw the boy.", "ran", "The boy"),
    ("Lemons", "they", "The lemons and lemons here, as", "are sour", "lemons"),
    ("My dog", "it", "My dog ate, and", "slept", "my dog"),
])  # fmt: skip
def test_a_noun_takes_the_form_of_its_place(option, pronoun, before, after, expected) -> None:
    assert noun_for_pronoun(option, pronoun, before, after) == expected


SENTENCES = ["A man saw Ann .", "He waved , since she smiled .", "However , she left ."]
RAW = ["A man saw Ann.", "He waved, since she smiled.", "However, she left."]
TAGS = ["DT", "NN", "VBD", "NNP", ".", "PRP", "VBD", ",", "IN", "PRP", "VBD", ".", "RB", ",", "PRP", "VBD", "."]
MENTIONS = [([1, 2], 1, "common"), ([4, 4], 2, "proper"), ([6, 6], 1, "pronoun"), ([10, 10], 2, "pronoun")]
RELATIONS = """doc	type	sense	sense2	conn	conn_toks	arg1_toks
d	Explicit	Contingency.Cause.Reason	Temporal.Asynchronous.Succession	since	9	6-7
d	Explicit	Comparison.Contrast		However	13	6-7,9
d	Implicit	Comparison.Contrast		yet		1-5
d	Explicit	Comparison.Contrast		as	1	2
d	Explicit	Comparison.Contrast		and	9	1
"""


@pytest.fixture
def gum(tmp_path) -> Path:
    folder = tmp_path / "gum"
    folder.mkdir()
    written(folder / "dev.docs.jsonl", json.dumps({"id": "d", "sentences": SENTENCES, "text": RAW}))
    mentions = [{"span": span, "entity": entity, "form": form} for span, entity, form in MENTIONS]
    mentions += [{"span": [15, 15], "entity": 2, "form": "pronoun"}]
    coref = {"id": "d", "mentions": mentions, "tokens": {"xpos": TAGS}}
    written(folder / "dev.coref.jsonl", json.dumps(coref))
    written(folder / "dev.gdtb.tsv", RELATIONS)
    return folder


def test_tokens_are_found_in_the_raw_text(gum) -> None:
    document = read_documents(gum)["d"]
    assert (document.text(1, 5), document.text(4, 7)) == (RAW[0], "Ann. He waved")
    assert document.text(9, 8) == ""
    assert (document.first_in_sentence(8), document.last_in_sentence(8)) == (6, 12)


def test_a_story_that_is_there_twice_is_read_once_in_any_order_of_files(tmp_path, caplog) -> None:
    files = [tmp_path / "b.jsonl", tmp_path / "a.jsonl"]
    for path, names in zip(files, ("yx", "xyx"), strict=True):
        path.write_text("".join(json.dumps({"sentences": [name, "."]}) + "\n" for name in names))
    assert [text.sentences[0] for text in distinct_texts(files)] == ["x", "y"]
    assert "3 of 5 texts left out" in caplog.text


@pytest.mark.parametrize("read", [read_documents, lambda folder: list(conllu_sentences(folder))], ids=["tsv", "conllu"])
def test_a_changed_copy_below_the_folder_is_refused_and_an_equal_one_left_out(gum, read) -> None:
    shutil.copytree(gum, gum / "backup")
    assert list(read_documents(gum)) == ["d"]
    path = gum / "backup" / "dev.docs.jsonl"
    path.write_text(path.read_text().replace("{", "{ ", 1))
    with pytest.raises(InputError, match=r"dev\.docs\.jsonl:1: document 'd' is also in .*; keep one copy"):
        read(gum)


def test_a_connective_stands_against_each_other_one(gum) -> None:
    draft = build_connectives(gum)
    first, second = draft.suites
    assert (first.name, second.name) == ("connectives_however_contrast", "connectives_since_causal-temporal")
    assert second.conditions == ("since", *(word for word in CONNECTIVES if word != "since"))
    assert second.items[0].texts[0] == ("He waved,", "since", "she smiled.")
    assert second.items[0].texts[3] == ("He waved,", "however", "she smiled.")
    assert first.items[0].texts[0] == ("He waved, since she smiled.", "However,", "she left.")
    assert first.items[0].texts[6] == ("He waved, since she smiled.", "Yet,", "she left.")
    assert len(second.predictions) == 6
    assert draft.excluded == {"relations in which the first argument does not come before the connective": 1}
    assert draft.changed == {"connectives with a comma after them, which is not scored": 1}


def test_a_pronoun_stands_against_its_phrase(gum) -> None:
    draft = build_remention(gum)
    before = "A man saw Ann."
    assert [item.texts for item in draft.suites[0].items] == [
        ((before, RAW[1]), (before, repeated))
        for repeated in ("The man waved, since she smiled.", "He waved, since Ann smiled.")
    ]
    assert draft.excluded == {"pronouns without a phrase in the sentence before": 1}


@pytest.mark.parametrize(("sentence", "pronoun", "tags", "reason"), [
    ("The a man saw Ann .", "He", "DT DT NN VBD NNP . PRP", "repetitions with two determiners one after the other"),
    ("A man 's dog ran .", "He", "DT NN POS NN VBD . PRP", ""),
    ("The two men saw Ann .", "They 've", "DT CD NNS VBD NNP . PRP VBP", "pronouns with 're or 've, as no phrase has"),
])  # fmt: skip
def test_a_phrase_is_repeated_as_its_sentence_needs_it(gum, sentence, pronoun, tags, reason) -> None:
    mentions = [{"span": [1, 3], "entity": 1, "form": "common"}, {"span": [7, 7], "entity": 1, "form": "pronoun"}]
    document = {"id": "d", "sentences": [sentence, f"{pronoun} waved ."]}
    document["text"] = [text.replace(" '", "'") for text in document["sentences"]]
    written(gum / "dev.docs.jsonl", json.dumps(document))
    tokens = {"xpos": f"{tags} VBD .".split()}
    written(gum / "dev.coref.jsonl", json.dumps({"id": "d", "mentions": mentions, "tokens": tokens}))
    draft = build_remention(gum)
    assert [item.texts[1][1] for item in draft.suites[0].items] == ([] if reason else ["The man waved ."])
    assert draft.excluded == ({reason: 1} if reason else {})


MMAX = {
    "Basedata/w1_words.xml": "<words>{words}</words>",
    "markables/w1_sentence_level.xml": """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE markables SYSTEM "markables.dtd">
<markables xmlns="www.eml.org/NameSpaces/sentence"><markable id="markable_1" span="word_1..word_5"/>
<markable id="markable_2" span="word_6..word_12"/></markables>""",
    "markables/w1_coref_level.xml": """<markables xmlns="www.eml.org/NameSpaces/coref">
<markable id="markable_1" span="word_1..word_2" coref_set="set_1" reference="new"/>
<markable id="markable_2" span="word_4" coref_set="set_2"/>
<markable id="markable_3" span="word_6" coref_set="set_1"/>
<markable id="markable_4" span="word_9" coref_set="set_2"/>
<markable id="markable_5" span="word_10..word_11" reference="non_referring"/>
<markable id="markable_6" span="word_1..word_2,word_4" coref_set="set_2"/></markables>""",
}
WORDS = ["A", "man", "saw", "Ann", ".", "He", "did", "n't", "her", "a", "fool", "."]


@pytest.fixture
def arrau(tmp_path) -> Path:
    folder = tmp_path / "RST_DTreeBank" / "MMAX"
    words = "".join(f'<word id="word_{number}">{word}</word>' for number, word in enumerate(WORDS, 1))
    for name, text in MMAX.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        written(folder / name, text.replace("{words}", words))
    return tmp_path


def test_arrau_gives_a_suite_for_each_part_of_the_paper(arrau) -> None:
    """Without tags `her` is no pronoun; with them it is."""
    man = ("A man saw Ann.", "He didn't her a fool."), ("A man saw Ann.", "The man didn't her a fool.")
    ann = ("A man saw Ann.", "He didn't her a fool."), ("A man saw Ann.", "He didn't Ann a fool.")
    none, wsj = build_remention(arrau).suites
    assert (none.items, wsj.name) == ((), "remention_wsj")
    assert [item.texts for item in wsj.items] == [man]
    tags = ["dt", "nn", "vbd", "nnp", ".", "prp", "vbd", "rb", "prp", "dt", "nn", "."]
    lines = "".join(f'<markable id="m{n}" span="word_{n}" tag="{tag}"/>' for n, tag in enumerate(tags, 1))
    written(arrau / "RST_DTreeBank/MMAX/markables/w1_pos_level.xml", f"<markables>{lines}</markables>")
    assert [item.texts for item in build_remention(arrau).suites[1].items] == [man, ann]


@pytest.mark.parametrize("name", MMAX)
def test_a_corrupted_file_of_arrau_is_read_or_refused_in_one_line(arrau, name) -> None:
    any_damage_is_read_or_refused(lambda: build_remention(arrau), arrau / "RST_DTreeBank/MMAX" / name)


DISCO = [
    ("while.txt", "He ran while_Temporal-contrast , she slept .", "while_temporal-contrast", "He ran", ", she slept ."),
    ("train.tsv", "prep\tas\tHe works as a nurse.", "as_preposition", "He works", "a nurse."),
    ("although-test.txt", "It rained, although we ran.\tconcession", "although_concession", "It rained,", "we ran."),
]


@pytest.mark.parametrize(("name", "line", "suite", "before", "after"), DISCO)
def test_disco_annotation_is_read_in_each_form(tmp_path, name, line, suite, before, after) -> None:
    """With the comma scored as in the paper, and without."""
    path = written(tmp_path / name, f"{line}\n")
    (scored,), (plain,) = build_connectives(path, comma_scored=True).suites, build_connectives(tmp_path).suites
    connective = scored.conditions[0]
    assert scored.name == plain.name == f"connectives_{suite}"
    assert scored.items[0].texts[0] == (before, connective, after)
    unscored = connective + "," * after.startswith(","), after.removeprefix(", ")
    assert plain.items[0].texts[0] == (before, *unscored)
    assert len(scored.predictions) == len(CONNECTIVES) - 1


def test_what_the_paper_leaves_out_of_disco_annotation_is_counted(tmp_path) -> None:
    lines = ["Since_causal it rains, we stay.", "It is so, meanwhile_contrast we wait.", "as\tprep\tAs good as new."]
    draft = build_connectives(written(tmp_path / "all.txt", "\n".join(lines)))
    assert not draft.suites
    assert draft.excluded == {
        "relations without a word on both sides of the connective": 1,
        "segments with meanwhile, which the paper leaves out": 1,
        "segments with the connective not exactly once": 1,
    }
    with pytest.raises(InputError, match=r"other\.txt:1: not a segment of Disco-Annotation"):
        build_connectives(written(tmp_path / "other.txt", "no connective here"))


@pytest.mark.parametrize(("text", "expected"), [
    ("i am a nurse", "i am a nurse."), ("hi , i ski", "hi , i ski ."), ("is it ?", "is it ?"),
    ("He said “no”", "He said “no”"), ("", ""),
])  # fmt: skip
def test_a_turn_without_a_final_mark_gets_a_full_stop(text, expected) -> None:
    assert with_final_mark(text) == expected


def test_contradictions_are_said_by_the_same_or_another_speaker(tmp_path) -> None:
    pairs = ("i am a teacher.", "negative"), ("i help people.", "positive")
    records = [{"sentence1": "i am a nurse.", "sentence2": other, "label": label} for other, label in pairs]
    whole = written(tmp_path / "dnli.json", json.dumps(records))
    lines = written(tmp_path / "dnli.jsonl", "\n".join(map(json.dumps, records)))
    sick = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    table = written(tmp_path / "sick.txt", sick + "1\ti am a nurse.\ti am a teacher.\t3\tCONTRADICTION\n")
    for path in (whole, lines, table):
        (suite,) = build_speakers(path).suites
        assert [item.texts for item in suite.items] == [
            (("i am a nurse. [SEP]", "i am a teacher."), ("i am a nurse.", "i am a teacher."))
        ]


def test_the_command_writes_suites_and_a_report(tmp_path, capsys) -> None:
    source = story_file(tmp_path, 9)
    for out in ("one", "two"):
        assert COMMAND.run(["phenomenon=order", f"source={source}", f"out={tmp_path / out}", "seed=3", "items=4"]) == 0
    assert "2 suites, 8 items" in capsys.readouterr().out
    suite = read_suite(tmp_path / "one" / "shuffle_narration_all.json")
    assert [item.number for item in suite.items] == [1, 2, 3, 4]
    assert all(item.source.startswith("stories.jsonl:") for item in suite.items)
    cells = "| unigram | `(1;%original%) < (1;%shuffled%)` | 50.0 [15.0, 85.0] of 4 items, 4 ties counted half |"
    assert cells in (tmp_path / "one" / "report.md").read_text()
    for name in ("shuffle_narration_all.json", "shuffle_narration_context.json", "report.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(("arguments", "message"), [
    (["order"], "phenomenon= is missing"),
    (["phenomenon=odd", "source=.", "out=x"], "give order, cloze, winograd"),
    (["phenomenon=order", "source=no/such", "out=x"], "no/such: no such file or folder (source=)"),
    (["phenomenon=order", "source={short}", "out=x"], "no item for order (1 texts of fewer than 5 sentences)"),
    (["phenomenon=order", "source=.", "out=x", "items=0"], "items=0: give a whole number from 1"),
    (["phenomenon=winograd", "source=.,.", "out=x"], "reads one source"),
    (["phenomenon=order", "source=.", "out=x", "comma=true"], "only phenomenon=connectives has it"),
    (["phenomenon=cloze", "source=.", "out=x", "separator=true"], "only phenomenon=order has it"),
])  # fmt: skip
def test_wrong_arguments_are_one_line(arguments, message, tmp_path, capsys) -> None:
    short = written(tmp_path / "short.jsonl", json.dumps({"sentences": ["One."]}))
    assert COMMAND.run([argument.format(short=short) for argument in arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_help_names_every_phenomenon(capsys) -> None:
    assert COMMAND.run(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"\n  {name} " in printed for name in COMMAND.settings[0].type.metavar.split("|"))


def test_twins_are_drawn_together(tmp_path) -> None:
    arguments = ["phenomenon=cloze", f"source={story_file(tmp_path, 8)}", f"out={tmp_path / 'cloze'}", "items=5"]
    assert COMMAND.run(arguments) == 0
    suite = read_suite(tmp_path / "cloze" / "story_cloze.json")
    right, wrong = (Counter(item.texts[at][1] for item in suite.items) for at in (0, 1))
    assert right == wrong
    assert len(suite.items) == 4
    assert all("; wrong ending of stories.jsonl:" in item.source for item in suite.items)


@pytest.mark.skipif(not DATA.exists(), reason="needs the open data")
def test_twins_of_winograd_schemas_are_drawn_together(tmp_path) -> None:
    schemas = DATA / "winograd/wsc273.jsonl"
    assert COMMAND.run(["phenomenon=winograd", f"source={schemas}", f"out={tmp_path}", "items=40"]) == 0
    for name, noun in (("full", 0), ("partial", 1)):
        suite = read_suite(tmp_path / f"winograd_{name}.json")
        numbers = {int(item.source.rpartition(":")[2]) for item in suite.items}
        options = [frozenset(json.loads(line)["options"]) for line in schemas.read_text().splitlines()]
        for number in numbers:
            twins = [at for at in (number - 1, number + 1) if options[at - 1 : at] == [options[number - 1]]]
            assert numbers.issuperset(twins)
        assert 38 <= len(suite.items) <= 40
        assert all(item.texts[0][noun] != item.texts[1][noun] for item in suite.items)


def test_a_folder_with_suites_of_another_build_is_refused(tmp_path, capsys) -> None:
    out = tmp_path / "out"
    arguments = [f"source={story_file(tmp_path, 4)}", f"out={out}"]
    assert COMMAND.run(["phenomenon=order", *arguments]) == 0
    assert COMMAND.run(["phenomenon=order", "items=2", *arguments]) == 0  # replaces the same suites
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert COMMAND.run(["phenomenon=cloze", *arguments]) == 2
    assert "has suites of another build, such as shuffle_narration_all.json" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("text", ["", "\n"])
def test_a_table_without_a_header_is_an_error(tmp_path, text) -> None:
    with pytest.raises(InputError, match=r"stories\.csv"):
        list(read_texts(written(tmp_path / "stories.csv", text)))


FORMATS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "cloze.csv": (CLOZE, lambda path: build_cloze(read_texts(path))),
    "roc.csv": (ROC, lambda path: build_order(read_texts(path), 0)),
    "chat.txt": (PERSONA, lambda path: build_order(read_texts(path), 0)),
    "stories.jsonl": (json.dumps({"sections": [{"paragraphs": [["a", "b"]]}]}), lambda path: list(read_texts(path))),
    "turns.jsonl": (json.dumps({"turns": [{"text": "a"}, {"text": "b"}]}), lambda path: list(read_texts(path))),
    "wsc.jsonl": (json.dumps(SCHEMA), build_winograd),
    "wsc.xml": (COLLECTION, build_winograd),
    "disco.txt": ("\n".join(line for _, line, *_ in DISCO[:2]), build_connectives),
    "dnli.json": (json.dumps([{"sentence1": "a", "sentence2": "b", "label": "negative"}]), build_speakers),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_corrupted_source_is_read_or_refused_in_one_line(tmp_path, name) -> None:
    whole, read = FORMATS[name]
    path = written(tmp_path / name, whole)
    any_damage_is_read_or_refused(lambda: read(path), path)


@pytest.mark.parametrize(("old", "new"), [('"d"', '"e"'), ("He waved , since she smiled .", "He .")])
@pytest.mark.parametrize("build", [build_connectives, build_remention])
def test_an_annotation_that_does_not_fit_its_document_names_both_files(gum, build, old, new) -> None:
    path = gum / "dev.docs.jsonl"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=rf"dev\.(gdtb\.tsv|coref\.jsonl):\d.* {path}"):
        build(gum)


def test_a_folder_of_gum_without_a_document_is_refused(gum) -> None:
    (gum / "dev.docs.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"dev\.docs\.jsonl: no document; is this GUM"):
        read_documents(gum)


@pytest.mark.parametrize("name", ["dev.docs.jsonl", "dev.coref.jsonl", "dev.gdtb.tsv"])
@pytest.mark.parametrize("build", [build_connectives, build_remention])
def test_a_corrupted_file_of_gum_is_read_or_refused_in_one_line(gum, build, name) -> None:
    any_damage_is_read_or_refused(lambda: build(gum), gum / name)


@pytest.mark.skipif(not DATA.exists(), reason="needs the open data")
@pytest.mark.parametrize(("phenomenon", "source", "suites", "items"), [
    ("winograd", "winograd/wsc273.jsonl", 2, 546),
    ("remention", "gum", 1, 1021),
    ("connectives", "gum", 21, 505),
    ("cloze", "stories/aesop_for_children.jsonl.gz", 1, 236),
    ("order", "dialogue/taskmaster4_coffee.jsonl.gz", 2, 816),
    ("speakers", "senteval_downstream/data/downstream/SICK/SICK_trial.txt", 1, 74),
])  # fmt: skip
def test_open_data_give_suites_that_are_read_again(tmp_path, phenomenon, source, suites, items) -> None:
    assert COMMAND.run([f"phenomenon={phenomenon}", f"source={DATA / source}", f"out={tmp_path}"]) == 0
    written_suites = [read_suite(path) for path in tmp_path.glob("*.json")]
    assert (len(written_suites), sum(len(suite.items) for suite in written_suites)) == (suites, items)
    assert all(item.source for suite in written_suites for item in suite.items)
