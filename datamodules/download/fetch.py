"""Fetch a corpus of the catalogue: resumed where it stopped, verified, unpacked."""

import hashlib
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import requests
from urllib3.exceptions import HTTPError, LocationParseError

from datamodules.download.archives import ARCHIVES, unpack, verify_archive
from datamodules.download.catalogue import CatalogEntry, describe_state
from encoder_lab.errors import InputError, in_one_line
from encoder_lab.progress import Progress
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.text_files import placeholder_in

ATTEMPTS = 5  # in a row without new bytes
PAUSE_SECONDS = 2.0  # before the next attempt, times the number of attempts
TIMEOUT_SECONDS = (20, 60)  # to connect, and to wait for a byte
BLOCK_BYTES = 1 << 16
RETRY_STATUSES = (408, 425, 429, 500, 502, 503, 504)
SUMS_FILE = "SHA256SUMS"  # the fetched files, in the format of `sha256sum --check`


def download(entry: CatalogEntry, data: Path, base: str | None = None) -> Path:
    """Fetch, verify and unpack a corpus. Its folder below `data` is complete or does not exist.

    An unfinished download stays in `<name>.partial`; the next call resumes it. `base`: a mirror, which replaces
    everything before the file name in each address. Raises InputError.
    """
    folder = data / entry.name
    if not entry.files:
        raise InputError(f"{entry.name}: nothing to fetch; {describe_state(entry, data)}; see {entry.homepage}")
    if folder.exists():
        raise InputError(f"{folder}: already there; remove it to fetch it again, or choose another to=")
    work = folder.with_name(f"{entry.name}.partial")
    work.mkdir(parents=True, exist_ok=True)
    sums = {}
    for remote in entry.files:
        name = remote.url.rsplit("/", 1)[-1]
        url = f"{base.rstrip('/')}/{name}" if base else remote.url
        sums[name] = fetch(url, work / name, remote.sha256, entry.homepage)
    for name in sums:
        if name.endswith(ARCHIVES):
            unpack(work / name, work)
    for name in sums:
        if name.endswith(ARCHIVES):
            (work / name).unlink()
    with atomic_write(work / SUMS_FILE) as file:
        file.writelines(f"{sha256}  {name}\n" for name, sha256 in sums.items())
    work.rename(folder)
    return folder


def fetch(url: str, path: Path, sha256: str | None, homepage: str) -> str:
    """Fetch and verify the file at `url`; returns its SHA-256. Deletes a file that fails verification."""
    part = path.with_name(f"{path.name}.part")
    if not path.exists():
        _fetch_rest(url, part, homepage)
    got = part if part.exists() else path
    try:
        digest = _verify(got, path.name, sha256)
    except InputError as error:
        got.unlink()
        raise InputError(f"{url}: {error}; deleted, so run again; if it recurs see {homepage}") from None
    if got is part:
        part.rename(path)
        part.with_suffix(".tag").unlink(missing_ok=True)
    return digest


def _fetch_rest(url: str, part: Path, homepage: str) -> None:
    """Append to `part` until the file is complete."""
    failures, reason = 0, "no answer"
    while failures < ATTEMPTS:
        size_before = _size(part)
        try:
            if _request_rest(url, part, homepage):
                return
            reason = "the connection broke off"
        except (ValueError, LocationParseError) as error:  # requests raises ValueErrors for these
            if isinstance(error, InputError):
                raise
            raise InputError(f"{url}: not an address ({in_one_line(error)})") from None
        except (requests.RequestException, HTTPError) as error:
            reason = type(error).__name__
        except OSError as error:
            raise InputError(f"{part}: {error}; run again to continue") from None
        failures = 0 if _size(part) > size_before else failures + 1
        time.sleep(PAUSE_SECONDS * failures)
    raise InputError(f"{url}: {reason}, {ATTEMPTS} times; {_size(part):,} bytes are kept, run again to continue")


def _request_rest(url: str, part: Path, homepage: str) -> bool:
    """One request for the missing bytes; True if the file is then complete."""
    tag = part.with_suffix(".tag")
    have = _size(part) if tag.exists() else 0
    headers = {"Accept-Encoding": "identity"}
    if have:  # if the file has changed, the server sends all of it
        headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text(encoding="utf-8")}
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as answer:
        if answer.status_code == 416:  # no bytes left: complete, or another file
            if have and answer.headers.get("Content-Range", "").endswith(f"/{have}"):
                return True
            part.unlink(missing_ok=True)
            return False
        if answer.status_code in RETRY_STATUSES:
            raise requests.HTTPError(f"status {answer.status_code}")
        if answer.status_code not in (200, 206):
            raise InputError(f"{url}: {answer.status_code} {answer.reason}; the file may have moved, see {homepage}")
        if answer.status_code == 206 and not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            part.unlink()
            return False
        have = have if answer.status_code == 206 else 0
        _save_tag(tag, answer.headers)
        return _write_answer(answer, part, have)


def _write_answer(answer: requests.Response, part: Path, have: int) -> bool:
    length = answer.headers.get("Content-Length", "")
    total = have + int(length) if length.isdecimal() else None
    free = shutil.disk_usage(part.parent).free
    if total is not None and total - have > free:
        raise InputError(f"{part}: {total - have:,} bytes to come but {free:,} free; make room or choose another to=")
    name = part.name.removesuffix(".part")
    with (
        part.open("ab" if have else "wb") as file,
        Progress(total=total, initial=have, unit="B", unit_scale=True, desc=name) as bar,
    ):
        for block in answer.raw.stream(BLOCK_BYTES, decode_content=False):
            file.write(block)
            bar.update(len(block))
    return total is None or _size(part) == total


def _save_tag(tag: Path, headers: Mapping[str, str]) -> None:
    """Store the version of the file: its ETag, if that is a strong one, which guarantees equal bytes, or its date."""
    strong = headers.get("ETag", "").startswith('"')
    if version := headers.get("ETag" if strong else "Last-Modified"):
        tag.write_text(version, encoding="utf-8")
    else:
        tag.unlink(missing_ok=True)


def _verify(path: Path, name: str, sha256: str | None) -> str:
    """The SHA-256 of a file. Raises InputError if it is not the expected one, or the content does not fit the name."""
    digest = hashlib.sha256()
    with (
        path.open("rb") as file,
        Progress(total=_size(path), unit="B", unit_scale=True, desc=f"checking {name}") as bar,
    ):
        head = file.read(64)
        file.seek(0)
        while block := file.read(1 << 20):
            digest.update(block)
            bar.update(len(block))
    if placeholder := placeholder_in(head):
        raise InputError(f"{placeholder}, not {name}")
    if sha256 is not None and digest.hexdigest() != sha256:
        raise InputError(f"SHA-256 is {digest.hexdigest()}, expected {sha256}")
    if not head:
        raise InputError("empty")
    if sha256 is None:
        verify_archive(path, name)
    return digest.hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
