"""The sentences of a text, by their final marks."""

import re
from collections.abc import Iterator

SEPARATOR = "[SEP]"  # in a text where the speaker changes, as in the published suites
WORD = re.compile(r"\S+")
STOP = re.compile(r"\[SEP\]|.*[.!?…][\"'”’)\]]*")  # the last word of a sentence; the rest are closing marks
ABBREVIATION = re.compile(r"(Mr|Mrs|Ms|Dr|St|Prof|[A-Z])\.")
CLOSING = {"''", "”", "’", ")", "]"}  # belong to the sentence that has just ended


def sentences_of(text: str) -> Iterator[tuple[int, int]]:
    """The first character of each sentence, and the one after its last.

    A sentence ends with a word that ends in `.`, `!`, `?` or `…` and the closing quotes and brackets after it, or with
    `[SEP]`. `Mr.` and initials do not end one. The text around does not matter, so that the sentences of a text are the
    same in any order.
    """
    start, end, ended = None, 0, False
    for word in WORD.finditer(text):
        if ended and word[0] not in CLOSING and start is not None:
            yield start, end
            start = None
        start = word.start() if start is None else start
        end = word.end()
        ended = (ended and word[0] in CLOSING) or bool(STOP.fullmatch(word[0]) and not ABBREVIATION.fullmatch(word[0]))
    if start is not None:
        yield start, end
