"""Every package that we import is declared where it is needed."""

import sys

import pytest
from packaging.utils import canonicalize_name

from tests.declared import CORE, EXTRAS, OURS, names, of_extras
from tests.imported import imported, packages_distributions
from tests.packages import PACKAGES, ROOT


@pytest.mark.parametrize(
    ("folders", "extras"),
    [(PACKAGES, ("train", "export", "parse", "ray")), (("examples", "benchmarks", "tests", "."), EXTRAS)],
    ids=["installed", "others"],
)
def test_every_imported_package_is_declared(folders, extras) -> None:
    sources = [path for name in folders for path in (ROOT / name).glob("*.py" if name == "." else "**/*.py")]
    packages = set[str]().union(*map(imported, sources)) - OURS - set(sys.stdlib_module_names)
    declared, has = names([*CORE, *of_extras(*extras)]), packages_distributions()
    assert "torch" in packages
    assert [one for one in packages if not declared & set(map(canonicalize_name, has.get(one, [one])))] == []
