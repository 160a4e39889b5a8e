"""Every objective learns with every encoder, and every choice in configs/ can be made."""

from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hydra.utils import get_method, instantiate
from omegaconf import DictConfig, OmegaConf
from pytorch_lightning.loggers import CSVLogger

from datamodules.batches import SentencePair, Sentences
from datamodules.corpus import Corpus, exclude_sentences
from datamodules.excluded import Excluded
from datamodules.text.subwords import END
from encoder_lab.errors import InputError
from encoder_lab.settings import build as from_settings
from encoder_lab.settings.check import mistakes
from encoder_lab.settings.known import read_description
from encoder_lab.studies.compose import resolved_settings
from encoder_lab.training.progress import EpochLines
from encoder_lab.training.test_scores import with_test_split
from encoders.embedding import WordEmbedding
from objectives.metrics import MetricSums
from objectives.objective import Objective
from tests import asked
from tests.parts import Parts, fit, trainer_in
from tests.silent import silent_trainer, validation_scores
from tests.tiny_corpus import TinyCorpus

CONFIGS = Path(__file__).parents[1] / "configs"
TINY = {
    "dim": 32, "projection": 16, "layers": 1, "dropout": 0.0, "hidden": 32, "decoder_embedding": 8,
    "decoder_hidden": 32, "decoder_layers": 1, "codes": 60, "batch_size": 24, "sentence_positions": 4,
    "paragraph_positions": 4,
}  # fmt: skip
composed = partial(asked.composed, "train")


def choices(group: str) -> list[str]:
    """The names that a user may give for a group."""
    paths = sorted((CONFIGS / group).rglob("*.yaml"))
    chosen = [path for path in paths if "not a choice" not in read_description(path)]
    return [path.relative_to(CONFIGS / group).with_suffix("").as_posix() for path in chosen]


def invalid(config: DictConfig) -> list[str]:
    """What the check of settings says."""
    return mistakes("train", resolved_settings(asked.own_settings(config)))


def shrink(node: DictConfig) -> None:
    """Make everything in a configuration small enough for a test."""
    for key, value in node.items():
        if OmegaConf.is_dict(value):
            shrink(value)
        elif key in TINY:
            node[key] = TINY[key]


def built(
    cache: Path, *overrides: str, corpus: Corpus | None = None, config: DictConfig | None = None
) -> tuple[Objective, Any]:
    """Build module and data from the choices of a run, or from its composed settings."""
    config = config or composed(*overrides)
    for node in (config.encoder, config.get("parts") or config.objective, config.datamodule):
        shrink(node)
    torch.manual_seed(0)
    data = from_settings.build(resolved_settings(config.datamodule), corpus=corpus or TinyCorpus(), cache=cache, seed=1)
    embedding = WordEmbedding(np.random.default_rng(0).normal(size=(len(data.vocabulary), 12)))
    model = from_settings.build(resolved_settings(config.encoder), input_dim=embedding.dim)
    more = {"data": data} if "Untrained" not in config.objective._target_ else {}
    return from_settings.build(
        resolved_settings(config.objective), encoder=model, embedding=embedding, seed=1, **more
    ), data


@pytest.fixture(scope="module")
def build(tmp_path_factory) -> Any:
    """`built` with one cache."""
    return partial(built, tmp_path_factory.mktemp("cache"))


TRAINED = [name for name in choices("objective") if name != "untrained"]
LOADED = {name: OmegaConf.load(CONFIGS / "objective" / f"{name}.yaml") for name in TRAINED}
MODULES = {OmegaConf.select(LOADED[name], "objective._target_"): name for name in TRAINED}  # nmt_* have that of seq2seq


PAIRS = [(encoder, "nmt_enfr") for encoder in choices("encoder")]  # its decoder reads the states of all words
PAIRS += [("bilstm_max", name) for name in MODULES.values() if not name.startswith("nmt")]


@pytest.mark.parametrize(("encoder", "objective"), PAIRS)
def test_a_few_examples_are_memorised(build, encoder, objective) -> None:
    module, data = build(f"encoder={encoder}", f"objective={objective}")
    module.log_score = lambda *_, **__: None
    batches = list(data.train_dataloader())
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    loss = torch.tensor(torch.inf)
    for _ in range(400):
        optimizer.zero_grad()
        loss = sum(module.training_step(batch, 0) for batch in batches) / len(batches)
        if loss < 0.1:
            return
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 5.0)
        optimizer.step()
    pytest.fail(f"the loss is still {loss:.2f}")


@pytest.mark.parametrize("objective", ["nmt_enfr", "nli", "discourse"])
def test_a_training_loss_weighs_all_targets_of_an_epoch_equally(build, objective) -> None:
    """As in validation, also where batches have unequal numbers of them; the sum of losses is that of the steps."""
    module, data = build(f"objective={objective}")
    module.eval().log, data.batch_size = lambda *_, **__: None, 5
    sums = MetricSums()
    for batch in data.train_dataloader():
        module.training_step(batch, 0)
        sums.add(**module.examine(batch, decode=False))
    scores = module.scores_of(sums.totals(SimpleNamespace(device="cpu", all_gather=lambda each: each)))
    means = {name.replace("train", "val"): float(total / count) for name, (total, count) in module._train_sums.items()}
    means = means if len(means) == 1 else {name: mean for name, mean in means.items() if name != "val/loss"}
    assert means == pytest.approx({name: scores[name] for name in means}, rel=1e-5)


@pytest.mark.parametrize("objective", TRAINED)
def test_the_score_that_selects_is_reported_and_finite(build, objective) -> None:
    module, data = build(f"objective={objective}")
    trainer = silent_trainer(max_epochs=1)
    trainer.fit(module, data)
    assert torch.isfinite(trainer.callback_metrics[module.score])
    assert module.mode == ("min" if module.score.endswith(("perplexity", "loss")) else "max")


class Logs(Parts):
    """An objective that logs as users of Lightning do."""

    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
        loss = super().training_step(batch, index)
        self.log("train/own", loss)
        self.log_dict({"train/more": loss})
        self.log("train/step", loss, on_step=True)  # for the loggers
        return loss


def test_what_an_objective_of_the_user_logs_is_the_mean_of_an_epoch_and_its_lowest_loss_selects(tmp_path) -> None:
    module = Logs(partial(torch.optim.SGD, lr=0.1), freeze=True)
    trainer = trainer_in(tmp_path, "constant", 1)
    trainer.logger, trainer.log_every_n_steps = CSVLogger(tmp_path), 1
    fit(trainer, module, [0, 1, 1])
    scores = {name: float(value) for name, value in trainer.callback_metrics.items()}
    assert scores["train/own"] == scores["train/more"] == scores["train/loss"]
    assert trainer.logged_metrics.keys() == {"train/step"}
    module.score = "val/loss"
    assert module.mode == "min"
    module.mode = "max"  # an objective may also say it itself
    assert module.mode == "max"
    record: Any = SimpleNamespace(metrics=tmp_path, row={"train/loss": 2.0, "val/loss": 3.0})
    assert EpochLines(record, None)._score_texts(module) == ["loss 2", "dev loss 3"]
    module.score, record.row = "val/discourse/loss", {"val/discourse/loss": 3.0}  # of several objectives
    assert EpochLines(record, None)._score_texts(module) == ["dev discourse loss 3"]


@pytest.mark.parametrize("objective", ["nmt_enfr", "seq2tree"])
def test_predictions_are_the_same_alone_and_with_longer_sentences(build, objective) -> None:
    module, data = build(f"objective={objective}")
    module.eval().decoder.output.bias.data[END] = -torch.inf  # it never ends
    predicted: list[list[list[int]]] = []
    greedy = module.decoder.greedy
    module.decoder.greedy = lambda *arguments: predicted.append(greedy(*arguments)) or predicted[-1]
    batch = next(iter(data.val_dataloader()))
    for rows in (torch.arange(24), torch.tensor([23])):  # the longest come first
        source = Sentences(batch.source.ids[rows, : batch.source.lengths[rows].max()], batch.source.lengths[rows])
        module.on_validation_epoch_start()
        target = Sentences(*(part[rows] for part in batch.target))
        module.validation_step(SentencePair(source, target, batch.rows[rows]), 0)
    together, alone = predicted
    assert alone == together[23:]


@pytest.mark.parametrize("objective", TRAINED)
def test_a_checkpoint_holds_the_encoder_once_and_no_frozen_words(build, objective) -> None:
    module, _ = build(f"objective={objective}")
    names = [name for name in module.state_dict() if "encoder." in name or "embedding.table" in name]
    assert sorted(names) == sorted(f"encoder.{name}" for name in module.encoder.state_dict())


def test_two_kinds_of_data_with_other_texts_have_other_fingerprints(build) -> None:
    texts: dict[str, list[str]] = {}
    for objective in choices("objective"):
        data = build(f"objective={objective}")[1]
        text = list(data.source_sentences())
        assert texts.setdefault(data.fingerprint, text) == text, objective


@pytest.mark.parametrize("objective", TRAINED)
def test_a_test_split_with_the_text_of_dev_has_the_scores_of_dev(build, objective) -> None:
    module, data = build(f"objective={objective}")
    dev = validation_scores(module, data)
    assert module.score in dev
    assert dev == pytest.approx(validation_scores(module, with_test_split(data)), nan_ok=True)


@pytest.mark.parametrize("objective", choices("objective"))
def test_no_sentence_of_the_tasks_is_training_text(build, objective) -> None:
    first = next(build(f"objective={objective}")[1].source_sentences())
    corpus = exclude_sentences(TinyCorpus(), Excluded([first.upper().replace(" ", ",")]))
    data = build(f"objective={objective}", corpus=corpus)[1]
    assert first not in list(data.source_sentences())
    counts = {split: skipped.in_tasks for split, skipped in data.skipped.items()}
    assert {split.split()[-1] for split, count in counts.items() if count} == {"train"}
    again = build(f"objective={objective}", corpus=exclude_sentences(TinyCorpus(), Excluded(data.left_out)))[1]
    assert again.contents == data.contents


GROUPS = ("encoder", "objective", "embeddings", "probes")
CHOICES = list(zip_longest(*([f"{group}={name}" for name in choices(group)] for group in GROUPS)))  # composed together


@pytest.mark.parametrize("several", CHOICES, ids=str)
def test_every_choice_composes_and_names_what_exists(several) -> None:
    config = composed(*filter(None, several))
    assert invalid(config) == []
    for node in ("objective", "datamodule", "encoder", "embeddings.source", "probes.source"):
        assert get_method(OmegaConf.select(config, node)._target_)


@pytest.mark.parametrize("experiment", choices("experiment"))
def test_every_experiment_instantiates(build, experiment) -> None:
    config = composed(f"experiment={experiment}")
    assert invalid(config) == []
    module, _ = build(config=config)
    if module.trains:
        assert module.configure_optimizers()


@pytest.mark.parametrize("trainer", choices("trainer"))
def test_every_trainer_instantiates(trainer) -> None:
    config = composed(f"trainer={trainer}")
    assert invalid(config) == []
    assert instantiate(config.trainer, accelerator="cpu", logger=False, _convert_="all").max_epochs > 0


@pytest.mark.parametrize("corpus", choices("corpus"))
def test_every_corpus_instantiates_or_names_what_is_missing(corpus) -> None:
    described = resolved_settings(composed(f"corpus={corpus}").corpus)
    try:
        assert isinstance(from_settings.build(described), Corpus)
    except InputError as error:
        if "Error: " in str(error):  # of a class that failed in another way
            raise
