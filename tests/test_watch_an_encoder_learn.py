"""The example runs from its first line to its last, with a smaller run."""

import runpy
import subprocess
import sys

import report
from tests import commands
from tests.conftest import ROOT, TINY


def test_the_example_runs_and_leaves_both_pictures(lab, tmp_path, monkeypatch, capsys) -> None:
    def run(command: list[str], **_: bool) -> None:
        if command[1] == "report.py":  # in this process, as forks do not draw
            assert report.main(command[2:]) == 0
            return
        commands.succeed(*command[1:], f"cache={lab.cache}")

    monkeypatch.setattr(subprocess, "run", run)
    smaller = [*TINY, "checkpoints.steps=[2]", "probes.steps=[2]", "trainer.max_epochs=1", "probes.tasks=[SentLen]"]
    monkeypatch.setattr(sys, "argv", ["watch", str(tmp_path / "run"), *smaller])
    runpy.run_path(str(ROOT / "examples" / "watch_an_encoder_learn.py"))
    said = capsys.readouterr().out
    assert "epoch 0: cosine" in said
    for picture in ("probing.png", "discoeval.png"):
        assert (tmp_path / "run" / picture).stat().st_size > 10_000
