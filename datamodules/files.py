"""Files and folders that are either whole or not there."""

import csv
import errno
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from datamodules.errors import InputError
from datamodules.holder import STALE, abandoned, ourselves, regularly
from datamodules.lines import read_lines
from datamodules.once import make_once

SIZES = "sizes.json"  # in a folder that build_once made: its files and their bytes


@contextmanager
def atomic_write(path: Path, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file beside `path` for writing; when the block ends well it takes the place of `path`.

    Raises OSError naming a file where the disk takes no more.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with room_for(path), beside.open("wb") if binary else beside.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def clear_unfinished(folder: Path) -> None:
    """Delete what killed writes left in a folder in which no other process writes now."""
    for left in folder.glob(f".*.{'[0-9a-f]' * 32}.tmp"):
        left.unlink(missing_ok=True)


@contextmanager
def room_for(path: Path) -> Iterator[None]:
    """Gives a write that failed the name of what was written, and numpy's, which has no number, that of a full disk."""
    try:
        yield
    except OSError as error:
        if type(error) is OSError and error.errno is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from None
        error.filename = error.filename or str(path)
        raise


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """Let `build` fill a folder beside `folder`, then rename it: `folder` is whole or not there.

    Raises InputError where a folder that was made before has lost a file or a part of one.
    """
    if folder.exists():
        _check_sizes(folder)
    else:
        make_once(folder, folder.exists, lambda: _build(folder, build))
    return folder


def _build(folder: Path, build: Callable[[Path], None]) -> None:
    with workshop(folder.parent) as work, room_for(folder):
        build(work)
        sizes = {path.name: path.stat().st_size for path in work.iterdir()}
        (work / SIZES).write_text(json.dumps(sizes), encoding="utf-8")
        for path in (*work.iterdir(), work):
            _make_durable(path)
        try:
            work.rename(folder)
        except OSError:  # another process made the same folder first
            if not folder.exists():
                raise


@contextmanager
def workshop(parent: Path) -> Iterator[Path]:
    """A new folder in `parent` to make things in, gone afterwards; so are those whose makers were killed.

    Its name says whose it is, and it is touched now and then, as a claim is.
    """
    parent.mkdir(parents=True, exist_ok=True)
    for left in parent.glob(".making-*+*"):
        with suppress(FileNotFoundError):  # its maker was done
            if abandoned(left.name.partition("+")[2], parent, left.stat().st_mtime + STALE):
                shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=".making-", suffix=f"+{ourselves()}", dir=parent))
    try:
        with regularly(partial(os.utime, work)):
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check_sizes(folder: Path) -> None:
    """A folder of an earlier version has no sizes to check."""
    try:
        sizes = json.loads((folder / SIZES).read_text(encoding="utf-8")) if (folder / SIZES).exists() else {}
        wrong = [name for name, size in sizes.items() if (folder / name).stat().st_size != size]
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder}: damaged ({error}); delete this folder, it is made anew") from None
    if wrong:
        raise InputError(f"{folder}: {', '.join(wrong)} cut off or changed; delete this folder, it is made anew")


def _make_durable(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_csv(path: Path, columns: Sequence[str] = (), key: Sequence[str] = ()) -> list[dict[str, str]]:
    """The rows of a CSV file by column name. Raises InputError as `numbered_csv` does."""
    return [row for _, row in numbered_csv(path, columns, key)]


def numbered_csv(
    path: Path, columns: Sequence[str] = (), key: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """The same, each row with the number of its line; a row is a line, so that no cell holds a line break.

    Raises InputError naming the first line that is too short, too long, or has the `key` of an earlier one, and the
    header where it lacks one of `columns`.
    """
    header: list[str] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, line in read_lines(Path(path)):
        if not line:
            continue
        try:
            (cells,) = csv.reader([line], strict=True)
        except (csv.Error, ValueError) as error:
            raise InputError(f"{path}:{number}: not a line of CSV ({error}); mend or remove it") from None
        if not header:
            lacking = [name for name in columns if name not in cells]
            if lacking or len(set(cells)) < len(cells):
                what = f"no column {', '.join(lacking)}" if lacking else "a column twice"
                raise InputError(f"{path}:{number}: {what} in the header; is it the file it is called?")
            header = cells
            continue
        if len(cells) != len(header):
            raise InputError(f"{path}:{number}: expected {len(header)} columns; mend or remove it")
        row = dict(zip(header, cells, strict=True))
        first = seen.setdefault(_key(row, key), number) if key else number
        if first != number:
            raise InputError(f"{path}:{number}: {' '.join(_key(row, key))} is on line {first} already; remove one")
        yield number, row


def upsert_csv(
    path: Path,
    rows: Iterable[Mapping[str, Any]],
    key: Sequence[str],
    order: Callable[[Mapping[str, str]], Any] | None = None,
) -> None:
    """Put rows into a CSV file: a row whose `key` columns equal an old one's takes its place.

    The file is rewritten as a whole, so that a kill leaves the old or the new one. Columns may be added; a row
    without one has an empty cell there. `order` sorts the rows; equal ones stay in the order of their arrival.
    """
    path = Path(path)
    kept = {_key(row, key): row for row in (read_csv(path, key=key) if path.exists() else [])}
    for row in rows:
        texts = {name: _text(value) for name, value in row.items()}
        kept[_key(texts, key)] = texts
    ordered = sorted(kept.values(), key=order) if order else list(kept.values())
    columns = list(dict.fromkeys(name for row in kept.values() for name in row))
    with atomic_write(path) as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)


def _key(row: Mapping[str, str], key: Sequence[str]) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in key)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
