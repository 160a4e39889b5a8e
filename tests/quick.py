"""Imported by every process of the tests: nothing waits for what no test can see, or is composed a second time."""

import os
import pickle
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from hydra._internal import config_loader_impl
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.defaults_list import DefaultsList, Overrides

os.sched_getaffinity = lambda _: {0}  # a large process forks slowly, and each process of the tests has one core
os.fsync = lambda _: None  # what it is for, a loss of power, happens in no test
metadata.entry_points = cache(metadata.entry_points)  # which each trainer of Lightning reads from the disk

parsed: dict[tuple[str, str, str], bytes] = {}  # YAML by its loader and text: the files of configs/ do not change
load_yaml = yaml.load


def load(stream: Any, Loader: Any) -> Any:
    """What `yaml.load` does, once for each text; a mistake is still named with its file."""
    text = stream if isinstance(stream, str) else stream.read()
    key = Loader.__module__, Loader.__qualname__, text
    if key not in parsed:
        if text is not stream:
            stream.seek(0)
        parsed[key] = pickle.dumps(load_yaml(stream, Loader))
    return pickle.loads(parsed[key])  # five times as fast as a deep copy


yaml.load = load

lists: dict[tuple, DefaultsList] = {}  # of Hydra, by the files that it reads and the choices of groups
configs: dict[int, tuple[list, bytes]] = {}  # by the list
list_defaults = config_loader_impl.create_defaults_list
compose_defaults = ConfigLoaderImpl._compose_config_from_defaults_list


def list_once(
    repo: Any, config_name: str | None, overrides_list: list, prepend_hydra: bool, skip_missing: bool
) -> DefaultsList:
    asked = Overrides(repo=repo, overrides_list=overrides_list)
    choices = [text for text in overrides_list if not any(text is other for other in asked.config_overrides)]
    folders = [Path(source.path) for source in repo.get_sources() if source.scheme() == "file"]
    files = [(path.relative_to(folder), path.stat()) for folder in folders for path in folder.rglob("*.yaml")]
    state = frozenset((name, stat.st_mtime_ns, stat.st_size) for name, stat in files)
    key = state, config_name, prepend_hydra, skip_missing, *(choice.input_line for choice in choices)
    if key not in lists:
        lists[key] = list_defaults(repo, config_name, choices, prepend_hydra, skip_missing)
    return DefaultsList(lists[key].defaults, lists[key].defaults_tree, asked.config_overrides, lists[key].overrides)


def compose_once(self: ConfigLoaderImpl, defaults: list, repo: Any) -> Any:
    if id(defaults) not in configs:
        configs[id(defaults)] = defaults, pickle.dumps(compose_defaults(self, defaults, repo))
    return pickle.loads(configs[id(defaults)][1])


config_loader_impl.create_defaults_list = list_once
ConfigLoaderImpl._compose_config_from_defaults_list = compose_once  # type: ignore[method-assign]
