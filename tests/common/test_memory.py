"""Large blocks go back to the system although small ones that live longer lie between them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from common.memory import LARGE_PAGES, use_large_pages

CODE = """
import sys
from pathlib import Path
from common.memory import give_back_large_blocks

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 2**10

if "give back" in sys.argv:
    give_back_large_blocks()
bytearray(30 << 20)  # after its end glibc takes blocks up to this size from the heap
before, large, small = resident(), [], []
for _ in range(12):
    large.append(bytearray(20 << 20))
    small.append(bytearray(100_000))
del large
print(resident() - before)
"""


def megabytes_kept(*how: str) -> float:
    """What twelve blocks of 20 MB leave behind."""
    done = subprocess.run([sys.executable, "-c", CODE, *how], capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_large_blocks_go_back_to_the_system() -> None:
    assert megabytes_kept() > 190  # what this is for
    assert megabytes_kept("give back") < 20


@pytest.mark.parametrize(("before", "after"), [(None, "1"), ("0", "0")])
def test_large_pages_are_asked_for_unless_the_user_said_otherwise(
    before: str | None, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(LARGE_PAGES, raising=False)
    if before is not None:
        monkeypatch.setenv(LARGE_PAGES, before)
    use_large_pages()
    assert os.environ[LARGE_PAGES] == after


def test_pytorch_reads_the_name_of_the_setting() -> None:
    """Where the system gives large pages on request, new memory costs a fraction of the page faults."""
    code = (
        "import resource, torch\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "torch.ones(1 << 24)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)"
    )
    how = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not how.exists() or "[madvise]" not in how.read_text():
        pytest.skip("this system gives large pages always or never")

    def faults(wanted: str) -> int:
        command, env = [sys.executable, "-c", code], os.environ | {LARGE_PAGES: wanted}
        return int(subprocess.run(command, capture_output=True, check=True, env=env).stdout)

    assert faults("1") < faults("0") / 4
