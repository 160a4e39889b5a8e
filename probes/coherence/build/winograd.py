"""Winograd schemas (Beyer et al. 2021, section 4.3): the pronoun replaced by what it means, or by the distractor."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datamodules.text.sentences import capitalise
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_json_lines
from probes.coherence.build.draft import Draft, DraftPair, single_spaced, suite_of_pairs
from probes.coherence.build.xml_file import read_xml
from probes.coherence.suite_file import TestSuite

POSSESSIVE = {"his", "her", "its", "their", "my", "your", "our"}  # `her` as an object would be among them
DETERMINERS = {"The", "A", "An", "My", "His", "Her", "Their", "Our", "Your", "Its"}
FIELDS = {"text": str, "pronoun": str, "pronoun_loc": int, "options": list, "label": int}
PARTS = ("text/txt1", "text/pron", "text/txt2", "correctAnswer")
CONDITIONS = ("target", "distractor")


def build_winograd(path: Path) -> Draft:
    """Two suites: the whole text is scored, or only what follows the inserted noun (Trinh and Le 2019)."""
    full, partial, excluded = [], [], Counter[str]()
    options, twins = frozenset[str](), ""
    for source, record in _read_schemas(path):
        if (pair := frozenset(map(single_spaced, record["options"]))) != options:
            options, twins = pair, source  # twins have the same nouns, one after another
        offset, pronoun = record["pronoun_loc"], record["pronoun"]
        before, after = single_spaced(record["text"][:offset]), single_spaced(record["text"][offset + len(pronoun) :])
        correct = record["label"]
        answers = (single_spaced(record["options"][index]) for index in (correct, 1 - correct))
        nouns = [noun_for_pronoun(option, pronoun, before, after) for option in answers]
        full.append(DraftPair(source, tuple((single_spaced(f"{before} {noun} {after}"),) for noun in nouns), twins))
        if after:
            partial.append(DraftPair(source, tuple((before, noun, after) for noun in nouns), twins))
        else:
            excluded["schemas in which nothing follows the pronoun (partial)"] += 1
    return Draft(winograd_suites(full, partial), excluded)


def winograd_suites(full: list[DraftPair], partial: list[DraftPair]) -> list[TestSuite]:
    """The suites of texts of one region, and of texts cut before and after the noun."""
    regions = ("before", "noun", "after")
    return [
        suite_of_pairs("winograd_full", ("text",), CONDITIONS, 1, full, "the whole text is scored"),
        suite_of_pairs("winograd_partial", regions, CONDITIONS, 3, partial, "what follows the inserted noun is scored"),
    ]


def _read_schemas(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, record in _read_collection(path) if path.name.endswith(".xml") else read_json_lines(path):
        for name, expected in FIELDS.items():
            if not isinstance(record.get(name), expected):
                raise InputError(f"{path}:{number}: no {name!r}, or not of its kind; is this a file of schemas?")
        offset, pronoun, options = record["pronoun_loc"], record["pronoun"], record["options"]
        if not pronoun or offset < 0 or record["text"][offset : offset + len(pronoun)] != pronoun:
            raise InputError(f"{path}:{number}: the text has no {pronoun!r} at character {offset}; correct pronoun_loc")
        if len(options) != 2 or not all(isinstance(option, str) and single_spaced(option) for option in options):
            raise InputError(f"{path}:{number}: options must be two nouns")
        if record["label"] not in (0, 1):
            raise InputError(f"{path}:{number}: label {record['label']}; it must be 0 or 1")
        yield f"{path.name}:{number}", record


def _read_collection(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The schemas of the published collection (Davis, Morgenstern and Ortiz), WSCollection.xml, numbered from 1.

    The encoding that its first line names is not the file's, which is UTF-8.
    """
    schemas = read_xml(path, "a collection of schemas in XML").findall("schema")
    for number, schema in enumerate(schemas, 1):
        before, pronoun, after, answer = (single_spaced(schema.findtext(name) or "") for name in PARTS)
        options = [single_spaced(option.text or "") for option in schema.findall("answers/answer")]
        text, offset = single_spaced(f"{before} {pronoun} {after}"), len(before) + bool(before)
        values = text, pronoun, offset, options, {"A": 0, "B": 1}.get(answer[:1], -1)
        yield number, dict(zip(FIELDS, values, strict=True))


def noun_for_pronoun(option: str, pronoun: str, before: str, after: str) -> str:
    """The noun in place of the pronoun: with the right capital letter, and 's for a possessive."""
    lower = option[:1].lower() + option[1:]
    text = f"{before} {after}"
    if option.split()[0] in DETERMINERS or (lower in text and option not in text):
        option = lower
    if pronoun[0].isupper():
        option = capitalise(option)
    return f"{option}'s" if pronoun.lower() in POSSESSIVE else option
