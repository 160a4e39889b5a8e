"""A class, named tuple or type alias has a name that no other module of the packages uses."""

import ast
from collections.abc import Iterator

import pytest

from tests.packages import PACKAGES, ROOT

FOLDERS = ("benchmarks", "examples", *PACKAGES)


def _types(source: str) -> Iterator[str]:
    """Names of the public classes and type aliases of a module. A type variable is no type of its own."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not _is_type_variable(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name) and _is_camel_case(target.id)]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_"))


def _is_camel_case(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


def _is_type_variable(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "TypeVar"


def test_no_two_modules_define_a_type_of_the_same_name() -> None:
    modules: dict[str, list[str]] = {}
    paths = [*ROOT.glob("*.py"), *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))]
    for path in sorted(paths):
        module = path.relative_to(ROOT).as_posix()
        for name in set(_types(path.read_text(encoding="utf-8"))):
            modules.setdefault(name, []).append(module)
    assert {name: places for name, places in modules.items() if len(places) > 1} == {}


@pytest.mark.parametrize(("source", "names"), [
    ("class Cell: ...", ["Cell"]),
    ("Scores = dict[str, float]", ["Scores"]),
    ("Style: TypeAlias = str", ["Style"]),
    ("class _Cell: ...", []),
    ("SPLITS = 3", []),
    ("Item = TypeVar('Item')", []),
    ("def f():\n    class Inside: ...", []),
])  # fmt: skip
def test_classes_and_aliases_are_types(source, names) -> None:
    assert list(_types(source)) == names
