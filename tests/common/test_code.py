"""A cache's key changes with the code that made what it holds."""

import os
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from common.code import code_of


def function_of(path: Path, text: str, changed: int) -> Any:
    path.write_text(text)
    os.utime(path, ns=(changed, changed))
    spec = spec_from_file_location("written", path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.work


def test_the_same_file_has_the_same_hash_and_an_edited_one_another(tmp_path: Path) -> None:
    path = tmp_path / "written.py"
    first = code_of(function_of(path, "def work(): return 1", 1))
    assert code_of(partial(function_of(path, "def work(): return 1", 2))) == first
    assert code_of(function_of(path, "def work(): return 2", 3)) != first


def test_what_has_no_file_has_its_name() -> None:
    assert code_of(len) == "len"
