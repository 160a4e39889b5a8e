"""Connectives (Beyer et al. 2021, section 4.5): the one of the text against each other one, by sense."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from datamodules.trees.gum import files
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_table
from probes.coherence.build.disco import read_segments
from probes.coherence.build.draft import Draft, DraftPair, capital, clean, suite_of_pairs
from probes.coherence.build.gum import GumDocument, numbers_in, read_documents
from probes.coherence.suite_file import TestSuite

CONNECTIVES = ("although", "as", "however", "since", "though", "while", "yet")  # table 4 of the paper
COLUMNS = ("doc", "type", "sense", "sense2", "conn", "conn_toks", "arg1_toks")
PLACES = ("conn_toks", "arg1_toks")
SENSES = {"cause": "causal", "synchronous": "temporal", "asynchronous": "temporal", "similarity": "comparison"}
SENSE = re.compile(r"[a-z][a-z-]*")
FAR = 2  # sentences between the first argument and the connective, at most


class ConnectiveInText(NamedTuple):
    """A connective in its text."""

    source: str
    connective: str  # as it is written
    sense: str
    before: str
    comma: str  # "," where one follows it
    after: str


def connectives(path: Path, comma_scored: bool = False) -> Draft:
    """A suite for each connective and sense of GUM's explicit relations, or of Disco-Annotation.

    What follows the connective is scored: without a comma right after it, or with `comma_scored`, as in the paper.
    """
    by_sense: dict[tuple[str, str], list[DraftPair]] = defaultdict(list)
    excluded, changed = Counter[str](), Counter[str]()
    gum = path.is_dir() and any(path.glob("*.gdtb.tsv*"))
    for place in _gum_connectives(path, excluded) if gum else _disco_connectives(path, excluded):
        if not any(character.isalnum() for character in place.after) or not place.before:
            excluded["relations without a word on both sides of the connective"] += 1
            continue
        own = place.connective.lower()
        shape = capital if place.connective[0].isupper() else str
        with_it, scored = ("", clean(f"{place.comma} {place.after}")) if comma_scored else (place.comma, place.after)
        role = "which is scored" if comma_scored else "which is not scored"
        changed[f"connectives with a comma after them, {role}"] += bool(place.comma)
        texts = tuple((place.before, shape(other) + with_it, scored) for other in _conditions(own))
        by_sense[own, place.sense].append(DraftPair(place.source, texts))
    suites = [_suite(own, sense, pairs) for (own, sense), pairs in sorted(by_sense.items())]
    return Draft(suites, excluded, +changed)


def _gum_connectives(folder: Path, excluded: Counter[str]) -> Iterator[ConnectiveInText]:
    documents = read_documents(folder)
    for path in files(folder, "gdtb.tsv"):
        for number, row in read_table(path, COLUMNS):
            if row["type"] != "Explicit" or row["conn"].lower() not in CONNECTIVES:
                continue
            if row["doc"] not in documents:
                raise InputError(f"{path}:{number}: no document {row['doc'][:40]!r} in the *.docs.jsonl next to it")
            document = documents[row["doc"]]
            try:
                places, arguments = (list(numbers_in(row[name], len(document.tokens))) for name in PLACES)
            except ValueError:
                raise InputError(f"{path}:{number}: token numbers that the document does not have") from None
            sense = sense_of(row)
            if not SENSE.fullmatch(sense):
                wrong = f"sense {row['sense'][:40]!r}; expected one such as Comparison.Contrast"
                raise InputError(f"{path}:{number}: {wrong}")
            reason, regions = _regions(document, places, arguments)
            if reason:
                excluded[reason] += 1
            else:
                yield ConnectiveInText(f"{path.name}:{number} ({row['doc']})", row["conn"], sense, *regions)


def _disco_connectives(path: Path, excluded: Counter[str]) -> Iterator[ConnectiveInText]:
    for segment in read_segments(path, excluded):
        if segment.connective.lower() not in CONNECTIVES:
            excluded[f"segments with {segment.connective.lower()}, which the paper leaves out"] += 1
        else:
            after = segment.after.removeprefix(",")
            yield ConnectiveInText(*segment[:4], "," if after != segment.after else "", after.strip())


def _regions(document: GumDocument, places: list[int], arguments: list[int]) -> tuple[str, tuple[str, str, str]]:
    """The reason to leave the relation out, or ""; the text before the connective, its comma, and the text after it.

    A comma stays with the connective: it follows `however` nearly always and `as` hardly ever, so that it would tell
    which one is right if it were scored.
    """
    if len(places) != 1 or not arguments:
        return "relations without the place of a connective of one word", ("", "", "")
    place, first = places[0], min(arguments)
    if first > place:
        return "relations in which the first argument does not come before the connective", ("", "", "")
    if document.sentences[place - 1] - document.sentences[first - 1] > FAR:
        return f"relations with more than {FAR} sentences between argument and connective", ("", "", "")
    before = document.text(document.first_of(first), place - 1)
    follows = document.tokens[place] if place < document.last_of(place) else ""  # tokens have numbers from 1
    comma = document.text(place, place + 1)[len(document.tokens[place - 1]) :] if follows == "," else ""
    after = document.text(place + 1 + bool(comma), document.last_of(place))
    return "", (before, comma.strip(), after)


def _conditions(own: str) -> tuple[str, ...]:
    return own, *(other for other in CONNECTIVES if other != own)


def sense_of(row: dict[str, str]) -> str:
    """The sense in the paper's words: `Contingency.Cause.Reason` is causal; two senses are joined with a hyphen."""
    names = []
    for sense in (row["sense"], row["sense2"]):
        if sense:
            level = sense.split(".")[min(1, sense.count("."))].lower()
            names.append(SENSES.get(level, level))
    return "-".join(dict.fromkeys(names))


def _suite(own: str, sense: str, pairs: list[DraftPair]) -> TestSuite:
    regions = ("before", "connective", "after")
    comment = f"{own} ({sense}) replaced by another connective; what follows it is scored"
    return suite_of_pairs(f"connectives_{own}_{sense}", regions, _conditions(own), 3, pairs, comment)
