"""Properties of the demo corpus: reproducible, consistent views, grammatical text in four languages."""

import hashlib
from collections import Counter
from dataclasses import replace
from itertools import islice, pairwise

import pytest

from datamodules.corpus import NoSuchView
from datamodules.demo import Demo, english, finnish, french, german
from datamodules.demo.lexicon import WORDS
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing
from datamodules.demo.spoken import Spoken, say, tree_of_words
from datamodules.trees.penn import Tree
from tests.datamodules.trees.test_penn import parse_tree

PINNED = "97fc2b5134f271e9"


@pytest.fixture(scope="module")
def trees() -> list[Tree]:
    return [parse_tree(text) for text in Demo(size=8000).trees("train")]


def test_the_same_seed_gives_the_same_text_on_every_machine() -> None:
    text = "\n".join(" ||| ".join(pair) for pair in islice(Demo(size=50, seed=1).parallel("train", "fi"), 50))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == PINNED


def test_all_views_have_the_same_sentences_in_the_same_order() -> None:
    corpus = Demo(size=60)
    from_trees = [" ".join(parse_tree(text).words()) for text in corpus.trees("dev")]
    from_documents = [s for d in corpus.documents("dev") for part in d.sections for p in part.paragraphs for s in p]
    assert from_trees == list(corpus.sentences("dev"))
    assert from_trees == [english for english, _ in corpus.parallel("dev", "de")]
    assert from_documents[: len(from_trees)] == from_trees


def test_splits_are_different_streams_also_of_a_million_sentences() -> None:
    corpus = Demo(size=300)
    train, probe = set(corpus.sentences("train")), set(islice(corpus.sentences("probe"), 300))
    assert len(train & probe) < 6
    assert len(list(islice(Demo(size=10_000_000).sentences("train"), 5))) == 5


def test_sentences_have_5_to_28_words_over_2000_forms_in_many_depths_and_top_constituents(trees) -> None:
    words = [tree.words() for tree in trees]
    assert {len(sentence) for sentence in words} <= set(range(5, 29))
    assert len({word for sentence in words for word in sentence}) >= 2000
    depths = Counter(tree.depth() for tree in trees)
    assert all(depths[depth] >= 40 for depth in range(5, 13))
    assert sum(count >= 0.004 * len(trees) for count in Counter(map(_labels, trees)).values()) >= 20


def test_subject_and_verb_agree(trees) -> None:
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


def test_words_are_zipfian(trees) -> None:
    counts = sorted(Counter(word for tree in trees for word in tree.words()).values(), reverse=True)
    assert sum(counts[:50]) > 0.4 * sum(counts)
    assert sum(count <= 5 for count in counts) > 0.25 * len(counts)


@pytest.fixture(scope="module")
def halves(trees) -> list[tuple[Tree, Tree]]:
    coordinated = [t for t in trees if _labels(t) in ("S_,_CC_S_.", "S_CC_S_.")]
    return [(t.children[0].children[0], t.children[0].children[-2]) for t in coordinated]


def test_pronouns_begin_first_and_second_clauses_equally_often(halves) -> None:
    pronouns = [[half.words()[0].lower() in {"he", "she", "they", "it"} for half in pair] for pair in halves]
    first, second = (sum(column) / len(halves) for column in zip(*pronouns, strict=True))
    assert abs(first - second) < 0.1
    assert 0.3 < first < 0.6


def test_causes_precede_their_effects(halves) -> None:
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


def test_inference_labels_take_turns_sentences_differ_and_negation_does_not_reveal_a_contradiction() -> None:
    pairs = list(Demo(size=90).inference("train"))
    assert Counter(pair.label for pair in pairs) == {"entailment": 30, "neutral": 30, "contradiction": 30}
    assert all(pair.premise != pair.hypothesis for pair in pairs)
    denied = Counter(p.label for p in Demo(size=900).inference("train") if "did not" in p.hypothesis)
    assert denied["neutral"] > 0.2 * denied["contradiction"]


def test_a_neutral_hypothesis_does_not_contradict_what_the_premise_says_of_its_things() -> None:
    opposite = WORDS.opposites | {"new": "old", "old": "new"}
    for pair in Demo(size=2000).inference("train"):
        bigrams = set(pairwise(pair.premise.lower().split()))
        words = pair.hypothesis.lower().split()
        against = [(opposite[word], noun) for word, noun in pairwise(words) if word in opposite]
        assert pair.label != "neutral" or not bigrams & set(against), pair


def test_sections_are_nested_and_titled() -> None:
    documents = list(islice(Demo(size=500).documents("train"), 40))
    levels = [section.level for document in documents for section in document.sections]
    assert {1, 2, 3} <= set(levels)
    assert all(section.title for document in documents for section in document.sections)


def noun(lemma: str, **how: object) -> Thing:
    return Thing(noun=WORDS.noun(lemma), **how)  # type: ignore[arg-type]


def adjective(english: str):
    return next(a for group in WORDS.adjectives.values() for a in group if a.english == english)


def french_thing(lemma: str, **how: object) -> list[Spoken]:
    return french.spell(french.thing(noun(lemma, **how)))


def german_thing(lemma: str, case: german.Case, **how: object) -> list[Spoken]:
    return german.thing(noun(lemma, **how), case)


def finnish_thing(lemma: str, case: str, **how: object) -> list[Spoken]:
    return finnish.thing(noun(lemma, **how), case)


SLEPT = Event(noun("dog"), WORDS.intransitive[0], "past")
BOUGHT = Event(noun("girl"), WORDS.transitive["buy"], "past", object=noun("apple"), because=("because", SLEPT))
FORMS = [  # what the word list says, from memory
    *[("wash", "third_person", "washes"), ("carry", "third_person", "carries"), ("stop", "past", "stopped")],
    *[("write", "progressive", "writing"), ("see", "progressive", "seeing"), ("open", "past", "opened")],
]
IMPARFAIT = "buy achetait free libérait call appelait clean nettoyait see voyait eat mangeait replace remplaçait "
IMPARFAIT += "remember retenait receive recevait learn apprenait read lisait"


def test_verbs_inflect_and_vowels_that_are_heard_take_an() -> None:
    assert [getattr(WORDS.transitive[word], form) for word, form, _ in FORMS] == [right for *_, right in FORMS]
    right = IMPARFAIT.split()  # the stem of nous
    assert [WORDS.transitive[base].french[3] for base in right[::2]] == right[1::2]
    assert [*map(english.vowel_sound, ("uncle", "university", "useful", "old"))] == [True, False, False, True]


PHRASES = [  # agreement, elision and contraction; declension; case endings and vowel harmony
    (french_thing("tree"), "l' arbre"),
    (french_thing("hotel", article="this"), "cet hôtel"),
    (french_thing("horse", plural=True, article="a"), "des chevaux"),
    (french_thing("house", adjective=adjective("beautiful")), "la belle maison"),
    (french_thing("tree", adjective=adjective("old")), "le vieil arbre"),
    (french_thing("picture", plural=True, adjective=adjective("new")), "les nouveaux tableaux"),
    (french_thing("girl", adjective=adjective("happy"), plural=True), "les filles heureuses"),
    (french_thing("doctor", place=Place("near", noun("garden"))), "le médecin près du jardin"),
    (french_thing("doctor", place=Place("near", noun("school"))), "le médecin près de l' école"),
    (french.spell(say("puisque elle dort", "X")), "puisqu' elle dort"),
    (french.spell(say("même si il rit", "X")), "même s' il rit"),
    (french.sentence(SentencePlan("plain", (replace(SLEPT, negated=True),))), "le chien n' a pas dormi ."),
    (german_thing("dog", "acc"), "den Hund"),
    (german_thing("student", "acc"), "den Studenten"),
    (german_thing("boy", "dat"), "dem Jungen"),
    (german_thing("child", "dat", plural=True), "den Kindern"),
    (german_thing("cat", "nom", article="a", adjective=adjective("small")), "eine kleine Katze"),
    (german_thing("dog", "nom", article="a", adjective=adjective("small")), "ein kleiner Hund"),
    (german_thing("dog", "acc", article="a", adjective=adjective("small")), "einen kleinen Hund"),
    (german_thing("house", "dat", adjective=adjective("big")), "dem großen Haus"),
    (german_thing("dog", "nom", article="several", plural=True, adjective=adjective("wild")), "mehrere wilde Hunde"),
    (german_thing("room", "nom", adjective=adjective("dark")), "das dunkle Zimmer"),
    (WORDS.transitive["taste"].german, "kosten kostet kostete"),  # a stem in t takes an e
    (german.sentence(SentencePlan("plain", (BOUGHT,))), "das Mädchen kaufte den Apfel , weil der Hund schlief ."),
    (finnish_thing("dog", "acc"), "koiran"),
    (finnish_thing("girl", "acc"), "tytön"),
    (finnish_thing("girl", "nom", plural=True), "tytöt"),
    (finnish_thing("woman", "gen"), "naisen"),
    (finnish_thing("house", "ine"), "talossa"),
    (finnish_thing("kitchen", "ine"), "keittiössä"),
    (finnish_thing("table", "ade"), "pöydällä"),
    (finnish_thing("town", "ine", adjective=adjective("small")), "pienessä kaupungissa"),
    (finnish_thing("book", "acc", article="this"), "tämän kirjan"),
    (finnish_thing("shoe", "acc", plural=True, adjective=adjective("red")), "punaiset kengät"),
    (finnish.thing(Thing(noun=WORDS.cities[0]), "ine"), "Pariisissa"),
    (finnish.place(Place("in", noun("field"))), "pellolla"),  # on a field, and in a forest
    (finnish.place(Place("in", noun("forest"))), "metsässä"),
    (finnish.sentence(SentencePlan("yes-no", (SLEPT,))), "nukkuiko koira ?"),
]


@pytest.mark.parametrize(("words", "right"), PHRASES)
def test_phrases_agree_and_decline(words, right) -> None:
    assert " ".join(map(str, words)) == right


@pytest.mark.parametrize("language", ["fr", "de", "fi"])
def test_dependency_trees_are_those_of_the_sentences(language) -> None:
    corpus = Demo(size=2000, source_language=language)
    trees = list(islice(corpus.dependencies("probe"), 400))
    assert [" ".join(tree.tokens) for tree in trees] == list(islice(corpus.sentences("probe"), 400))
    for tree in trees:
        assert (sum(word.head < 0 for word in tree.words), min(tree.levels())) == (1, 1)
        assert {word.relation for word in tree.words if word.part == "PUNCT"} <= {"punct"}
        assert all(tree.words[word.head].part != "PUNCT" for word in tree.words if word.head >= 0)


@pytest.mark.parametrize("language", ["fr", "de", "fi"])
def test_a_subject_agrees_with_its_verb_and_a_noun_with_what_is_under_it(language) -> None:
    for tree in islice(Demo(size=2000, source_language=language).dependencies("probe"), 400):
        for word in tree.words:
            head = tree.words[word.head]
            if word.relation in ("det", "amod") and word.features:
                assert word.features == head.features, tree.tokens
            coordinated = any(w.relation == "conj" and tree.words[w.head] is word for w in tree.words)
            if word.relation == "nsubj" and word.part == "NOUN" and head.feature("VerbForm") == "Fin":
                assert word.feature("Number") == head.feature("Number") or coordinated, tree.tokens


def test_a_finnish_tree_worked_by_hand() -> None:
    slept = replace(SLEPT, subject=noun("dog", plural=True), place=Place("in", noun("field")))
    tree = tree_of_words(finnish.sentence(SentencePlan("plain", (slept,), opener="but")))
    verb = tree.words[2]
    assert [(word.relation, word.head) for word in tree.words] == [
        *[("cc", 2), ("nsubj", 2), ("root", -1), ("obl", 2), ("punct", 2)]
    ]
    assert [verb.feature(name) for name in ("Tense", "Number", "VerbForm")] == ["Past", "Plur", "Fin"]
    assert [tree.words[at].feature("Case") for at in (1, 3)] == ["Nom", "Ade"]


def test_a_french_tree_worked_by_hand_holds_both_words_of_a_contraction() -> None:
    slept = replace(SLEPT, subject=noun("horse"), negated=True, place=Place("near", noun("garden")))
    tree = tree_of_words(french.sentence(SentencePlan("plain", (slept,))))
    assert " ".join(tree.tokens) == "le cheval n' a pas dormi près du jardin ."
    assert [(word.form, word.relation, word.head, word.token) for word in tree.words[2:11]] == [
        *[("n'", "advmod", 5, 2), ("a", "aux:tense", 5, 3), ("pas", "advmod", 5, 4), ("dormi", "root", -1, 5)],
        *[("près", "case", 9, 6), ("de", "fixed", 6, 7), ("le", "det", 9, 7), ("jardin", "obl", 5, 8)],
        (".", "punct", 5, 9),
    ]
    assert [tree.words[1].feature(name) for name in ("Gender", "Number")] == ["Masc", "Sing"]


def test_a_german_tree_worked_by_hand() -> None:
    slept = replace(SLEPT, subject=noun("dog", plural=True))
    tree = tree_of_words(german.sentence(SentencePlan("place", (slept,), place=Place("in", noun("garden")))))
    assert " ".join(tree.tokens) == "im Garten schliefen die Hunde ."
    assert [(word.form, word.relation, word.head, word.token) for word in tree.words] == [
        *[("in", "case", 2, 0), ("dem", "det", 2, 0), ("Garten", "obl", 3, 1), ("schliefen", "root", -1, 2)],
        *[("die", "det", 5, 3), ("Hunde", "nsubj", 3, 4), (".", "punct", 3, 5)],
    ]
    assert tree.words[2].features == "Case=Dat|Gender=Masc|Number=Sing"


def test_english_has_penn_style_trees_in_place_of_dependencies() -> None:
    with pytest.raises(NoSuchView, match="Penn-style trees in English"):
        Demo().dependencies("probe")
