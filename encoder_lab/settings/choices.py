"""Choices on a command line, checked before Hydra is imported: `encoder=bilstm_max` is a file of configs/encoder/."""

from collections.abc import Sequence
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import names, unknown
from encoder_lab.settings.config_help import description


def refuse_unknown_choices(configs: Path, arguments: Sequence[str]) -> None:
    """Raises InputError for a choice that its group does not have. Folders of `--config-dir` are left to Hydra."""
    if any(text.startswith(("--config-dir", "-cd")) for text in arguments):
        return
    for text in arguments:
        group, equals, value = text.partition("=")
        folder = configs / group
        if not equals or not group.isidentifier() or not folder.is_dir():
            continue
        files = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.yaml")}
        there = sorted(name for name, path in files.items() if "not a choice" not in description(path))
        for choice in filter(None, names(value)):
            if choice not in ("null", *there) and not any(letter in choice for letter in "(*$"):
                raise InputError(f"{group}={choice}: {unknown('choice', choice, there)}")
