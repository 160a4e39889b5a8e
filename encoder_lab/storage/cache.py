"""List what is in the cache, or delete what nobody has used for a while. A run makes again what it needs.

python -m encoder_lab.storage.cache                       list it: size, days since the last use, name
python -m encoder_lab.storage.cache prune=true older=30   delete what was not used for 30 days, and what kills left
"""

import re
import shutil
import stat
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from encoder_lab.errors import printable
from encoder_lab.settings.command_line import BOOLEAN, FOLDER, INTEGER, Command, Setting
from encoder_lab.storage.files import TEMPORARY_NAME, delete_temporary
from encoder_lab.storage.locks import locked

DAY_SECONDS = 24 * 60 * 60  # seconds
CacheEntry = tuple[Path, int, float]  # its bytes, and when it was last read or written, in seconds since 1970
ENTRY_NAME = re.compile(r"[a-z]+-(?:.+-)?[0-9a-f]{16}(?:\.\w+)?")  # ends with the key of what it was made of (`key_of`)


def cache_entries(cache: Path) -> list[CacheEntry]:
    """What we put into the cache, and what killed processes left there; the largest first."""
    if not cache.exists():
        return []
    paths = [path for path in cache.iterdir() if ENTRY_NAME.fullmatch(path.name) or TEMPORARY_NAME.fullmatch(path.name)]
    return sorted(map(_make_entry, paths), key=lambda entry: -entry[1])


def prune_cache(cache: Path, older: int) -> Iterator[CacheEntry]:
    """Delete what was not used for `older` days, except what a process is making now; yields what is gone."""
    limit = time.time() - older * DAY_SECONDS
    for entry in cache_entries(cache):
        path, _, used = entry
        if TEMPORARY_NAME.fullmatch(path.name):
            if delete_temporary(path):
                yield entry
            continue
        if used > limit:
            continue
        with locked(cache / f".{path.name}.lock") as acquired:
            if acquired:
                _delete(path)
                yield entry


def _make_entry(path: Path) -> CacheEntry:
    paths = [path, *path.rglob("*")] if path.is_dir() and not path.is_symlink() else [path]
    states = [path.lstat() for path in paths]
    files = [state for state in states if not stat.S_ISDIR(state.st_mode)]
    used = [state.st_mtime for state in states] + [state.st_atime for state in files]  # listing is no use
    return path, sum(state.st_size for state in files), max(used)


def _delete(path: Path) -> None:
    """Under another name first, so that no process finds a part of it."""
    gone = path.with_name(f".{path.name}.{uuid.uuid4().hex}.making")
    path.rename(gone)
    shutil.rmtree(gone) if gone.is_dir() and not gone.is_symlink() else gone.unlink()


def list_or_prune(options: SimpleNamespace) -> None:
    listed = list(prune_cache(options.cache, options.older)) if options.prune else cache_entries(options.cache)
    for path, size, used in listed:
        days = max(0, int((time.time() - used) / DAY_SECONDS))
        print(f"{size / 1e6:10,.1f} MB {days:6} days  {printable(path.name)}")
    did = "deleted from" if options.prune else "in"
    print(f"{sum(size for _, size, _ in listed) / 1e6:10,.1f} MB in {len(listed)} entries {did} {options.cache}")


COMMAND = Command(
    "python -m encoder_lab.storage.cache",
    __doc__,
    [
        Setting("cache", "the folder", FOLDER, Path(".cache")),
        Setting("prune", "delete instead of listing", BOOLEAN, False),
        Setting("older", "with prune=true: only what was not used for so many days", INTEGER, 0, needs="prune"),
    ],
    list_or_prune,
    writes=lambda options: options.cache,
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
