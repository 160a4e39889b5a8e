"""How far the settings of a command go: below its door, functions take the values that they use."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.packages import PACKAGES, ROOT

SETTINGS = {"RunSettings", "EvaluationSettings", "Probes", "Embeddings", "Trainer", "Checkpoints", "EarlyStopping"}
SETTINGS |= {"DictConfig", "ClassSettings", "SuiteSettings"}
OTHER = {"train": ("evaluate.py", "encoder_lab/evaluation"), "evaluate": ("train.py", "encoder_lab/training")}
MOST_FILES = 8


@cache
def takes_settings(file: Path) -> bool:
    """Whether a function of the file has a parameter that is the settings of a program, or a group of them."""
    functions = (f for f in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(f, ast.FunctionDef))
    hints = (argument.annotation for node in functions for argument in [*node.args.args, *node.args.kwonlyargs])
    return any(SETTINGS & set(re.findall(r"(?<![.\w])\w+", ast.unparse(hint))) for hint in hints if hint)


@pytest.mark.parametrize("program", OTHER)
def test_settings_pass_through_few_files(program) -> None:
    folders = {*(ROOT / package for package in PACKAGES), ROOT / "encoder_lab"}
    files = [ROOT / f"{program}.py", *(file for folder in folders for file in folder.rglob("*.py"))]
    others = tuple(str(ROOT / name) for name in OTHER[program])
    taking = [
        str(file.relative_to(ROOT)) for file in files if not str(file).startswith(others) and takes_settings(file)
    ]
    assert f"{program}.py" in taking
    assert len(taking) <= MOST_FILES, taking
