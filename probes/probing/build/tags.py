"""The meaning of the labels of a treebank: one table of tags.yaml per tag set."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import yaml

from encoder_lab.errors import InputError


class TagSet(NamedTuple):
    """The labels that the probing tasks need, and some words that the labels do not distinguish.

    If the labels do not mark the tense of verbs or the number of nouns, `tenses` or `numbers` is empty, and the fields
    after `replaced` are left out.
    """

    name: str  # as `tags=` takes it
    conjunctions: frozenset[str]
    full_stop: str
    punctuation: frozenset[str]
    quotes: frozenset[str]
    clause: str = ""
    coordination: str = ""  # label of coordinated clauses
    predicates: frozenset[str] = frozenset()  # a clause with a verb has one of these directly below it
    verb_second: bool = False  # a clause that begins with its verb has the subject of another
    coordinators: frozenset[str] = frozenset()  # words that may stand between two clauses in either order
    names: frozenset[str] = frozenset()  # tags of words that always have a capital letter
    capitals: frozenset[str] = frozenset()  # other words that always have a capital letter
    hanging: frozenset[str] = frozenset()  # punctuation next to the clause, under ROOT, that is moved into it
    replaced: frozenset[str] = frozenset()  # nouns and verbs that SOMO replaces
    auxiliaries: frozenset[str] = frozenset()  # words that SOMO does not replace
    verb_phrase: str = ""
    noun_phrase: str = ""
    prepositional_phrase: str = ""
    numbers: Mapping[str, str] = {}  # tag of a common noun to its number
    tenses: Mapping[str, str] = {}  # tag of a finite verb to its tense
    verbs: frozenset[str] = frozenset()  # any verb, modals included
    modals: frozenset[str] = frozenset()  # finite verbs without a tense
    participle: str = ""  # of the passive and the perfect
    singular_verb: str = ""  # its subject is singular
    plural_verb: str = ""  # a third-person subject is plural
    not_objects: frozenset[str] = frozenset()  # function labels of noun phrases that are not objects
    time_nouns: frozenset[str] = frozenset()  # "slept a day" has no object
    copulas: frozenset[str] = frozenset()  # "became a doctor" has none either
    passives: frozenset[str] = frozenset()  # auxiliaries of the passive
    shortened: frozenset[str] = frozenset()  # verbs that may be forms of be or have
    questions: frozenset[str] = frozenset()  # labels of a question in place of a clause
    base_verb: str = ""  # tag of the verb of an imperative
    quantities: frozenset[str] = frozenset()  # in "a lot of people" the number is that of the people
    depths: tuple[int, int] = (5, 12)  # the classes of TreeDepth, from the shallowest
    dotted: bool = False  # the capital letter of i is İ, that of ı is I, as in Turkish


def _tag_set_from_labels(name: str, labels: dict[str, Any]) -> TagSet:
    hints = get_type_hints(TagSet)
    values: dict[str, Any] = {
        key: frozenset(v.split()) if hints[key] == frozenset[str] else v for key, v in labels.items()
    }
    return TagSet(name=name, **values)


TABLE = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
TAG_SETS = {name: _tag_set_from_labels(name, labels) for name, labels in TABLE.items()}
ENGLISH, GERMAN = TAG_SETS["english/penn"], TAG_SETS["german/tiger"]


def tag_set(name: str) -> TagSet:
    """The tag set `name`. Raises InputError that lists the valid names."""
    if name not in TAG_SETS:
        raise InputError(f"tags={name}: no such tag set; choose from {', '.join(TAG_SETS)} (docs/probing_tasks.md)")
    return TAG_SETS[name]
