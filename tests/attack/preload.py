"""Compiles `faults.c`, which is preloaded into processes in which a system call is to fail."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path


@cache
def preload() -> str:
    """The library, for LD_PRELOAD of a process that begins later."""
    library = Path(tempfile.mkdtemp()) / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return str(library)
