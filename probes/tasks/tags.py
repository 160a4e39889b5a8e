"""What a treebank's labels mean: one table per tag set, so that another language is one more table."""

from typing import NamedTuple


class TagSet(NamedTuple):
    """The labels that the probing tasks ask about, and the few words that the labels do not tell apart."""

    clause: str
    verb_phrase: str
    noun_phrase: str
    prepositional_phrase: str
    conjunctions: frozenset[str]
    numbers: dict[str, str]  # tag of a common noun to its number
    tenses: dict[str, str]  # tag of a finite verb to its tense
    verbs: frozenset[str]  # any verb, modals included
    participle: str  # of the passive and the perfect
    singular_verb: str  # its subject is singular
    plural_verb: str  # a third-person subject is plural
    replaced: frozenset[str]  # nouns and verbs that SOMO replaces
    full_stop: str
    punctuation: frozenset[str]
    quotes: frozenset[str]
    not_objects: frozenset[str]  # function labels of noun phrases that are no object
    time_nouns: frozenset[str]  # "slept a day" has no object
    copulas: frozenset[str]  # "became a doctor" has none either
    perfect: frozenset[str]
    quantities: frozenset[str]  # in "a lot of people" the number is that of the people
    auxiliaries: frozenset[str]  # SOMO leaves them alone
    coordinators: frozenset[str]  # words that may stand between two clauses in either order


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


BE = _set("be am is are was were been being 's 're 'm ’s ’re ’m")
HAVE = _set("have has had having 've 'd ’ve ’d")
DO = _set("do does did done doing")
QUOTES = _set("`` ''")
TIMES = "time second minute hour day week month year decade century morning afternoon evening night today tomorrow"

ENGLISH = TagSet(  # Penn Treebank
    clause="S",
    verb_phrase="VP",
    noun_phrase="NP",
    prepositional_phrase="PP",
    conjunctions=_set("CC CONJP"),
    numbers={"NN": "NN", "NNS": "NNS"},
    tenses={"VBD": "PAST", "VBZ": "PRES", "VBP": "PRES"},
    verbs=_set("MD TO VB VBD VBG VBN VBP VBZ"),
    participle="VBN",
    singular_verb="VBZ",
    plural_verb="VBP",
    replaced=_set("NN NNS VB VBD VBG VBN VBP VBZ"),
    full_stop=".",
    punctuation=_set(", . : -LRB- -RRB- # $ HYPH NFP SYM") | QUOTES,
    quotes=QUOTES,
    not_objects=_set("ADV BNF CLR DIR EXT LGS LOC MNR PRD PRP TMP TTL VOC"),
    time_nouns=frozenset(f"{noun}{ending}" for noun in TIMES.split() for ending in ("", "s")) | {"centuries"},
    copulas=BE
    | _set("become becomes became becoming remain remains remained remaining")
    | _set("seem seems seemed seeming"),
    perfect=HAVE,
    quantities=_set("lot lots number numbers couple bunch majority variety series range host pair")
    | _set("kind kinds sort sorts type types handful rest half group part percent plenty dozens"),
    auxiliaries=BE | HAVE | DO,
    coordinators=_set("and but or so yet"),
)
