"""The meaning of the labels of a treebank: one table per tag set. Another language needs one more table."""

from collections.abc import Mapping
from typing import NamedTuple

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
    participle: str = ""  # of the passive and the perfect
    singular_verb: str = ""  # its subject is singular
    plural_verb: str = ""  # a third-person subject is plural
    not_objects: frozenset[str] = frozenset()  # function labels of noun phrases that are not objects
    time_nouns: frozenset[str] = frozenset()  # "slept a day" has no object
    copulas: frozenset[str] = frozenset()  # "became a doctor" has none either
    perfect: frozenset[str] = frozenset()
    shortened: frozenset[str] = frozenset()  # verbs that may be forms of be or have
    questions: frozenset[str] = frozenset()  # labels of a question in place of a clause
    base_verb: str = ""  # tag of the verb of an imperative
    quantities: frozenset[str] = frozenset()  # in "a lot of people" the number is that of the people
    depths: tuple[int, int] = (5, 12)  # the classes of TreeDepth, from the shallowest
    dotted: bool = False  # the capital letter of i is İ, that of ı is I, as in Turkish


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


BE = _set("be am is are was were been being 's 're 'm ’s ’re ’m")
HAVE = _set("have has had having 've 'd ’ve ’d")
DO = _set("do does did done doing")
QUOTES = _set("`` ''")
TIMES = "time second minute hour day week month year decade century morning afternoon evening night today tomorrow"

ENGLISH = TagSet(  # Penn Treebank
    name="english/penn",
    clause="S",
    coordination="S",
    predicates=_set("VP"),
    conjunctions=_set("CC CONJP"),
    coordinators=_set("and but or so yet"),
    names=_set("NNP NNPS"),
    capitals=_set("I"),
    full_stop=".",
    punctuation=_set(", . : -LRB- -RRB- # $ HYPH NFP SYM") | QUOTES,
    quotes=QUOTES,
    replaced=_set("NN NNS VB VBD VBG VBN VBP VBZ"),
    auxiliaries=BE | HAVE | DO,
    verb_phrase="VP",
    noun_phrase="NP",
    prepositional_phrase="PP",
    numbers={"NN": "NN", "NNS": "NNS"},
    tenses={"VBD": "PAST", "VBZ": "PRES", "VBP": "PRES"},
    verbs=_set("MD TO VB VBD VBG VBN VBP VBZ"),
    participle="VBN",
    singular_verb="VBZ",
    plural_verb="VBP",
    not_objects=_set("ADV BNF CLR DIR EXT LGS LOC MNR PRD PRP TMP TTL VOC"),
    time_nouns=frozenset(f"{noun}{ending}" for noun in TIMES.split() for ending in ("", "s")) | {"centuries"},
    copulas=BE
    | _set("become becomes became becoming remain remains remained remaining")
    | _set("seem seems seemed seeming"),
    perfect=HAVE,
    shortened=_set("'s ’s 'd ’d"),
    questions=_set("SBARQ SQ"),
    base_verb="VB",
    quantities=_set("lot lots number numbers couple bunch majority variety series range host pair")
    | _set("kind kinds sort sorts type types handful rest half group part percent plenty dozens"),
)

MARKS = _set("$*LRB* $LRB $[")  # one tag, as files spell it, for quotation marks, brackets and dashes

GERMAN = TagSet(  # NeGra and TIGER: flat clauses; STTS parts of speech, with separate tags for auxiliaries
    name="german/tiger",
    clause="S",
    coordination="CS",
    predicates=_set("VVFIN VAFIN VMFIN"),
    verb_second=True,
    conjunctions=_set("KON"),
    coordinators=_set("und oder aber doch"),
    names=_set("NN NE"),
    full_stop="$.",
    punctuation=_set("$, $.") | MARKS,
    quotes=MARKS,
    hanging=_set("$, $.") | MARKS,
    replaced=_set("NN VVFIN VVIMP VVINF VVIZU VVPP"),
)

TAG_SETS = {tags.name: tags for tags in (ENGLISH, GERMAN)}


def tag_set(name: str) -> TagSet:
    """The tag set `name`. Raises InputError that lists the valid names."""
    if name not in TAG_SETS:
        raise InputError(f"tags={name}: no such tag set; choose from {', '.join(TAG_SETS)} (docs/probing_tasks.md)")
    return TAG_SETS[name]
