"""Connectives (Beyer et al. 2021, section 4.5): the one of the text against each other one, by sense."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from datamodules.text.sentences import capitalise
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import files_below, read_lines, read_table
from probes.coherence.build.draft import Draft, DraftPair, single_spaced, suite_of_pairs
from probes.coherence.build.gum import GumDocument, document_of, numbers_in, read_documents

CONNECTIVES = ("although", "as", "however", "since", "though", "while", "yet")  # table 4 of the paper
COLUMNS = ("doc", "type", "sense", "sense2", "conn", "conn_toks", "arg1_toks")
TOKEN_COLUMNS = ("conn_toks", "arg1_toks")
SENSES = {"cause": "causal", "synchronous": "temporal", "asynchronous": "temporal", "similarity": "comparison"}
SENSE_PATTERN = re.compile(r"[a-z][a-z-]*")
MAX_SENTENCES_APART = 2  # sentences between the first argument and the connective, at most


class ConnectiveInText(NamedTuple):
    """A connective in its text."""

    source: str
    connective: str  # as it is written
    sense: str
    before: str
    comma: str  # "," where one follows it
    after: str


def build_connectives(path: Path, comma_scored: bool = False) -> Draft:
    """A suite for each connective and sense of GUM's explicit relations, or of Disco-Annotation.

    What follows the connective is scored: without a comma right after it, or with `comma_scored`, as in the paper.
    """
    by_sense: dict[tuple[str, str], list[DraftPair]] = defaultdict(list)
    excluded, changed = Counter[str](), Counter[str]()
    gum = path.is_dir() and any(path.glob("*.gdtb.tsv*"))
    for item in _gum_connectives(path, excluded) if gum else _disco_connectives(path, excluded):
        if not any(character.isalnum() for character in item.after) or not item.before:
            excluded["relations without a word on both sides of the connective"] += 1
            continue
        original = item.connective.lower()
        shape = capitalise if item.connective[0].isupper() else str
        with_it, scored = (
            ("", single_spaced(f"{item.comma} {item.after}")) if comma_scored else (item.comma, item.after)
        )
        role = "which is scored" if comma_scored else "which is not scored"
        changed[f"connectives with a comma after them, {role}"] += bool(item.comma)
        texts = tuple((item.before, shape(other) + with_it, scored) for other in _conditions(original))
        by_sense[original, item.sense].append(DraftPair(item.source, texts))
    regions, suites = ("before", "connective", "after"), []
    for (original, sense), pairs in sorted(by_sense.items()):
        comment = f"{original} ({sense}) replaced by another connective; what follows it is scored"
        name = f"connectives_{original}_{sense}"
        suites.append(suite_of_pairs(name, regions, _conditions(original), 3, pairs, comment))
    return Draft(suites, excluded, +changed)


def _gum_connectives(folder: Path, excluded: Counter[str]) -> Iterator[ConnectiveInText]:
    documents = read_documents(folder)
    for path in files_below(folder, [".gdtb.tsv"]):
        for number, row in read_table(path, COLUMNS):
            if row["type"] != "Explicit" or row["conn"].lower() not in CONNECTIVES:
                continue
            document = document_of(documents, row["doc"], f"{path}:{number}")
            try:
                tokens, arguments = (list(numbers_in(row[name], len(document.tokens))) for name in TOKEN_COLUMNS)
            except ValueError:
                raise InputError(f"{path}:{number}: token numbers that {document.location} does not have") from None
            sense = sense_of(row)
            if not SENSE_PATTERN.fullmatch(sense):
                problem = f"sense {row['sense'][:40]!r}; expected one such as Comparison.Contrast"
                raise InputError(f"{path}:{number}: {problem}")
            regions = _regions(document, tokens, arguments)
            if isinstance(regions, str):
                excluded[regions] += 1
            else:
                yield ConnectiveInText(f"{path.name}:{number} ({row['doc']})", row["conn"], sense, *regions)


def _regions(document: GumDocument, tokens: list[int], arguments: list[int]) -> tuple[str, str, str] | str:
    """The text before the connective, its comma, and the text after it; or the reason to leave the relation out.

    A comma stays with the connective: it follows `however` nearly always and `as` hardly ever, so that it would tell
    which one is right if it were scored.
    """
    if len(tokens) != 1 or not arguments:
        return "relations without the place of a connective of one word"
    token, first = tokens[0], min(arguments)
    if first > token:
        return "relations in which the first argument does not come before the connective"
    if document.sentences[token - 1] - document.sentences[first - 1] > MAX_SENTENCES_APART:
        return f"relations with more than {MAX_SENTENCES_APART} sentences between argument and connective"
    before = document.text(document.first_in_sentence(first), token - 1)
    follows = document.tokens[token] if token < document.last_in_sentence(token) else ""  # tokens have numbers from 1
    comma = document.text(token, token + 1)[len(document.tokens[token - 1]) :] if follows == "," else ""
    after = document.text(token + 1 + bool(comma), document.last_in_sentence(token))
    return before, comma.strip(), after


def _conditions(original: str) -> tuple[str, ...]:
    return original, *(other for other in CONNECTIVES if other != original)


def sense_of(row: dict[str, str]) -> str:
    """The sense in the paper's words: `Contingency.Cause.Reason` is causal; two senses are joined with a hyphen."""
    names = []
    for sense in (row["sense"], row["sense2"]):
        if sense:
            level = sense.split(".")[min(1, sense.count("."))].lower()
            names.append(SENSES.get(level, level))
    return "-".join(dict.fromkeys(names))


WORDS = ("although", "as", "however", "meanwhile", "since", "though", "while", "yet")
LABELS = {
    "contrast": "contrast", "concession": "concession", "causal": "causal", "temporal": "temporal",
    "comparison": "comparison", "temporal-causal": "temporal-causal", "temporal-contrast": "temporal-contrast",
    "prep": "preposition", "preposition": "preposition", "adv": "adverb", "adverb": "adverb",
}  # fmt: skip
WORD_ALTERNATIVES = "|".join(WORDS)
WORD_PATTERN = re.compile(rf"(?<![a-z])(?:{WORD_ALTERNATIVES})(?![a-z])")
LABELLED_PATTERN = re.compile(
    rf"\b({WORD_ALTERNATIVES})[_-]({'|'.join(sorted(LABELS, key=len, reverse=True))})(?![\w-])", re.IGNORECASE
)
EXPECTED_MESSAGE = "the sense behind the connective (while_contrast), or sense, connective and segment between tabs"


def _disco_connectives(path: Path, excluded: Counter[str]) -> Iterator[ConnectiveInText]:
    """The segments of a file or of those in a folder, of Disco-Annotation (Popescu-Belis et al. 2012).

    The files were not available; this follows what is published about them: for each of eight connectives a training
    and a test set of segments of Europarl, each with one of the LABELS. A line is a segment in which the sense follows
    its connective after `_` or `-` (`while_temporal-contrast`, as the papers on the corpus write it), or fields between
    tabs: the sense, the segment, and the connective, which may also be in the name of the file.
    """
    for file in files_below(path, (".txt", ".tsv")):
        for number, line in [] if file.name.lower().startswith("readme") else read_lines(file):
            if not line.strip():
                continue
            text, match, label = _parse_segment(line, file, number)
            if match is None:
                excluded["segments with the connective not exactly once"] += 1
            elif match[1].lower() not in CONNECTIVES:
                excluded[f"segments with {match[1].lower()}, which the paper leaves out"] += 1
            else:
                before, after = single_spaced(text[: match.start()]), single_spaced(text[match.end() :])
                comma = "," if after.startswith(",") else ""
                after = after.removeprefix(",").strip()
                yield ConnectiveInText(f"{file.name}:{number}", match[1], LABELS[label], before, comma, after)


def _parse_segment(line: str, path: Path, number: int) -> tuple[str, re.Match[str] | None, str]:
    """The text of a line, its connective where there is exactly one, and its label."""
    labelled = list(LABELLED_PATTERN.finditer(line))
    if len(labelled) == 1:
        return line, labelled[0], labelled[0][2].lower()
    fields = [single_spaced(field) for field in line.split("\t")]
    senses = [field.lower() for field in fields if field.lower() in LABELS]
    named = [field.lower() for field in fields if field.lower() in WORDS] or WORD_PATTERN.findall(path.name.lower())
    if len(labelled) > 1 or len(senses) != 1 or len(set(named)) != 1:
        raise InputError(f"{path}:{number}: not a segment of Disco-Annotation; expected {EXPECTED_MESSAGE}")
    text = max(fields, key=len)
    matches = list(re.finditer(rf"(?<![\w-])({named[0]})(?![\w-])", text, re.IGNORECASE))
    return text, matches[0] if len(matches) == 1 else None, senses[0]
