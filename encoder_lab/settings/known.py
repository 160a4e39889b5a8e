"""What our YAML files and those of the user hold, and what to write instead of a wrong name or what Hydra refuses."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from encoder_lab.errors import in_one_line
from encoder_lab.settings.declared import CLASS_KEY, parameter_of
from encoder_lab.settings.quoting import for_shell
from encoder_lab.settings.run_settings import dotted_items

CONFIGS = Path(__file__).parents[2] / "configs"
GROUPS_WITHOUT_SETTINGS = ("experiment", "study")  # groups that change settings and have none of their own
GLOBAL_PACKAGE = re.compile(r"^#\s*@package\s+_global_", re.MULTILINE)
PART_PREFIX = re.compile(r"^parts\.\w+\.")  # of objective=multitask: settings of another objective follow
PROGRAMS = ("train", "evaluate")
CONFIG_DIR_OPTIONS = ("--config-dir", "-cd")
HYDRA_KEYS = (CLASS_KEY, "_partial_", "_recursive_", "_convert_", "_args_")
AMBIGUOUS_VALUE = re.compile(r"Ambiguous value for argument '(.*?)' 1\. ")
NO_SUCH_KEY = re.compile(r"Could not override '([\w.]+)'.* use \+(.*)$")
UNKNOWN_SETTING = "nothing reads such a setting; see --help and the files in configs/"
SPLITS_ADVICE = "this corpus has splits of its own; for tasks of more text take probes=text probes.paths=[FILE]"


@cache
def yaml_settings(program: str) -> list[dict[str, Any]]:
    """The settings in each of our YAML files for a program (train or evaluate), below the names of their groups."""
    paths = (path for path in sorted(CONFIGS.rglob("*/*.yaml")) if group_of(path) not in GROUPS_WITHOUT_SETTINGS)
    files = [settings_of_file(CONFIGS / f"{program}.yaml", "")]
    return files + [settings_of_file(path, group_of(path)) for path in paths]


def group_of(path: Path) -> str:
    return path.relative_to(CONFIGS).parts[0]


def is_declared(program: str, name: str) -> bool:
    """Whether a class or a dataclass that one of our YAML files names takes the setting."""
    return any(parameter_of(program, file, name.split(".")) for file in yaml_settings(program))


@cache
def known_names() -> frozenset[str]:
    """The dotted names of all settings and groups of settings in our YAML files."""
    groups = {path.name for path in CONFIGS.iterdir() if path.is_dir()}
    items = (item for program in PROGRAMS for file in yaml_settings(program) for item in dotted_items(file))
    return frozenset(groups.union(name for name, _ in items))


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
    if name == "out":  # of all other programs
        return "nothing reads such a setting; did you mean hydra.run.dir=?"
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
    return UNKNOWN_SETTING


def message_with_advice(error: Exception) -> str:
    """The message of an error in one line; of Hydra with what to write instead."""
    text = in_one_line(error)
    if not type(error).__module__.startswith("hydra."):
        return text
    ambiguous = AMBIGUOUS_VALUE.match(text)
    override = ambiguous[1] if ambiguous else str(getattr(error, "override", ""))
    key, equals, value = override.partition("=")
    if equals and re.fullmatch(r"[\w.+@/]+", key):
        if value.startswith("~/"):
            return f"{override}: the shell leaves ~ as it is after a key with a dot; write {key}=$HOME{value[1:]}"
        if value[:1] in "[{":
            return f"{override}: not a list or a group; in it, quote each text that is more than a name: ['a=b','c d']"
        several = f"add -m for a run of each, or give a list as {key}=[{value}]; " if ambiguous else ""
        return f"{override}: {several}a value with signs in it is written in quotes: {for_shell(key, value)}"
    if override and not equals:
        return f"{override}: settings are written key=value; see --help"
    return _advice_for_name(*match.groups()) if (match := NO_SUCH_KEY.match(text)) else text


def _advice_for_name(name: str, argument: str) -> str:
    """What to write instead of an argument with a name that the chosen files do not have."""
    if choices := _choices_with_setting(name):
        hint = SPLITS_ADVICE if name == "corpus.held_out" else "the choices of this command have no such setting"
        return f"{name}: {hint}; these have: {', '.join(choices)}"
    parent = name.rpartition(".")[0]
    if parent and any(is_declared(program, name) for program in PROGRAMS):
        return f"{argument}: an argument of {parent} that its YAML file does not name; write +{argument}"
    return f"{argument}: {unknown_setting_message(PART_PREFIX.sub('', name), known_names() - {name})}"


def _choices_with_setting(name: str) -> list[str]:
    paths = sorted(CONFIGS.glob("*/*.yaml"))
    having = (path for path in paths if name in dict(dotted_items(settings_of_file(path, path.parent.name))))
    return [f"{path.parent.name}={path.stem}" for path in having]
