"""The lock file holds one version of every declared package, within its range."""

import subprocess

from packaging.utils import canonicalize_name

from tests.declared import CORE, EXTRAS, PROJECT, of_extras
from tests.packages import ROOT

PARSER = "stanza"  # which brings models of its own: make test does without it


def test_every_pin_lies_in_its_declared_range() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    wanted = [need for need in (*CORE, *of_extras(*EXTRAS)) if need.name not in (PROJECT["name"], PARSER)]
    assert [str(need) for need in wanted if versions.get(canonicalize_name(need.name), "") not in need.specifier] == []


def test_a_dependency_of_the_library_has_a_range() -> None:
    assert [need.name for need in CORE if not need.specifier] == []


def test_with_a_wheelhouse_nothing_comes_from_an_index() -> None:
    """PYTHON=3.12 is the interpreter python3.12."""
    command = ["make", "--dry-run", "--always-make", ".venv/installed", "PYTHON=3.12", "WHEELS=wheels"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    installs = [line for line in lines if "pip install" in line]
    assert "python3.12 -m venv .venv" in lines
    assert len(installs) == 2
    assert all(f"--no-index --find-links {ROOT / 'wheels'} " in line for line in installs)
