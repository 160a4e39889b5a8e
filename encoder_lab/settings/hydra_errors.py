"""Hydra's errors with the remedy: how to quote a value, and which choices have a setting."""

import re

from encoder_lab.errors import in_one_line
from encoder_lab.settings.known import CONFIGS, known_settings, settings_of_file, unknown_setting_message
from encoder_lab.settings.quoting import for_shell
from encoder_lab.settings.run_settings import dotted_items

AMBIGUOUS_VALUE = re.compile(r"Ambiguous value for argument '(.*?)' 1\. ")
NO_SUCH_KEY = re.compile(r"Could not override '([\w.]+)'\.")
SPLITS_ADVICE = "this corpus has splits of its own; for tasks of more text take probes=text probes.paths=[FILE]"


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
    if (match := NO_SUCH_KEY.match(text)) and not (choices := _choices_with_setting(match[1])):
        names = known_settings(CONFIGS, "train").names | known_settings(CONFIGS, "evaluate").names
        return f"{match[1]}: {unknown_setting_message(match[1], names - {match[1]})}"
    if match:
        hint = SPLITS_ADVICE if match[1] == "corpus.held_out" else "the choices of this command have no such setting"
        return f"{match[1]}: {hint}; these have: {', '.join(choices)}"
    return text


def _choices_with_setting(name: str) -> list[str]:
    """The choices with a setting, as probes=trees."""
    paths = sorted(CONFIGS.glob("*/*.yaml"))
    having = (path for path in paths if name in dict(dotted_items(settings_of_file(path, path.parent.name))))
    return [f"{path.parent.name}={path.stem}" for path in having]
