"""InputError, the error for everything that the user can fix; and one-line messages for other errors."""

import errno
import os
import re
from pathlib import Path

MAX_MESSAGE_CHARACTERS = 2000
IMPORT_REMEDY = "install it, or name the folder that has it in PYTHONPATH"
RUST_OS_ERROR = re.compile(r"\(os error (\d+)\)")  # in errors of libraries written in Rust, such as safetensors
OUT_OF_MEMORY = re.compile(r"out of memory|can't allocate memory")  # of PyTorch, on a GPU and on the CPU
SYSTEM_ERRNOS = {errno.EIO, errno.EMFILE, errno.ENFILE, errno.ESTALE}  # which may lack the name of a file
WRITE_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG}


class InputError(ValueError):
    """Something that the user gave is wrong: a file, a line, a setting.

    The message is one line: where (`file:line`), what is wrong, what to do.
    Commands print it without a traceback and exit with status 2.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(printable(message), MAX_MESSAGE_CHARACTERS))


def printable(text: str) -> str:
    """The text on one line, without control characters: in a terminal they are commands."""
    letters = (letter if letter.isprintable() else " " if letter.isspace() else "" for letter in text)
    return text if text.isprintable() else "".join(letters)


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and its end, `limit` characters together."""
    tail = limit // 2
    return text if len(text) <= limit else f"{text[: limit - tail - 1]}…{text[-tail:]}"


def in_one_line(error: BaseException) -> str:
    """The message of an error on one line, without the text that Hydra adds around it."""
    source = error.__cause__ if isinstance(error.__cause__, InputError) else error
    return " ".join(str(source).split("Config search path")[0].split())


def first_line(error: Exception) -> str:
    """The first line of an error of a library, without its full stop."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].removesuffix(".")


def disk_error_line(error: OSError, fallback: Path | str) -> str:
    """A message for an error with a file: which one (else `fallback`) and why. Re-raises any other error."""
    if error.errno not in WRITE_ERRNOS | SYSTEM_ERRNOS and not (error.errno and error.filename):
        raise error
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else fallback
    place = " (cache=, out= and hydra.run.dir= name other folders)" if error.errno == errno.EROFS else ""
    return f"{name or fallback}: {error.strerror}{place}"


def disk_error_in(error: Exception) -> OSError | None:
    """The system error in the message of a library's error; None if there is none."""
    match = RUST_OS_ERROR.search(str(error))
    return OSError(int(match[1]), os.strerror(int(match[1]))) if match else None


def memory_is_full(error: Exception) -> bool:
    """True for Python's, NumPy's and PyTorch's errors for memory of the machine or of a GPU."""
    text = str(error) if isinstance(error, RuntimeError) else ""
    return isinstance(error, MemoryError) or bool(OUT_OF_MEMORY.search(text))
