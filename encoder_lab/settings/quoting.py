"""Quotes around a value with signs in it: one rule for every `key=value` of every command, that of Hydra's grammar."""

import os
import re
import shlex
from collections.abc import Iterable
from typing import Any

UNQUOTED_PATTERN = re.compile(r"(?!(null|true|false|-?(nan|inf(inity)?))$|[.-]*\d)[a-z_./-][\w./-]*", re.ASCII | re.I)
QUOTED_PATTERN = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
LIST_ITEM_PATTERN = re.compile(rf"(?:{QUOTED_PATTERN})(?=\s*(?:,|$))|[^,\s][^,]*", re.DOTALL)


def quoted(value: object) -> str:
    """A text as `unquoted` and Hydra read it: in quotes if it has other characters than names and paths mostly have."""
    text = str(value)
    if UNQUOTED_PATTERN.fullmatch(text):
        return text
    return "'" + re.sub(r"(\\*)('|$)", lambda match: match[1] * 2 + ("\\'" if match[2] else ""), text) + "'"


def unquoted(text: str) -> str:
    """The text within quotes; any other as it is."""
    if not re.fullmatch(QUOTED_PATTERN, text, re.DOTALL):
        return text
    return re.sub(rf"(\\+)({text[0]}|$)", lambda match: match[1][: len(match[1]) // 2] + match[2], text[1:-1])


def split_names(text: str) -> list[str]:
    """The names in `a,b` or `[a,b]`, each without its quotes."""
    content = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return [unquoted(part.strip()) for part in LIST_ITEM_PATTERN.findall(content)]


def requested_names(key: str, arguments: Iterable[str]) -> list[str]:
    """The names that the settings `key=` of a command have."""
    return [name for text in arguments if text.startswith(f"{key}=") for name in split_names(text.partition("=")[2])]


def for_shell(key: str, value: object) -> str:
    """`key=value` as a user writes it in a shell."""
    text = f"{key}={quoted(value)}"
    return f'"{text}"' if "'" in text and not re.search(r'["$`\\!]', text) else shlex.quote(text)


def home_mistake(name: str, value: object) -> str:
    """A line for a path below `~` or `~user`, which a shell replaces, some libraries too, others not."""
    path = os.path.expanduser(str(value))  # noqa: PTH111 (leaves the name of nobody as it is)
    return f"{name}={value}: no shell has replaced this ~; write {for_shell(name, path)}" if path != str(value) else ""


def command_line_value(value: Any) -> str:
    """A default as it is written on the command line; nothing where there is none."""
    if isinstance(value, list | tuple):
        return f"[{','.join(map(command_line_value, value))}]"
    if value == "???":
        return ""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
