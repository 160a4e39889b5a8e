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

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from encoder_lab.settings.command_line import asks_for_help, show_help

CLOCK = time.CLOCK_BOOTTIME  # which /proc counts a process's start with
STEPS = "first step"
ARGUMENTS = "train.refuse_wrong_arguments"
WORK = {  # by function: the stage that ends with it
    "encoder_lab.training.build.suites_of": "corpus, tasks",
    "encoder_lab.training.build.run_vectors": "word vectors",
    "encoder_lab.training.build.build": "model",
    "probes.callback.ProbingCallback.on_train_start": "probing before training",
    "objectives.objective.Objective.on_before_optimizer_step": STEPS,
}


def since_the_start() -> float:
    """Seconds since this process started."""
    started = float(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]) / 100
    return time.clock_gettime(CLOCK) - started


class Stages:
    """Prints when each stage ends; the functions of the run are replaced in this process."""

    def __init__(self) -> None:
        self.last = (0.0, 0.0)

    def ends(self, stage: str) -> None:
        now = since_the_start(), time.process_time()
        wall, cpu = (later - earlier for later, earlier in zip(now, self.last, strict=True))
        print(f"| {stage} | {wall:.1f} | {cpu:.1f} | {now[0]:.1f} |", file=sys.stderr, flush=True)
        self.last = now

    def after(self, function: str, stage: str) -> None:
        """Notes the end of a stage when a function, given by its dotted name, returns."""
        owner, name = pkgutil.resolve_name(function.rpartition(".")[0]), function.rpartition(".")[2]
        watched = getattr(owner, name)

        def noted(*arguments: Any, **named: Any) -> Any:
            result = watched(*arguments, **named)
            self.ends(stage)
            if stage == STEPS:
                os._exit(0)  # an exception would be taken for Ctrl-C
            return result

        setattr(owner, name, noted)


def watched(arguments: list[str]) -> None:
    """`python train.py ARGUMENTS` up to its first step."""
    import train

    stages, work = Stages(), train.train
    stages.after(ARGUMENTS, "Python, arguments")

    def begin(*settings: Any) -> None:
        stages.ends("Hydra, libraries, settings")
        for function, stage in WORK.items():
            stages.after(function, stage)
        work(*settings)

    train.train = begin
    sys.argv = ["train.py", *arguments]
    train.command(arguments)


def main(arguments: list[str]) -> int:
    """Two runs, of which the first fills the cache; prints the stages of the second."""
    if asks_for_help(arguments):
        show_help(str(__doc__))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for run in ("first", "second"):
            if run == "second":
                print("| stage | seconds | CPU seconds | since the start |\n| --- | ---: | ---: | ---: |")
            settings = [*arguments, f"hydra.run.dir={folder}/{run}"]
            done = subprocess.run([sys.executable, __file__, "--watched", *settings], cwd=ROOT, stderr=subprocess.PIPE)
            rows = [line for line in done.stderr.decode().splitlines() if line.startswith("| ")]
            if done.returncode or not rows:
                print(done.stderr.decode(), file=sys.stderr)
                return done.returncode or 1
        print("\n".join(rows))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--watched"]:
        watched(sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
