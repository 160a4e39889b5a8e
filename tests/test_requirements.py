"""Every package that we import is pinned in requirements.txt."""

import re
import sys

from tests.conftest import ROOT
from tests.imported import imported, packages_distributions

FOLDERS = [path for path in ROOT.iterdir() if path.is_dir() and path.name != ".venv"]  # which has very many files
SOURCES = [*ROOT.glob("*.py"), *(path for folder in FOLDERS for path in folder.rglob("*.py"))]
OPTIONAL = {"stanza"}  # the parser of datamodules/trees/parse.py, which says how to install it
OURS = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def declared() -> set[str]:
    """The names of requirements.txt as pip compares them."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return {normal(line.partition("==")[0]) for line in lines if "==" in line and not line.startswith("#")}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_imported_package_is_declared() -> None:
    packages = set[str]().union(*map(imported, SOURCES)) - OURS - OPTIONAL - set(sys.stdlib_module_names)
    distributions = packages_distributions()
    assert {"torch", "hydra"} <= packages
    lacking = {name for name in packages if not declared() & set(map(normal, distributions.get(name, [name])))}
    assert lacking == set()
