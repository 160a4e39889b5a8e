"""What pyproject.toml declares."""

import tomllib
from collections.abc import Iterable

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
CORE = [Requirement(line) for line in PROJECT["dependencies"]]
OURS = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def of_extras(*names: str) -> list[Requirement]:
    """The requirements of these extras."""
    return [Requirement(line) for name in names for line in EXTRAS[name]]


def names(requirements: Iterable[Requirement]) -> set[str]:
    """Names as pip compares them."""
    return {canonicalize_name(requirement.name) for requirement in requirements}
