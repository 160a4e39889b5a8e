"""Helpers of the fuzz tests: corrupted files, limits on time and memory, checks of error messages."""

import re
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from encoder_lab.errors import InputError

SECONDS, MEMORY = 20, 1 << 30  # limits for one corrupted file of a few lines
TROUBLE = [
    *[b"\n", b"\n\n", b"\r\n", b"\t", b" ", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\xa0"],
    *[b"nan", b"-1", b"0", b"99999999999", b"1e999", b'"', b"{", b"- [", b"(", b")", b"<", b"\\ud800", b"#"],
]


def corrupted(whole: bytes) -> st.SearchStrategy[bytes]:
    """The bytes with up to three parts replaced or doubled, and sometimes truncated."""
    new = st.one_of(st.sampled_from(TROUBLE), st.binary(max_size=6), st.just(None))
    change = st.tuples(st.integers(0, len(whole)), st.integers(0, 40), new)
    cut = st.one_of(st.just(len(whole) + 100), st.integers(0, len(whole)))
    return st.builds(_changed, st.just(whole), st.lists(change, max_size=3), cut)


def _changed(whole: bytes, changes: list[tuple[int, int, bytes | None]], cut: int) -> bytes:
    text = bytearray(whole)
    for at, gone, new in changes:
        text[at : at + (0 if new is None else gone)] = text[at : at + gone] if new is None else new
    return bytes(text[:cut])


@contextmanager
def limits() -> Iterator[None]:
    """Fail after SECONDS, and allow at most MEMORY more than the process has now."""
    passed: list[str] = []

    def late(*_: object) -> None:
        passed.append(f"not done after {SECONDS} seconds")
        pytest.fail(passed[0])

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before, (soft, hard) = signal.signal(signal.SIGALRM, late), resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, hard))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        if passed:  # raise again, because a library may have caught the first one
            pytest.fail(passed[0])


def refusal(read: Callable[[], Any], path: Path) -> str | None:
    """The error of reading a file: one line that names the file; None if it is read. Checks the limits."""
    refused: InputError | None = None
    try:
        with limits():
            read()
    except InputError as error:
        refused = error
    assert "\n" not in str(refused)
    assert refused is None or str(path) in str(refused)
    assert not re.search("MemoryError|allocate memory|bad_alloc", f"{refused} {refused and refused.__context__!r}"), (
        refused
    )
    return refused and str(refused)


def any_damage_is_read_or_refused(
    read: Callable[[], Any],
    path: Path,
    at_the_end: str = "",
    folder: Path | None = None,
    also: Sequence[bytes] = (),
) -> None:
    """Check that `read` accepts the file with any damage or refuses it in one line.

    With `at_the_end` it must name the first malformed line, as for `read_or_refused_by_line`, else the file, or only
    the `folder`. `also`: more contents.
    """
    whole = path.read_bytes()

    @given(corrupted(whole))
    @example(b"")
    @example(b"\0" * 50)
    @example(whole[:-1])
    @example(whole[: len(whole) // 2])
    def check(content: bytes) -> None:
        if at_the_end:
            read_or_refused_by_line(read, path, content, at_the_end)
        else:
            path.write_bytes(content)
            refusal(read, folder or path)

    for content in also:
        check.hypothesis.inner_test(content)
    check()
    path.write_bytes(whole)


def line_of(message: str | None, path: Path) -> int | None:
    """The line number in an error message."""
    named = re.search(rf"{re.escape(str(path))}:(\d+): ", message or "")
    return int(named[1]) if named else None


def read_or_refused_by_line(read: Callable[[], Any], path: Path, content: bytes, at_the_end: str) -> None:
    """Check that `read` accepts the content or names its first malformed line.

    An error that matches `at_the_end` is also allowed: it is found only at the end of a file.
    """
    path.write_bytes(content)
    message = refusal(read, path)
    line = line_of(message, path)
    if message is None or re.search(at_the_end, message):
        return
    assert line is not None, message
    before = content.split(b"\n")[: line - 1]
    assert len(before) == line - 1, message
    path.write_bytes(b"".join(text + b"\n" for text in before))
    sooner = refusal(read, path)
    assert sooner is None or re.search(at_the_end, sooner), f"{message}, but without that line {sooner}"


def lines_in(content: bytes, encoding: str = "utf-8") -> list[str]:
    """The lines of a text; only a newline ends a line."""
    lines = content.decode(encoding).removeprefix("\ufeff").split("\n")
    return lines[:-1] if not lines[-1] else lines
