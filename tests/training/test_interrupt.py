"""A Ctrl-C is never lost."""

import signal
from collections.abc import Iterator

import pytest

from encoder_lab.training.stops import StopsOnInterrupt


@pytest.fixture
def guard() -> Iterator[StopsOnInterrupt]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    made = StopsOnInterrupt()
    made.setup(None, None, "fit")  # type: ignore[arg-type]
    yield made
    made.teardown()
    signal.signal(signal.SIGINT, before)


class Swallows:
    """Python drops what a destructor raises."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_ctrl_c_lost_in_a_destructor_ends_training_at_the_next_step(guard) -> None:
    guard.on_train_batch_start()
    Swallows()
    with pytest.raises(KeyboardInterrupt):
        guard.on_train_batch_start()


@pytest.mark.usefixtures("guard")
def test_a_ctrl_c_is_normally_raised_at_once() -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_after_training_the_old_signal_handler_is_back(guard) -> None:
    guard.teardown()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
