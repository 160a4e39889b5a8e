"""Disco-Annotation (Popescu-Belis et al. 2012): segments of Europarl with the sense of one connective.

The files were not available; this follows what is published about them: for each of eight connectives a training and a
test set of segments, each with one of the senses below. A line is a segment in which the sense follows its connective
after `_` or `-` (`while_temporal-contrast`, as the papers on the corpus write it), or fields between tabs: the sense,
the segment, and the connective, which may also be in the name of the file.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_lines
from probes.coherence.build.draft import clean

WORDS = ("although", "as", "however", "meanwhile", "since", "though", "while", "yet")
SENSES = {
    "contrast": "contrast", "concession": "concession", "causal": "causal", "temporal": "temporal",
    "comparison": "comparison", "temporal-causal": "temporal-causal", "temporal-contrast": "temporal-contrast",
    "prep": "preposition", "preposition": "preposition", "adv": "adverb", "adverb": "adverb",
}  # fmt: skip
EITHER = "|".join(WORDS)
IN_NAME = re.compile(rf"(?<![a-z])(?:{EITHER})(?![a-z])")
LABELLED = re.compile(rf"\b({EITHER})[_-]({'|'.join(sorted(SENSES, key=len, reverse=True))})(?![\w-])", re.IGNORECASE)
ENDINGS = (".txt", ".tsv", ".txt.gz", ".tsv.gz")
WANTED = "the sense behind the connective (while_contrast), or sense, connective and segment between tabs"


class Segment(NamedTuple):
    """A connective in its spelling, its sense, and the text on both sides."""

    source: str
    connective: str
    sense: str
    before: str
    after: str


def read_segments(path: Path, excluded: Counter[str]) -> Iterator[Segment]:
    """The segments of a file or of those in a folder. Raises InputError naming file and line."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.name.endswith(ENDINGS))
    for file in files:
        if not file.name.lower().startswith("readme"):
            for number, line in read_lines(file):
                if line.strip():
                    segment = _segment(line, file, number)
                    if isinstance(segment, str):
                        excluded[segment] += 1
                    else:
                        yield segment


def _segment(line: str, path: Path, number: int) -> Segment | str:
    """The segment of a line, or why it is left out."""
    source = f"{path.name}:{number}"
    labelled = list(LABELLED.finditer(line))
    if len(labelled) == 1:
        (mark,) = labelled
        sides = clean(line[: mark.start()]), clean(line[mark.end() :])
        return Segment(source, mark[1], SENSES[mark[2].lower()], *sides)
    fields = [clean(field) for field in line.split("\t")]
    senses = [field.lower() for field in fields if field.lower() in SENSES]
    named = [field.lower() for field in fields if field.lower() in WORDS] or IN_NAME.findall(path.name.lower())
    if len(labelled) > 1 or len(senses) != 1 or len(set(named)) != 1:
        raise InputError(f"{path}:{number}: not a segment of Disco-Annotation; expected {WANTED}")
    text = max(fields, key=len)
    places = list(re.finditer(rf"(?<![\w-]){named[0]}(?![\w-])", text, re.IGNORECASE))
    if len(places) != 1:
        return "segments with the connective not exactly once"
    (place,) = places
    return Segment(source, place[0], SENSES[senses[0]], clean(text[: place.start()]), clean(text[place.end() :]))
