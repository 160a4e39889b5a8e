"""A run says which commit and versions made it; nothing that compares runs looks at that."""

import platform
import subprocess
from pathlib import Path

import pytest
import torch
from omegaconf import OmegaConf

from encoder_lab.errors import InputError
from encoder_lab.reports.models import models_of
from encoder_lab.reports.runs import read_run
from encoder_lab.storage.made_with import MADE_WITH_KEYS, checked_out_commit, made_with, without_made_with
from encoder_lab.studies.results import commit_of
from tests.reports.small_runs import run_of


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_versions_are_those_of_this_process() -> None:
    result = made_with()
    assert tuple(result) == MADE_WITH_KEYS
    assert (result["python"], result["torch"]) == (platform.python_version(), torch.__version__)


def test_the_commit_is_that_of_the_file_and_says_whether_something_changed(tmp_path) -> None:
    (tmp_path / "code.py").write_text("a = 1\n")
    assert checked_out_commit(tmp_path / "code.py") is None
    git(tmp_path, "init")
    assert (
        checked_out_commit(tmp_path / "code.py") is None
    )  # not tracked, as a package that is installed inside a repository
    git(tmp_path, "add", "code.py")
    git(tmp_path, "commit", "-m", "first")
    first = git(tmp_path, "rev-parse", "HEAD")
    assert checked_out_commit(tmp_path / "code.py") == first
    (tmp_path / "code.py").write_text("a = 2\n")
    assert checked_out_commit(tmp_path / "code.py") == f"{first}-dirty"


def test_results_are_of_a_commit_without_changes(tmp_path) -> None:
    with pytest.raises(InputError, match="git does not know the commit"):
        commit_of(tmp_path)
    git(tmp_path, "init")
    (tmp_path / "train.py").write_text("a = 1\n")
    git(tmp_path, "add", "train.py")
    git(tmp_path, "commit", "-m", "first")
    assert commit_of(tmp_path) == git(tmp_path, "rev-parse", "--short", "HEAD")
    (tmp_path / "train.py").write_text("a = 2\n")
    with pytest.raises(InputError, match=r"^train\.py differs from its commit"):
        commit_of(tmp_path)


def with_versions(folder: Path, torch_version: str) -> Path:
    with (folder / "config.yaml").open("a") as file:
        file.write(OmegaConf.to_yaml({"made_with": {**made_with(), "torch": torch_version}}))
    return folder


def test_runs_made_with_other_versions_are_of_one_model(tmp_path) -> None:
    runs = [with_versions(run_of(tmp_path / text, seed=int(text)), f"{text}.0") for text in ("1", "2")]
    (model,) = models_of(map(read_run, [*runs, run_of(tmp_path / "3", seed=3)]))
    assert len(model.runs) == 3


@pytest.mark.parametrize("behind", ["", "seed: 1\n"])
def test_only_the_block_of_versions_is_left_out(behind) -> None:
    block = OmegaConf.to_yaml({"made_with": made_with()})
    settings = f"a:\n  made_with: x\n{block}{behind}"
    assert without_made_with(settings.encode()) == f"a:\n  made_with: x\n{behind}".encode()
