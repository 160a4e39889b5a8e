"""The names of all settings in our YAML files, and the closest of them to a name that does not exist."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from encoder_lab.settings.run_settings import flat

NO_SOURCE = ("experiment", "study")  # groups that change settings and have none of their own
GLOBAL = re.compile(r"^#\s*@package\s+_global_", re.MULTILINE)
PART = re.compile(r"^parts\.\w+\.")  # of objective=multitask: settings of another objective follow
CLASS = "_target_"
OF_HYDRA = (CLASS, "_partial_", "_recursive_", "_convert_", "_args_")


class Known(NamedTuple):
    """The settings in our YAML files, each at its place, and their dotted names."""

    files: Sequence[Mapping[str, Any]]
    names: frozenset[str]
    parts: frozenset[str]  # those with a class, which is called with the settings below it
    sections: frozenset[str]  # those that are groups of settings, and no choice of a file


@cache
def known_settings(configs: Path, program: str) -> Known:
    """The settings of all choices of a program: train or evaluate."""
    groups = {path.name for path in configs.iterdir() if path.is_dir()}
    files, names, sections, values = [], set(groups), set[str](), set(groups)
    for path in (configs / f"{program}.yaml", *sorted(configs.rglob("*/*.yaml"))):
        group = path.relative_to(configs).parts[0] if path.parent != configs else ""
        if group in NO_SOURCE:
            continue
        files.append(at_its_place(path, group))
        for name, value in flat(files[-1]):
            names.add(name)
            (sections if isinstance(value, dict) else values).add(name)
    parts = {name.removesuffix(f".{CLASS}") for name in names if name.endswith(f".{CLASS}")}
    return Known(files, frozenset(names), frozenset(parts), frozenset(sections - values))


def at_its_place(path: Path, group: str) -> dict[str, Any]:
    """The settings of a YAML file below the name of its group, or where the file itself puts them."""
    text = path.read_text(encoding="utf-8")
    settings = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
    if not group or GLOBAL.search(text):
        return settings
    defaults = {"defaults": settings.pop("defaults")} if "defaults" in settings else {}
    return {**defaults, group: settings}


def no_such_setting(name: str, known: Iterable[str]) -> str:
    """The message for a setting that does not exist, with the closest one: the same last word, or a similar one."""
    above, _, last = name.rpartition(".")
    words: dict[str, list[str]] = {}  # by the last word of a name
    for other in sorted(known):
        if (word := other.rpartition(".")[2]) not in OF_HYDRA:
            words.setdefault(word, []).append(other)
    next_to_it = [word for word, others in words.items() if f"{above}.{word}".lstrip(".") in others]
    ends = sorted((word for word in words if last.endswith(f"_{word}")), key=len)[-1:]
    if not above and (longer := [word for word in words if word.endswith(f"_{last}")]):  # epochs: trainer.max_epochs
        words[last] = [*words.get(last, []), *(other for word in longer for other in words[word])]
    alike = ends or get_close_matches(last, next_to_it, 1) or get_close_matches(last, words, 1, 0.8)
    if close := get_close_matches(name, words.get(last, words[alike[0]] if alike else []), 3, 0):
        return f"nothing reads such a setting; did you mean {' or '.join(f'{other}=' for other in close)}?"
    return "nothing reads such a setting; see --help and the files in configs/"
