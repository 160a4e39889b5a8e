"""The text of --help of train.py and evaluate.py: choices by the files in configs/, settings by their declarations."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from encoder_lab.settings.command_line import HELP_WIDTH
from encoder_lab.settings.known import (
    CONFIGS,
    HYDRA_KEYS,
    choices_in,
    config_folders,
    read_description,
    settings_of_file,
    settings_with_defaults,
)
from encoder_lab.settings.quoting import command_line_value

GROUP_MEANINGS = {
    "encoder": "what turns a sentence into a vector",
    "objective": "what the encoder is trained to predict",
    "corpus": "the text that an encoder learns from, and that tasks are built from",
    "embeddings": "the word vectors that encoders read",
    "suite": "the tasks that score its vectors: one or several, suite=[probing,downstream]",
    "probes": "where the probing tasks come from, and the schedule and classifier of all suites",
    "trainer": "how long and on what",
    "schedule": "the learning rate: objective.optimizer.lr times what",
    "experiment": "a published run: encoder, objective, training (add corpus= embeddings= probes=)",
    "study": "a published table or figure: many runs, then its reports (scale= data= study_dir= dry_run=true)",
}

SUITES_KEY = "suites"  # the chosen suites: each file in configs/suite adds its own, users write suite=
SETTING_WIDTH = 36  # columns for a setting with its default

COMMON_SETTINGS = """\
Common settings (key=value); `python train.py corpus=text --help` has all of a choice:
  corpus.size=N  corpus.root=DIR  embeddings.dim=N  probes.tasks=[SentLen,WC]  probes.train_size=N
  trainer.max_epochs=N  trainer.devices=N  probes.steps=[1,2,4,8]"""

RUN_FILES_HELP = """\
A run is written to hydra.run.dir=DIR, by default runs/<objective>/<encoder>/<time>: config.yaml, metrics.csv,
checkpoints/{best,last}.ckpt, probes.csv, answers.csv, curves.png, vectors/, tensorboard/ (make tensorboard)."""


def train_help(arguments: Sequence[str] = (), introduction: str | None = "") -> str:
    """Introduction, groups with the meaning of each choice, and common settings; with choices, their settings."""
    folders = [CONFIGS, *config_folders(arguments)]
    if chosen := [line for text in arguments for line in _choice_help(folders, text)]:
        return "\n".join(chosen).rstrip()
    groups = [_group_help(folder / name, meaning) for name, meaning in GROUP_MEANINGS.items() for folder in folders]
    settings = _setting_lines("train", settings_of_file(CONFIGS / "train.yaml", ""))
    return "\n".join([introduction or "", *filter(None, groups), COMMON_SETTINGS, *settings, "", RUN_FILES_HELP])


def _choice_help(folders: Sequence[Path], text: str) -> Iterator[str]:
    group, _, choice = text.partition("=")
    path = next((path for f in folders if (path := f / group / f"{choice}.yaml").is_file()), None)
    if path:
        yield f"{group}={choice}  {read_description(path)}"
        yield from _setting_lines("train", settings_with_defaults(path))
        yield ""


def _setting_lines(program: str, settings: Mapping[str, Any]) -> Iterator[str]:
    """A line for each setting of these groups, and of groups in them: its value, and the meaning that it declares."""
    from encoder_lab.settings.check import group_parameters, program_parameters

    pending = [("", settings, program_parameters(program, settings))]
    for prefix, node, parameters in pending:
        declared = parameters or {}
        for key, value in node.items():
            parameter = declared.get(key)
            if isinstance(value, dict) and parameter and key not in ("source", SUITES_KEY):
                pending.append((f"{prefix}{key}.", value, group_parameters(value, parameter, key)))
            elif str(value).startswith("${") or key in (*HYDRA_KEYS, SUITES_KEY):
                continue
            elif (parameter and parameter.description) or not declared:  # a class that takes any has no meanings
                setting = f"{prefix}{key}={command_line_value(value)}"
                yield f"  {setting:<{SETTING_WIDTH}} {parameter.description if parameter else ''}".rstrip()


def evaluate_help(introduction: str | None = "") -> str:
    settings = settings_of_file(CONFIGS / "evaluate.yaml", "")
    groups = [_group_help(CONFIGS / name, GROUP_MEANINGS[name]) for name in ("suite", "probes", "corpus", "embeddings")]
    title = "Settings (key=value) and their defaults:\n"
    return "\n".join([introduction or "", title, *_setting_lines("evaluate", settings), "", *groups])


def _group_help(folder: Path, meaning: str) -> str:
    if not (choices := choices_in(folder)):
        return ""
    wide = max(16, *map(len, choices))
    lines = [f"  {name:<{wide}} {text}" for name, text in choices.items()]
    if folder.name == "experiment":  # a line for each paper
        runs: dict[str, list[str]] = {}
        for paper, _, name in (name.rpartition("/") for name in choices):
            runs.setdefault(paper, []).append(name)
        texts = [f"{paper}/ {len(names)}: {', '.join(names)}" for paper, names in runs.items()]
        lines = ["  " + textwrap.shorten(text, HELP_WIDTH, placeholder=" ...") for text in texts]
    if folder.name == "suite":
        files = (settings_with_defaults(folder / f"{name}.yaml") for name in choices)
        lines += [line for settings in files for line in _setting_lines("evaluate", settings)]
    if (shared := folder / "classifier.yaml").is_file():
        classifier = settings_with_defaults(shared)["probes"]["classifier"]
        lines += _setting_lines("evaluate", {"probes": {"classifier": classifier}})
    return "\n".join([f"{folder.name}=  {meaning}", *lines, ""])
