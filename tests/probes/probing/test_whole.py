"""Targets of tasks, by hand: main clauses of Passive and SentType, verbs that sentences follow, words of WC."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from datamodules.trees.penn import corpus_texts
from encoder_lab.errors import InputError
from probes.probing.build.all_tasks import build_tasks, from_trees
from probes.probing.build.analysis import Analysis, Target, analyse
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.surface import FIRST_RANK, word_content
from probes.probing.build.tags import ENGLISH, GERMAN
from probes.probing.build.targets import target_task
from tests.datamodules.trees.test_penn import parse_tree
from tests.probes.probing.test_dependencies import sentence

STATEMENTS = "(ROOT (S (NP (DT the) (NN {0})) (VP (VBD {1}) (NP (DT the) (NN dog) (NN {2}))) (. .)))"
PASSIVES = "(ROOT (S (NP (DT the) (NN {0})) (VP (VBD was) (VP (VBN {1}) (PP (IN by) (NP (NN {2}))))) (. .)))"
QUESTIONS = "(ROOT (SQ (. ¿) (VBD did) (NP (DT the) (NN {0})) (VP (VB {1}) (NP (DT the) (NN {2}))) (. ?)))"
ORDERS = "(ROOT (S (VP (VB {1}) (NP (DT the) (JJ small) (NN {0}) (NN {2}))) (. !)))"


@pytest.mark.parametrize(("tree", "classes"), [
    (STATEMENTS, {"Passive": "active", "SentType": "declarative"}),
    (PASSIVES, {"Passive": "passive", "SentType": "declarative"}),
    (QUESTIONS, {"SentType": "interrogative"}),
    (ORDERS, {"Passive": "active", "SentType": "imperative"}),
    ("(ROOT (S (NP (DT the) (NN man)) (VP (VBZ has) (VP (VBN seen) (NP (PRP it)))) (. .)))",
     {"Passive": "active", "SentType": "declarative"}),
    ("(ROOT (S (NP (DT the) (NN man)) (VP (VBZ has) (VP (VBN been) (VP (VBN seen)))) (. .)))",
     {"Passive": "passive", "SentType": "declarative"}),
    ("(ROOT (S (NP (PRP they)) (VP (VBD met) (NP (NNS men)) (, ,) (VP (VBN led) (PP (IN by) (NP (PRP it))))) (. .)))",
     {"Passive": "active", "SentType": "declarative"}),
    ("(ROOT (S (NP (DT the) (NN man)) (VP (VBZ 's) (VP (VBN gone) (ADVP (RB away)))) (. .)))",
     {"SentType": "declarative"}),  # is or has
    ("(ROOT (S (NP (DT the) (NN man)) (VP (MD can) (VP (VB see) (NP (PRP it)))) (. .)))",
     {"Passive": "active", "SentType": "declarative"}),
    ("(ROOT (S (VP (VP (VB see) (NP (DT the) (NN man))) (CC and) (VP (VB go))) (. .)))", {"SentType": "imperative"}),
    (STATEMENTS.replace("(. .)", "(. ?)"), {"Passive": "active"}),  # the label and the mark say different things
    (QUESTIONS.replace("(. ?)", "(. .)"), {}),
])  # fmt: skip
def test_classes_are_read_off_the_main_clause_of_a_penn_tree(tree, classes) -> None:
    analysis = analyse(parse_tree(tree.format("man", "see", "bird")))
    assert analysis is not None
    assert dict(analysis.classes) == classes


@pytest.mark.parametrize(("text", "classes"), [
    ("Der/DET/2/det Hund/NOUN/4/nsubj:pass wurde/AUX/4/aux:pass gesehen/VERB/0/root/VerbForm=Part ./PUNCT/4/punct",
     {"Passive": "passive"}),
    ("Der/DET/2/det Hund/NOUN/3/nsubj sah/VERB/0/root/Mood=Ind/VerbForm=Fin ihn/PRON/3/obj dort/ADV/3/advmod"
     " ./PUNCT/3/punct", {"Passive": "active", "SentType": "declarative"}),
    ("Sah/VERB/0/root/Mood=Ind/VerbForm=Fin der/DET/3/det Hund/NOUN/1/nsubj ihn/PRON/1/obj ?/PUNCT/1/punct",
     {"Passive": "active", "SentType": "interrogative"}),
    ("Sieh/VERB/0/root/Mood=Imp/VerbForm=Fin den/DET/3/det Hund/NOUN/1/obj an/ADP/1/compound ./PUNCT/1/punct",
     {"Passive": "active", "SentType": "imperative"}),
    ("Sieh/VERB/0/root/Mood=Imp/VerbForm=Fin den/DET/3/det Hund/NOUN/1/obj an/ADP/1/compound ?/PUNCT/1/punct",
     {"Passive": "active"}),  # the mood and the mark say different things
    ("वह/PRON/4/nsubj कल/ADV/4/advmod घर/NOUN/4/obl गया/VERB/0/root/Mood=Ind/VerbForm=Fin ।/PUNCT/4/punct",
     {"Passive": "active", "SentType": "declarative"}),
    ("Der/DET/2/det Hund/NOUN/0/root aus/ADP/4/case Rom/PROPN/2/nmod ./PUNCT/2/punct", {}),
    # the passive of a causative; the reflexive passive; two voices at a time are none
    ("Yeni/ADJ/2/amod ürün/NOUN/3/nsubj üretilemedi/VERB/0/root/Voice=CauPass artık/ADV/3/advmod ./PUNCT/3/punct",
     {"Passive": "passive"}),
    ("Aquí/ADV/3/advmod se/PRON/3/expl:pass vende/VERB/0/root todo/PRON/3/dep ./PUNCT/3/punct",
     {"Passive": "passive"}),
    ("ὁ/DET/2/det ἀνήρ/NOUN/3/nsubj λύεται/VERB/0/root/Voice=Mid,Pass νῦν/ADV/3/advmod ./PUNCT/3/punct", {}),
    # "the fault is that he was seen": the copula is the main verb
    ("The/DET/2/det fault/NOUN/7/nsubj:outer is/AUX/7/cop that/SCONJ/7/mark he/PRON/7/nsubj:pass was/AUX/7/aux:pass"
     " seen/VERB/0/root ./PUNCT/7/punct", {}),
])  # fmt: skip
def test_classes_are_read_off_a_dependency_tree(text, classes) -> None:
    assert dict(sentence(text).classes) == classes


def made_of(*forms: str) -> list[str]:
    words = [(f"man{first}{second}", f"see{first}", f"bird{second}") for first, second in product("abcdefgh", repeat=2)]
    return [form.format(*word) for form in forms for word in words]


def test_the_tasks_of_penn_trees_are_balanced_and_have_no_final_marks() -> None:
    trees = corpus_texts(made_of(STATEMENTS, PASSIVES, QUESTIONS, ORDERS))
    built = build_tasks(from_trees(trees), Sizes(60, 20, 20), ["Passive", "SentType"])
    passive, types = built.tasks
    assert (passive.classes, types.classes) == (["active", "passive"], ["declarative", "imperative", "interrogative"])
    assert all(s.endswith(".") or s.endswith("!") for part in passive.parts for s in part.sentences)
    assert not [s for part in types.parts for s in part.sentences if set(s) & set(".?!¿")]
    assert built.split_overlap() == 0


@pytest.mark.parametrize("name", ["Passive", "SentType"])
def test_trees_without_such_sentences_are_refused_by_the_name_of_the_task(name) -> None:
    with pytest.raises(InputError, match=f"too few sentences for {name}"):
        build_tasks(from_trees(corpus_texts(made_of(STATEMENTS))), Sizes(60, 20, 20), [name])


def test_a_tag_set_without_questions_is_refused() -> None:
    with pytest.raises(InputError, match="german/tiger do not support Passive"):
        build_tasks(from_trees(corpus_texts(made_of(STATEMENTS)), GERMAN), Sizes(60, 20, 20), ["Passive"])


def analysed(number: int, tense: str, tags: str) -> Analysis:
    words = " ".join(f"w{number}{place}" for place, _ in enumerate(tags.split()))
    return Analysis(words, tags, 5, "NP_VP_.", Target(tense, f"verb{number}"), None, None, None)


def test_a_target_follows_most_verbs_of_its_sentence_or_a_tie_of_them() -> None:
    test = [
        analysed(4, "PAST", "NN VBD NN VBD ."),  # follows
        analysed(5, "PAST", "VBD VBZ NN VBP ."),  # does not
        analysed(6, "PRES", "NN VBZ NN NN ."),  # follows
        analysed(7, "PRES", "NN VBZ NN VBD ."),  # a tie
    ]
    train, dev = ([analysed(n, "PAST", "NN VBD ."), analysed(n + 1, "PRES", "NN VBZ .")] for n in (0, 2))
    splits = (train, dev, test)
    homes = {s.tense.form: home for home, split in enumerate(splits) for s in split if s.tense}
    pool = Pool(splits, {"tense": homes}, Counter(), np.zeros((1, 1)), 1, ENGLISH)
    controls = target_task("Tense", "tense", pool, Sizes(2, 2, 4)).controls
    assert controls["% of test targets with the feature of most such words of the sentence"] == 75.0


def test_words_are_those_of_the_published_ranks_where_all_have_enough_sentences() -> None:
    words = Counter({f"frequent{rank:04}": 10_000 - rank for rank in range(FIRST_RANK)})
    words |= Counter({"Ab": 3000, "of": 2999, "rarely": 2000, "seldom": 1999})

    def with_words(first: int, *targets: str) -> list[Analysis]:
        texts = [f"x{first + at} is {target} so ." for at in range(60) for target in targets]
        return [Analysis(text, "N V N N .", 5, "", None, None, None, None) for text in texts]

    everything = ("Ab", "of", "rarely", "seldom")
    splits = with_words(0, *everything), with_words(100, *everything), with_words(200, *everything)
    pool = Pool(splits, {}, words, np.zeros((1, 1)), 1, ENGLISH)
    assert sorted(word_content(pool, Sizes(40, 2, 2)).task.classes) == ["Ab", "of"]
