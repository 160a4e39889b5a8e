"""Reading the published RST pickles without unpickling: lists, tuples, strings and numbers, and nothing else.

`pickletools.genops` takes the file apart; a small stack machine puts the values together. It knows no opcode that
imports, builds or calls, so a pickle can run nothing, and each opcode takes at most a few words of memory.
"""

import pickletools
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError, in_one_line

MAX_BYTES = 1 << 27  # of a file; the published ones are far smaller
TEXT = {"UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
TEXT_OF_PYTHON_2 = {"STRING", "SHORT_BINSTRING", "BINSTRING"}  # bytes that genops gives as Latin-1
NUMBERS = {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"}
PUT, GET = {"PUT", "BINPUT", "LONG_BINPUT"}, {"GET", "BINGET", "LONG_BINGET"}
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
MARK = object()


def read_pickle(path: Path) -> Any:
    """The lists, tuples, strings and numbers in a pickle. Raises InputError for anything else, and runs nothing."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path}: more than {MAX_BYTES >> 20} MB; is it one of the RST files?")
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    name, offset = "", 0
    try:
        for opcode, value, position in pickletools.genops(path.read_bytes()):
            name, offset = opcode.name, position or 0
            _apply_opcode(name, value, stack, memo)
    except NotImplementedError:
        problem = "may hold only lists, tuples, strings and numbers"
        raise InputError(f"{path}: {name} at byte {offset}, but an RST file {problem}; nothing was run") from None
    except (LookupError, AttributeError, TypeError, ValueError, OverflowError) as error:
        problem = f"cut off, damaged or not a pickle, at byte {offset} or behind it ({in_one_line(error)[:80]})"
        raise InputError(f"{path}: {problem}; get the file again") from None
    if len(stack) != 1 or stack[0] is MARK:
        raise InputError(f"{path}: damaged: {len(stack)} values at its end, expected one; get the file again")
    return stack[0]


def _apply_opcode(name: str, value: Any, stack: list[Any], memo: dict[int, Any]) -> None:
    """One opcode. Raises NotImplementedError for those that a list of texts does not need."""
    if name in TEXT or name in NUMBERS:
        stack.append(value)
    elif name in TEXT_OF_PYTHON_2:
        stack.append(value.encode("latin-1").decode("utf-8"))
    elif name == "MARK":
        stack.append(MARK)
    elif name in ("EMPTY_LIST", "EMPTY_TUPLE"):
        stack.append([] if name == "EMPTY_LIST" else ())
    elif name in ("LIST", "TUPLE"):
        values = _pop_to_mark(stack)
        stack.append(values if name == "LIST" else tuple(values))
    elif name in TUPLES:
        stack[-TUPLES[name] :] = [tuple(_top_values(stack, TUPLES[name]))]
    elif name in ("APPEND", "APPENDS"):
        values = [stack.pop()] if name == "APPEND" else _pop_to_mark(stack)
        if not isinstance(stack[-1], list) or MARK in values:
            raise ValueError("not appended to a list")
        stack[-1].extend(values)
    elif name in PUT or name == "MEMOIZE":
        memo[len(memo) if name == "MEMOIZE" else value] = _top_values(stack, 1)[0]
    elif name in GET:
        stack.append(memo[value])
    elif name not in ("PROTO", "FRAME", "STOP"):
        raise NotImplementedError(name)


def _top_values(stack: list[Any], count: int) -> list[Any]:
    values = stack[-count:]
    if len(values) < count or any(value is MARK for value in values):
        raise ValueError("too few values")
    return values


def _pop_to_mark(stack: list[Any]) -> list[Any]:
    values = []
    while (value := stack.pop()) is not MARK:
        values.append(value)
    return values[::-1]
