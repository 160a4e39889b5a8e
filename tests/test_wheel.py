"""The wheel holds our packages and nothing else, and needs only what it declares."""

import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.declared import CORE, OURS, PROJECT, names
from tests.imported import packages_distributions
from tests.packages import PACKAGES, ROOT

SHIPPED = [*PACKAGES, "configs"]
INSTALLED = """
import sys
sys.modules |= dict.fromkeys({absent})  # importing them fails
sys.path.insert(0, {wheel!r})
from encoders import load_encoder
print(load_encoder({run!r}).encode(["the dog runs .", "a no-such-word"]).shape)
"""


def closure(requirements: set[str]) -> set[str]:
    """Distributions with all that they need."""
    every, waiting = set[str](), set(requirements)
    while waiting:
        name = canonicalize_name(waiting.pop())
        needs = map(Requirement, distribution(name).requires or []) if name not in every else ()
        every.add(name)
        waiting |= {need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})}
    return every


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.Path:
    """Built from a copy, as building writes into its folder."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in [*SHIPPED, "train.py", "evaluate.py", "report.py", "pyproject.toml", "README.md", "LICENSE"]:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", folder, source], check=True)
    return zipfile.Path(next(folder.glob("*.whl")))


def test_the_wheel_has_every_file_of_our_packages_and_no_other_name(wheel) -> None:
    info = f"{re.sub('-', '_', PROJECT['name'])}-{PROJECT['version']}.dist-info"
    assert {path.name for path in wheel.iterdir()} == {*SHIPPED, info}
    files = {path for name in SHIPPED for path in (ROOT / name).rglob("*") if path.is_file()}
    ours = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    assert ours == {name for name in wheel.root.namelist() if not name.startswith(info) and name[-1] != "/"}


def test_the_wheel_loads_a_run_with_its_own_dependencies_only_and_without_fasttext(wheel, tmp_path) -> None:
    core = closure(names(CORE))
    foreign = packages_distributions().items()
    absent = [
        "fasttext",
        *(name for name, has in foreign if name not in OURS and not core & set(map(canonicalize_name, has))),
    ]
    assert {"hydra", "matplotlib", "pytorch_lightning", "torchtext", "transformers"} <= set(absent)
    wheel.root.extractall(tmp_path / "site")
    code = INSTALLED.format(absent=absent, wheel=str(tmp_path / "site"), run=str(ROOT / "tests" / "golden_run"))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "(2, 8)\n", done.stderr
