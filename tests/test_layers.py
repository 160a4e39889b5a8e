"""Dependencies point one way: common <- datamodules <- encoders <- objectives <- training, and probes <- reports."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "common": {"common"},
    "datamodules": {"datamodules", "common"},
    "encoders": {"encoders", "datamodules", "common"},
    "objectives": {"objectives", "encoders", "datamodules", "common"},
    "probes": {"probes", "datamodules", "common"},
    "reports": {"reports", "probes", "common"},
    "evaluation": {"evaluation", "objectives", "encoders", "datamodules", "probes", "reports", "common"},
    "training": {"training", "objectives", "probes", "encoders", "datamodules", "common"},
    "studies": {"studies", "common"},
}
OURS = {*ALLOWED, "train", "evaluate", "report", "configs", "tests", "benchmarks"}


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    relative = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in plain + relative} & OURS


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_lower_packages(package: str) -> None:
    wrong = {
        str(path.relative_to(ROOT)): sorted(extra)
        for path in (ROOT / package).rglob("*.py")
        if (extra := imported(path) - ALLOWED[package])
    }
    assert not wrong
