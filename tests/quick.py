"""Imported by every process of the tests: nothing waits for what no test can see."""

import os
from copy import deepcopy
from functools import cache
from importlib import metadata
from typing import Any

import yaml

os.sched_getaffinity = lambda _: {0}  # a large process forks slowly, and each process of the tests has one core
os.fsync = lambda _: None  # what it is for, a loss of power, happens in no test
metadata.entry_points = cache(metadata.entry_points)  # which each trainer of Lightning reads from the disk

parsed: dict[tuple[str, str, str], Any] = {}  # YAML by its loader and text: the files of configs/ do not change
load_yaml = yaml.load


def load(stream: Any, Loader: Any) -> Any:
    """What `yaml.load` does, once for each text; a mistake is still named with its file."""
    text = stream if isinstance(stream, str) else stream.read()
    key = Loader.__module__, Loader.__qualname__, text
    if key not in parsed:
        if text is not stream:
            stream.seek(0)
        parsed[key] = load_yaml(stream, Loader)
    return deepcopy(parsed[key])


yaml.load = load
