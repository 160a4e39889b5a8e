"""What is imported is declared, what is declared is pinned, and the wheel holds our packages and nothing else."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT
from tests.imported import imported, packages_distributions
from tests.packages import PACKAGES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
CORE = [Requirement(line) for line in PROJECT["dependencies"]]
ALL = [*CORE, *(Requirement(line) for lines in EXTRAS.values() for line in lines)]
PARSER = "stanza"  # which brings models of its own: make test does without it
OURS = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
SHIPPED = [*PACKAGES, "configs"]
INSTALLED = """
import sys
sys.modules |= dict.fromkeys({absent})  # importing them fails
sys.path.insert(0, {wheel!r})
from encoders import load_encoder
print(load_encoder({run!r}).encode(["the dog runs .", "a no-such-word"]).shape)
"""


def names(requirements: Iterable[Requirement]) -> set[str]:
    return {canonicalize_name(requirement.name) for requirement in requirements}


def undeclared(paths: Iterable[Path], declared: set[str]) -> set[str]:
    """The imported packages that none of the declared distributions has."""
    packages = set[str]().union(*map(imported, paths)) - OURS - set(sys.stdlib_module_names)
    has = packages_distributions()
    return {name for name in packages if not declared & set(map(canonicalize_name, has.get(name, [name])))}


@cache
def closure(requirements: frozenset[str]) -> set[str]:
    """Distributions with all that they need."""
    every, waiting = set[str](), set(requirements)
    while waiting:
        name = canonicalize_name(waiting.pop())
        needs = map(Requirement, distribution(name).requires or []) if name not in every else ()
        every.add(name)
        waiting |= {need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})}
    return every


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
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


@pytest.mark.parametrize(
    ("folders", "requirements"),
    [(PACKAGES, "train export parse"), (["examples", "benchmarks", "tests", "."], " ".join(EXTRAS))],
)
def test_every_imported_package_is_declared(folders: list[str], requirements: str) -> None:
    sources = [path for name in folders for path in (ROOT / name).glob("*.py" if name == "." else "**/*.py")]
    declared = names([*CORE, *(Requirement(line) for extra in requirements.split() for line in EXTRAS[extra])])
    assert undeclared(sources, declared) == set()


def test_every_dependency_has_a_range_and_its_pin_lies_in_it() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    wanted = [need for need in ALL if need.name not in (PROJECT["name"], PARSER)]
    assert [str(need) for need in wanted if versions.get(canonicalize_name(need.name), "") not in need.specifier] == []
    assert [need.name for need in CORE if not need.specifier] == []


def test_the_wheel_has_every_file_of_our_packages_and_no_other_name(wheel: zipfile.Path) -> None:
    info = f"{re.sub('-', '_', PROJECT['name'])}-{PROJECT['version']}.dist-info"
    assert {path.name for path in wheel.iterdir()} == {*SHIPPED, info}
    files = {path for name in SHIPPED for path in (ROOT / name).rglob("*") if path.is_file()}
    ours = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    assert ours == {name for name in wheel.root.namelist() if not name.startswith(info) and name[-1] != "/"}


def test_the_wheel_loads_a_run_with_its_own_dependencies_only_and_without_fasttext(
    wheel: zipfile.Path, tmp_path: Path
) -> None:
    core = closure(frozenset(names(CORE)))
    foreign = packages_distributions().items()
    absent = [
        "fasttext",
        *(name for name, has in foreign if name not in OURS and not core & set(map(canonicalize_name, has))),
    ]
    assert {"hydra", "matplotlib", "pytorch_lightning", "torchtext", "transformers"} <= set(absent)
    wheel.root.extractall(tmp_path / "site")
    code = INSTALLED.format(absent=absent, wheel=str(tmp_path / "site"), run=str(ROOT / "tests" / "golden_run"))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "(2, 8)\n", done.stderr
