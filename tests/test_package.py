"""What is declared and what is used are the same: imports, data files."""

import sys
import tomllib
from fnmatch import fnmatch

import pytest

from tests.conftest import ROOT
from tests.imported import imported, packages_distributions

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = [name.rstrip("*") for name in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]]
MODULES = PROJECT["tool"]["setuptools"]["py-modules"]
CODE = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]


def requirements() -> set[str]:
    lines = (line.split("#")[0] for line in (ROOT / "requirements.txt").read_text().splitlines())
    return {line.split("==")[0].strip().lower() for line in lines if line.strip()}


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
