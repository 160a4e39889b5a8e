"""The stages of a run's start: seconds from the start of Python to the first optimiser step.

python benchmarks/start_up.py                                      the demo, its cache filled by an earlier run
python benchmarks/start_up.py objective=nli encoder=bigru_mean     any settings of train.py
"""

import os
import pkgutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import ROOT
from encoder_lab.settings.command_line import asks_for_help, show_help

FIRST_STEP = "first step"
ARGUMENTS = "train.refuse_wrong_arguments"
WORK = {  # by function: the stage that ends with it
    "encoder_lab.training.build.suites_of": "corpus, tasks",
    "encoder_lab.training.build.run_vectors": "word vectors",
    "encoder_lab.training.build.build_run": "model",
    "probes.callback.ProbingCallback.on_train_start": "probing before training",
    "objectives.objective.Objective.on_before_optimizer_step": FIRST_STEP,
}


class Stages:
    """Prints when each stage ends; the functions of the run are replaced in this process."""

    def __init__(self) -> None:
        self.ended = (0.0, 0.0)

    def end(self, stage: str) -> None:
        started = float(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]) / 100
        wall, cpu = time.clock_gettime(time.CLOCK_BOOTTIME) - started, time.process_time()
        row = f"| {stage} | {wall - self.ended[0]:.1f} | {cpu - self.ended[1]:.1f} | {wall:.1f} |"
        print(row, file=sys.stderr, flush=True)
        self.ended = wall, cpu

    def end_with(self, function: str, stage: str) -> None:
        """The stage ends when a function, given by its dotted name, returns."""
        owner, name = pkgutil.resolve_name(function.rpartition(".")[0]), function.rpartition(".")[2]
        original = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            result = original(*arguments, **options)
            self.end(stage)
            if stage == FIRST_STEP:
                os._exit(0)  # an exception would be taken for Ctrl-C
            return result

        setattr(owner, name, timed)


def train_to_first_step(arguments: list[str]) -> None:
    """`python train.py ARGUMENTS` up to its first step."""
    import train

    stages, original = Stages(), train.train
    stages.end_with(ARGUMENTS, "Python, arguments")

    def timed(*settings: Any) -> None:
        stages.end("Hydra, libraries, settings")
        for function, stage in WORK.items():
            stages.end_with(function, stage)
        original(*settings)

    train.train = timed  # type: ignore[assignment]
    sys.argv = ["train.py", *arguments]
    train.main(arguments)


def main(arguments: list[str]) -> int:
    """Two runs, of which the first fills the cache; prints the stages of the second."""
    if asks_for_help(arguments):
        show_help(str(__doc__))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for run in ("first", "second"):
            command = [sys.executable, __file__, "--watched", *arguments, f"hydra.run.dir={folder}/{run}"]
            ended = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
            rows = [line for line in ended.stderr.splitlines() if line.startswith("| ")]
            if ended.returncode or not rows:
                print(ended.stderr, file=sys.stderr)
                return ended.returncode or 1
    print("\n".join(["| stage | seconds | CPU seconds | since the start |", "| --- | ---: | ---: | ---: |", *rows]))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--watched"]:
        train_to_first_step(sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
