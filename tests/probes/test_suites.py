"""A suite is one folder in probes/ and one YAML: everything else finds it."""

import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from encoder_lab.errors import InputError
from probes.classifiers.grid import Grid
from probes.discoeval.data import PUBLISHED_SIZES
from probes.discoeval.tasks import DiscoEvalSettings
from probes.discoeval.tasks import tasks as discourse_tasks
from probes.probing.data import FromSentEval
from probes.results import read_rows
from probes.suites import Context, suites_of
from probes.task import single, warn_of_wrong_sizes
from tests.asked import evaluation
from tests.commands import FORKS
from tests.conftest import ROOT, TINY
from tests.packages import PACKAGES
from tests.probes.discoeval.small_files import small_files
from tests.probes.downstream.small_files import folder_of_tasks
from tests.tiny_corpus import TinyCorpus

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
def project(tmp_path_factory) -> Path:
    """A copy of the project with a toy suite in one folder and one YAML, and a study of it."""
    folder = tmp_path_factory.mktemp("project")
    for path in ROOT.iterdir():
        if path.is_dir() and path.name in ("configs", *PACKAGES):
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.suffix == ".py":
            shutil.copy(path, folder)
    (folder / "probes" / "toy").mkdir()
    for name, text in (("__init__", ""), ("data", DATA), ("tasks", TASKS)):
        (folder / "probes" / "toy" / f"{name}.py").write_text(text)
    (folder / "configs" / "suite" / "toy.yaml").write_text(YAML)
    (folder / "configs" / "study" / "toy.yaml").write_text(STUDY)
    return folder


def become(folder: Path, arguments: Sequence[str], log: Path) -> None:
    """Do what `python ARGUMENTS` does in a copy of the project, in this process, which must be a fresh fork."""
    os.chdir(folder)
    for number in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    for name in [name for name in sys.modules if name.split(".")[0] in {*PACKAGES, "train", "evaluate", "report"}]:
        del sys.modules[name]  # the copy has its own
    GlobalHydra.instance().clear()
    sys.path.insert(0, str(folder))
    sys.argv = list(arguments)
    launch = subprocess.run
    subprocess.run = lambda command, **more: (  # type: ignore[assignment]
        forked(folder, log, command) if Path(command[1]).parent == folder else launch(command, **more)
    )
    runpy.run_path(arguments[0], run_name="__main__")


def forked(folder: Path, log: Path, command: Sequence[str]) -> subprocess.CompletedProcess:
    """The cells and reports of a study, without the seconds of their imports."""
    if not (child := os.fork()):
        status = 1
        try:
            become(folder, [str(Path(command[1]).relative_to(folder)), *command[2:]], log)
            status = 0
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            sys.stdout.flush()
            os._exit(status)
    return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def printed(project: Path, *arguments: str) -> str:
    """What a command of the copy prints; it must end well."""
    text = project / "log"
    text.unlink(missing_ok=True)
    process = FORKS.Process(target=become, args=(project, arguments, text))
    process.start()
    process.join(300)
    assert process.exitcode == 0, text.read_text()
    return text.read_text()


@pytest.mark.parametrize("file", sorted((ROOT / "configs" / "suite").glob("*.yaml")), ids=lambda file: file.stem)
def test_a_suite_says_what_it_reads_of_the_settings_of_all_suites(file, lab, tmp_path) -> None:
    tiny = [text for text in TINY if text.startswith(("corpus.", "probes."))]
    chosen = f"suite=[{'probing,' * (file.stem == 'use')}{file.stem}]"
    more = [f"downstream.root={folder_of_tasks(tmp_path)}"] * (file.stem == "downstream")
    more += [f"discoeval.{split}_size=60" for split in ("train", "dev", "test")] * (file.stem == "discoeval")
    more += ["geometry.sentences=60"] * (file.stem == "geometry")
    settings = evaluation(chosen, *tiny, *more)
    corpus = settings.corpus.build()
    suites = [suites_of(settings.suites, Grid(l2=(l2,)), 1, corpus, lab.cache)[-1] for l2 in (1.0, 2.0)]
    prints = [{task.fingerprint for task in suite.tasks} for suite in suites]
    reads = {"classifier": prints[0] != prints[1], "corpus": suites[0].uses_corpus}
    reads["surprisal"] = any(task.needs == "surprisal" for task in suites[0].tasks)
    assert OmegaConf.load(file).suites[file.stem].reads == [name for name, read in reads.items() if read]


@pytest.mark.parametrize(("asked", "grid", "message"), [
    ("suite=discoeval discoeval.tasks=[SSP,BSO]", Grid(dropouts=(0.5,)), "no task here has a hidden layer"),
    ("suite=probing probes.tasks=WC", Grid(widths=(9,)), "no task here has a hidden layer"),
    ("suite=discoeval discoeval.tasks=[SSP,DC]", Grid(widths=(9,)), ""),
    ("suite=discoeval discoeval.tasks=SSP", Grid(widths=(0,)), ""),
    ("suite=downstream downstream.tasks=STSB-cosine", Grid(l2=(1.0,)), "l2: no task here has a classifier"),
    ("suite=downstream downstream.tasks=[STSB-cosine,SICK-E]", Grid(l2=(1.0,)), ""),
    ("suite=[downstream,probing] downstream.tasks=STSB-cosine", Grid(widths=(9,)), ""),
])  # fmt: skip
def test_settings_of_classifiers_that_no_task_here_has_are_refused(lab, tmp_path, asked, grid, message) -> None:
    data = [f"downstream.root={folder_of_tasks(tmp_path)}"] * ("downstream" in asked)
    data += [f"discoeval.{split}_size=60" for split in ("train", "dev", "test")] * ("discoeval" in asked)
    tiny = (text for text in TINY if text.startswith(("corpus.", "probes.")))
    settings = evaluation(*tiny, *asked.split(), *data)
    with pytest.raises(InputError, match=message) if message else nullcontext():
        suites_of(settings.suites, grid, 1, settings.corpus.build(), lab.cache)


@pytest.mark.parametrize("program", ["train.py", "evaluate.py"])
def test_help_shows_a_new_suite_and_its_settings(project, program) -> None:
    text = printed(project, program, "--help")
    assert "toy              A toy: which word comes last" in text
    assert "toy.size=60" in text


def test_a_new_suite_is_probed_while_training_evaluated_and_reported_in_a_study(project, lab) -> None:
    tiny = [text for text in TINY if text.startswith(("corpus.", "probes."))]
    quick = [*tiny, f"cache={lab.cache}", "suite=[probing,toy]"]
    folder = project / "results"
    printed(project, "train.py", "study=toy", "scale=demo", f"study_dir={folder}", "embeddings.dim=10", *quick)
    rows = [row for path in folder.rglob("probes.csv") for row in read_rows(path)]
    assert {row.suite for row in rows} == {"probing", "toy"}
    assert "LastWord" in (folder / "toy.md").read_text()
    text = printed(project, "evaluate.py", "model=majority", *quick, f"out={project / 'scores'}")
    assert "LastWord" in text
    assert "SentLen" in text


@pytest.mark.parametrize(
    ("items", "published", "wrong"), [(8, 9, True), (9, 10, False), (10, 10, False), (12, 10, True)]
)
def test_a_size_within_a_tenth_is_the_published_one(items, published, wrong, capsys) -> None:
    part = single(["a"] * items, np.zeros(items, np.int64))
    warn_of_wrong_sizes({"MR": [part], "own": [part]}, {"MR": published})
    lines = [f"warning: MR: {items} items, but {published} are published; its scores are not those of the task"]
    assert capsys.readouterr().err.splitlines() == lines * wrong


def test_a_part_of_a_published_probing_file_says_so(tmp_path, capsys) -> None:
    lines = [f"{part}\t{label}\ta b .\n" for part in ("tr", "va", "te") for label in (0, 1)]
    (tmp_path / "sentence_length.txt").write_text("".join(lines))
    FromSentEval(str(tmp_path)).tasks(Context(Grid(), 1, tmp_path, TinyCorpus()), ["SentLen"], (None, None, None))
    assert "SentLen: 6 items, but 120,000 are published" in capsys.readouterr().err


def test_a_part_of_the_published_discourse_data_says_so(tmp_path, capsys) -> None:
    settings = DiscoEvalSettings(str(small_files(tmp_path / "data")))
    tasks = discourse_tasks(Context(Grid(), 1, tmp_path, TinyCorpus()), settings)
    lines = capsys.readouterr().err.splitlines()
    assert sum("are published" in line for line in lines) == len(tasks) == len(PUBLISHED_SIZES)
