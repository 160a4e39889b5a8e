"""Connectives (Beyer et al. 2021, section 4.5): the one of the text against each other one, by sense."""

import re
from collections import Counter, defaultdict
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_table
from probes.coherence.build.draft import Draft, DraftPair, capital, suite_of_pairs
from probes.coherence.build.gum import GumDocument, files, numbers_in, read_documents
from probes.coherence.suite_file import TestSuite

CONNECTIVES = ("although", "as", "however", "since", "though", "while", "yet")  # table 4 of the paper
COLUMNS = ("doc", "type", "sense", "sense2", "conn", "conn_toks", "arg1_toks")
PLACES = ("conn_toks", "arg1_toks")
SENSES = {"cause": "causal", "synchronous": "temporal", "asynchronous": "temporal", "similarity": "comparison"}
SENSE = re.compile(r"[a-z][a-z-]*")
FAR = 2  # sentences between the first argument and the connective, at most


def connectives(folder: Path) -> Draft:
    """A suite for each connective and sense of GUM's explicit relations; what follows the connective is scored."""
    documents = read_documents(folder)
    found: dict[tuple[str, str], list[DraftPair]] = defaultdict(list)
    excluded, changed = Counter[str](), Counter[str]()
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
            reason, regions = _regions(document, places, arguments)
            if reason:
                excluded[reason] += 1
                continue
            own = row["conn"].lower()
            shape = capital if row["conn"][0].isupper() else str
            before, comma, after = regions
            changed["connectives with a comma after them, which is not scored"] += bool(comma)
            texts = tuple((before, shape(other) + comma, after) for other in _conditions(own))
            sense = sense_of(row)
            if not SENSE.fullmatch(sense):
                raise InputError(
                    f"{path}:{number}: sense {row['sense'][:40]!r}; expected one such as Comparison.Contrast"
                )
            found[own, sense].append(DraftPair(f"{path.name}:{number} ({row['doc']})", texts))
    suites = [_suite(own, sense, pairs) for (own, sense), pairs in sorted(found.items())]
    return Draft(suites, excluded, +changed)


def _regions(document: GumDocument, places: list[int], arguments: list[int]) -> tuple[str, tuple[str, str, str]]:
    """Why it is left out, or "", and what comes before the connective, with it and after it.

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
    if not any(character.isalnum() for character in after) or not before:
        return "relations without a word on both sides of the connective", ("", "", "")
    return "", (before, comma, after)


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
    conditions = _conditions(own)
    return suite_of_pairs(
        f"connectives_{own}_{sense}",
        ("before", "connective", "after"),
        conditions,
        [f"(3;%{own}%) < (3;%{other}%)" for other in conditions[1:]],
        pairs,
        f"{own} ({sense}) replaced by another connective; what follows it is scored",
    )
