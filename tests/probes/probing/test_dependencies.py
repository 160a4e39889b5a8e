"""What the tasks see in a dependency tree, worked by hand, and the controls of the tasks that are built from it."""

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.trees import conllu as conllu_file
from probes.probing.build.all_tasks import BuiltTasks, build_tasks
from probes.probing.build.analysis import Analysis, Target
from probes.probing.build.dependencies import (
    analyse_dependencies,
    analyse_dependency,
    analyse_treebank,
    treebank_portions,
)
from probes.probing.build.pool import Pool, Sizes, assign_forms_in_splits, gather_pool
from probes.probing.build.surface import BIN_ENDS
from probes.probing.build.syntax import OTHER_LABEL
from probes.probing.build.universal import FEATURE_TASKS, UNIVERSAL_TAGS, adapt_to_language, from_dependencies
from probes.probing.build.word_order import swap_clauses
from tests.probes.probing.tiny_treebank import conllu, tiny_treebank, trees_of
from tests.probes.probing.tiny_trees import task_named

SIZES = Sizes(240, 60, 60)
DATA = Path(__file__).parents[4] / "shared" / "data"
LATER = [("runs", "VERB", "", 0, "root"), ("and", "CCONJ", "", 3, "cc")]
LATER += [(pronoun, "PRON", "", 3, "dep") for pronoun in ("I", "it")]
SPLITS = {"train": 800, "dev": 250, "test": 250}
CLASSES = ["SentLen", "TreeDepth", "TopDeps", "SubjNum"]
COUNTS = st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(*[st.integers(0, 9)] * 3), min_size=1)


def sentence(text: str) -> Analysis:
    """Words as form/PART/head/relation/features, heads from 1."""
    lines = []
    for word in text.split():
        form, part, head, relation, *features = word.split("/")
        lines.append((form, part, "|".join(features), int(head), relation))
    return analysed(conllu(lines))


def analysed(text: str) -> Analysis:
    [tree] = trees_of(text)
    analysis = analyse_dependency(tree)
    assert analysis is not None
    return analysis


SEES = (
    "Sie/PRON/2/nsubj sieht/VERB/0/root/Mood=Ind/Number=Sing/Person=3/Tense=Pres/VerbForm=Fin die/DET/5/det "
    "alten/ADJ/5/amod Häuser/NOUN/2/obj/Case=Acc/Gender=Neut/Number=Plur am/ADP/7/case "
    "Morgen/NOUN/2/obl ./PUNCT/2/punct"
)
LABELS = {  # tense, subject, object, other classes
    SEES: (("Pres", "sieht"), None, ("Plur", "häuser"), {"Mood": "Ind", "SubjPerson": "3", "ObjCase": "Acc"}),
    # the auxiliary is the finite verb, and a noun as a subject has number and gender
    "Der/DET/2/det Hund/NOUN/4/nsubj/Gender=Masc/Number=Sing hat/AUX/4/aux/Tense=Pres/VerbForm=Fin "
    "geschlafen/VERB/0/root/VerbForm=Part ./PUNCT/4/punct":
        (("Pres", "hat"), ("Sing", "hund"), None, {"SubjGender": "Masc"}),
    # a copula makes a noun a clause; the passive has no object; a language without VerbForm
    "Ev/NOUN/2/nsubj/Number=Sing büyük/ADJ/0/root idi/AUX/2/cop/Tense=Past çok/ADV/2/advmod ./PUNCT/2/punct":
        (("Past", "idi"), ("Sing", "ev"), None, {}),
    # "a is to b d": the copula is the main verb, and the object is that of another clause
    "a/NOUN/4/nsubj:outer/Number=Sing is/AUX/4/cop/Tense=Pres to/PART/4/mark b/VERB/0/root d/NOUN/4/obj/Number=Plur":
        (("Pres", "is"), ("Sing", "a"), None, {}),
    # coordinated clauses, subjects and objects have no classes; an infinitive is not finite
    "a/NOUN/2/nsubj/Number=Sing b/VERB/0/root/Tense=Past/VerbForm=Fin c/CCONJ/4/cc d/VERB/2/conj e/NOUN/4/obj":
        (None, ("Sing", "a"), None, {}),
    "a/NOUN/4/nsubj/Number=Sing c/CCONJ/3/cc e/NOUN/1/conj b/VERB/0/root/VerbForm=Inf d/PROPN/4/obj/Number=Sing":
        (None, None, None, {}),
    # two values at a time are none
    "a/NOUN/2/nsubj/Number=Plur,Sing b/VERB/0/root/Tense=Past c/X/2/dep d/X/2/dep e/X/2/dep":
        (("Past", "b"), None, None, {}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LABELS.items(), ids=range(len(LABELS)))
def test_classes_come_from_features_and_relations(text, expected) -> None:
    analysis = sentence(text)
    *targets, features = expected
    assert [analysis.tense, analysis.subject, analysis.object] == [t and Target(*t) for t in targets]
    assert dict(analysis.features) == features


def test_depth_counts_words_from_the_root_and_tags_have_the_features_of_nouns_and_verbs() -> None:
    analysis = sentence(SEES)
    assert (analysis.depth, analysis.length) == (3, 8)
    assert analysis.tags.split()[2:5] == ["DET", "ADJ", "NOUN|Case=Acc|Gender=Neut|Number=Plur"]


@pytest.mark.parametrize(("text", "top"), [
    (SEES, "nsubj_root_obj_obl_."),
    # function words, adverbs and commas are left out; parts of one kind next to each other count once
    (
        "Morgens/ADV/4/advmod ,/PUNCT/4/punct a/NOUN/4/obl b/VERB/0/root c/NOUN/4/obl d/NOUN/4/obl !/PUNCT/4/punct",
        "obl_root_obl_.",
    ),
    (
        "a/NOUN/3/nsubj wird/AUX/3/aux b/VERB/0/root c/NOUN/3/obl:arg ./PUNCT/3/punct »/PUNCT/3/punct",
        "nsubj_root_obl_MARK",
    ),
])  # fmt: skip
def test_the_top_is_the_root_and_the_parts_of_its_clause(text, top) -> None:
    assert sentence(text).top == top


def test_tokens_of_several_words_and_words_of_several_tokens_are_as_an_encoder_reads_them() -> None:
    analysis = analysed(
        "1\tIl\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tparle\t_\tVERB\t_\tTense=Pres\t0\troot\t_\t_\n"
        "3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n3\tde\t_\tADP\t_\t_\t5\tcase\t_\t_\n4\tle\t_\tDET\t_\t_\t5\tdet\t_\t_\n"
        "5\tlac\t_\tNOUN\t_\tNumber=Sing\t2\tobj\t_\t_\n6\t10 000\t_\tNUM\t_\t_\t5\tnummod\t_\t_\n\n"
    )
    assert analysis.sentence == "Il parle du lac 10 000"
    assert analysis.tags.split() == ["PRON", "VERB|Tense=Pres", "ADP+DET", "NOUN|Number=Sing", "NUM", "NUM"]
    assert analysis.object == Target("Sing", "lac")


TWO = (
    "Anna/PROPN/2/nsubj kam/VERB/0/root ,/PUNCT/6/punct und/CCONJ/6/cc Hunde/NOUN/6/nsubj bellten/VERB/2/conj "
    "laut/ADV/6/advmod ./PUNCT/2/punct"
)


def test_two_clauses_change_places_around_the_conjunction() -> None:
    analysis = sentence(TWO)
    assert analysis.clauses == (0, 2, 4, 7)
    tags = UNIVERSAL_TAGS._replace(names=frozenset({"PROPN"}))
    assert swap_clauses(analysis, tags) == "Hunde bellten laut , und Anna kam ."


@pytest.mark.parametrize(("old", "new"), [
    ("Hunde/NOUN/6/nsubj", "Hunde/NOUN/6/obj"),  # no subject of its own
    ("bellten/VERB/", "bellten/NOUN/"),  # not a clause
    ("laut/ADV/6/advmod", "laut/ADV/2/advmod"),  # the last word belongs to the first clause
    ("./PUNCT", '"/PUNCT'),  # a quotation mark
    ("laut/ADV", "oder/CCONJ"),  # two conjunctions
    (",/PUNCT/6/punct und/CCONJ/6/cc", "und/CCONJ/6/cc ,/PUNCT/6/punct"),  # it would begin with a comma
    ("und/CCONJ/6/cc Hunde/NOUN/6/nsubj", "doch/ADV/6/cc Hunde/CCONJ/6/nsubj"),  # the only conjunction is elsewhere
])  # fmt: skip
def test_other_coordinations_are_not_inverted(old, new) -> None:
    assert sentence(TWO.replace(old, new)).clauses is None


def pool_of(text: str) -> Pool:
    return adapt_to_language(gather_pool(analyse_dependencies(trees_of(text)), Sizes(8, 1, 1), 0, UNIVERSAL_TAGS))


def test_which_words_always_have_capitals_is_found_in_the_text() -> None:
    german = conllu([("Der", "DET", "", 2, "det"), ("Hund", "NOUN", "Number=Sing", 3, "nsubj"), *LATER])
    english = conllu([("A", "DET", "", 2, "det"), ("dog", "NOUN", "Number=Sing", 3, "nsubj"), *LATER])
    assert pool_of(german).tags.names == {"NOUN|Number=Sing"}
    assert (pool_of(english).tags.names, pool_of(english).tags.capitals) == (frozenset(), {"I"})
    assert pool_of(english).tags.replaced == {"NOUN|Number=Sing", "VERB|"}


@pytest.mark.parametrize(("words", "dotted"), [
    ("Kız iki elma aldı", True),
    ("Diyarbakır is in this list with İzmir which is in it", False),
])  # fmt: skip
def test_turkish_is_known_by_its_letters(words, dotted) -> None:
    first, *others = words.split()
    text = conllu([(first, "VERB", "", 0, "root"), *((word, "X", "", 1, "dep") for word in (*others, "."))])
    assert pool_of(text).tags.dotted == dotted


@pytest.fixture(scope="module")
def analyses() -> list[Analysis]:
    return list(analyse_dependencies(trees_of(tiny_treebank(3000, varied=True))))


@pytest.fixture(scope="module")
def built(analyses) -> BuiltTasks:
    return build_tasks(from_dependencies(analyses), SIZES)


def test_what_replaces_a_word_agrees_with_the_others(built, analyses) -> None:
    tags = {word: tag for s in analyses for word, tag in zip(s.words, s.tags.split(), strict=True)}
    patterns = {" ".join([tags.get(word.lower(), tags[word]) for word in s.words]) for s in analyses}
    somo = task_named(built, "SOMO")
    changed = [s for s, c in zip(somo.test.sentences, somo.test.gold, strict=True) if somo.classes[c] == "C"]
    assert changed
    assert all(" ".join([tags.get(w.lower(), tags[w]) for w in s.split()]) in patterns for s in changed)


def test_a_task_that_cannot_be_built_says_why_and_the_others_are_built() -> None:
    plain = tiny_treebank(600).replace("Gender=Fem|", "").replace("Gender=Masc|", "").replace("Mood=Cnd", "Mood=Ind")
    trees = from_dependencies(analyse_dependencies(trees_of(plain)))
    built = build_tasks(trees, Sizes(60, 12, 12), ["BShift", "SubjGender", "Mood"])
    assert [task.name for task in built.tasks] == ["BShift"]
    assert built.failures == {
        "SubjGender": "the treebank has no Gender on any noun as a subject of a main clause",
        "Mood": "the treebank has only Mood=Ind on any finite verb of a main clause",
    }


def written(folder: Path, **texts: str) -> list[Path]:
    paths = [folder / f"x_y-ud-{name}.conllu" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    return paths


def test_the_splits_of_a_treebank_are_kept_and_a_repeated_sentence_is_in_the_last(tmp_path) -> None:
    texts = {name: tiny_treebank(count, seed) for seed, (name, count) in enumerate(SPLITS.items())}
    repeated = tiny_treebank(60, seed=2)
    paths = written(tmp_path, train=texts["train"] + repeated, dev=texts["dev"] + repeated, test=texts["test"])
    analyses = list(analyse_treebank(treebank_portions(paths)))
    built = build_tasks(from_dependencies(analyses), Sizes(120, 30, 30))
    home = {s.sentence: s.split for s in analyses}
    last = {s.sentence for s in analyses if s.split == 2}
    changed = {"BShift", "SOMO", "CoordInv", "SentType"}
    for task in built.tasks:
        for split, part in enumerate(task.parts):
            for s in part.sentences:
                assert (home[s] == split or s in last) if task.name not in changed else home.get(s, split) == split
    assert built.split_overlap() == 0
    controls = [built.drafts[name].controls for name in FEATURE_TASKS if name in built.drafts]
    assert {each["target forms in two splits"] for each in controls} == {0}


@pytest.mark.parametrize("names", [["train", "dev"], ["test"], ["train", "dev", "dev"]])
def test_without_files_of_all_three_splits_sentences_are_drawn(tmp_path, names) -> None:
    paths = written(tmp_path, **dict.fromkeys(names, tiny_treebank(3)))
    assert {portion.split for portion in treebank_portions(paths)} == {None}


def test_a_file_without_a_split_does_not_take_away_those_of_the_others(tmp_path, caplog) -> None:
    paths = written(tmp_path, **dict.fromkeys(SPLITS, tiny_treebank(3)))
    source = tmp_path / "source.conllu"
    source.write_text(tiny_treebank(3))
    assert [portion.split for portion in treebank_portions([*paths, source])] == [0, 1, 2]
    assert f"{source}: no train, dev or test file" in caplog.text


@pytest.mark.parametrize("names", [["train", "dev", "test"], ["dev", "test"]])
def test_another_treebank_can_be_the_test_split(tmp_path, names) -> None:
    paths = written(tmp_path, **{name: tiny_treebank(300, seed) for seed, name in enumerate(names)})
    pud = tmp_path / "x_pud-ud-test.conllu"
    pud.write_text(tiny_treebank(200, seed=9))
    analyses = list(analyse_treebank(treebank_portions(paths, [pud]), Sizes(300, 100, 100)))
    [parallel] = [list(analyse_treebank([p._replace(split=None) for p in treebank_portions([pud])]))]
    assert [s.sentence for s in analyses if s.split == 2] == [s.sentence for s in parallel]
    shares = Counter(s.split for s in analyses)
    if len(names) == 3:  # its own test file has no part in it
        test = {s.sentence for s in analyse_treebank(treebank_portions(paths[2:]))}
        assert not test & {s.sentence for s in analyses if s.split != 2}
    else:
        assert shares[0] == pytest.approx(3 * shares[1], rel=0.25)
    built = build_tasks(from_dependencies(analyses), Sizes(120, 40, 40))
    assert set(task_named(built, "SentLen").test.sentences) <= {s.sentence for s in parallel}
    assert built.split_overlap() == 0


@pytest.fixture(scope="module")
def divided(analyses) -> tuple[list[Analysis], BuiltTasks, BuiltTasks]:
    """Sentences with splits, and tasks with some and with all of the test split."""
    some = [replace(s, split=min(2, at % 4)) for at, s in enumerate(analyses)]
    return some, *(build_tasks(from_dependencies(some), SIZES, CLASSES, whole_test=whole) for whole in (False, True))


@pytest.mark.parametrize("name", CLASSES)
def test_a_whole_test_split_is_all_that_has_a_class_and_changes_nothing_else(divided, name) -> None:
    sentences, some, whole = divided[0], *(task_named(built, name) for built in divided[1:])
    assert set(some.classes) <= set(whole.classes)
    classes = {
        "SentLen": lambda s: str(sum(s.length > longest for longest in BIN_ENDS)),
        "TreeDepth": lambda s: str(s.depth),
        "TopDeps": lambda s: s.top,
        "SubjNum": lambda s: s.subject.label if s.subject else "",
    }[name]
    labels = {s.sentence: classes(s) for s in sentences if s.split == 2}
    for sentence, gold in zip(whole.test.sentences, whole.test.gold, strict=True):
        assert whole.classes[gold] in (labels[sentence], OTHER_LABEL)
    if name in ("SentLen", "TreeDepth"):
        assert len(whole.test.sentences) == sum(label in whole.classes for label in labels.values())


def test_the_cores_that_read_a_treebank_do_not_matter(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(conllu_file, "BLOCK_BYTES", 10_000)
    [path] = written(tmp_path, test=tiny_treebank(200))
    orders = []
    for cores in (1, 2):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=cores: range(n))
        orders.append(list(analyse_treebank(treebank_portions([path]))))
    assert orders[0] == orders[1]
    assert len(list(treebank_portions([path]))) > 1


def targets_of(counts: dict[str, tuple[int, int, int]]) -> list[tuple[Target, int]]:
    return [(Target("x", form), split) for form in counts for split in range(3) for _ in range(counts[form][split])]


@given(COUNTS)
def test_a_form_is_in_one_split_in_which_it_occurs(counts) -> None:
    targets = targets_of(counts)
    homes = assign_forms_in_splits(targets, Sizes(20, 5, 5))
    assert homes.keys() == {target.form for target, _ in targets}
    assert all(counts[form][home] for form, home in homes.items())


def test_frequent_forms_do_not_all_go_to_one_split() -> None:
    targets = targets_of(dict.fromkeys("abcdef", (40, 10, 10)))
    assert Counter(assign_forms_in_splits(targets, Sizes(400, 100, 100)).values()) == {0: 2, 1: 2, 2: 2}


@pytest.mark.skipif(not DATA.exists(), reason="no treebanks here")
def test_a_real_treebank_gives_tasks_and_reasons() -> None:
    files = sorted((DATA / "ud" / "hu_szeged").glob("*.gz"))
    built = build_tasks(from_dependencies(analyse_treebank(treebank_portions(files))), Sizes(300, 60, 100))
    assert {"SentLen", "WC", "TreeDepth", "BShift", "Tense", "SubjNum", "SOMO"} <= {task.name for task in built.tasks}
    assert built.failures["ObjCase"] == "the treebank has only Case=Acc on any noun as an object of a main clause"
    assert built.split_overlap() == 0
