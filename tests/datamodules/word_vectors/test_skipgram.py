"""The process that trains word vectors shows that it works, and ends with its parent."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from datamodules.word_vectors import skipgram
from encoder_lab import progress
from encoder_lab.errors import InputError

SECONDS = 30
ENDLESS = """
import sys
from pathlib import Path
from datamodules.word_vectors.skipgram import train_bin
text = Path(sys.argv[1])
train_bin(text, text.with_suffix(".bin"), {"dim": 4, "epoch": 1_000_000, "bucket": 10, "thread": 1})
"""


def training(text: Path) -> bool:
    """Whether a process trains vectors of this text."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            words = path.read_bytes().split(b"\0")
            if b"datamodules.word_vectors.skipgram" in words and str(text).encode() in words:
                return True
    return False


def comes_true(what: Callable[[], bool]) -> bool:
    until = time.monotonic() + SECONDS
    while not what() and time.monotonic() < until:
        time.sleep(0.05)
    return what()


def test_a_file_has_lines_while_fasttext_works_and_its_last_word_is_the_reason(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "_run_names", ["runs/a"])
    monkeypatch.setattr(skipgram, "SECONDS_PER_LINE", 0.05)
    works = "import sys, time; time.sleep(0.5); sys.exit('first\\nno memory')"
    assert skipgram._run_with_progress([sys.executable, "-c", works], {}, "training, 5 passes") == (1, "no memory")
    assert "runs/a: training, 5 passes: 0 of 1 models, 0 s" in capsys.readouterr().err.splitlines()


def test_fasttext_may_lie_where_only_this_process_looks(tmp_path, monkeypatch) -> None:
    (tmp_path / "fasttext.py").write_text("raise ImportError('it lies there')")
    (tmp_path / "text").write_text("a dog\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="it lies there"):
        skipgram.train_bin(tmp_path / "text", tmp_path / "model.bin", {"dim": 4, "epoch": 1})


@pytest.mark.parametrize("word", ["a\0b", "a" * 70_000])
def test_a_word_that_fasttext_would_cut_is_named(tmp_path, word) -> None:
    (tmp_path / "text").write_text(f"the dog {word}\n")
    with pytest.raises(InputError, match=r"cannot read the word 'a.*take it out of the text"):
        skipgram.train_bin(tmp_path / "text", tmp_path / "model.bin", {"dim": 4, "epoch": 1})


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_training_of_vectors_ends_with_a_killed_run(tmp_path) -> None:
    text = tmp_path / "text"
    text.write_text("the dog sees a cat .\n" * 100)
    parent = subprocess.Popen([sys.executable, "-c", ENDLESS, str(text)])
    assert comes_true(lambda: training(text))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert comes_true(lambda: not training(text))
