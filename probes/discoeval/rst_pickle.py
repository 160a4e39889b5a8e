"""Reading the published RST pickles: lists, tuples, strings and numbers, and nothing else.

Of Python's own reader only the opcodes of such values are left: none that imports, builds or calls, so a pickle can run
nothing, and each opcode takes at most a few words of memory, as the reader in Python keeps its memo in a dictionary.
"""

import io
import pickle
import pickletools
import re
import struct
from pathlib import Path
from typing import Any, ClassVar

from encoder_lab.errors import InputError, in_one_line

MAX_BYTES = 1 << 27  # of a file; the published ones are far smaller
PLAIN_OPCODE = re.compile(
    r"(SHORT_)?(BIN)?(UNICODE|STRING)8?|(BIN)?INT[12]?|(BIN)?FLOAT|LONG[14]?|MARK|(EMPTY_)?(LIST|TUPLE)|TUPLE[123]"
    r"|APPENDS?|(LONG_)?(BIN)?(PUT|GET)|MEMOIZE|PROTO|FRAME|STOP"
)
NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
DAMAGE_ERRORS = (pickle.PickleError, EOFError, LookupError, AttributeError, TypeError, ValueError, OverflowError)


class _PlainUnpickler(pickle._Unpickler):
    dispatch: ClassVar[dict[int, Any]] = {
        **{code: read for code, read in pickle._Unpickler.dispatch.items() if PLAIN_OPCODE.fullmatch(NAMES[code])},
        pickle.FRAME[0]: lambda reader: reader.read(8),  # reads as if there were no frames, so that places are known
    }


def read_pickle(path: Path) -> Any:
    """The lists, tuples, strings and numbers in a pickle. Raises InputError for anything else, and runs nothing."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path}: more than {MAX_BYTES >> 20} MB; is it one of the RST files?")
    file = io.BytesIO(path.read_bytes())
    unpickler: Any = _PlainUnpickler(file, encoding="utf-8")  # of the bytes of Python 2
    try:
        value = unpickler.load()
    except (*DAMAGE_ERRORS, struct.error) as error:
        offset, code = file.tell() - 1, error.args[0] if type(error) is KeyError else None
        if code in NAMES:
            problem = "may hold only lists, tuples, strings and numbers"
            raise InputError(
                f"{path}: {NAMES[code]} at byte {offset}, but an RST file {problem}; nothing was run"
            ) from None
        problem = f"cut off, damaged or not a pickle, at byte {offset} or before it ({in_one_line(error)[:80]})"
        raise InputError(f"{path}: {problem}; get the file again") from None
    if unpickler.stack or unpickler.metastack:
        values = 1 + len(unpickler.stack) + sum(map(len, unpickler.metastack))
        raise InputError(f"{path}: damaged: {values} values at its end, expected one; get the file again")
    return value
