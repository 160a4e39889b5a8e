"""The sentences of a text, by their final marks."""

import re
from collections.abc import Iterator

SEPARATOR = "[SEP]"  # in a text where the speaker changes, as in the published suites
WORD_PATTERN = re.compile(r"\S+")
LAST_WORD_PATTERN = re.compile(r"\[SEP\]|.*[.!?…][\"'”’)\]]*")  # of a sentence; the rest are closing marks
ABBREVIATION_PATTERN = re.compile(r"(Mr|Mrs|Ms|Dr|St|Prof|[A-Z])\.")
CLOSING_MARKS = {"''", "”", "’", ")", "]"}  # belong to the sentence that has just ended


def capitalise(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """The first character of each sentence, and the one after its last.

    A sentence ends with a word that ends in `.`, `!`, `?` or `…` and the closing quotes and brackets after it, or with
    `[SEP]`. `Mr.` and initials do not end one. The text around does not matter, so that the sentences of a text are the
    same in any order.
    """
    start, end, ended = None, 0, False
    for word in WORD_PATTERN.finditer(text):
        if ended and word[0] not in CLOSING_MARKS and start is not None:
            yield start, end
            start = None
        start = word.start() if start is None else start
        end = word.end()
        is_last = LAST_WORD_PATTERN.fullmatch(word[0]) and not ABBREVIATION_PATTERN.fullmatch(word[0])
        ended = (ended and word[0] in CLOSING_MARKS) or bool(is_last)
    if start is not None:
        yield start, end
