"""The one error for what a user can mend, and what commands say of others in one line."""

import errno
import os
from pathlib import Path

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG}


class InputError(ValueError):
    """Something the user gave is wrong: a file, a line, a setting.

    The message is one line that names the place (`file:line`), what was seen and the remedy.
    Commands print it without a traceback and exit with status 2.
    """


def in_one_line(error: Exception) -> str:
    """What was wrong, without Hydra's wrapping of what a part's constructor says and without where it searched."""
    said = error.__cause__ if isinstance(error.__cause__, InputError) else error
    return " ".join(str(said).split("Config search path")[0].split())


def of_the_disk(error: OSError, where: Path) -> str:
    """Which file a disk did not take, else `where`, and why. Raises any other error again."""
    if error.errno not in NO_ROOM:
        raise error
    return f"{os.fsdecode(error.filename or where)}: {error.strerror}"
