"""The progress bar counts epochs as everything else does."""

from types import SimpleNamespace

import pytest

from encoder_lab.training.progress import epoch_of, progress_bar


@pytest.mark.parametrize(("end", "shown"), [(2, "Epoch 2/2"), (-1, "Epoch 2"), (None, "Epoch 2")])
def test_the_second_epoch_of_two_is_epoch_2_of_2(end: int | None, shown: str) -> None:
    assert epoch_of(SimpleNamespace(current_epoch=1, max_epochs=end)) == shown


def test_the_bar_shows_it() -> None:
    bar = progress_bar()
    bar._trainer = SimpleNamespace(current_epoch=1, max_epochs=2, sanity_checking=False)
    assert bar._get_train_description(1).strip() == "Epoch 2/2"
