"""InputError, the error for everything that the user can fix; and one-line messages for other errors."""

import errno
import os
from pathlib import Path

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG}


class InputError(ValueError):
    """Something that the user gave is wrong: a file, a line, a setting.

    The message is one line: where (`file:line`), what is wrong, what to do.
    Commands print it without a traceback and exit with status 2.
    """


def in_one_line(error: Exception) -> str:
    """The message of an error on one line, without the text that Hydra adds around it."""
    said = error.__cause__ if isinstance(error.__cause__, InputError) else error
    return " ".join(str(said).split("Config search path")[0].split())


def disk_error_line(error: OSError, where: Path | str) -> str:
    """A message for a disk error: the file that could not be written (else `where`) and why.

    Re-raises any other error.
    """
    if error.errno not in NO_ROOM:
        raise error
    return f"{os.fsdecode(error.filename or where)}: {error.strerror}"
