"""Suites of the embedded world for all six phenomena, at any size and without files."""

from itertools import chain

from datamodules.demo.documents import narrative
from datamodules.demo.minimal_pairs import contradiction, mentions, references
from datamodules.demo.relations import CONNECTIVES, SENSES, relation
from datamodules.text.sentences import capitalise
from probes.coherence.build.cloze import build_cloze
from probes.coherence.build.draft import DraftPair, suite_of_pairs
from probes.coherence.build.order import build_order
from probes.coherence.build.speakers import speaker_pair, speaker_suite
from probes.coherence.build.texts import SourceText
from probes.coherence.build.winograd import winograd_suites
from probes.coherence.suite_file import TestSuite

SPLIT = "test"  # no run trains on it
MIN_STORIES = 3  # that every narrative has at least


def world_suites(items: int, seed: int) -> list[TestSuite]:
    """Suites of `items` items, connectives one for each sense; suites of twins have one less where it is odd.

    A story is a section of a narrative: what one person does to one thing, in an order that the world knows.
    """
    stories = [story for number in range(items // MIN_STORIES + 2) for story in _stories(seed, number)]
    suites = [*build_order(stories, seed).suites, *build_cloze(stories).suites]
    twins = items // 2
    sizes = {"story_cloze": 2 * twins}
    suites = [s._replace(items=s.items[: sizes.get(s.name, items)]) for s in suites if s.items]
    suites += [*_winograd(seed, twins), _mention_form(seed, twins), *_connectives(items, seed)]
    contradictions = ((f"inference {SPLIT}-{number}", *contradiction(seed, SPLIT, number)) for number in range(items))
    return [*suites, speaker_suite(speaker_pair(*pair) for pair in contradictions)]


def _stories(seed: int, number: int) -> list[SourceText]:
    document = narrative(seed, SPLIT, number).english()
    titled = [(section.title or "", section) for section in document.sections if section.title != "Abstract"]
    return [
        SourceText(f"{document.id}, {title}", list(chain.from_iterable(section.paragraphs)), topic=title)
        for title, section in titled
    ]


def _winograd(seed: int, twins: int) -> list[TestSuite]:
    full, partial = [], []
    for number in range(twins):
        for texts in references(seed, SPLIT, number):
            partial.append(DraftPair(f"reference {SPLIT}-{number}", texts))
            full.append(DraftPair(f"reference {SPLIT}-{number}", tuple((" ".join(text),) for text in texts)))
    return winograd_suites(full, partial)


def _mention_form(seed: int, twins: int) -> TestSuite:
    """Half of the items want the pronoun, and half the phrase, so that no form is right by itself."""
    pairs = [
        DraftPair(f"mention {SPLIT}-{number}", texts)
        for number in range(twins)
        for texts in mentions(seed, SPLIT, number)
    ]
    comment = "a pronoun for the person of the sentence before, the phrase for another; the sentence with it is scored"
    return suite_of_pairs("mention_form", ("context", "sentence"), ("fitting", "other"), 2, pairs, comment)


def _connectives(items: int, seed: int) -> list[TestSuite]:
    pairs: dict[str, list[DraftPair]] = {sense: [] for sense in SENSES}
    orders = {sense: [sense, *(other for other in SENSES if other != sense)] for sense in SENSES}  # of the conditions
    number = 0
    while any(len(drafts) < items for drafts in pairs.values()):
        example = relation(seed, SPLIT, number, explicit=True)
        if len(pairs[example.sense]) < items:
            before, after = f"{capitalise(example.first)} ,", f"{example.second} ."
            texts = tuple((before, CONNECTIVES[sense], after) for sense in orders[example.sense])
            pairs[example.sense].append(DraftPair(f"relation {SPLIT}-{number}", texts))
        number += 1
    regions, suites = ("before", "connective", "after"), []
    for sense, drafts in pairs.items():
        conditions = [name.partition(".")[2].lower() for name in orders[sense]]  # Contingency.Cause as cause
        comment = f"{CONNECTIVES[sense]!r} replaced by another connective; what follows it is scored"
        suites.append(suite_of_pairs(f"connectives_{conditions[0]}", regions, conditions, 3, drafts, comment))
    return suites
