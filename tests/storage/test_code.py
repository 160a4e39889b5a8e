"""A cache's key changes with the code that made what it holds."""

import ast
import os
import sys
from functools import partial
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from encoder_lab.storage.code import PROJECT_PACKAGES, ROOT, code_of, imported_files, loaded_code


def function_of(path: Path, text: str, changed: int) -> Any:
    path.write_text(text)
    os.utime(path, ns=(changed, changed))
    spec = spec_from_file_location("written", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.work


def test_the_same_file_has_the_same_hash_and_an_edited_one_another(tmp_path) -> None:
    path = tmp_path / "written.py"
    first = code_of(function_of(path, "def work(): return 1", 1))
    assert code_of(partial(function_of(path, "def work(): return 1", 2))) == first
    assert code_of(function_of(path, "def work(): return 2", 3)) != first
    # what has no file has its name
    assert code_of(len) == "len"


@pytest.fixture
def package(tmp_path, monkeypatch) -> Path:
    """A package of a user: tasks, which import helper, which imports words; and a file that nobody imports."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    files = {"__init__": "", "other": "", "helper": "from .words import WORD as WORD"}
    files |= {"tasks": "from theirs import (\n    helper,\n)\n\ndef work(): return helper.WORD"}
    files |= {"words": "import os, encoder_lab.errors as errors\nWORD = 1"}
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "theirs"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


@pytest.mark.parametrize("edited", ["words", "helper", "__init__", "other"])
def test_the_hash_depends_on_the_files_that_the_file_imports(package, edited) -> None:
    work = import_module("theirs.tasks").work
    before = code_of(work)
    with (package / f"{edited}.py").open("a") as file:
        file.write("\n# another line")
    assert code_of(work) == before  # this process has loaded what was there
    loaded_code.cache_clear()
    assert (code_of(work) != before) == (edited != "other")


@pytest.mark.parametrize("edited", ["words.py", "helper.py", "names.txt", "deep/helper.py", "other.py"])
def test_the_hash_depends_on_the_files_of_a_package_without_an_init(package, edited) -> None:
    (package / "__init__.py").unlink()
    (package / "names.txt").touch()
    (package / "deep").mkdir()
    (package / "deep" / "helper.py").write_text("from theirs import words\nfrom ..words import WORD")
    (package / "helper.py").write_text("import theirs.deep.helper as deep\nWORD = deep.WORD")
    work = import_module("theirs.tasks").work
    before = code_of(work)
    with (package / edited).open("a") as file:
        file.write("\n# another line")
    loaded_code.cache_clear()
    assert (code_of(work) != before) == (edited != "other.py")


def test_the_files_are_those_of_the_package_and_of_ours_not_those_of_others(package) -> None:
    names = ("__init__", "tasks", "helper", "words")
    ours = {ROOT / "encoder_lab" / "__init__.py", ROOT / "encoder_lab" / "errors.py"}
    assert imported_files(package / "tasks.py") == {package / f"{name}.py" for name in names} | ours


def test_what_is_installed_next_to_a_package_is_not_its_code(tmp_path) -> None:
    installed = tmp_path / "site-packages"
    for name in ("mine/__init__", "mine/tasks", "mine/helper", "torch/__init__", "other"):
        path = installed / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import torch\nimport other\nfrom mine import helper" if name == "mine/tasks" else "")
    result = imported_files(installed / "mine" / "tasks.py")
    assert sorted(path.name for path in result) == ["__init__.py", "helper.py", "tasks.py"]


@pytest.mark.parametrize("source", ["probes/classification.py", "probes/coherence/tasks.py", "probes/probing/data.py"])
def test_the_files_of_ours_are_those_that_pythons_parser_finds(source) -> None:
    result, waiting = {ROOT / source}, [ROOT / source]
    while waiting:
        tree = ast.parse((path := waiting.pop()).read_text(encoding="utf-8"))
        new = {file for name in modules_in(tree) for file in files_of(name)} - result
        assert path in result
        result |= new
        waiting += new
    assert imported_files(ROOT / source) == result


def modules_in(tree: ast.AST) -> list[str]:
    """What a file of ours imports, also where it may mean a name in a module; ours are absolute."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in names if name.split(".")[0] in PROJECT_PACKAGES]


def files_of(name: str) -> list[Path]:
    parts = name.split(".")
    places = [ROOT.joinpath(*parts[: depth + 1]) for depth in range(len(parts))]
    return [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py") if file.exists()]
