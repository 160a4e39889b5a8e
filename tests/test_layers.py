"""Dependencies point one way: storage <- datamodules <- encoders <- objectives <- training, and probes <- reports."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.packages import PACKAGES, ROOT

BASE = {"errors", "model", "progress", "settings", "storage", "compute"}  # what every package may import
DATA, MODELS = BASE | {"datamodules"}, BASE | {"datamodules", "encoders"}
ALLOWED = {
    "settings": BASE,
    "storage": BASE,
    "compute": BASE,
    "datamodules": DATA,
    "encoders": MODELS,
    "objectives": MODELS | {"objectives"},
    "probes": DATA | {"probes"},
    "reports": BASE | {"probes", "reports"},
    "evaluation": MODELS | {"objectives", "probes", "reports", "studies", "evaluation"},
    "training": MODELS | {"objectives", "probes", "training"},
    "studies": BASE | {"studies"},
}
LAB = "encoder_lab"
PARTS = {path.stem for path in (ROOT / LAB).iterdir() if path.suffix == ".py" or path.is_dir()}
OURS = {*PACKAGES, *PARTS, "train", "evaluate", "report", "configs", "tests", "benchmarks"}


def imported_names(path: Path) -> set[str]:
    """What a file imports, anywhere in it, by dotted names: modules and the names that it takes from them."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def imported(path: Path) -> set[str]:
    """Our packages that a file imports; of `encoder_lab` the packages and modules in it."""
    return OURS & {name.removeprefix(f"{LAB}.").split(".")[0] for name in imported_names(path)}


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_lower_packages(package) -> None:
    folder = ROOT / package if package in PACKAGES else ROOT / LAB / package
    files = sorted(folder.rglob("*.py"))
    assert files
    wrong = {
        str(path.relative_to(ROOT)): sorted(extra) for path in files if (extra := imported(path) - ALLOWED[package])
    }
    assert not wrong


def imported_files(path: Path) -> set[Path]:
    """Our files that a file imports."""
    modules = {module for name in imported_names(path) for module in (name, name.rpartition(".")[0])}
    return {file for name in modules if (file := ROOT.joinpath(*name.split(".")).with_suffix(".py")).is_file()}


def test_imports_form_no_circle() -> None:
    files = [file for folder in [*PACKAGES, LAB] for file in (ROOT / folder).rglob("*.py")]
    TopologicalSorter({file: imported_files(file) for file in files}).prepare()


SLOW = r"sklearn|pandas|pyarrow|transformers|datasets|matplotlib|nltk|fasttext|scipy\.\w+"
BEGINNINGS = {
    "a run": (["training.build", "training.trainer"], SLOW),
    "an evaluation": (["evaluation.open_models", "reports.evaluations"], f"{SLOW}|pytorch_lightning"),
}


@pytest.mark.parametrize("work", BEGINNINGS)
def test_work_begins_without_slow_libraries(work) -> None:
    """They are imported where they are used: each takes a tenth of a second and more before the first step."""
    modules, names = BEGINNINGS[work]
    slow = re.compile(rf"({names})\b")
    waiting, seen = [f"{LAB}.{module}" for module in modules], set[str]()
    while waiting:
        seen.add(module := waiting.pop())
        if (file := ROOT.joinpath(*module.split(".")).with_suffix(".py")).is_file():
            for node in ast.parse(file.read_text(encoding="utf-8")).body:  # not what a function imports
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
                above = [f"{node.module}"] if isinstance(node, ast.ImportFrom) else []
                waiting += {*above, *(".".join([*above, name]) for name in names)} - seen
    assert "probes.statistics" in seen
    assert not {name for name in seen if slow.match(name)}


def test_only_commands_and_studies_import_hydra() -> None:
    """Everything else gets frozen settings or plain data."""
    folders = [ROOT / package if package in PACKAGES else ROOT / LAB / package for package in ALLOWED]
    files = [file for folder in folders for file in folder.rglob("*.py") if folder.name != "studies"]
    knows = re.compile(r"^\s*(from|import) (hydra|omegaconf)\b", re.MULTILINE)
    assert not [str(file) for file in files if knows.search(file.read_text(encoding="utf-8"))]


def test_every_package_has_its_rule() -> None:
    folders = {path.name for path in (ROOT / LAB).iterdir() if (path / "__init__.py").exists()}
    assert {*folders, *PACKAGES} - {LAB} == set(ALLOWED)
