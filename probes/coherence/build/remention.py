"""Entity re-mention (Beyer et al. 2021, section 4.4): a pronoun against the phrase that it stands for."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_json_lines
from probes.coherence.build.draft import Draft, DraftPair, capital, suite_of_pairs
from probes.coherence.build.gum import GumDocument, files, read_documents

PRONOUNS = {"he", "she", "it", "they", "him", "her", "them"}
PHRASES = ("proper", "common")  # forms of a mention that names what it means
LONGEST = 10  # tokens of a phrase that is repeated


class Mention(NamedTuple):
    """A stretch of tokens, numbered from 1, that means an entity."""

    entity: int
    first: int
    last: int
    form: str


def remention(folder: Path) -> Draft:
    """One suite of GUM's coreference. A sentence with the phrase, then one with the pronoun or the phrase again.

    As in the paper, the phrase is in the sentence before, and `a` becomes `the` when it is repeated.
    """
    documents = read_documents(folder)
    pairs: list[DraftPair] = []
    excluded = Counter[str]()
    for path in files(folder, "coref.jsonl"):
        for number, record in read_json_lines(path):
            document = documents.get(str(record.get("id")))
            if document is None:
                raise InputError(f"{path}:{number}: no document {record.get('id')!r} in the *.docs.jsonl next to it")
            try:
                mentions = list(_mentions(record, len(document.tokens)))
                tags = [str(tag) for tag in record["tokens"]["xpos"]]
                if len(tags) != len(document.tokens):
                    raise ValueError("not a tag for each token")
            except (KeyError, TypeError, ValueError, OverflowError):
                raise InputError(f"{path}:{number}: no mentions with span, entity and form, or no tags") from None
            pairs += _pairs(document, mentions, tags, f"{path.name}:{number}", excluded)
    suite = suite_of_pairs(
        "remention",
        ("context", "sentence"),
        ("pronoun", "repetition"),
        ["(2;%pronoun%) < (2;%repetition%)"],
        pairs,
        "a pronoun against the phrase repeated; the sentence with it is scored",
    )
    return Draft([suite], excluded)


def _mentions(record: dict[str, Any], tokens: int) -> Iterator[Mention]:
    for mention in record["mentions"]:
        first, last = map(int, mention["span"])
        if not 1 <= first <= last <= tokens:
            raise ValueError
        yield Mention(int(mention["entity"]), first, last, str(mention["form"]))


def _pairs(
    document: GumDocument, mentions: list[Mention], tags: list[str], source: str, excluded: Counter[str]
) -> Iterator[DraftPair]:
    for pronoun in mentions:
        place = pronoun.first
        if pronoun.last != place or tags[place - 1] != "PRP" or document.tokens[place - 1].lower() not in PRONOUNS:
            continue
        sentence = document.sentences[place - 1]
        near = [m for m in mentions if m.entity == pronoun.entity and m.first < place and m.form in PHRASES]
        if any(document.sentences[m.first - 1] == sentence for m in near):
            excluded["pronouns with the phrase in the same sentence"] += 1
            continue
        before = [m for m in near if document.sentences[m.first - 1] == sentence - 1]
        if not before:
            excluded["pronouns without a phrase in the sentence before"] += 1
            continue
        phrase = before[-1]
        if phrase.last - phrase.first >= LONGEST:
            excluded[f"phrases of more than {LONGEST} tokens"] += 1
            continue
        first, last = document.first_of(place), document.last_of(place)
        context = document.text(document.first_of(phrase.first), first - 1)
        if _doubled(document, phrase, tags, place):
            excluded["repetitions with two determiners one after the other"] += 1
            continue
        repeated = _again(document, phrase, tags, at_start=place == first)
        original = document.text(first, last)
        start, end = document.spans[place - 1]
        again = original[:start] + repeated + original[end:]
        if again == original:
            excluded["phrases spelt as the pronoun"] += 1
            continue
        yield DraftPair(f"{source} ({document.name}), token {place}", ((context, original), (context, again)))


def _doubled(document: GumDocument, phrase: Mention, tags: list[str], place: int) -> bool:
    """Whether the phrase begins with two determiners, as slips of the tongue do, or would stand after one."""

    def determines(token: int) -> bool:
        return tags[token - 1] == "PRP$" or document.tokens[token - 1].lower() in ("a", "an", "the")

    after_one = place > document.first_of(place) and determines(place - 1)
    twice = phrase.last > phrase.first and determines(phrase.first + 1)
    return determines(phrase.first) and (after_one or twice)


def _again(document: GumDocument, phrase: Mention, tags: list[str], at_start: bool) -> str:
    """The phrase as it is repeated: definite, and with a capital only where it needs one."""
    text = document.text(phrase.first, phrase.last)
    first, _, rest = text.partition(" ")
    if first.lower() in ("a", "an") and rest:
        text = f"the {rest}"
    elif not tags[phrase.first - 1].startswith("NNP") and first != "I" and not first.isupper():
        text = text[:1].lower() + text[1:]
    return capital(text) if at_start else text
