"""The one error for what a user can mend."""


class InputError(ValueError):
    """Something the user gave is wrong: a file, a line, a setting.

    The message is one line that names the place (`file:line`), what was seen and the remedy.
    Commands print it without a traceback and exit with status 2.
    """


def in_one_line(error: Exception) -> str:
    """What was wrong, without Hydra's wrapping of what a part's constructor says and without where it searched."""
    said = error.__cause__ if isinstance(error.__cause__, InputError) else error
    return " ".join(str(said).split("Config search path")[0].split())
