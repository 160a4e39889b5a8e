"""What our Python files import. Several tests ask for it, and each file is read once."""

import ast
import importlib.metadata
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def imported(path: Path) -> frozenset[str]:
    """The top-level packages that a file imports, anywhere in it."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module)
    return frozenset(name.split(".")[0] for name in modules)


@cache
def packages_distributions() -> Mapping[str, list[str]]:
    """The names in a registry of each package that can be imported."""
    return importlib.metadata.packages_distributions()
