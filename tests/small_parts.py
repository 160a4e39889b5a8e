"""Parts for tests of `make gpu`; their processes import this file alone, and so start at once."""

import os
import time
from collections.abc import Iterator


def ends(sizes: int) -> Iterator[int]:
    yield sizes


def fails(sizes: int) -> Iterator[int]:
    yield sizes
    raise ValueError("no such kernel")


def dies(_: int) -> Iterator[int]:
    yield os._exit(7)


def hangs(sizes: int) -> Iterator[int]:
    yield sizes
    time.sleep(600)
