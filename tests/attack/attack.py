"""What an attack is, and what every answer to one must be."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis.strategies import SearchStrategy

from encoder_lab.settings.command_line import USER_ERROR, one_line_errors

GONE = object()  # in place of an odd value: the part is taken out
CASES = Path(__file__).parent / "cases"  # each a failure of the past: CATEGORY-NUMBER.json


class Attack(NamedTuple):
    """Cases are plain values, so that a failure can be kept as JSON."""

    category: str
    cases: SearchStrategy[Any]
    check: Callable[[Any, Path], None]  # of a case and an empty folder; raises AssertionError where the promise breaks


def refused(work: Callable[[], object]) -> str | None:
    """The one line that a command prints for what `work` does; None if it succeeds. Any other error passes through."""
    errors = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(errors), one_line_errors("a place"):
            work()
    except SystemExit as ended:
        if ended.code != USER_ERROR:
            raise AssertionError(f"status {ended.code}") from None
        text = errors.getvalue()
        assert text.startswith("error: "), text
        assert text.endswith("\n"), text
        assert text[:-1].isprintable(), text
        assert len(text) < 3000, text
        return text
    return None


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Checks that the block changes nothing in a folder."""
    before = listing(folder)
    yield
    assert listing(folder) == before


def listing(folder: Path) -> dict[str, object]:
    """Every entry below a folder with its kind, its content and its number on the disk."""
    entries: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        entries[str(path.relative_to(folder))] = path.lstat().st_ino, path.lstat().st_mode, content
    return entries


def corrupt(part: Any, steps: list[int], odd: Any) -> None:
    """Replace a part of lists and dicts by an odd value, or take it out: each step goes into one of what is inside."""
    at, *rest = steps
    keys = list(part) if isinstance(part, dict) else list(range(len(part)))
    key = keys[at % len(keys)]
    if rest and isinstance(part[key], dict | list) and part[key]:
        corrupt(part[key], rest, odd)
    elif odd is GONE:
        del part[key]
    else:
        part[key] = odd
