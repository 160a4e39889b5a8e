"""Dependencies point one way: common <- datamodules <- encoders <- objectives <- training, and probes <- reports."""

from pathlib import Path

import pytest

from tests.imported import imported

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


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_lower_packages(package: str) -> None:
    wrong = {
        str(path.relative_to(ROOT)): sorted(extra)
        for path in (ROOT / package).rglob("*.py")
        if (extra := imported(path) & OURS - ALLOWED[package])
    }
    assert not wrong
