"""What made a run: the commit, versions, number of threads; in its config.yaml, as information for the user."""

import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("torch", "pytorch-lightning", "hydra-core", "numpy", "scipy")
PACKAGES = (*LIBRARIES, "sentencepiece", "fasttext", "torchtext", "transformers")
MADE_WITH_KEYS = ("commit", "python", "threads", *PACKAGES)
MADE_WITH_BLOCK = re.compile(rb"^made_with:\n(?:[ \t].*\n?)*", re.MULTILINE)  # in a config.yaml


def made_with() -> dict[str, str | int | None]:
    """A value for each of MADE_WITH_KEYS; None for a package that is not installed, and for the commit outside git."""
    import torch

    setup = {"commit": checked_out_commit(), "python": platform.python_version(), "threads": torch.get_num_threads()}
    return {**setup, **{name: _version(name) for name in PACKAGES}, "torch": str(torch.__version__)}  # with its build


def without_made_with(settings: bytes) -> bytes:
    """The bytes of a config.yaml without that block."""
    return MADE_WITH_BLOCK.sub(b"", settings)


def checked_out_commit(file: Path = Path(__file__)) -> str | None:
    """The commit that `file` is checked out from, followed by "-dirty" if tracked files have changed."""
    if run_git(file.parent, "ls-files", "--error-unmatch", file.name) is None:  # installed inside another repository
        return None
    return run_git(file.parent, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def run_git(folder: Path, *arguments: str) -> str | None:
    """What git prints, without the spaces around it; None where it fails or is not installed."""
    try:
        command = ["git", "--no-optional-locks", *arguments]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:  # no git on this machine
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
