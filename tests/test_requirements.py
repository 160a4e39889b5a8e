"""The lock file holds one version of every declared package, within its range."""

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
