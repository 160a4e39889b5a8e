"""A temporary folder that does not outlive its process for long: the next one deletes what a killed one left."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from encoder_lab.storage.files import temporary_path


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder in the system's folder for temporary files, deleted at the end."""
    with temporary_path(Path(tempfile.gettempdir()) / "sentence-encoders", folder=True) as folder:
        folder.chmod(0o700)
        yield folder
