"""What our YAML files and those of the user hold: settings, descriptions, and the closest name to an unknown one."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from encoder_lab.settings.run_settings import dotted_items

CONFIGS = Path(__file__).parents[2] / "configs"
GROUPS_WITHOUT_SETTINGS = ("experiment", "study")  # groups that change settings and have none of their own
GLOBAL_PACKAGE = re.compile(r"^#\s*@package\s+_global_", re.MULTILINE)
PART_PREFIX = re.compile(r"^parts\.\w+\.")  # of objective=multitask: settings of another objective follow
CLASS_KEY = "_target_"
CONFIG_DIR_OPTIONS = ("--config-dir", "-cd")
HYDRA_KEYS = (CLASS_KEY, "_partial_", "_recursive_", "_convert_", "_args_")


class YamlSettings(NamedTuple):
    """The settings in our YAML files, below the names of their groups, and their dotted names."""

    files: Sequence[Mapping[str, Any]]
    names: frozenset[str]
    parts: frozenset[str]  # those with a class, which is called with the settings below it
    sections: frozenset[str]  # those that are groups of settings, and no choice of a file


@cache
def known_settings(configs: Path, program: str) -> YamlSettings:
    """The settings of all choices of a program: train or evaluate."""
    groups = {path.name for path in configs.iterdir() if path.is_dir()}
    files, names, sections, values = [], set(groups), set[str](), set(groups)
    for path in (configs / f"{program}.yaml", *sorted(configs.rglob("*/*.yaml"))):
        group = path.relative_to(configs).parts[0] if path.parent != configs else ""
        if group in GROUPS_WITHOUT_SETTINGS:
            continue
        files.append(settings_of_file(path, group))
        for name, value in dotted_items(files[-1]):
            names.add(name)
            (sections if isinstance(value, dict) else values).add(name)
    parts = {name.removesuffix(f".{CLASS_KEY}") for name in names if name.endswith(f".{CLASS_KEY}")}
    return YamlSettings(files, frozenset(names), frozenset(parts), frozenset(sections - values))


def settings_of_file(path: Path, group: str) -> dict[str, Any]:
    """The settings of a YAML file below the name of its group, or where the file itself puts them."""
    text = path.read_text(encoding="utf-8")
    settings = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
    if not group or GLOBAL_PACKAGE.search(text):
        return settings
    defaults = {"defaults": settings.pop("defaults")} if "defaults" in settings else {}
    return {**defaults, group: settings}


def settings_with_defaults(path: Path) -> dict[str, Any]:
    """The settings of a YAML file, merged over those of the files in its list of defaults: next to it, or ours."""
    settings = settings_of_file(path, path.parent.name)
    bases = [text.partition("@")[0] for text in settings.pop("defaults", ()) if isinstance(text, str)]
    merged: dict[str, Any] = {}
    for near in (path.with_name(f"{name}.yaml") for name in bases if name != "_self_"):
        merged |= settings_with_defaults(near if near.exists() else CONFIGS / path.parent.name / near.name)
    return {**merged, **{k: {**merged.get(k, {}), **v} if isinstance(v, dict) else v for k, v in settings.items()}}


def read_description(path: Path) -> str:
    """The first comment of a configuration file that is not an instruction to Hydra."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") and not line.startswith("# @package"):
            return line.lstrip("# ")
    return ""


def config_folders(arguments: Sequence[str]) -> list[Path]:
    following = dict(pairwise(arguments))
    options = [text for text in arguments if text.startswith(CONFIG_DIR_OPTIONS)]
    return [Path(text.partition("=")[2] or following.get(text, "")) for text in options]


def unknown_setting_message(name: str, names: Iterable[str]) -> str:
    """The message for a setting that does not exist, with the closest one: the same last word, or a similar one."""
    group, _, last = name.rpartition(".")
    words: dict[str, list[str]] = {}  # by the last word of a name
    for candidate in sorted(names):
        if (word := candidate.rpartition(".")[2]) not in HYDRA_KEYS:
            words.setdefault(word, []).append(candidate)
    siblings = [word for word, candidates in words.items() if f"{group}.{word}".lstrip(".") in candidates]
    ends = sorted((word for word in words if last.endswith(f"_{word}")), key=len)[-1:]
    if not group and (longer := [word for word in words if word.endswith(f"_{last}")]):  # epochs: trainer.max_epochs
        words[last] = [*words.get(last, []), *(candidate for word in longer for candidate in words[word])]
    near, same = get_close_matches(last, siblings, 1), [last] if last in words else []
    similar = (near if group else []) or same or ends or near or get_close_matches(last, words, 1, 0.8)
    if close := get_close_matches(name, words[similar[0]] if similar else [], 3, 0):
        return f"nothing reads such a setting; did you mean {' or '.join(f'{candidate}=' for candidate in close)}?"
    return "nothing reads such a setting; see --help and the files in configs/"
