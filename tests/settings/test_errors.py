"""Errors are printed on one line."""

import errno
import os

import pytest
from hydra.errors import HydraException

import evaluate
import train
from encoder_lab.errors import InputError, disk_error_line, in_one_line
from encoder_lab.settings.arguments import INTEGER_VARIABLES
from tests.asked import composed, run_settings


def test_a_misspelt_choice_lists_the_valid_ones() -> None:
    with pytest.raises(HydraException) as raised:
        composed("train", "encoder=bilstm_mx")
    message = in_one_line(raised.value)
    assert message.endswith(" ".join(sorted(path.stem for path in (train.CONFIGS / "encoder").iterdir())))


def test_the_message_comes_without_the_text_of_hydra() -> None:
    wrapped = ValueError("Error in call to target:\nEuroparl")
    wrapped.__cause__ = InputError("corpus.root= is missing")
    assert in_one_line(wrapped) == "corpus.root= is missing"


def test_a_folder_that_cannot_be_written_comes_with_the_settings_that_name_others() -> None:
    line = disk_error_line(OSError(errno.EROFS, os.strerror(errno.EROFS), "cache/score.json"), "run")
    assert line.startswith("cache/score.json: Read-only file system (cache=, out= and ")
    assert "cache=" not in disk_error_line(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "cache"), "run")


def test_a_command_resumes_one_run(capsys) -> None:
    with pytest.raises(SystemExit, match="2"):
        train.main(["resume=a", "resume=b"])
    assert capsys.readouterr().err == "error: resume=b: a command resumes one run; give resume= once\n"


@pytest.mark.parametrize(("setting", "message"), [
    ("++resume=a", "resume=a: begins no new run"), ("logger=[csv,tensorboard,csv]", "give each once"),
])  # fmt: skip
def test_what_a_new_run_cannot_do_is_refused(setting, message) -> None:
    with pytest.raises(InputError, match=message):
        run_settings(setting)


@pytest.mark.parametrize(("name", "value", "remedy"), [
    *((name, "one", f"unset {name}") for name in INTEGER_VARIABLES),
    *(("RANK", value, "unset RANK") for value in ("", "-1", "1.0")),
    ("PL_TRAINER_MAX_EPOCHS", "3", "give trainer.max_epochs=3"),
    ("PL_TRAINER_LIMIT_TRAIN_BATCHES", "2", "give trainer.limit_train_batches=2"),
])  # fmt: skip
@pytest.mark.parametrize(("command", "argument"), [(train.main, "resume=a"), (evaluate.main, "model=bov")])
def test_a_variable_that_a_library_would_read_in_silence_is_refused(
    command, argument, name, value, remedy, monkeypatch, capsys
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match="2"):
        command([argument])
    (message,) = capsys.readouterr().err.splitlines()
    assert message.startswith(f"error: {name}={value}: ")
    assert remedy in message
