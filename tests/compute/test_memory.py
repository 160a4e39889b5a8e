"""Large blocks go back to the system although small ones that live longer lie between them."""

import subprocess
import sys

CODE = """
import sys
from pathlib import Path
from encoder_lab.compute.start import give_back_large_blocks

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
