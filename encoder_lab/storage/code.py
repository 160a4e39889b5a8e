"""What a function or class is made of, for the keys of caches."""

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OURS = ("datamodules", "encoder_lab", "encoders", "objectives", "probes")
INSTALLED = ("site-packages", "dist-packages")  # folders with the packages of everybody
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]*)"
    r"|import[ \t]+(?P<modules>[^\n#;]+))",
    re.MULTILINE,
)  # a parser would take a tenth of a second


def code_of(made: Callable[..., Any]) -> str:
    """A hash of the source of a function or class: what other code has made is something else.

    The source is its file and all files that this imports, directly or not, of ours and of its own package or folder.
    """
    while isinstance(made, partial):
        made = made.func
    if not inspect.isroutine(made) and not isinstance(made, type):
        made = type(made)  # of an object that can be called
    try:
        source = inspect.getsourcefile(inspect.unwrap(made))
    except TypeError:  # built in, or typed into an interpreter
        source = None
    if source is None or not Path(source).is_file():
        return str(getattr(made, "__qualname__", type(made).__qualname__))
    files = imported_by(Path(source).absolute())
    return sha256("".join(sorted(_hash(path, _changed(path)) for path in files)).encode()).hexdigest()[:8]


def imported_by(source: Path) -> set[Path]:
    """The file and those that it imports, directly or not, of ours and of its own package or folder."""
    home = source.parent
    while (home / "__init__.py").exists():
        home = home.parent
    own = source.relative_to(home).parts[0] if home.name in INSTALLED else ""
    found, waiting = {source}, [source]
    while waiting:
        path = waiting.pop()
        new = _imports(path, home, own, _changed(path)) - found
        found |= new
        waiting += new
    return found


@cache
def _imports(path: Path, home: Path, own: str, _when: int) -> frozenset[Path]:
    """The files that `path` imports itself, of ours and of `home`, there only of the package `own` if that is given."""
    modules = [tuple(name.split(".")) for name in _names(path, home)]
    ours = [(ROOT, parts) for parts in modules if parts[0] in OURS]
    theirs = [(home, parts) for parts in modules if own in ("", parts[0])]
    places = {root.joinpath(*parts[:depth]) for root, parts in ours + theirs for depth in range(1, len(parts) + 1)}
    files = {file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")}
    return frozenset(file for file in files if file.is_file())


def _names(path: Path, home: Path) -> Iterator[str]:
    """The modules that a file imports, also where it may mean a name in a module."""
    package = path.relative_to(home).parent.parts if path.is_relative_to(home) else ()
    for found in IMPORT.finditer(path.read_text(encoding="utf-8", errors="replace")):
        if found["modules"]:
            yield from (words[0] for part in found["modules"].split(",") if (words := part.split()))
            continue
        module = found["module"].lstrip(".")
        if up := len(found["module"]) - len(module):  # relative to the package of the file
            module = ".".join([*package[: len(package) - up + 1], *filter(None, [module])])
        for part in found["names"].strip("()").split(","):
            if words := part.split():
                yield f"{module}.{words[0]}".lstrip(".")


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns


@cache
def _hash(path: Path, _when: int) -> str:
    return sha256(path.read_bytes()).hexdigest()
