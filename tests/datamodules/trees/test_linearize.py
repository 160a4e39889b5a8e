import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.seq2tree import Bracket, brackets, linearize
from datamodules.trees.penn import Tree
from tests.datamodules.trees.test_penn import parse_tree

TAGS = st.sampled_from(["DT", "NN", "VBZ", "IN", ",", ".", "-LRB-"]).map(lambda tag: Tree(tag, word="w"))
PHRASES = st.recursive(
    TAGS, lambda inner: st.builds(Tree, st.sampled_from(["NP", "VP", "S"]), st.lists(inner, min_size=1, max_size=4))
)
TREES = PHRASES.map(lambda phrase: Tree("ROOT", [phrase]))


def test_the_example_of_the_paper() -> None:
    tree = parse_tree(
        "(ROOT (S (NP (NNP Dikoya)) (VP (VBZ is) (NP (NP (DT a) (NN village))"
        " (PP (IN in) (NP (NNP Sri) (NNP Lanka))))) (. .)))"
    )
    symbols = "(ROOT (S (NP NNP )NP (VP VBZ (NP (NP DT NN )NP (PP IN (NP NNP NNP )NP )PP )NP )VP . )S )ROOT"
    assert " ".join(linearize(tree)) == symbols


def test_brackets_are_counted_over_words_without_punctuation() -> None:
    symbols = "(ROOT (S (NP DT NN )NP , (VP VBZ (NP NN )NP )VP . )S )ROOT"
    spans = [("S", 0, 4), ("NP", 0, 2), ("VP", 2, 4), ("NP", 3, 4)]
    assert brackets(symbols.split()) == {Bracket(*span): 1 for span in spans}


def test_a_repeated_bracket_counts_twice() -> None:
    assert brackets(["(ROOT", "(NP", "(NP", "NN", ")NP", ")NP", ")ROOT"]) == {Bracket("NP", 0, 1): 2}


def test_particles_count_as_adverbs_and_pure_punctuation_is_ignored() -> None:
    assert brackets(["(ROOT", "(PRT", "RP", ")PRT", "(PRN", ",", ")PRN", ")ROOT"]) == {Bracket("ADVP", 0, 1): 1}


@pytest.mark.parametrize("symbols", [
    "", "NN", "(ROOT NN", "(ROOT NN )S", "(ROOT )ROOT", "(ROOT (NP )NP NN )ROOT", "(ROOT NN )ROOT )ROOT",
    "(ROOT NN )ROOT NN", "(ROOT NN )ROOT (ROOT NN )ROOT", "(ROOT (S (NP NN )S )NP )ROOT", ") (",
])  # fmt: skip
def test_anything_but_one_closed_tree_is_ill_formed(symbols) -> None:
    assert brackets(symbols.split()) is None


@given(TREES)
def test_every_tree_is_well_formed_and_has_the_spans_of_its_nodes(tree) -> None:
    expected: list[Bracket] = []

    def walk(node: Tree, start: int) -> int:
        if node.word is not None:
            return start + (node.label not in {",", "."})
        end = start
        for child in node.children:
            end = walk(child, end)
        if end > start and node.label != "ROOT":
            expected.append(Bracket(node.label, start, end))
        return end

    walk(tree, 0)
    result = brackets(linearize(tree))
    assert result is not None
    assert sorted(result.elements()) == sorted(expected)
