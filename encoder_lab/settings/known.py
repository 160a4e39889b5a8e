"""What our YAML files and those of the user hold, and what to write instead of a wrong name or what Hydra refuses."""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from encoder_lab.errors import in_one_line
from encoder_lab.settings.quoting import for_shell, home_mistake
from encoder_lab.settings.run_settings import CLASS_KEY, dotted_items

CONFIGS = Path(__file__).parents[2] / "configs"
GROUPS_WITHOUT_SETTINGS = ("experiment", "study")  # groups that change settings and have none of their own
GLOBAL_PACKAGE = re.compile(r"^#\s*@package\s+_global_", re.MULTILINE)
PART_PREFIX = re.compile(r"^parts\.\w+\.")  # of objective=multitask: settings of another objective follow
CONFIG_DIR_OPTIONS = ("--config-dir", "-cd")
PROGRAM_ARGUMENTS: Mapping[str, Sequence[str]] = {  # what this program gives to the class of a part
    "corpus": (),
    "encoder": ("input_dim",),
    "datamodule": ("corpus", "cache", "seed"),
    "objective": ("encoder", "embedding", "seed", "data", "optimizer"),
}
HYDRA_KEYS = (CLASS_KEY, "_partial_", "_recursive_", "_convert_", "_args_")
MAX_NAMED_SETTINGS = 8  # of a group, in a message
AMBIGUOUS_VALUE = re.compile(r"Ambiguous value for argument '(.*?)' 1\. ")
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
NO_SUCH_KEY = re.compile(r"Could not override '([\w.]+)'\.")
SYNONYMS = {  # names of settings here, and what users call them
    ("root", "path", "paths"): ("file", "files", "folder", "dir", "directory", "data"),
    ("dim",): ("size", "width", "hidden", "hidden_size", "embedding_dim"),
}
SPLITS_ADVICE = "this corpus has splits of its own; for tasks of more text take probes=text probes.paths=[FILE]"


class YamlSettings(NamedTuple):
    """The settings in our YAML files, below the names of their groups, and their dotted names."""

    files: Sequence[Mapping[str, Any]]
    names: frozenset[str]
    parts: frozenset[str]  # those with a class, which is called with the settings below it
    sections: frozenset[str]  # those that are groups of settings, and no choice of a file


@cache
def known_settings(program: str) -> YamlSettings:
    """The settings of all choices of a program: train or evaluate."""
    groups = {path.name for path in CONFIGS.iterdir() if path.is_dir()}
    files, names, sections, values = [], set(groups), set[str](), set(groups)
    for path in (CONFIGS / f"{program}.yaml", *sorted(CONFIGS.rglob("*/*.yaml"))):
        group = path.relative_to(CONFIGS).parts[0] if path.parent != CONFIGS else ""
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
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("#") and not line.startswith("# @package"):
            return line.lstrip("# ")
    return ""


def choices_in(folder: Path) -> dict[str, str]:
    """The choices of a group by name, each with its description."""
    paths = ((path.relative_to(folder).with_suffix("").as_posix(), path) for path in sorted(folder.rglob("*.yaml")))
    described = {name: read_description(path) for name, path in paths}
    return {name: text for name, text in described.items() if "not a choice" not in text}


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
    if (near := _near(last, siblings)) and group:
        return f"nothing reads such a setting; did you mean {' or '.join(f'{group}.{word}=' for word in near)}?"
    ends = sorted((word for word in words if last.endswith(f"_{word}")), key=len)[-1:]
    if not group and (longer := [word for word in words if word.endswith(f"_{last}")]):  # epochs: trainer.max_epochs
        words[last] = [*words.get(last, []), *(candidate for word in longer for candidate in words[word])]
    others = [word for word in words if not group or words[word] != [word]]  # a whole group is no setting of another
    similar = [last] if last in words else ends or near or get_close_matches(last, others, 1, 0.8)
    if close := get_close_matches(name, words[similar[0]] if similar else [], 3, 0):
        return f"nothing reads such a setting; did you mean {' or '.join(f'{candidate}=' for candidate in close)}?"
    few = group and 0 < len(siblings) <= MAX_NAMED_SETTINGS
    there = f"{group} has {', '.join(sorted(siblings))}; " if few else ""
    return f"nothing reads such a setting; {there}see --help and the files in configs/"


def _near(word: str, siblings: Sequence[str]) -> list[str]:
    """The settings of a group that a word may mean: it ends so, is similar, or is a synonym."""
    longer = [sibling for sibling in siblings if sibling.endswith(f"_{word}")]
    synonyms = [name for names, others in SYNONYMS.items() if word in (*names, *others) for name in names]
    return longer or get_close_matches(word, siblings, 1) or [name for name in synonyms if name in siblings]


def message_with_advice(error: Exception) -> str:
    """The message of an error in one line; of Hydra with what to write instead."""
    text = in_one_line(error)
    if re.search("[iI]nterpolation|GrammarParse", f"{type(error)} {type(error.__cause__)}"):  # of OmegaConf
        return f"{text}; ${{...}} in a value stands for another setting: rename what has it in its name"
    if not type(error).__module__.startswith("hydra."):
        return text
    ambiguous = AMBIGUOUS_VALUE.match(text)
    override = ambiguous[1] if ambiguous else str(getattr(error, "override", ""))
    key, equals, value = override.partition("=")
    if equals and re.fullmatch(r"[\w.+@/]+", key):
        if home := home_mistake(key, value):
            return home
        if value[:1] in "[{":
            return f"{override}: not a list or a group; in it, quote each text that is more than a name: ['a=b','c d']"
        if THOUSANDS.fullmatch(value):
            number = value.replace(",", "")
            return f"{override}: add -m for a run of each, or write a number without commas: {key}={number}"
        several = f"add -m for a run of each, or give a list as {key}=[{value}]; " if ambiguous else ""
        return f"{override}: {several}a value with signs in it is written in quotes: {for_shell(key, value)}"
    if override and not equals:
        return f"{override}: settings are written key=value; see --help"
    if (match := NO_SUCH_KEY.match(text)) and (own := own_settings(match[1])):
        unnamed = f"its YAML file does not name it; write +{match[1]}="
        return f"{match[1]}: {unnamed if match[1] in own else unknown_setting_message(match[1], own)}"
    if match and not (choices := _choices_with_setting(match[1])):
        names = known_settings("train").names | known_settings("evaluate").names
        return f"{match[1]}: {unknown_setting_message(match[1], names - {match[1]})}"
    if match:
        hint = SPLITS_ADVICE if match[1] == "corpus.held_out" else "the choices of this command have no such setting"
        return f"{match[1]}: {hint}; these have: {', '.join(choices)}"
    return text


def own_files(group: str) -> list[Path]:
    """The user's own YAML files of the choice that this command makes in a group."""
    chosen = [text.removeprefix(f"{group}=") for text in sys.argv if text.startswith(f"{group}=")]
    paths = (folder / group / f"{name}.yaml" for folder in config_folders(sys.argv) for name in chosen)
    return [path for path in paths if path.is_file()]


def own_settings(name: str) -> set[str]:
    """The settings of the user's own choice in the group of a setting, also those that its YAML file does not name."""
    from encoder_lab.settings.declared import parameters

    group, names = name.partition(".")[0], set[str]()
    for file in map(settings_with_defaults, own_files(group)):
        names |= {key for key, _ in dotted_items(file) if key.startswith(f"{group}.")}
        declared = parameters(str((file.get(group) or {}).get(CLASS_KEY))) or {}
        names |= {f"{group}.{key}" for key in declared if key not in PROGRAM_ARGUMENTS.get(group, ())}
    return names


def _choices_with_setting(name: str) -> list[str]:
    paths = sorted(CONFIGS.glob("*/*.yaml"))
    having = (path for path in paths if name in dict(dotted_items(settings_of_file(path, path.parent.name))))
    return [f"{path.parent.name}={path.stem}" for path in having]
