import numpy as np
import pytest
import torch

from datamodules.seq2tree import SentenceTrees
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from objectives.seq2tree import Seq2Tree
from tests.silent import validation_scores
from tests.tiny_corpus import TinyCorpus

LONG = "(ROOT (S (NP DT NN )NP (VP VBZ (NP DT NN )NP )VP . )S )ROOT"  # 12 of the dev trees; 4 brackets
SHORT = "(ROOT (S (NP DT NN )NP (VP VBZ )VP . )S )ROOT"  # the 12 others; 3 brackets


@pytest.fixture
def module(tmp_path) -> Seq2Tree:
    data = SentenceTrees(TinyCorpus(), tmp_path, seed=1)
    embedding = WordEmbedding(np.ones((len(data.vocabulary), 3)))
    sizes = {"decoder_embedding": 3, "decoder_hidden": 4, "decoder_layers": 1}
    return Seq2Tree(BagOfVectors(3), embedding, data, torch.optim.Adam, 1, **sizes)


def scores(module: Seq2Tree, says: list[str]) -> dict[str, float]:
    """Validation scores of a decoder that says these trees for the long and for the short sentences, by turns."""
    rows = [module.data.symbols.rows(text) for text in says]
    module.decoder.greedy = lambda vector, *_: [rows[i % len(rows)] for i in range(len(vector))]
    return validation_scores(module, module.data)


def test_right_brackets_are_counted_over_well_formed_trees(module) -> None:
    """Always the short tree: of a long one S and VP end too early, NP is right, so 1 of 3 produced and 4 gold."""
    result = scores(module, [SHORT])
    assert result["val/exact_match"] == pytest.approx(50)
    assert result["val/well_formed"] == pytest.approx(100)
    assert result["val/bracket_f1"] == pytest.approx(100 * 2 * (1 + 3) / (3 + 3 + 4 + 3))


def test_ill_formed_trees_count_as_such_and_not_for_f1(module) -> None:
    result = scores(module, [SHORT, "(ROOT (S NN"])
    assert result["val/well_formed"] == pytest.approx(50)
    assert result["val/exact_match"] == pytest.approx(25)
    assert 0 < result["val/bracket_f1"] < 100


def test_no_well_formed_tree_scores_zero(module) -> None:
    assert scores(module, [""])["val/bracket_f1"] == 0


def test_accuracy_is_per_symbol_given_the_gold_ones(module) -> None:
    np_closed = module.data.symbols.rows(")NP")[0]
    torch.nn.init.zeros_(module.decoder.output.weight)
    module.decoder.output.bias.data = torch.eye(module.data.target_size)[np_closed]
    result = scores(module, [SHORT])
    assert result["val/accuracy"] == pytest.approx(100 * (2 + 1) / (len(LONG.split()) + 1 + len(SHORT.split()) + 1))
