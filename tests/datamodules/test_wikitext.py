"""Wikitext: the marks of bold and italic text, and what a parser makes of those without an end."""

import pytest

from datamodules.corpora.wikitext import read_wikitext
from datamodules.corpus import Section


@pytest.mark.parametrize(("marked", "text"), [
    ("''Titanic'''s crew", "Titanic 's crew"), ("The '''dog''''s tail", "The dog 's tail"),
    ("''[[Iliad]]'''s end", "Iliad 's end"), ("L'''amour'' it", "L 'amour it"), ("x '''''a''' b''", "x a b"),
    ("a '''b", "a b"), ("''{{a}}''b''{{c}}''", "b"), ("''x''<sub>''i''</sub>", "xi"),
])  # fmt: skip
def test_marks_of_bold_and_italic_text_are_read_as_mediawiki_does(marked, text) -> None:
    assert read_wikitext(marked) == [Section(0, None, [[text]])]


def test_a_mark_without_its_end_hides_no_section() -> None:
    text = "''a <ref>''b'', c''</ref> d.\n'''x\n\n== ''E'' ==\nf.\n=== G ===\nh."
    assert read_wikitext(text) == [
        Section(0, None, [["a d. x"]]), Section(1, "E", [["f ."]]), Section(2, "G", [["h ."]]),
    ]  # fmt: skip
