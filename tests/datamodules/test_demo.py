"""Properties of the demo corpus: reproducible, consistent views, grammatical text in four languages."""

import hashlib
from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

from datamodules.corpus import NoSuchView
from datamodules.demo import Demo, english, finnish, french, german
from datamodules.demo.lexicon import lexicon, past_tense, progressive, third_person
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing
from datamodules.demo.spoken import say, tree_of_words
from datamodules.trees.penn import Tree, parse

WORDS = lexicon()
PINNED = "97fc2b5134f271e9"


@pytest.fixture(scope="module")
def trees() -> list[Tree]:
    return [parse(text) for text in Demo(size=8000).trees("train")]


def test_the_same_seed_gives_the_same_text_on_every_machine() -> None:
    text = "\n".join(" ||| ".join(pair) for pair in islice(Demo(size=50, seed=1).parallel("train", "fi"), 50))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == PINNED


def test_all_views_have_the_same_sentences_in_the_same_order() -> None:
    corpus = Demo(size=60)
    from_trees = [" ".join(parse(text).words()) for text in corpus.trees("dev")]
    from_documents = [s for d in corpus.documents("dev") for part in d.sections for p in part.paragraphs for s in p]
    assert from_trees == list(corpus.sentences("dev"))
    assert from_trees == [english for english, _ in corpus.parallel("dev", "de")]
    assert from_documents[: len(from_trees)] == from_trees


def test_splits_are_different_streams() -> None:
    corpus = Demo(size=300)
    train, probe = set(corpus.sentences("train")), set(islice(corpus.sentences("probe"), 300))
    assert len(train & probe) < 6


def test_a_million_sentences_are_a_stream() -> None:
    assert len(list(islice(Demo(size=10_000_000).sentences("train"), 5))) == 5


def test_sentences_have_5_to_28_words_over_2000_forms(trees: list[Tree]) -> None:
    words = [tree.words() for tree in trees]
    assert {len(sentence) for sentence in words} <= set(range(5, 29))
    assert len({word for sentence in words for word in sentence}) >= 2000


def test_depths_spread_over_5_to_12(trees: list[Tree]) -> None:
    depths = Counter(tree.depth() for tree in trees)
    assert all(depths[depth] >= 40 for depth in range(5, 13))


def test_twenty_top_constituent_sequences_are_frequent(trees: list[Tree]) -> None:
    tops = Counter("_".join(child.label for child in tree.children[0].children) for tree in trees)
    assert sum(count >= 0.004 * len(trees) for count in tops.values()) >= 20


def test_subject_and_verb_agree(trees: list[Tree]) -> None:
    wrong = []
    for tree in trees:
        parts = {child.label: child for child in tree.children[0].children}
        if "NP" not in parts or "VP" not in parts:
            continue
        verb = next((c.label for c in parts["VP"].children if c.word), None)
        noun = [c.label for c in parts["NP"].children if c.word and c.label in ("NN", "NNS")]
        if verb in ("VBZ", "VBP") and noun and (verb == "VBZ") != (noun[-1] == "NN"):
            wrong.append(" ".join(tree.words()))
    assert not wrong


def test_words_are_zipfian(trees: list[Tree]) -> None:
    counts = sorted(Counter(word for tree in trees for word in tree.words()).values(), reverse=True)
    assert sum(counts[:50]) > 0.4 * sum(counts)
    assert sum(count <= 5 for count in counts) > 0.25 * len(counts)


@pytest.fixture(scope="module")
def halves(trees: list[Tree]) -> list[tuple[Tree, Tree]]:
    coordinated = [t for t in trees if _labels(t) in ("S_,_CC_S_.", "S_CC_S_.")]
    return [(t.children[0].children[0], t.children[0].children[-2]) for t in coordinated]


def test_pronouns_begin_first_and_second_clauses_equally_often(halves: list[tuple[Tree, Tree]]) -> None:
    first, second = (
        sum(pair[i].words()[0].lower() in {"he", "she", "they", "it"} for pair in halves) / len(halves) for i in (0, 1)
    )
    assert abs(first - second) < 0.1
    assert 0.3 < first < 0.6


def test_causes_precede_their_effects(halves: list[tuple[Tree, Tree]]) -> None:
    base = {form: verb.base for verb in WORDS.transitive.values() for form in (verb.base, verb.past)}
    told = [[next((base[w] for w in half.words() if w in base), "") for half in pair] for pair in halves]
    forward = sum(_leads(first, second) for first, second in told)
    backward = sum(_leads(second, first) for first, second in told)
    assert forward > 100
    assert backward < forward / 5


def _leads(cause: str, effect: str) -> bool:
    return any(cause in script and effect in script[script.index(cause) + 1 :] for script in WORDS.events)


def _labels(tree: Tree) -> str:
    return "_".join(child.label for child in tree.children[0].children)


def test_inference_labels_take_turns_and_sentences_differ() -> None:
    pairs = list(Demo(size=90).inference("train"))
    assert Counter(pair.label for pair in pairs) == {"entailment": 30, "neutral": 30, "contradiction": 30}
    assert all(pair.premise != pair.hypothesis for pair in pairs)


def test_negation_does_not_reveal_a_contradiction() -> None:
    denied = Counter(p.label for p in Demo(size=900).inference("train") if "did not" in p.hypothesis)
    assert denied["neutral"] > 0.2 * denied["contradiction"]


def test_sections_are_nested_and_titled() -> None:
    documents = list(islice(Demo(size=500).documents("train"), 40))
    levels = [section.level for document in documents for section in document.sections]
    assert {1, 2, 3} <= set(levels)
    assert all(section.title for document in documents for section in document.sections)


ENGLISH = [
    (third_person("wash"), "washes"),
    (third_person("carry"), "carries"),
    (third_person("play"), "plays"),
    (past_tense("carry"), "carried"),
    (past_tense("stop"), "stopped"),
    (past_tense("open"), "opened"),
    (past_tense("close"), "closed"),
    (progressive("write"), "writing"),
    (progressive("run"), "running"),
    (progressive("see"), "seeing"),
    (progressive("forget"), "forgetting"),
    (past_tense("iron"), "ironed"),
]


@pytest.mark.parametrize(("formed", "right"), ENGLISH)
def test_english_verbs_inflect(formed: str, right: str) -> None:
    assert formed == right


@pytest.mark.parametrize(("word", "an"), [("uncle", True), ("university", False), ("useful", False), ("old", True)])
def test_the_article_follows_the_sound(word: str, an: bool) -> None:
    assert english.vowel_sound(word) == an


def noun(lemma: str, **how: object) -> Thing:
    return Thing(noun=WORDS.noun(lemma), **how)  # type: ignore[arg-type]


def adjective(english: str):
    return next(a for kind in WORDS.adjectives.values() for a in kind if a.english == english)


FRENCH = [
    (noun("tree"), "l' arbre"),
    (noun("hotel", article="this"), "cet hôtel"),
    (noun("horse", plural=True, article="a"), "des chevaux"),
    (noun("house", adjective=adjective("beautiful")), "la belle maison"),
    (noun("tree", adjective=adjective("old")), "le vieil arbre"),
    (noun("picture", plural=True, adjective=adjective("new")), "les nouveaux tableaux"),
    (noun("girl", adjective=adjective("happy"), plural=True), "les filles heureuses"),
    (noun("doctor", place=Place("near", noun("garden"))), "le médecin près du jardin"),
    (noun("doctor", place=Place("near", noun("school"))), "le médecin près de l' école"),
]


IMPARFAIT = {
    "buy": "achetait",
    "free": "libérait",
    "call": "appelait",
    "clean": "nettoyait",
    "see": "voyait",
    "eat": "mangeait",
    "replace": "remplaçait",
    "remember": "retenait",
    "receive": "recevait",
    "learn": "apprenait",
    "read": "lisait",
}


@pytest.mark.parametrize(("verb", "right"), IMPARFAIT.items())
def test_the_french_imparfait_uses_the_stem_of_nous(verb: str, right: str) -> None:
    assert french.imparfait(WORDS.transitive[verb], many=False) == right


def test_french_conjunctions_elide_before_pronouns() -> None:
    assert french.spell(say("puisque elle dort", "X"))[0] == "puisqu'"
    assert french.spell(say("même si il rit", "X"))[1] == "s'"


@pytest.mark.parametrize(("thing", "right"), FRENCH)
def test_french_noun_phrases_agree_elide_and_contract(thing: Thing, right: str) -> None:
    assert " ".join(french.spell(french.thing(thing))) == right


GERMAN = [
    (noun("dog"), "acc", "den Hund"),
    (noun("student"), "acc", "den Studenten"),
    (noun("boy"), "dat", "dem Jungen"),
    (noun("child", plural=True), "dat", "den Kindern"),
    (noun("cat", article="a", adjective=adjective("small")), "nom", "eine kleine Katze"),
    (noun("dog", article="a", adjective=adjective("small")), "nom", "ein kleiner Hund"),
    (noun("dog", article="a", adjective=adjective("small")), "acc", "einen kleinen Hund"),
    (noun("house", adjective=adjective("big")), "dat", "dem großen Haus"),
    (noun("dog", article="several", plural=True, adjective=adjective("wild")), "nom", "mehrere wilde Hunde"),
    (noun("room", adjective=adjective("dark")), "nom", "das dunkle Zimmer"),
]


@pytest.mark.parametrize(("thing", "case", "right"), GERMAN)
def test_german_noun_phrases_decline(thing: Thing, case: german.Case, right: str) -> None:
    assert " ".join(german.thing(thing, case)) == right


FINNISH = [
    (noun("dog"), "acc", "koiran"),
    (noun("girl"), "acc", "tytön"),
    (noun("girl", plural=True), "nom", "tytöt"),
    (noun("woman"), "gen", "naisen"),
    (noun("house"), "ine", "talossa"),
    (noun("kitchen"), "ine", "keittiössä"),
    (noun("table"), "ade", "pöydällä"),
    (noun("town", adjective=adjective("small")), "ine", "pienessä kaupungissa"),
    (noun("book", article="this"), "acc", "tämän kirjan"),
    (noun("shoe", plural=True, adjective=adjective("red")), "acc", "punaiset kengät"),
    (Thing(noun=WORDS.cities[0]), "ine", "Pariisissa"),
]


@pytest.mark.parametrize(("thing", "case", "right"), FINNISH)
def test_finnish_noun_phrases_take_case_endings(thing: Thing, case: str, right: str) -> None:
    assert " ".join(finnish.thing(thing, case)) == right


def test_a_german_subordinate_clause_ends_in_its_verb() -> None:
    slept = Event(noun("dog"), WORDS.intransitive[0], "past")
    bought = Event(noun("girl"), WORDS.transitive["buy"], "past", object=noun("apple"), because=("because", slept))
    said = german.sentence(SentencePlan("plain", (bought,)))
    assert " ".join(said) == "das Mädchen kaufte den Apfel , weil der Hund schlief ."


def test_a_finnish_question_takes_its_particle_in_harmony() -> None:
    slept = Event(noun("dog"), WORDS.intransitive[0], "past")
    assert " ".join(finnish.sentence(SentencePlan("yes-no", (slept,)))) == "nukkuiko koira ?"


def test_finnish_uses_on_a_field_and_in_a_forest() -> None:
    assert finnish.place(Place("in", noun("field"))) == ["pellolla"]
    assert finnish.place(Place("in", noun("forest"))) == ["metsässä"]


def test_german_stems_in_t_take_an_e() -> None:
    assert WORDS.transitive["taste"].german == ("kosten", "kostet", "kostete")


def test_the_french_negation_surrounds_the_verb() -> None:
    slept = Event(noun("horse"), WORDS.intransitive[0], "past", negated=True)
    assert " ".join(french.sentence(SentencePlan("plain", (slept,)))) == "le cheval n' a pas dormi ."


@pytest.mark.parametrize("language", ["fr", "de", "fi"])
def test_dependency_trees_are_those_of_the_sentences(language: str) -> None:
    corpus = Demo(size=2000, source_language=language)
    trees = list(islice(corpus.dependencies("probe"), 400))
    assert [" ".join(tree.tokens) for tree in trees] == list(islice(corpus.sentences("probe"), 400))
    for tree in trees:
        assert sum(word.head < 0 for word in tree.words) == 1
        assert min(tree.levels()) == 1
        assert {word.relation for word in tree.words if word.part == "PUNCT"} <= {"punct"}
        assert all(tree.words[word.head].part != "PUNCT" for word in tree.words if word.head >= 0)


@pytest.mark.parametrize("language", ["fr", "de", "fi"])
def test_a_subject_agrees_with_its_verb_and_a_noun_with_what_is_under_it(language: str) -> None:
    for tree in islice(Demo(size=2000, source_language=language).dependencies("probe"), 400):
        for word in tree.words:
            head = tree.words[word.head]
            if word.relation in ("det", "amod") and word.features:
                assert word.features == head.features, tree.tokens
            coordinated = any(w.relation == "conj" and tree.words[w.head] is word for w in tree.words)
            if word.relation == "nsubj" and word.part == "NOUN" and head.feature("VerbForm") == "Fin":
                assert word.feature("Number") == head.feature("Number") or coordinated, tree.tokens


def test_a_finnish_tree_worked_by_hand() -> None:
    slept = Event(noun("dog", plural=True), WORDS.intransitive[0], "past", place=Place("in", noun("field")))
    words = finnish.sentence(SentencePlan("plain", (slept,), opener="but"))
    tree = tree_of_words(words)
    verb = tree.words[2]
    assert [(word.relation, word.head) for word in tree.words] == [
        *[("cc", 2), ("nsubj", 2), ("root", -1), ("obl", 2), ("punct", 2)]
    ]
    assert [verb.feature(name) for name in ("Tense", "Number", "VerbForm")] == ["Past", "Plur", "Fin"]
    assert [tree.words[at].feature("Case") for at in (1, 3)] == ["Nom", "Ade"]


def test_a_french_tree_worked_by_hand_holds_both_words_of_a_contraction() -> None:
    slept = Event(noun("horse"), WORDS.intransitive[0], "past", negated=True, place=Place("near", noun("garden")))
    tree = tree_of_words(french.sentence(SentencePlan("plain", (slept,))))
    assert " ".join(tree.tokens) == "le cheval n' a pas dormi près du jardin ."
    assert [(word.form, word.relation, word.head, word.token) for word in tree.words[2:11]] == [
        ("n'", "advmod", 5, 2),
        ("a", "aux:tense", 5, 3),
        ("pas", "advmod", 5, 4),
        ("dormi", "root", -1, 5),
        ("près", "case", 9, 6),
        ("de", "fixed", 6, 7),
        ("le", "det", 9, 7),
        ("jardin", "obl", 5, 8),
        (".", "punct", 5, 9),
    ]
    assert [tree.words[1].feature(name) for name in ("Gender", "Number")] == ["Masc", "Sing"]


def test_a_german_tree_worked_by_hand() -> None:
    slept = Event(noun("dog", plural=True), WORDS.intransitive[0], "past", place=Place("in", noun("garden")))
    tree = tree_of_words(german.sentence(SentencePlan("place", (replace(slept, place=None),), place=slept.place)))
    assert " ".join(tree.tokens) == "im Garten schliefen die Hunde ."
    assert [(word.form, word.relation, word.head, word.token) for word in tree.words] == [
        *[("in", "case", 2, 0), ("dem", "det", 2, 0), ("Garten", "obl", 3, 1), ("schliefen", "root", -1, 2)],
        *[("die", "det", 5, 3), ("Hunde", "nsubj", 3, 4), (".", "punct", 3, 5)],
    ]
    assert tree.words[2].features == "Case=Dat|Gender=Masc|Number=Sing"


def test_english_has_penn_style_trees_in_place_of_dependencies() -> None:
    with pytest.raises(NoSuchView, match="Penn-style trees in English"):
        Demo().dependencies("probe")
