"""python -m encoders.encode RUN < sentences.txt > vectors.npy"""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from encoders import FrozenEncoder, encode, load_encoder
from tests.clone import finish
from tests.pages import Command

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden_run"


class Shell:
    """What the command read and wrote."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        self.patch, self.captured = monkeypatch, capfdbinary

    def __call__(self, text: bytes, *arguments: str) -> tuple[int, bytes, str]:
        """Exit status, standard output and standard error."""
        self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        out = io.TextIOWrapper(io.BytesIO())
        self.patch.setattr(sys, "stdout", out)
        status = encode.COMMAND.run(list(arguments))
        return status, out.buffer.getvalue(), self.captured.readouterr().err.decode()


@pytest.fixture
def shell(monkeypatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Shell:
    return Shell(monkeypatch, capfdbinary)


def test_the_command_turns_lines_into_a_matrix(tmp_path) -> None:
    sentences = ["the dog runs .", "a cat", "the dog runs ."]
    (tmp_path / "in").write_text("".join(f"{sentence}\n" for sentence in sentences))
    printed = finish(tmp_path, Command(["-m", "encoders.encode"], [str(GOLDEN)], f"{tmp_path}/in", f"{tmp_path}/out"))
    np.testing.assert_array_equal(np.load(tmp_path / "out"), load_encoder(GOLDEN).encode(sentences))
    assert printed.splitlines() == ["3 sentences (2 encoded), 0 of 6 words without a vector"]


def test_only_a_newline_ends_a_line(shell) -> None:
    status, out, err = shell("\ufeffa\u2028dog\x0bcat\r\n\nno-such-word\n".encode(), str(GOLDEN), "raw=true")
    assert status == 0
    assert np.load(io.BytesIO(out)).shape == (3, 8)
    assert "1 of 4 words without a vector; 1 empty sentence(s) got the zero vector" in err


@pytest.mark.filterwarnings("ignore:.*empty")
def test_only_some_lines_are_in_memory_at_a_time(shell, monkeypatch) -> None:
    monkeypatch.setattr(encode, "CHUNK_LINES", 2)
    held, whole = [], FrozenEncoder.encode
    monkeypatch.setattr(
        FrozenEncoder, "encode", lambda self, some, *how: held.append(len(some)) or whole(self, some, *how)
    )
    status, out, err = shell(b"the dog runs .\na cat\n\na no-such-word\nthe dog\n", str(GOLDEN))
    expected = whole(load_encoder(GOLDEN), ["the dog runs .", "a cat", "", "a no-such-word", "the dog"])
    assert (status, held) == (0, [2, 2, 1])
    np.testing.assert_allclose(np.load(io.BytesIO(out)), expected, atol=1e-6)
    assert err.startswith("5 sentences (5 encoded), 1 of 10 words without a vector; 1 empty")


@pytest.mark.parametrize(("text", "run", "message"), [
    (b"a\n", "nowhere", "nowhere: no such run folder"),
    (b"", str(GOLDEN), "standard input is empty"),
    (b"a\n\xff\n", str(GOLDEN), "standard input:2: not valid UTF-8"),
    (b"a\0\n\0", str(GOLDEN), "standard input:1: a NUL character; remove it or, if the file is in UTF-16"),
    (b"a\rb\r", str(GOLDEN), "standard input:1: lines that end in CR alone; convert the file: tr"),
])  # fmt: skip
def test_a_user_error_is_one_line(shell, text, run, message) -> None:
    status, out, err = shell(text, run)
    assert (status, out) == (2, b"")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1


def test_vectors_are_not_written_to_a_terminal(monkeypatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert encode.COMMAND.run([str(GOLDEN)]) == 2
