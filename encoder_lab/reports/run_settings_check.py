"""The settings of a run that reports compute with, checked: the run folder may be somebody else's."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.settings.run import COLOUR_PATTERN


def _is_list_of_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


SETTING_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "objective.parts": ("a list of names", _is_list_of_names),
    "objective.losses": ("a list of names", _is_list_of_names),
    "objective.select": ("a name", lambda value: isinstance(value, str)),
    **dict.fromkeys(
        ("labels.colour", "run.labels.colour"),
        ('a colour, as "#D55E00"', lambda value: bool(re.fullmatch(COLOUR_PATTERN, str(value)))),
    ),
}


def check_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Raises InputError naming the file, for a setting of another type than training accepts; null is none."""
    for key, (expected, fits) in SETTING_TYPES.items():
        value = settings.get(key)
        if value is not None and not fits(value):
            raise InputError(f"{path}: {key} is {str(value)[:40]!r}, not {expected}; copy the whole run folder again")
