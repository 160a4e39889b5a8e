"""Tasks mean the same under other labels: a renamed treebank, and German clauses of NeGra and TIGER."""

import re
from random import Random

import pytest

from datamodules.trees.penn import corpus_texts
from encoder_lab.errors import InputError
from probes.probing.build.all_tasks import BuiltTasks, build_tasks, from_trees
from probes.probing.build.analysis import Analysis, Clauses, analyse
from probes.probing.build.pool import Sizes
from probes.probing.build.tags import ENGLISH, GERMAN, TAG_SETS, TagSet, tag_set
from probes.probing.build.word_order import swap_clauses
from tests.datamodules.trees.test_penn import parse_tree
from tests.probes.probing.tiny_trees import task_named, tiny_trees

SIZES = Sizes(120, 24, 24)
WORDS = {"capitals", "coordinators", "auxiliaries", "time_nouns", "copulas", "perfect", "quantities"}
LABELS = re.compile(r"\((?!ROOT)(?=[^\s()])")
NOT_LABELS = WORDS | {"name", "verb_second", "not_objects", "depths", "dotted"}
SEES = "(NP-SB (ART-NK Der) (NN-NK Hund)) (VVFIN-HD sieht) (NP-OA (ART-NK die) (NN-NK Katze))"


def toy() -> TagSet:
    """The English tag set with an x before each label."""

    def renamed(meaning: object) -> object:
        if isinstance(meaning, dict):
            return {f"x{label}": value for label, value in meaning.items()}
        return f"x{meaning}" if isinstance(meaning, str) else frozenset(f"x{label}" for label in meaning)

    fields = ENGLISH._asdict()
    return TagSet(**{field: fields[field] if field in NOT_LABELS else renamed(fields[field]) for field in fields})


def content(built: BuiltTasks) -> dict[str, list[set[tuple[str, str]]]]:
    """The sentences and classes of each split of each task."""
    return {
        task.name: [set(zip(p.sentences, [task.classes[y] for y in p.gold], strict=True)) for p in task.parts]
        for task in built.tasks
    }


def test_a_treebank_with_other_labels_gives_the_same_tasks() -> None:
    trees = tiny_trees(2500, seed=3)
    english = content(build_tasks(from_trees(corpus_texts(trees)), SIZES))
    other = content(build_tasks(from_trees(corpus_texts(LABELS.sub("(x", tree) for tree in trees), toy()), SIZES))
    other["TopConst"] = [{(s, top.replace("x", "")) for s, top in split} for split in other["TopConst"]]
    assert other == english


def german(text: str) -> Analysis:
    analysis = analyse(parse_tree(text), GERMAN)
    assert analysis is not None
    return analysis


@pytest.mark.parametrize(("tree", "top"), [
    (f"(VROOT (S {SEES}) ($. .))", "NP_VVFIN_NP_$."), (f"(ROOT (S {SEES} ($. .)))", "NP_VVFIN_NP_$."),
    (f"(VROOT ($*LRB* ``) (S {SEES}) ($*LRB* '') ($. .))", "$*LRB*_NP_VVFIN_NP_$*LRB*_$."),
], ids=["next to the clause", "in the clause", "quotation marks around it"])  # fmt: skip
def test_punctuation_next_to_a_german_clause_belongs_to_it(tree, top) -> None:
    assert german(tree).top == top


DOG, CAT = "(S (NP (ART Der) (NN Hund)) (VVFIN bellt))", "(S (NP (ART die) (NN Katze)) (VAFIN ist) (ADJD müde))"
COORDINATIONS = {
    f"(VROOT (CS {DOG} ($, ,) (KON aber) {CAT}) ($. .))": Clauses(0, 3, 5, 9),
    f"(VROOT (CS {DOG} ($, ,) {CAT}) ($. .))": None,
    f"(VROOT (CS {DOG} (KON und) (S (VVFIN läuft) (PTKVZ weg))) ($. .))": None,  # who does is said in the first
    f"(VROOT ($[ ``) (CS {DOG} (KON und) {CAT}) ($. .))": None,
}


@pytest.mark.parametrize(("tree", "clauses"), COORDINATIONS.items())
def test_german_clauses_are_two_with_verb_and_subject(tree, clauses) -> None:
    assert german(tree).clauses == clauses


@pytest.mark.parametrize(("first", "inverted"), [
    (DOG, "Die Katze ist müde , aber der Hund bellt ."),
    ("(S (NN Kinder) (VVFIN lachen))", "Die Katze ist müde , aber Kinder lachen ."),
])  # fmt: skip
def test_german_nouns_keep_their_capital_letter(first, inverted) -> None:
    assert swap_clauses(german(f"(VROOT (CS {first} ($, ,) (KON aber) {CAT}) ($. .))"), GERMAN) == inverted


def test_german_labels_support_all_tasks_but_tense_and_number() -> None:
    assert from_trees((), GERMAN).usual == ["SentLen", "WC", "TreeDepth", "TopConst", "BShift", "SOMO", "CoordInv"]
    with pytest.raises(InputError, match="german/tiger do not support Tense, ObjNum"):
        build_tasks(from_trees([], GERMAN), SIZES, ["Tense", "SOMO", "ObjNum"])


def test_german_trees_give_the_other_seven_tasks() -> None:
    random = Random(1)
    trees = corpus_texts(german_tree(random) for _ in range(4000))
    built = build_tasks(from_trees(trees, GERMAN), SIZES)
    assert [task.name for task in built.tasks] == from_trees((), GERMAN).usual
    swaps = task_named(built, "BShift").train.sentences
    assert all(sentence.endswith(" .") for sentence in swaps)


def german_tree(r: Random) -> str:
    if r.random() < 0.2:
        return f"(VROOT (CS {german_clause(r)} (KON und) {german_clause(r)}) ($. .))"
    return f"(VROOT {german_clause(r, r.choice(['', '', '(ADV dann) ', '(PTKANT ja) ']))} ($. .))"


def german_clause(r: Random, front: str = "") -> str:
    verb = r.choice(["sieh", "hör", "ruf", "mal", "lob", "zähl"]) + r.choice(["t", "te", "st"])
    return f"(S {front}{noun_phrase(r)} (VVFIN {verb}) {noun_phrase(r)}{' (ADV gern)' * r.randint(0, 2)})"


def noun_phrase(r: Random) -> str:
    noun = r.choice(["Hund", "Katz", "Vogel", "Baum", "Boot", "Lamp"]) + r.choice(["", "en", "chen", "ling"])
    adjectives = "".join(f" (ADJA {r.choice(['kleine', 'grüne', 'stille', 'alte'])})" for _ in range(r.randint(0, 4)))
    inner = f" (PP (APPR mit) {noun_phrase(r)})" if r.random() < 0.3 else ""
    return f"(NP (ART die){adjectives} (NN {noun}){inner})"


def test_an_unknown_tag_set_lists_the_valid_names() -> None:
    with pytest.raises(InputError) as error:
        tag_set("english")
    assert all(name in str(error.value) for name in ("tags=english:", *TAG_SETS))
