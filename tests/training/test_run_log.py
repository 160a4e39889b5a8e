"""metrics.csv: a row for each epoch, with the scores of that epoch alone."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from datamodules.batches import PartBatch
from encoder_lab.errors import InputError
from encoder_lab.storage.csv_files import read_csv
from encoder_lab.training.progress import RunLog
from tests.parts import Parts, fit, trainer_in


class OtherPartEachEpoch(Parts):
    def training_step(self, batch: Tensor, batch_idx: int) -> Tensor:
        loss = super().training_step(batch, batch_idx)
        self.log_score(f"train/part{self.current_epoch}/loss", loss)
        return loss


@pytest.mark.filterwarnings("ignore")
def test_a_score_that_an_epoch_does_not_have_is_not_that_of_the_epoch_before(tmp_path) -> None:
    trainer = trainer_in(tmp_path / "checkpoints", "constant", 2, RunLog(tmp_path / "metrics.csv"))
    fit(trainer, OtherPartEachEpoch(torch.optim.Adam, freeze=True), [0])
    parts = [[part for part in (0, 1) if row[f"train/part{part}/loss"]] for row in read_csv(tmp_path / "metrics.csv")]
    assert parts == [[0], [1]]


def test_a_score_that_validation_does_not_record_is_refused_as_soon_as_it_has_run(tmp_path) -> None:
    log, module = RunLog(tmp_path / "metrics.csv"), Parts(torch.optim.Adam, freeze=True)
    log.on_validation_end(SimpleNamespace(callback_metrics={"val/loss": 1.0, "val/accuracy": 1.0}), module)
    module.score = "dev/accuracy"  # of the user's own, which may be recorded later
    log.on_validation_end(SimpleNamespace(callback_metrics={"val/loss": 1.0}), module)
    module.score = "val/accuracy"
    with pytest.raises(InputError, match=r"^Parts\.score: validation records no val/accuracy; it records val/loss$"):
        log.on_validation_end(SimpleNamespace(callback_metrics={"val/loss": 1.0, "train/loss": 1.0}), module)


def test_the_loss_of_a_step_has_the_name_of_its_part(tmp_path) -> None:
    seen: list[dict[str, float]] = []
    strategy = SimpleNamespace(reduce=lambda loss, **_: loss)
    logger = SimpleNamespace(log_metrics=lambda values, **_: seen.append(values))
    trainer: Any = SimpleNamespace(log_every_n_steps=1, global_step=3, strategy=strategy, loggers=[logger])
    log, module = RunLog(tmp_path / "metrics.csv"), SimpleNamespace(parts={"nli": None, "seq2tree": None})
    for batch in (PartBatch(1, ()), torch.ones(2)):
        log.on_train_batch_end(trainer, module, {"loss": torch.tensor(2.0)}, batch)
    assert seen == [{"train/seq2tree/step_loss": 2.0}, {"train/step_loss": 2.0}]
