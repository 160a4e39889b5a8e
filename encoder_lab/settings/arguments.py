"""What is wrong with the arguments of a command, by our YAML files and declarations, before Hydra is imported."""

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import suppress
from filecmp import cmp
from operator import itemgetter
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import exit_with
from encoder_lab.settings.known import (
    CONFIG_DIR_OPTIONS,
    CONFIGS,
    PART_PREFIX,
    YamlSettings,
    choices_in,
    config_folders,
    known_settings,
    unknown_setting_message,
)
from encoder_lab.settings.model_setting import refuse_unknown_choice
from encoder_lab.settings.quoting import home_mistake, split_names, unquoted

SETTING_PATTERN = re.compile(r"(\+{0,2})([a-z_][\w.]*)=")
PLAIN_SETTING_PATTERN = re.compile(r"\+{0,2}([a-z_][\w.]*)=([\w.:+-]{1,40}|\[[\w.,+-]{0,40}\])")
LOCATION_PATTERN = re.compile(  # a setting with the location of content that stays the same
    r"cache=|embeddings\.path=|(probes|downstream|discoeval|coherence)\.(root|paths|test_paths|more)="
    r"|(datamodule\.settings\.\w+\.)?corpus\.(root|more|(dev_|test_)?(source|target))="
)
HYDRA_OPTION = re.compile(
    "--(help|hydra-help|version|cfg|resolve|package|run|multirun|shell-completion|experimental-rerun|info"
    "|config-(path|name|dir))(=|$)"
)
SWEEP_SETTING, RUN_FOLDER_SETTING = re.compile(r"\+*hydra[./](sweep|sweeper|launcher)\b"), re.compile(r"hydra\.run\.")
UNCHECKED_PREFIXES = tuple(f"hydra.{name}." for name in ("launcher", "sweeper", "callbacks", "job.env_set"))
RANK_VARIABLES = ("RANK", "LOCAL_RANK", "SLURM_PROCID", "JSM_NAMESPACE_RANK")  # as Lightning reads them
WORLD_VARIABLES = ("WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "MASTER_PORT")
INTEGER_VARIABLES = (*RANK_VARIABLES, *WORLD_VARIABLES, *(f"SLURM_{name}" for name in ("LOCALID", "NODEID", "NTASKS")))
TRAINER_PREFIX = "PL_TRAINER_"  # variables that Lightning takes as defaults of its trainer


def refuse_wrong_environment() -> None:
    """Raises InputError for variables that would change a run without a word, or that are not the numbers needed."""
    for name, value in os.environ.items():
        if name.startswith(TRAINER_PREFIX):
            setting = f"trainer.{name.removeprefix(TRAINER_PREFIX).lower()}={value}"
            raise InputError(f"{name}={value}: a run would not remember it; unset {name}, and give {setting}")
        if name in INTEGER_VARIABLES and not value.isdecimal():
            remedy = "or start the processes of a run with torchrun or srun (docs/scaling.md)"
            raise InputError(f"{name}={value}: give a whole number; unset {name}, {remedy}")


def refuse_wrong_arguments(program: str, arguments: Sequence[str]) -> None:
    """Raises InputError for unknown choices and settings; ends the program for wrong values. Sweeps pass."""
    settings = [text for text in arguments if SETTING_PATTERN.match(text)]
    sweep = not {"-m", "--multirun", "hydra.mode=MULTIRUN"}.isdisjoint(arguments)
    for text in arguments:
        if text.startswith("--") and not HYDRA_OPTION.match(text):
            raise InputError(f"{text}: settings are written key=value, without dashes; see --help")
        if SWEEP_SETTING.match(text) and not sweep:
            raise InputError(f"{text}: only a sweep reads it; add -m")
        if RUN_FOLDER_SETTING.match(text) and (sweep or program == "evaluate"):
            instead = "evaluate.py has out=" if program == "evaluate" else "a sweep has hydra.sweep.dir="
            raise InputError(f"{text}: {instead}")
        name, _, value = text.removeprefix("~").partition("=")
        if home := home_mistake(name, unquoted(value)):
            raise InputError(home)  # before Hydra makes a folder
        if text.startswith("~") and _declarations(known_settings(program), program, name):
            raise InputError(f"{text}: it needs a value; give {name}= instead")  # not the default of its class
    folders = config_folders(arguments)
    for ours, own in (
        (path, folder / path.relative_to(CONFIGS)) for folder in folders for path in CONFIGS.rglob("*.yaml")
    ):
        if own.is_file() and not cmp(ours, own, shallow=False):
            raise InputError(f"{own}: this project has a file of that name, which is read in its place; rename it")
    for path in (path for folder in folders for path in sorted(folder.rglob("*.yaml"))):
        _refuse_unreadable(path)
    refuse_unknown_choices(arguments)
    if folders or not settings:
        return
    defaults = known_settings(program)
    refuse_unknown_settings(defaults, program, settings)
    values = [text for text in settings if not (CONFIGS / text.partition("=")[0]).is_dir()]
    exit_with(wrong_values(defaults, program, values))


def _refuse_unreadable(path: Path) -> None:
    """Raises InputError for a YAML file of which Hydra would say nothing that helps."""
    from encoder_lab.storage.text_files import decode_line  # most commands have no such file

    data = path.read_bytes()
    if data.startswith(BOM_UTF8):
        raise InputError(f"{path}:1: a byte order mark hides this line from Hydra; save the file as UTF-8 without it")
    lines = [decode_line(line, f"{path}:{number}", number == 1) for number, line in enumerate(data.splitlines(), 1)]
    if all(line.lstrip().startswith(("#", "---")) for line in lines if line.strip()):
        raise InputError(f"{path}: has no settings, so it has no effect; write some, or delete it")


def _declarations(defaults: YamlSettings, program: str, name: str) -> list[Any]:
    """What declares a setting with a dotted name, for each of our files."""
    from encoder_lab.settings.check import parameter_of

    return list(filter(None, (parameter_of(program, file, name.split(".")) for file in defaults.files)))


def options_first(arguments: Sequence[str]) -> list[str]:
    """The arguments of a command with Hydra's options before the settings: its parser takes no option between them."""
    pairs = zip(("", *arguments), arguments, strict=False)
    setting = re.compile("~|[^-].*=")
    late = [bool(setting.match(text)) and before not in CONFIG_DIR_OPTIONS for before, text in pairs]
    return [text for _, text in sorted(zip(late, arguments, strict=True), key=itemgetter(0))]


def refuse_other_settings(
    overrides: Sequence[str], setting: str = "resume=", changes: Sequence[str] = ("trainer.*",)
) -> None:
    """Raises InputError for what a command with `setting` may not change of a run. `changes`: what it may."""
    plain, begin = [text.lstrip("+") for text in overrides], ("allow=", *(name.rstrip("*") for name in changes))
    if refused := [text for text in plain if not text.startswith(begin) and not LOCATION_PATTERN.match(text)]:
        may = f"only {', '.join(changes)} and places of files (as corpus.root=, cache=) may change"
        raise InputError(f"{setting} keeps the run's settings; {may}, not {' '.join(refused)}")


def refuse_unknown_choices(arguments: Sequence[str]) -> None:
    """Raises InputError for a choice that its group does not have."""
    for text in arguments:
        group, equals, value = text.partition("=")
        if not equals or not group.isidentifier() or not (CONFIGS / group).is_dir():
            continue
        for choice in filter(None, split_names(value)):
            if not any(letter in choice for letter in "(*$"):
                refuse_unknown_choice(f"{group}={choice}", group, choice, config_folders(arguments))


def requested_study(arguments: Sequence[str]) -> str | None:
    """The study that a command line names, or None. Raises InputError for an unknown study."""
    names, pairs = choices_in(CONFIGS / "study"), [text.partition("=")[::2] for text in arguments]
    for key, value in pairs:
        if key == "experiment" and value in names:
            raise InputError(f"experiment={value}: that is a study; give study={value}")
        if key == "study.dir":
            raise InputError(f"study.dir={value}: give study_dir={value}")
        if key == "study" and value not in names:
            raise InputError(f"study={value}: there are {', '.join(names)}")
    return next((value for key, value in pairs if key == "study"), None)


def refuse_unknown_settings(defaults: YamlSettings, program: str, settings: Sequence[str]) -> None:
    """Raises InputError for a setting that no file of ours names."""
    for text in settings:
        match = SETTING_PATTERN.match(text)
        assert match
        plus, name = match[1], PART_PREFIX.sub("", match[2])
        if name in defaults.sections and not text[match.end() :].startswith("{"):
            keys = [key for key in sorted(defaults.names) if re.fullmatch(rf"{re.escape(name)}\.[a-z]\w*", key)]
            raise InputError(f"{text}: a group of settings; give one of them: {', '.join(f'{key}=' for key in keys)}")
        if name in defaults.names or (name.startswith("hydra.") and not plus) or name.startswith(UNCHECKED_PREFIXES):
            continue
        if plus and any(name.startswith(f"{part}.") for part in defaults.parts):
            continue  # the class of the part answers, when the settings are composed
        if _declarations(defaults, program, name):
            parent = name.rpartition(".")[0]
            raise InputError(f"{text}: an argument of {parent} that its YAML file does not name; write +{text}")
        raise InputError(f"{text}: {unknown_setting_message(name, defaults.names)}")


def wrong_values(defaults: YamlSettings, program: str, settings: Sequence[str]) -> Iterator[str]:
    """A line for each plain value that no choice would take."""
    for name, text in (match.groups() for match in map(PLAIN_SETTING_PATTERN.fullmatch, settings) if match):
        from encoder_lab.settings.check import mistake

        declared = _declarations(defaults, program, name)
        lines = [line for parameter in declared if (line := mistake(name, plain_value(text), parameter.hint))]
        if lines and len(lines) == len(declared):
            yield lines[0].replace(f"{name}={plain_value(text)}:", f"{name}={text}:", 1)


def plain_value(text: str) -> Any:
    """A plain value, or a list of them, as Hydra reads it."""
    if text[:1] in ("'", '"'):
        return unquoted(text)
    if text.startswith("[") and text.endswith("]"):
        return [plain_value(name) for name in filter(None, split_names(text))]
    words = {"true": True, "false": False, "null": None, "infinity": text}  # Python's float reads the last too
    if text.lower() in words:
        return words[text.lower()]
    for number_type in (int, float):
        with suppress(ValueError):
            return number_type(text)
    return text
