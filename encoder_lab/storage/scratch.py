"""A temporary folder that does not outlive its process for long: the next one deletes what a killed one left."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.storage.locks import locked

PREFIX = "sentence-encoders-"
LOCK = ".lock"  # in the folder, held as long as its process lives


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder in the system's folder for temporary files, deleted at the end."""
    _sweep(Path(tempfile.gettempdir()))
    whole = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
    with whole as folder, locked(Path(folder) / LOCK):
        yield Path(folder)


def _sweep(place: Path) -> None:
    """Delete the folders of killed processes of this user."""
    for left in place.glob(f"{PREFIX}*"):
        if left.is_symlink() or not left.is_dir() or left.stat().st_uid != os.getuid():
            continue
        try:
            with locked(left / LOCK) as ours:
                if ours:
                    shutil.rmtree(left, ignore_errors=True)
        except (OSError, InputError):  # another process sweeps too
            continue
