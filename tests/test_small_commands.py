"""Errors of the small commands: a full disk, an invalid name."""

import errno
import os

import pytest

from datamodules.demo import __main__ as demo
from datamodules.download import __main__ as download
from datamodules.trees import parse
from datamodules.word_vectors import train as train_vectors
from probes.probing.build import __main__ as build

CASES = {
    "train_vectors": (
        train_vectors.COMMAND.run,
        "datamodules.word_vectors.store.train_bin",
        ["{text}", "out={out}/a.bin"],
    ),
    "parse": (parse.COMMAND.run, "datamodules.trees.parse.stanza_parser", ["{text}", "{out}/a.mrg"]),
    "download": (download.COMMAND.run, "datamodules.download.fetch.download", ["multi30k", "to={out}"]),
}
BUILD = ["trees={trees}", "out={out}", "tasks=SentLen", "train=9"]
CASES |= {"build": (build.COMMAND.run, "probes.probing.build.report.write_report", BUILD)}


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(("command", "writes", "arguments"), CASES.values(), ids=CASES.keys())
def test_a_full_disk_is_one_line(command, writes, arguments, tmp_path, monkeypatch, capsys) -> None:
    text, trees = tmp_path / "a.txt", tmp_path / "a.mrg"
    text.write_text("A dog runs .\n")
    trees.write_text("(ROOT (S (NP (DT A) (NN dog)) (VP (VBZ runs) (ADVP (RB here)) (ADVP (RB now))) (. .)))\n")
    monkeypatch.setattr(writes, full)
    status = command([part.format(text=text, trees=trees, out=tmp_path) for part in arguments])
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert status == 2
    assert len(errors) == 1
    assert "No space left on device" in errors[0]


NO_EFFECT = {
    "name": (train_vectors.COMMAND.run, ["a.txt", "out=words.vec"], "words.vec: give a name that ends in .bin"),
    **{
        key: (train_vectors.COMMAND.run, ["a.txt", "out=a.bin", f"{key}=0"], f"{key}=0: give a whole number from 1")
        for key in ("dim", "epochs", "bucket", "threads")
    },
    "show": (demo.COMMAND.run, ["show=0"], "show=0: give a whole number from 1"),
    "both": (
        demo.COMMAND.run,
        ["documents=true", "inference=true"],
        "documents= and inference=: each is printed instead",
    ),
}


@pytest.mark.parametrize(("command", "arguments", "message"), NO_EFFECT.values(), ids=NO_EFFECT.keys())
def test_what_can_have_no_effect_is_refused(command, arguments, message, capsys) -> None:
    assert command(arguments) == 2
    assert message in capsys.readouterr().err
