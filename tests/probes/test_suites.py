"""A suite is one folder in probes/ and one YAML: everything else finds it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from probes.results import read_rows
from tests.conftest import ROOT, TINY

DATA = """
from probes.task import single
import numpy as np

WORDS = ("cat", "dog", "bird", "fish", "horse", "cow")

def items(size, seed):
    random = np.random.default_rng(seed)
    gold = random.integers(0, 2, size)
    return single([" ".join([*random.choice(WORDS, 3), "so" * y + "no" * (1 - y)]) for y in gold], gold)
"""
TASKS = """
from probes.classification import Classification
from probes.toy.data import items

def tasks(context, settings):
    parts = [items(size, seed) for seed, size in enumerate((settings["size"], 30, 30))]
    return [Classification("LastWord", ["no", "so"], *parts, suite="toy", grid=context.grid, seed=context.seed)]
"""
YAML = """\
# @package _global_
# A toy: which word comes last
suites:
  toy:
    _target_: probes.toy.tasks.tasks
    settings: toy

toy:
  size: 60                   # training sentences
"""
STUDY = """\
# A toy study
axes:
  model: {bov: objective=untrained encoder=bov}
scales:
  demo: {}
reports:
  every: ["table {runs} suite=toy out={study}/toy.md"]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a toy suite in one folder and one YAML, and a study of it."""
    folder = tmp_path_factory.mktemp("project")
    for path in ROOT.iterdir():
        if path.is_dir() and path.name in PACKAGES:
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.suffix == ".py":
            shutil.copy(path, folder)
    (folder / "probes" / "toy").mkdir()
    for name, text in (("__init__", ""), ("data", DATA), ("tasks", TASKS)):
        (folder / "probes" / "toy" / f"{name}.py").write_text(text)
    (folder / "configs" / "suite" / "toy.yaml").write_text(YAML)
    (folder / "configs" / "study" / "toy.yaml").write_text(STUDY)
    return folder


PACKAGES = {"common", "configs", "datamodules", "encoders", "objectives", "probes", "reports", "studies", "training"}


def said(project: Path, *arguments: str) -> str:
    """What a command of the copy prints; it must end well."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(project)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", ["train.py", "evaluate.py"])
def test_help_shows_a_new_suite_and_its_settings(project: Path, program: str) -> None:
    text = said(project, program, "--help")
    assert "toy              A toy: which word comes last" in text
    assert "toy.size=60" in text


def test_a_new_suite_is_probed_while_training_evaluated_and_reported_in_a_study(project: Path) -> None:
    tiny = [text for text in TINY if text.startswith(("corpus.", "probes.", "embeddings."))]
    quick = [*tiny, f"cache={project / 'cache'}", "suite=[probing,toy]"]
    folder = project / "results"
    said(project, "train.py", "study=toy", "scale=demo", f"study_dir={folder}", *quick)
    rows = [row for path in folder.rglob("probes.csv") for row in read_rows(path)]
    assert {row.suite for row in rows} == {"probing", "toy"}
    assert "LastWord" in (folder / "toy.md").read_text()
    printed = said(project, "evaluate.py", "model=majority", *quick, f"out={project / 'scores'}")
    assert "LastWord" in printed
    assert "SentLen" in printed
