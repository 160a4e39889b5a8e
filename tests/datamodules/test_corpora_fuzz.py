"""Corpora corrupted at random places: all examples are read, or one line names the first malformed one."""

import json
import re
from collections.abc import Callable
from itertools import chain
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.corpora.markdown import read_markdown
from datamodules.corpora.wikitext import read_wikitext
from tests.datamodules.test_corpora_errors import FIXTURES, READERS, examples, with_bytes
from tests.fuzzing import any_damage_is_read_or_refused, lines_in

SPLITS_OF = {"multinli": ("test",), "sick whole": ("train", "dev", "test"), "europarl": ("train", "dev", "test")}
AT_THE_END = r"empty|no tree in it|:\d+: .* this tree\b|lines but"  # a tree may span lines


def filled(content: bytes) -> list[str]:
    return [line for line in lines_in(content) if line.strip()]


def decided(content: bytes) -> int:
    return sum(json.loads(line)["gold_label"] != "-" for line in filled(content))


def brackets(content: bytes) -> int:
    """Brackets that are in no other."""
    level = outermost = 0
    for mark in re.findall(r"[()]", content.decode()):
        outermost += mark == "(" and level == 0
        level += 1 if mark == "(" else -1
    return outermost


def sentences(content: bytes) -> int:
    documents = map(json.loads, filled(content))
    return sum(len(p) for document in documents for section in document["sections"] for p in section["paragraphs"])


def articles(content: bytes) -> int:
    pages = [child for child in ElementTree.fromstring(content) if child.tag.endswith("page")]
    parts = [{child.tag.rpartition("}")[2]: child.text for child in page} for page in pages]
    return sum("redirect" not in part and int(part.get("ns") or 0) == 0 for part in parts)


COUNTS: dict[str, Callable[[bytes], int]] = {
    "multi30k": lambda content: len(lines_in(content)),
    "europarl": lambda content: len(lines_in(content)),
    "snli jsonl": decided,
    "snli txt": lambda content: sum(line.split("\t")[0] != "-" for line in filled(content)[1:]),
    "multinli": lambda content: sum(line.split("\t")[0] != "-" for line in filled(content)[1:]),
    "sick": lambda content: len(filled(content)) - 1,
    "sick whole": lambda content: len(filled(content)) - 1,
    "text": lambda content: len(filled(content)),
    "trees": brackets,
    "wikipedia": articles,
    "markdown": lambda content: 1 + bool(content),  # an empty file of several is no document
    "documents": sentences,
}


@pytest.mark.parametrize("name", READERS)
def test_every_example_is_read_or_the_first_malformed_line_is_named(name, tmp_path, caplog) -> None:
    case = READERS[name]
    path = tmp_path / "corpus" / case[2]
    original = (FIXTURES / case[1] / case[2]).read_bytes()
    corpus = with_bytes(tmp_path / "corpus", case, original)

    def read() -> None:
        caplog.clear()
        texts = list(examples(corpus, name, SPLITS_OF.get(name, ("train",))))
        noted = sum("article" in note or "brackets" in note for note in caplog.messages)  # left out, and said
        assert len(texts) + noted == COUNTS[name](path.read_bytes())
        for text in (text for example in texts for text in example if text is not None):
            assert text == " ".join(text.split())
            text.encode()

    others = [b"\xff\xfe" + original, original.replace(b"\n", b"\ncaf\xe9 ", 1)]
    # of a dump a tag that is not closed is missed at the end
    at_the_end = r":\d+: " if name == "wikipedia" else AT_THE_END
    any_damage_is_read_or_refused(read, path, at_the_end=at_the_end, also=others)


MARKS = (
    r"{{ }} [[ ]] | = == * '' ''' <ref> </ref> <b > </ &nbsp; &#x110000; &#0; a File: http://x {| |} # - ` ![ ]( "
    r"<!-- --> 1. \ __TOC__"
)
MARKUP = [*re.findall(r"\S+", MARKS), "\x01", " ", "\n", "\n> "]


@pytest.mark.parametrize("read", [read_wikitext, read_markdown])
def test_any_markup_becomes_clean_sentences(read) -> None:
    @given(st.lists(st.sampled_from(MARKUP), max_size=40).map("".join))
    def check(text: str) -> None:
        for section in read(text):
            assert section.level is not None
            for paragraph in section.paragraphs:
                assert paragraph
                assert all(sentence and sentence == " ".join(sentence.split()) for sentence in paragraph)

    check()


# pieces of text around the word X, which a reader sees or does not
WIKI_SEEN = [
    *["X", "'''X'''", "''X''", "[[X]]", "[[other|X]]", "[http://x.org X]", "<small>X</small>", "X<br />", "&nbsp;X"],
    *["\n\nX", "\n* X\n", "\n# X\n", "\n; X\n", "\n== X ==\n", "\n=== X ===\n", "<nowiki>X</nowiki>", "\n----\nX"],
    *["[[Film 2: X]]", "[[2001: Odyssey|X]]", "[[UTC+08:00|X]]", "[[wikt:dog|X]]", "[[:Category:Dogs|X]]"],
    *["X<blockquote>a</blockquote>b", "a<p>X</p>b", "<ul><li>X</li><li>a</li></ul>b", "a<div>X</div>b", "X<hr>a"],
    *["''X", "{{a|''b}} X", "X<ref>''a</ref>", "<ref>''a''b''</ref> X"],
]
WIKI_UNSEEN = ["{{X}}", "{{a|b=X}}", "<ref>X</ref>", "<!-- X -->", "[[File:a.png|thumb|X]]", "\n{|\n| X\n|}\n"]
WIKI_UNSEEN += ["[[Category:X]]", "[[category: X]]", "[[de:X]]", "[[zh-min-nan:X]]", "[[Bild:a.jpg|100px|X]]"]
WIKI_UNSEEN += ["[[simple:X]]", "<chem>X</chem>", "<imagemap>\nFile:a.jpg\ncircle 1 2 3 [[X]]\n</imagemap>"]
WIKI_UNSEEN += ['\n{| class="a" b;"\n| X\n|}\n']
MARKDOWN_SEEN = [
    *["X", "**X**", "*X*", "`X`", "[X](http://x.org)", "<b>X</b>", "~~X~~", "X  \n", "\n\nX", "\n- X\n", "\n1. X\n"],
    *["X<br>a", "a<BR />X"],
    *["\n> X\n\n", "\n\n# X\n\n", "\n\n### X ###\n\n", "\n\nX\n===\n\n", "\n\n| X |\n| --- |\n\n", "\\* X"],
    *["X[^1]", "[^X]", "\n\n[^1]: X\n\n", "\n[^a]:\n    X\n\n", "\n- [ ] X\n", "\n* [x] X\n"],
]
MARKDOWN_UNSEEN = ["![X](a.png)", "\n\n```\nX\n```\n\n", "\n\n<!-- X -->\n\n"]


@pytest.mark.parametrize(("read", "seen", "unseen"), [
    (read_wikitext, WIKI_SEEN, WIKI_UNSEEN), (read_markdown, MARKDOWN_SEEN, MARKDOWN_UNSEEN),
])  # fmt: skip
def test_every_visible_word_is_given_once_and_in_order(read, seen, unseen) -> None:
    @given(st.lists(st.sampled_from([*seen, *unseen]), max_size=12))
    def check(pieces: list[str]) -> None:
        text = " ".join(piece.replace("X", f"word{i}") for i, piece in enumerate(pieces))
        parts = [part for section in read(text) for part in (section.title or "", *chain(*section.paragraphs))]
        expected = [f"word{i}" for i, piece in enumerate(pieces) if piece in seen]
        assert [word for word in " ".join(parts).split() if word.startswith("word")] == expected

    check()
