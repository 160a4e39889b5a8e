"""The trees in output files of Stanford CoreNLP (`-outputFormat json`, `xml` or `text`), a line or more for each."""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

Lines = Iterable[tuple[int, str]]  # with their numbers

IN_JSON = re.compile(r'"parse"\s*:\s*("(?:[^"\\]|\\.)*+")')


def _of_json(lines: Lines) -> Iterator[tuple[int, str]]:
    return ((number, json.loads(text)) for number, line in lines for text in IN_JSON.findall(line))


def _of_xml(lines: Lines) -> Iterator[tuple[int, str]]:
    inside = False
    for number, line in lines:
        for part in re.split(r"(?=<)", line):
            inside = part.startswith("<parse>") or (inside and not part.startswith("<"))
            if inside:
                yield number, html.unescape(part.removeprefix("<parse>"))


def _of_text(lines: Lines) -> Iterator[tuple[int, str]]:
    level = 0
    for number, line in lines:
        if level > 0 or line.startswith("(ROOT"):
            level += line.count("(") - line.count(")")
            yield number, line


FORMATS: dict[str, Callable[[Lines], Iterator[tuple[int, str]]]] = {
    ".json": _of_json,
    ".xml": _of_xml,
    ".out": _of_text,
}


def only_trees(path: Path, lines: Lines) -> Lines:
    """The lines of a file; of an output file of CoreNLP, known by its ending, those of its trees."""
    name = path.name.removesuffix(".gz").removesuffix(".bz2")
    return next((read(lines) for ending, read in FORMATS.items() if name.endswith(ending)), lines)
