"""Large blocks go back to the system although small ones that live longer lie between them."""

import subprocess
import sys

CODE = """
import sys
from pathlib import Path
from common.memory import give_back_large_blocks

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 2**10

size = int(sys.argv[1])
if "give back" in sys.argv:
    give_back_large_blocks(many_kernels="many kernels" in sys.argv)
bytearray(30 << 20)  # after its end glibc takes blocks up to this size from the heap
before, large, small = resident(), [], []
for _ in range(int(sys.argv[2])):
    large.append(bytearray(size << 20))
    small.append(bytearray(100_000))
del large
print(resident() - before)
"""


def megabytes_kept(size: int, blocks: int, *how: str) -> float:
    """What so large blocks, in megabytes, leave behind."""
    command = [sys.executable, "-c", CODE, str(size), str(blocks), *how]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_large_blocks_go_back_to_the_system() -> None:
    assert megabytes_kept(20, 12) > 190  # what this is for
    assert megabytes_kept(20, 12, "give back") < 20


def test_smaller_blocks_go_back_too_where_kernels_lie_between_them() -> None:
    assert megabytes_kept(2, 50) > 80
    assert megabytes_kept(2, 50, "give back", "many kernels") < 20
