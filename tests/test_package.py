"""Each imported package is declared and locked in its range; the wheel holds our packages and nothing else."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packages import PACKAGES, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
CORE = [Requirement(line) for line in PROJECT["dependencies"]]
OURS = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
PARSER = "stanza"  # which brings models of its own: make test does without it


DISTRIBUTIONS = packages_distributions()  # the names in a registry of each package that can be imported


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports, anywhere in it."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.split(".")[0] for name in modules}


def of_extras(*names: str) -> list[Requirement]:
    """The requirements of these extras."""
    return [Requirement(line) for name in names for line in EXTRAS[name]]


def names(requirements: Iterable[Requirement]) -> set[str]:
    """Names as pip compares them."""
    return {canonicalize_name(requirement.name) for requirement in requirements}


@pytest.mark.parametrize(("folders", "extras"), [
    (PACKAGES, ("train", "export", "parse", "ray")), (("examples", "benchmarks", "tests", "."), EXTRAS),
], ids=["installed", "others"])  # fmt: skip
def test_every_imported_package_is_declared(folders, extras) -> None:
    sources = [path for name in folders for path in (ROOT / name).glob("*.py" if name == "." else "**/*.py")]
    packages = set[str]().union(*map(imported, sources)) - OURS - set(sys.stdlib_module_names)
    declared = names([*CORE, *of_extras(*extras)])
    assert "torch" in packages
    registered = {package: set(map(canonicalize_name, DISTRIBUTIONS.get(package, [package]))) for package in packages}
    assert [package for package in packages if not declared & registered[package]] == []


def test_every_pin_lies_in_its_declared_range() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    needs = [need for need in (*CORE, *of_extras(*EXTRAS)) if need.name not in (PROJECT["name"], PARSER)]
    assert [str(need) for need in needs if versions.get(canonicalize_name(need.name), "") not in need.specifier] == []


def test_a_dependency_of_the_library_has_a_range() -> None:
    assert [need.name for need in CORE if not need.specifier] == []


def test_with_a_wheelhouse_nothing_comes_from_an_index() -> None:
    """PYTHON=3.12 is the interpreter python3.12."""
    command = ["make", "--dry-run", "--always-make", ".venv/installed", "PYTHON=3.12", "WHEELS=wheels"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    installs = [line for line in lines if "pip install" in line]
    assert "python3.12 -m venv .venv" in lines
    assert len(installs) == 2
    assert all(f"--no-index --find-links {ROOT / 'wheels'} " in line for line in installs)


SHIPPED = [*PACKAGES, "configs"]
INSTALLED = """
import sys
sys.modules |= dict.fromkeys({absent})  # importing them fails
sys.path.insert(0, {wheel!r})
from encoders import load_encoder
print(load_encoder({run!r}).encode(["the dog runs .", "a no-such-word"]).shape)
"""


def closure(requirements: set[str]) -> set[str]:
    """Distributions with all that they need."""
    every, waiting = set[str](), set(requirements)
    while waiting:
        name = canonicalize_name(waiting.pop())
        needs = map(Requirement, distribution(name).requires or []) if name not in every else ()
        every.add(name)
        waiting |= {need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})}
    return every


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.Path:
    """Built from a copy, as building writes into its folder."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in [*SHIPPED, "train.py", "evaluate.py", "report.py", "pyproject.toml", "README.md", "LICENSE"]:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", folder, source], check=True)
    return zipfile.Path(next(folder.glob("*.whl")))


def test_the_wheel_has_every_file_of_our_packages_and_no_other_name(wheel) -> None:
    info = f"{re.sub('-', '_', PROJECT['name'])}-{PROJECT['version']}.dist-info"
    assert {path.name for path in wheel.iterdir()} == {*SHIPPED, info}
    files = {path for name in SHIPPED for path in (ROOT / name).rglob("*") if path.is_file()}
    ours = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    assert ours == {name for name in wheel.root.namelist() if not name.startswith(info) and name[-1] != "/"}


def test_the_wheel_loads_a_run_with_its_own_dependencies_only_and_without_fasttext(wheel, tmp_path) -> None:
    core = closure(names(CORE))
    foreign = DISTRIBUTIONS.items()
    absent = [
        "fasttext",
        *(name for name, has in foreign if name not in OURS and not core & set(map(canonicalize_name, has))),
    ]
    assert {"hydra", "matplotlib", "pytorch_lightning", "torchtext", "transformers"} <= set(absent)
    wheel.root.extractall(tmp_path / "site")
    code = INSTALLED.format(absent=absent, wheel=str(tmp_path / "site"), run=str(ROOT / "tests" / "golden_run"))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "(2, 8)\n", done.stderr
