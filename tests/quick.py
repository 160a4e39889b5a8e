"""Imported by every process of the tests: nothing waits for what no test can see."""

import os
from functools import cache
from importlib import metadata

os.sched_getaffinity = lambda _: {0}  # a large process forks slowly, and each process of the tests has one core
os.fsync = lambda _: None  # what it is for, a loss of power, happens in no test
metadata.entry_points = cache(metadata.entry_points)  # which each trainer of Lightning reads from the disk
