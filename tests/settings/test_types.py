"""The types of the whole project. It is a test so that others run at the same time: it takes half a minute."""

import subprocess
import sys

from tests.conftest import ROOT


def test_the_types_of_the_project_are_right() -> None:
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
