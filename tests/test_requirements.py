"""Every package that we import is pinned in requirements.txt."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.conftest import ROOT

SOURCES = [path for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
OPTIONAL = {"stanza"}  # the parser of datamodules/trees/parse.py, which says how to install it
OURS = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {name.split(".")[0] for name in found}


def declared() -> set[str]:
    """The names of requirements.txt as pip compares them."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return {normal(line.partition("==")[0]) for line in lines if "==" in line and not line.startswith("#")}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_imported_package_is_declared() -> None:
    packages = set().union(*map(imported, SOURCES)) - OURS - OPTIONAL - set(sys.stdlib_module_names)
    distributions = packages_distributions()
    assert {"torch", "hydra"} <= packages
    lacking = {name for name in packages if not declared() & set(map(normal, distributions.get(name, [name])))}
    assert lacking == set()
