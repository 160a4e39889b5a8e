"""What is declared and what is used are the same: imports, data files."""

import ast
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = [name.rstrip("*") for name in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]]
MODULES = PROJECT["tool"]["setuptools"]["py-modules"]
CODE = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]


def requirements() -> set[str]:
    lines = (line.split("#")[0] for line in (ROOT / "requirements.txt").read_text().splitlines())
    return {line.split("==")[0].strip().lower() for line in lines if line.strip()}


def imported(path: Path) -> set[str]:
    """Top-level names that a file imports, here and inside its functions."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.split(".")[0] for name in names}


def test_every_imported_library_is_declared() -> None:
    scripts = [ROOT / f"{name}.py" for name in MODULES]
    used = {name for path in (*CODE, *scripts) for name in imported(path)}
    foreign = used - {*PACKAGES, *MODULES} - sys.stdlib_module_names
    optional = {name for names in PROJECT["project"]["optional-dependencies"].values() for name in names}
    distributions = packages_distributions()
    declared = requirements() | optional
    assert [n for n in foreign if not {d.lower() for d in distributions.get(n, [n])} & declared] == []


def test_every_package_of_the_code_is_installed() -> None:
    scripts = [ROOT / f"{name}.py" for name in MODULES]
    own = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"configs"}
    assert {name for path in (*CODE, *scripts) for name in imported(path)} & own <= set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_data_file_is_installed(package: str) -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    files = [path for path in (ROOT / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert files
    assert [p for p in files if p.suffix != ".py" and not any(fnmatch(p.name, form) for form in patterns)] == []
