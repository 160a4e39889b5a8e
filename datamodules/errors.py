"""The one error for what a user can mend."""


class InputError(ValueError):
    """Something the user gave is wrong: a file, a line, a setting.

    The message is one line that names the place (`file:line`), what was seen and the remedy.
    Commands print it without a traceback and exit with status 2.
    """
