"""Each system call of a write fails, or kills the process at it: the target is old or new, and nothing else is left."""

import json
import os
import subprocess
import sys

import pytest

from tests.attack.preload import preload
from tests.conftest import ROOT

WORK = """
import errno, json, os, sys
from pathlib import Path
from encoder_lab.storage import files

place, writer = Path(sys.argv[1]), sys.argv[2]

def write():
    if writer == "file":
        with files.atomic_write(place / "a") as file:
            file.write("new")
    else:
        with files.disk_errors(place / "a"), files.temporary_path(place / "a", folder=True) as work:
            (work / "x").write_text("new")
            work.rename(place / "a")

def there():
    return sorted(f"{path.name}={path.read_text()}" for path in place.rglob("*") if path.is_file())

def tried(at, error):
    # in a fork, where no file was written yet
    child = os.fork()
    if child == 0:
        os.environ.update(FAULT_PLACE=str(place) if at else "-", FAULT_AT=str(at), FAULT_ERRNO=str(error))
        try:
            write()
        except OSError as failed:
            os._exit(failed.errno)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

for error in (0, errno.EIO, errno.ENOSPC, errno.EMFILE, errno.ESTALE):
    for at in range(1, 15):
        status, after = tried(at, error), there()
        tried(0, 0) if writer == "file" else files.delete_leftovers(place)
        print(json.dumps([at, error, status, after, there(), len(list(place.iterdir()))]))
        for path in sorted(place.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
"""


@pytest.mark.parametrize("writer", ["file", "folder"])
def test_a_call_that_fails_or_kills_leaves_the_target_whole_and_nothing_for_long(tmp_path, writer) -> None:
    place = tmp_path / "place"
    place.mkdir()
    command, environment = [sys.executable, "-c", WORK, place, writer], {**os.environ, "LD_PRELOAD": preload()}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    new = ["a=new"] if writer == "file" else ["x=new"]
    for at, error, status, after, later, count in seen:
        where = f"call {at}, {error}: {status}, {after}, then {later}"
        assert status in (0, error or -9), where
        assert after in ([], new) or status == -9, where
        assert status != 0 or after == new, where
        assert later in ([], new), where
        assert count <= 1, where
    assert {status for _, _, status, *_ in seen} >= {0, -9, 5}
