"""Suites of annotated text: connectives and rementions, from GUM, ARRAU and Disco-Annotation."""

import json
import shutil
from pathlib import Path

import pytest

from datamodules.trees.gum import conllu_sentences
from encoder_lab.errors import InputError
from probes.coherence.build.connectives import CONNECTIVES, build_connectives
from probes.coherence.build.gum import read_documents
from probes.coherence.build.remention import build_remention
from tests.fuzzing import any_damage_is_read_or_refused
from tests.probes.coherence.build.test_stories import written

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
