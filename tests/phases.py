"""Observe the phase of a run, and send SIGKILL at a given moment of a phase.

The program itself has no code for this: its functions are replaced in the process that will be killed.
"""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

from tests.commands import ROOT

START = "start"  # before any of them
PHASES = {  # the functions that a phase consists of
    "data preparation": (
        "datamodules.seq2seq.TextPairs.write",
        "encoder_lab.training.build.suites_of",
        "encoder_lab.training.build.run_vectors",
    ),
    "training step": ("encoder_lab.training.trainer.fit",),  # save what is another phase's
    "checkpoint write": ("encoder_lab.training.checkpoints.AtomicCheckpoints.save_checkpoint",),
    "probing": ("probes.callback.ProbingCallback.probe",),
    "final report": ("train.draw_run_curves",),
}
MOMENTS = (  # what happens in them: a moment before and one after each, and so for the above
    "os.fsync",
    "os.replace",
    "torch.save",
    "datamodules.base.write_sides",
    "datamodules.base.write_words",
    "datamodules.word_vectors.store.train_bin",
    "probes.probing.data.write_task",
    "objectives.objective.Objective.on_train_batch_start",
    "objectives.sequence.SequenceObjective.training_step",
    "objectives.objective.Objective.validation_step",
    "probes.classification.Classification.score",
    "encoder_lab.reports.curves.draw_curves",
    "encoder_lab.training.tensorboard.add_picture",
)


class Death(NamedTuple):
    """The `moment`-th moment of a phase in one process, counted from 1."""

    phase: str
    moment: int


class Watch:
    """Writes to `file` which phase this process is in and how many moments of each it had; kills it at `death`."""

    def __init__(self, file: Path, death: Death | None) -> None:
        self.file, self.death = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), death
        self.phase, self.moments = START, Counter[str]()

    def begin(self) -> None:
        """Replace the functions."""
        self._note()
        for phase, names in PHASES.items():
            for name in names:
                self._wrap(name, phase)
        for name in MOMENTS:
            self._wrap(name, None)

    def _wrap(self, name: str, phase: str | None) -> None:
        place, _, last = name.rpartition(".")
        owner = resolve_name(place)
        wrapped: Callable[..., Any] = getattr(owner, last)

        def watched(*arguments: Any, **more: Any) -> Any:
            before, self.phase = self.phase, phase or self.phase
            self._moment()
            result = wrapped(*arguments, **more)
            self._moment()
            self.phase = before
            self._note()
            return result

        setattr(owner, last, watched)

    def _moment(self) -> None:
        self.moments[self.phase] += 1
        self._note()
        if self.death == (self.phase, self.moments[self.phase]):
            os.kill(os.getpid(), signal.SIGKILL)

    def _note(self) -> None:
        """In one write, which a kill leaves whole."""
        os.pwrite(self.file, json.dumps([self.phase, self.moments]).ljust(500).encode(), 0)


def read_watch(file: Path) -> tuple[str, Counter[str]]:
    """The phase and the moments that a Watch wrote last; a death before its first word was at the start."""
    text = file.read_text() if file.exists() else ""
    phase, moments = json.loads(text) if text else (START, {})
    return phase, Counter(moments)


def attempt(arguments: list[str], watched: Path, death: Death | None) -> None:
    """`python train.py`, watched, in this process, which must be a fresh fork."""
    os.chdir(ROOT)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    sys.argv = ["train.py", *arguments]
    from train import main

    Watch(watched, death).begin()
    main(arguments)
