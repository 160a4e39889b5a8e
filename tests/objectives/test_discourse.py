import math
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from datamodules.batches import Bag, Position
from datamodules.corpus import Corpus, Document, Split
from datamodules.discourse import SentencesInDocuments
from encoder_lab.errors import InputError
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from objectives.discourse import Discourse
from objectives.layers import LOSSES, bag_loss, class_loss, position_loss
from tests.silent import silent_trainer, validation_scores
from tests.tiny_corpus import TinyCorpus

REPORTED = {"nsp": {"nsp_previous_perplexity", "nsp_next_perplexity"}, "nl": {"nl_level_accuracy"}}
REPORTED |= {"spp": {"spp_sentence_accuracy", "spp_paragraph_accuracy"}}
REPORTED |= {"sdt": {"sdt_section_perplexity", "sdt_document_perplexity"}}
ANY = [names for size in range(1, 5) for names in combinations(REPORTED, size)]


class Untitled(TinyCorpus):
    """No level in dev; no title of a section in any split, and of documents only with `titled`."""

    titled = True

    def documents(self, split: Split) -> Iterator[Document]:
        for document in super().documents(split):
            sections = [s._replace(title=None, level=None if split == "dev" else s.level) for s in document.sections]
            yield document._replace(title=document.title if self.titled else None, sections=sections)


def objective(folder: Path, corpus: Corpus | None = None, **settings: object) -> Discourse:
    data = SentencesInDocuments(corpus or TinyCorpus(), folder, 1, sentence_positions=9, paragraph_positions=9)
    embedding = WordEmbedding(np.random.default_rng(0).normal(size=(len(data.vocabulary), 5)))
    torch.manual_seed(0)
    return Discourse(BagOfVectors(5), embedding, data, torch.optim.Adam, 1, hidden=4, **settings), data


def test_the_bag_loss_equals_the_loss_of_dense_counts() -> None:
    torch.manual_seed(0)
    logits = torch.randn(3, 7, dtype=torch.float64, requires_grad=True)
    counts = torch.tensor([[0, 2, 1, 0, 0, 0, 1], [0] * 7, [0, 0, 0, 1, 0, 0, 0]])
    bag = Bag(torch.tensor([[1, 2, 1, 6], [0, 0, 0, 0], [3, 0, 0, 0]]), torch.tensor([4, 0, 1]))
    per_text = -(counts * functional.log_softmax(logits, 1)).sum(1) / counts.sum(1).clamp(min=1)
    result = bag_loss(logits, bag)
    torch.testing.assert_close(result.nats, per_text)
    assert result.targets.tolist() == [1, 0, 1]
    torch.testing.assert_close(*(torch.autograd.grad(loss.sum(), logits)[0] for loss in (result.nats, per_text)))


def test_an_unknown_class_trains_nothing() -> None:
    logits = torch.tensor([[0.0, 5.0], [3.0, 0.0]], requires_grad=True)
    term = class_loss(logits, torch.tensor([-1, 0]))
    assert (term.targets.tolist(), term.correct.tolist()) == ([0, 1], [0, 1])
    assert torch.autograd.grad(term.nats.sum(), logits)[0][0].tolist() == [0, 0]


def test_a_position_is_chosen_among_existing_ones() -> None:
    logits = torch.tensor([[1.0, 1.0, 50.0, 50.0]], requires_grad=True)
    term = position_loss(logits, Position(torch.tensor([1]), torch.tensor([2])))
    torch.testing.assert_close(term.nats, torch.tensor([2.0]).log())
    assert torch.autograd.grad(term.nats.sum(), logits)[0].tolist() == [[0.5, -0.5, 0, 0]]


@pytest.mark.parametrize("losses", ANY, ids="+".join)
def test_any_losses_can_be_combined_and_each_reports_its_scores(tmp_path, losses) -> None:
    module, data = objective(tmp_path, losses=losses)
    scores = validation_scores(module, data)
    logged = {name.removeprefix("val/") for name in scores}
    assert {name for name in logged if not name.endswith("loss")} == set().union(*(REPORTED[loss] for loss in losses))
    parts = [value for name, value in scores.items() if name.endswith("_loss")]
    assert scores["val/loss"] == pytest.approx(sum(parts), rel=1e-5)


def test_the_loss_is_the_weighted_sum(tmp_path) -> None:
    module, data = objective(tmp_path, losses=["nsp", "nl"], weights={"nsp": 2.0, "nl": 0.5})
    module.log_score = lambda *_, **__: None
    batch = next(iter(data.val_dataloader()))
    means = {name: term.nats.sum() / term.targets.sum() for name, term in module(batch).items()}
    expected = 2 * (means["nsp_previous"] + means["nsp_next"]) + 0.5 * means["nl_level"]
    torch.testing.assert_close(module.training_step(batch, 0), expected)


def test_only_the_heads_of_the_chosen_losses_are_built(tmp_path) -> None:
    assert set(objective(tmp_path, losses=["sdt"])[0].heads) == {"sdt_section", "sdt_document"}


def test_what_a_split_has_no_target_of_has_no_score_there(tmp_path) -> None:
    module, data = objective(tmp_path, Untitled(), losses=["nl", "sdt"])
    trainer = silent_trainer(max_epochs=1)
    trainer.fit(module, data)
    validated = {name for name in trainer.callback_metrics if name.startswith("val/")}
    assert validated == {"val/loss", "val/sdt_document_loss", "val/sdt_document_perplexity"}
    means = module.train_means()
    assert means.keys() == {"train/loss", "train/nl_level_loss", "train/sdt_document_loss"}
    assert all(map(math.isfinite, means.values()))


def test_a_loss_that_no_training_sentence_has_a_target_of_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Untitled, "titled", False)
    with pytest.raises(InputError, match="target of sdt; choose among nsp, nl, spp"):
        objective(tmp_path, Untitled(), losses=["nl", "sdt"])


@pytest.mark.parametrize("losses", [[], ["nsp", "nsp"], ["order"]])
def test_invalid_losses_are_refused_with_the_valid_ones(tmp_path, losses) -> None:
    with pytest.raises(InputError, match=", ".join(LOSSES)):
        objective(tmp_path, losses=losses)


@pytest.mark.parametrize("weights", [{"nl": 0.5}, {"nspp": 1.0}])
def test_a_weight_of_a_loss_that_is_not_trained_is_refused(tmp_path, weights) -> None:
    with pytest.raises(InputError, match=r"no such loss among objective\.losses=.*leave the weight out"):
        objective(tmp_path, losses=["nsp"], weights=weights)


@pytest.mark.parametrize("weights", [{"nsp": 0.0}, {"nsp": 0, "spp": 0}])
def test_losses_that_all_weigh_nothing_are_refused(tmp_path, weights) -> None:
    with pytest.raises(InputError, match=r"^objective\.weights=.*: no loss would train; give one a weight above zero$"):
        objective(tmp_path, losses=list(weights), weights=weights)
    objective(tmp_path, losses=["nl", *weights], weights=weights)
