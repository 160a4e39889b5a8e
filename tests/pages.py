"""What README and docs hold: blocks of code, and the calls of our programs in them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ASSIGNMENT = re.compile(r"(?:^|[\s;])([A-Z]+)=(\"[^\"]*\"|'[^']*'|\S*)(?=$|\s)")
CALL = re.compile(r"(?:\bpython |torchrun (?:--\S+ +)+|^(?=make ))((?:-m )?\S.*)$")


class Block(NamedTuple):
    """A fenced or indented block of a page."""

    language: str
    text: str
    line: int
    above: str  # the last line of prose before it

    @property
    def long(self) -> bool:
        """Whether a comment says that its commands take long, or need what a fresh copy of the project lacks."""
        return self.above.startswith("<!-- long: ")

    @property
    def names(self) -> str:
        """The file that it is the content of, if the line above names one."""
        matches = re.fullmatch(r"`([\w/]+\.(py|yaml|jsonl|tsv))`:", self.above)
        return matches[1] if matches else ""


class Command(NamedTuple):
    """One call of a program of ours, as a shell makes it."""

    program: list[str]  # ["train.py"], ["-m", "encoders.encode"] or ["make"]
    arguments: list[str]
    stdin: str = ""
    stdout: str = ""

    @property
    def name(self) -> str:
        return self.program[-1]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order."""
    above, lines = "", page.read_text(encoding="utf-8").split("\n")
    number = 0
    while number < len(lines):
        first, line = number, lines[number]
        number += 1
        if line.startswith("```"):
            number = lines.index("```", number) + 1
            language, text = line.removeprefix("```"), "\n".join(lines[first + 1 : number - 1]) + "\n"
        elif line.startswith("    ") and not lines[first - 1].strip():
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number].strip()):
                number += 1
            text = "\n".join(line[4:] for line in lines[first:number])
            language = "sh" if any(map(CALL.search, text.split("\n"))) else ""
        else:
            above = line if line.strip() else above
            continue
        yield Block(language, text, first + 1, above)
        above = ""


def commands(text: str) -> Iterator[Command]:
    """The calls of Python and make in the lines of a shell, with the shell's variables put in."""
    lines = text.replace("\\\n", " ").split("\n")
    named = {name: value.strip("\"'") for line in lines for name, value in ASSIGNMENT.findall(line)}
    for line in lines:
        for _ in range(2):  # a variable may stand for another one
            line = re.sub(r"\$(\w+)", lambda matches: named.get(matches[1], matches[0]), line)
        if matches := CALL.search(line):
            words = shlex.split(matches[1], comments=True)
            files = {mark: words[words.index(mark) + 1] for mark in "<>" if mark in words}
            words = words[: min((words.index(mark) for mark in "<>&|;" if mark in words), default=len(words))]
            at = 2 if words[0] == "-m" else 1
            yield Command(words[:at], words[at:], files.get("<", ""), files.get(">", ""))


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a page that are in no block."""
    hidden = {n for block in blocks(page) for n in range(block.line, block.line + block.text.count("\n") + 2)}
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if number not in hidden:
            yield number, line


def headings(page: Path) -> set[str]:
    """The names of a page's headings as links write them."""
    lines = (line.lstrip("# ").lower() for _, line in prose(page) if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", line).replace(" ", "-") for line in lines}
