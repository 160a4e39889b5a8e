"""What is wrong with the arguments of a command that Hydra would take without a word, or not understand."""

import os
import re
from collections.abc import Sequence
from filecmp import cmp
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import unknown_name_message
from encoder_lab.settings.known import UNKNOWN_SETTING, config_folders, is_declared, read_description
from encoder_lab.settings.quoting import split_names

LOCATION_PATTERN = re.compile(  # a setting with the location of content that stays the same
    r"cache=|embeddings\.path=|(probes|downstream|discoeval|coherence)\.(root|paths|test_paths|more)="
    r"|(datamodule\.settings\.\w+\.)?corpus\.(root|more|(dev_|test_)?(source|target))="
)
HYDRA_OPTION = re.compile(
    "--(help|hydra-help|version|cfg|resolve|package|run|multirun|shell-completion|experimental-rerun|info"
    "|config-(path|name|dir))(=|$)"
)
SWEEP_SETTING, RUN_FOLDER_SETTING = re.compile(r"\+*hydra[./](sweep|sweeper|launcher)\b"), re.compile(r"hydra\.run\.")
UNKNOWN_OF_HYDRA = re.compile(r"\+{1,2}hydra\.(?!(launcher|sweeper|callbacks|job\.env_set)\.)")  # it takes any
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


def refuse_wrong_arguments(configs: Path, program: str, arguments: Sequence[str]) -> None:
    """Raises InputError for unknown choices, and for what has no effect on this program."""
    sweep = not {"-m", "--multirun", "hydra.mode=MULTIRUN"}.isdisjoint(arguments)
    for text in arguments:
        if text.startswith("--") and not HYDRA_OPTION.match(text):
            raise InputError(f"{text}: settings are written key=value, without dashes; see --help")
        if SWEEP_SETTING.match(text) and not sweep:
            raise InputError(f"{text}: only a sweep reads it; add -m")
        if RUN_FOLDER_SETTING.match(text) and (sweep or program == "evaluate"):
            instead = "evaluate.py has out=" if program == "evaluate" else "a sweep has hydra.sweep.dir="
            raise InputError(f"{text}: {instead}")
        name = text.removeprefix("~").partition("=")[0]
        if text.startswith("~") and is_declared(program, name):
            raise InputError(f"{text}: it needs a value; give {name}= instead")  # not the default of its class
        if UNKNOWN_OF_HYDRA.match(text):
            raise InputError(f"{text}: {UNKNOWN_SETTING}")
    folders = config_folders(arguments)
    for ours, own in (
        (path, folder / path.relative_to(configs)) for folder in folders for path in configs.rglob("*.yaml")
    ):
        if own.is_file() and not cmp(ours, own, shallow=False):
            raise InputError(f"{own}: this project has a file of that name, which is read in its place; rename it")
    if not folders:
        refuse_unknown_choices(configs, arguments)


def refuse_other_settings(
    overrides: Sequence[str], setting: str = "resume=", changes: Sequence[str] = ("trainer.*",)
) -> None:
    """Raises InputError for what a command with `setting` may not change of a run. `changes`: what it may."""
    plain, begin = [text.lstrip("+") for text in overrides], ("allow=", *(name.rstrip("*") for name in changes))
    if refused := [text for text in plain if not text.startswith(begin) and not LOCATION_PATTERN.match(text)]:
        may = f"only {', '.join(changes)} and places of files (as corpus.root=, cache=) may change"
        raise InputError(f"{setting} keeps the run's settings; {may}, not {' '.join(refused)}")


def refuse_unknown_choices(configs: Path, arguments: Sequence[str]) -> None:
    """Raises InputError for a choice that its group does not have."""
    for text in arguments:
        group, equals, value = text.partition("=")
        folder = configs / group
        if not equals or not group.isidentifier() or not folder.is_dir():
            continue
        files = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.yaml")}
        choices = sorted(name for name, path in files.items() if "not a choice" not in read_description(path))
        for choice in filter(None, split_names(value)):
            if choice not in choices and not any(letter in choice for letter in "(*$"):
                own = "a YAML file of your own needs --config-dir=FOLDER"
                raise InputError(f"{group}={choice}: {unknown_name_message('choice', choice, choices)}; {own}")


def requested_suites(arguments: Sequence[str]) -> list[str]:
    texts = [text.removeprefix("suite=") for text in arguments if text.startswith("suite=")]
    return [name for text in texts for name in split_names(text)]
