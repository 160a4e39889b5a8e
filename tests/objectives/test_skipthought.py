import math

import numpy as np
import pytest
import torch

from datamodules.seq2seq import TextPairs
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from objectives.skipthought import SkipThought
from tests.silent import validation_scores
from tests.tiny_corpus import TinyCorpus


def test_a_constant_decoder_has_the_perplexity_of_its_vocabulary(tmp_path) -> None:
    data = TextPairs(TinyCorpus(), "next", tmp_path, seed=1, codes=40)
    module = SkipThought(
        BagOfVectors(3), WordEmbedding(np.ones((len(data.vocabulary), 3))), data, torch.optim.Adam, 1, 4, 4, 1
    )
    for weight in module.decoder.output.parameters():
        torch.nn.init.zeros_(weight)
    scores = validation_scores(module, data)
    assert scores["val/perplexity"] == pytest.approx(data.subwords.size)
    assert scores["val/loss"] == pytest.approx(math.log(data.subwords.size))
