"""Commands in which a chosen system call fails or kills them: one line, nothing left, and the same command finishes.

The preloaded `faults.c` counts the calls of a command to files below a folder. `make attack` alone tries these: they
are whole commands.
"""

import errno
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from shutil import copytree
from typing import Any

from hypothesis import strategies as st

from datamodules.demo import Demo
from tests import commands
from tests.attack import processes
from tests.attack.attack import Attack

KILL, ERRORS = 0, ("EIO", "ENOSPC", "EMFILE", "ESTALE")
SMALL = "probes.tasks=[SentLen] probes.train_size=60 probes.dev_size=30 probes.test_size=30"
COMMANDS = {  # what each writes below {0}, in which the folder `run` and `text.txt` are there
    "table": "report.py table {0}/run format=html out={0}/out/table.html",
    "figure": "report.py curves {0}/run out={0}/out/curves.png",
    "torch": "-m encoders.export {0}/run out={0}/out format=torch",
    "stock": "-m encoders.export {0}/run out={0}/out",
    "evaluate": f"evaluate.py model={{0}}/run out={{0}}/out cache={{0}}/cache {SMALL} probes.classifier.widths=[0]",
    "sentences": f"evaluate.py write_sentences={{0}}/out/sentences.txt cache={{0}}/cache {SMALL}",
    "probing": "-m probes.probing.build text={0}/text.txt out={0}/out tasks=[SentLen] train=60 dev=30 test=30",
    "coherence": "-m probes.coherence.build phenomenon=order source={0}/stories.jsonl out={0}/out",
    "discoeval": "-m probes.discoeval.build documents={0}/stories.jsonl out={0}/out train=60 dev=30 test=30",
    "vectors": "-m datamodules.word_vectors.train {0}/text.txt out={0}/out/vectors.bin dim=5 epochs=1 bucket=100",
    "demo": "-m datamodules.demo show=20 conllu={0}/out/demo.conllu",
    "train": " ".join(["train.py", *processes.TINY, "cache={0}/cache", "hydra.run.dir={0}/out"]),
}


def _prepared(place: Path) -> Path:
    """A folder with a finished run, sentences and stories."""
    copytree(processes._whole(), place / "run")
    demo = Demo(size=300)
    (place / "text.txt").write_text("".join(f"{sentence}\n" for sentence in islice(demo.sentences("train"), 300)))
    stories = ({"id": str(i), "sentences": story} for i, story in enumerate(_stories(demo)))
    (place / "stories.jsonl").write_text("".join(f"{json.dumps(story)}\n" for story in stories))
    return place


def _stories(demo: Demo) -> Iterator[list[str]]:
    sentences = list(islice(demo.sentences("train"), 300))
    return (sentences[at : at + 6] for at in range(0, len(sentences), 6))


def _done(name: str, place: Path, **faults: str) -> subprocess.CompletedProcess:
    text = COMMANDS[name].format(place)
    resumes = name == "train" and (place / "out" / "config.yaml").exists()
    arguments = ["train.py", f"resume={place / 'out'}"] if resumes else text.split()
    return commands.finish(*arguments, environment={**os.environ, **faults})


@cache
def _undisturbed(name: str) -> tuple[int, set[str]]:
    """How many calls a command makes, and what is there after it."""
    with tempfile.TemporaryDirectory() as folder:
        place, counted = _prepared(Path(folder) / "place"), Path(folder) / "count"
        done = _done(name, place, FAULT_PLACE=str(place), FAULT_COUNT=str(counted))
        assert done.returncode == 0, done.stderr
        assert counted.exists(), "the calls of this process are not counted: it began before preload()"
        return counted.stat().st_size, _there(place)


def _there(place: Path) -> set[str]:
    """The files in a folder, without locks, the cache, and logs with a time in their names."""
    files = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file() and path.suffix != ".lock"}
    return {name for name in files if "tfevents" not in name and not name.startswith("cache")}


def disturbed(case: Any, folder: Path) -> None:
    """One call fails, or the process is killed at it; then the same command does all that it should."""
    name, share, fault = case
    calls, there = _undisturbed(name)
    place = _prepared(folder / "place")
    at, error = 1 + int(share * (calls - 1)), getattr(errno, fault) if fault else KILL
    done = _done(name, place, FAULT_PLACE=str(place), FAULT_AT=str(at), FAULT_ERRNO=str(error))
    how = f"{name}, call {at} of {calls}, {fault or 'killed'}: status {done.returncode}\n{done.stderr[-3000:]}"
    assert "Traceback" not in done.stderr, how
    assert done.returncode in (0, 2, -signal.SIGKILL), how
    assert done.returncode != 2 or sum(line.startswith("error: ") for line in done.stderr.splitlines()) == 1, how
    left = [path.name for path in place.rglob("*.making")]
    assert done.returncode == -signal.SIGKILL or not left, f"{how}\nleft {left}"
    repeated = _done(name, place)
    finished = repeated.returncode == 2 and "already there" in repeated.stderr  # killed after its rename
    assert repeated.returncode == 0 or finished, f"{how}\nthen status {repeated.returncode}\n{repeated.stderr[-3000:]}"
    assert _there(place) == there, f"{how}\n{_there(place) ^ there}"
    assert not list(place.rglob("*.making")), how


_fault = st.just("") | st.sampled_from(ERRORS)
_case = st.tuples(st.sampled_from(sorted(COMMANDS)), st.floats(0, 1, width=16), _fault)
ATTACKS = [Attack("fault", _case, disturbed)]
