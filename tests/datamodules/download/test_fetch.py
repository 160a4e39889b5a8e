"""Downloads from a server on this machine that breaks off, refuses, lies, and serves what is broken or hostile."""

import errno
import gzip
import hashlib
import io
import os
import shutil
import stat
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO

import pytest

from datamodules.download import fetch as module
from datamodules.download.__main__ import COMMAND
from datamodules.download.archives import unpack
from datamodules.download.catalogue import CATALOG, CatalogEntry, RemoteFile
from datamodules.download.fetch import download
from encoder_lab.errors import InputError
from tests.fuzzing import any_damage_is_read_or_refused

DATE = "Fri, 27 Nov 2026 10:00:00 GMT"
TEXT = gzip.compress(os.urandom(200_000))


class Server:
    """Serves `files` and writes down what it was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.breaks_after: int | None = None  # bytes of each answer
        self.ranges = True
        self.busy = 0  # so many answers are "come back later"
        self.tag = '"1"'
        self.asked: list[str] = []
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, self))  # type: ignore[arg-type]
        self.base = f"http://127.0.0.1:{self.http.server_address[1]}/files"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, server: Server, *connection: object) -> None:
        self.state = server
        super().__init__(*connection)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        asked = self.headers.get("Range", "")
        self.state.asked.append(asked)
        content = self.state.files.get(self.path.rsplit("/", 1)[-1])
        if self.state.busy:
            self.state.busy -= 1
            return self.answer(503, b"busy")
        if content is None:
            return self.answer(404, b"no such file")
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.state.ranges else 0
        if self.headers.get("If-Range", self.state.tag) != self.state.tag:
            start = 0
        if asked and start >= len(content):
            return self.answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
        headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        version = "ETag" if self.state.tag.startswith('"') else "Last-Modified"
        return self.answer(206 if start else 200, content[start:], {**headers, version: self.state.tag})

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: self.state.breaks_after])
        if self.state.breaks_after is not None and len(body) > self.state.breaks_after:
            self.close_connection = True


@pytest.fixture
def server(monkeypatch) -> Iterator[Server]:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    running = Server()
    threading.Thread(target=running.http.serve_forever, args=(0.01,), daemon=True).start()
    yield running
    running.http.shutdown()
    running.http.server_close()


def entry(*names: str, sha256: str | None = None) -> CatalogEntry:
    files = tuple(RemoteFile(f"http://example.invalid/{name}", sha256) for name in names)
    return CatalogEntry("thing", "A", "https://example.invalid", "free", "free", None, None, "corpus=text", files=files)


def zipped(**members: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return held.getvalue()


def tarred(*members: tuple[str, bytes, bytes]) -> bytes:
    """Members as name, type and content (of a link: where it points)."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, member_type, content in members:
            info = tarfile.TarInfo(name)
            info.type = member_type
            if member_type == tarfile.REGTYPE:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                info.linkname = content.decode()
                archive.addfile(info)
    return held.getvalue()


def test_a_file_is_fetched_whole_and_its_checksum_recorded(server, tmp_path) -> None:
    server.files["a.gz"] = TEXT
    folder = download(entry("a.gz"), tmp_path, server.base)
    assert (folder / "a.gz").read_bytes() == TEXT
    assert (folder / "SHA256SUMS").read_text() == f"{hashlib.sha256(TEXT).hexdigest()}  a.gz\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thing"]


FETCHES = {  # what is there, how the server is, and what it is asked for
    "a connection that breaks off": (None, {"breaks_after": 70_000}, ["", "bytes=70000-", "bytes=140000-"]),
    "a second call": (TEXT[:1000], {}, ["bytes=1000-"]),
    "a part that is whole": (TEXT, {}, [f"bytes={len(TEXT)}-"]),
    "ranges ignored": (b"x" * 1000, {"ranges": False}, ["bytes=1000-"]),
    "changed in between": (b"x" * 1000, {"tag": '"2"'}, ["bytes=1000-"]),
    "a date in place of a tag": (None, {"breaks_after": 70_000, "tag": DATE}, ["", "bytes=70000-", "bytes=140000-"]),
    "a part of an unknown version": (b"x" * 1000, {"tag": ""}, [""]),
    "busy for a while": (None, {"busy": 3}, ["", "", "", ""]),
}


@pytest.mark.parametrize(("part", "settings", "asked"), FETCHES.values(), ids=FETCHES.keys())
def test_a_fetch_continues_from_its_part(part, settings, asked, server, tmp_path) -> None:
    server.files["a.gz"] = TEXT
    for name, value in settings.items():
        setattr(server, name, value)
    if part:
        (tmp_path / "thing.partial").mkdir()
        (tmp_path / "thing.partial" / "a.gz.part").write_bytes(part)
        if server.tag:
            (tmp_path / "thing.partial" / "a.gz.tag").write_text('"1"')
    assert (download(entry("a.gz"), tmp_path, server.base) / "a.gz").read_bytes() == TEXT
    assert server.asked == asked


def test_what_was_whole_is_not_fetched_again(server, tmp_path) -> None:
    server.files["a.gz"] = TEXT
    with pytest.raises(InputError, match="404"):
        download(entry("a.gz", "b.gz"), tmp_path, server.base)
    server.files["b.gz"] = TEXT
    assert download(entry("a.gz", "b.gz"), tmp_path, server.base).is_dir()
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("listens", "message"), [(True, "5 times; 0 bytes are kept, run again"), (False, "ConnectionError, 5 t")]
)
def test_a_server_that_never_gets_on_or_does_not_listen_ends_in_an_error(server, tmp_path, listens, message) -> None:
    server.files["a.gz"], server.breaks_after = TEXT, 0
    with pytest.raises(InputError, match=message):
        download(entry("a.gz"), tmp_path, server.base if listens else "http://127.0.0.1:1")
    assert not (tmp_path / "thing").exists()


def test_a_file_that_is_not_there_names_its_address_and_the_homepage(server, tmp_path) -> None:
    with pytest.raises(InputError, match=rf"{server.base}/a\.gz: 404 .*https://example\.invalid"):
        download(entry("a.gz"), tmp_path, server.base)
    assert len(server.asked) == 1


CORRUPT = {
    "cut.gz": TEXT[:-20],
    "noise.zip": b"PK\x03\x04" + os.urandom(500),
    "flipped.zip": zipped(a=b"text " * 100).replace(b"\x4b", b"\x4c", 1),
    "noise.tgz": os.urandom(500),
    "page.txt": b"<!DOCTYPE html><html>Log in first</html>",
    "pointer.txt": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
    "empty.txt": b"",
}


@pytest.mark.parametrize("name", CORRUPT)
def test_a_corrupt_file_is_refused_and_deleted(name, server, tmp_path) -> None:
    server.files[name] = CORRUPT[name]
    with pytest.raises(InputError, match=f"{name}.*deleted, so run again"):
        download(entry(name), tmp_path, server.base)
    assert not (tmp_path / "thing").exists()
    assert not list((tmp_path / "thing.partial").glob(f"{name}*[!g]"))


def test_another_checksum_than_the_known_one_is_refused(server, tmp_path) -> None:
    server.files["a.gz"] = TEXT
    with pytest.raises(InputError, match="SHA-256"):
        download(entry("a.gz", sha256="0" * 64), tmp_path, server.base)
    assert download(entry("a.gz", sha256=hashlib.sha256(TEXT).hexdigest()), tmp_path, server.base).is_dir()


@pytest.mark.parametrize(("name", "archive"), [
    ("a.zip", zipped(**{"x/a.txt": b"hello", "__MACOSX/x": b""})),
    ("a.tgz", tarred(("x/a.txt", tarfile.REGTYPE, b"hello"))),
], ids=["zip", "tgz"])  # fmt: skip
def test_an_archive_is_unpacked_and_removed(name, archive, server, tmp_path) -> None:
    server.files[name] = archive
    folder = download(entry(name), tmp_path, server.base)
    assert sorted(path.name for path in folder.rglob("*")) == ["SHA256SUMS", "a.txt", "x"]
    assert (folder / "x" / "a.txt").read_bytes() == b"hello"


def linking_zip() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc")
    return held.getvalue()


HOSTILE = {
    "absolute.zip": zipped(**{"/tmp/x": b"x"}),
    "above.zip": zipped(**{"a/../../x": b"x"}),
    "windows.zip": zipped(**{"..\\x": b"x"}),
    "drive.zip": zipped(**{"c:/x": b"x"}),
    "link.zip": linking_zip(),
    "fewer.zip": zipped(a=b"x")[:-10] + bytes(10),
    "nameless.zip": zipped(qq=b"x").replace(b"qq", b"\0q"),
    "lines.zip": zipped(**{"../\n": b"x"}),
    "bomb.zip": zipped(a=bytes(4 * 1024 * 1024)),
    "absolute.tgz": tarred(("/tmp/x", tarfile.REGTYPE, b"x")),
    "above.tgz": tarred(("../x", tarfile.REGTYPE, b"x")),
    "link.tgz": tarred(("a", tarfile.SYMTYPE, b"/etc"), ("a/x", tarfile.REGTYPE, b"x")),
    "hard.tgz": tarred(("a", tarfile.LNKTYPE, b"../../x")),
    "device.tgz": tarred(("a", tarfile.CHRTYPE, b"")),
    "twice.tgz": tarred(("a", tarfile.REGTYPE, b"x"), ("a/b", tarfile.REGTYPE, b"x")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_writes_nothing_outside_its_folder(name, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("datamodules.download.archives.EXTRA_BYTES", 1024 * 1024)  # so that a small bomb is one
    archive, folder = tmp_path / name, tmp_path / "inside" / "folder"
    archive.write_bytes(HOSTILE[name])
    folder.mkdir(parents=True)
    with pytest.raises(InputError, match=name):
        unpack(archive, folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "inside"])
    assert [path.name for path in (tmp_path / "inside").iterdir()] == ["folder"]


@pytest.mark.parametrize("name", ["a.zip", "a.tgz", "a.tar"])
def test_corrupted_archives_are_unpacked_completely_or_refused(name, tmp_path) -> None:
    held = {"x/a.txt": b"some text\n" * 50, "b": b"more", "c/d/e": b"the last"}
    files = tarred(*((inside, tarfile.REGTYPE, content) for inside, content in held.items()))
    original = zipped(**held) if name == "a.zip" else gzip.decompress(files) if name == "a.tar" else files
    archive, folder = tmp_path / name, tmp_path / "to"
    archive.write_bytes(original)

    def read() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        unpack(archive, folder)
        result = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        if name == "a.tar":  # of what the files say it has no checksums
            assert {inside: len(text) for inside, text in result.items()} == {i: len(t) for i, t in held.items()}
        else:
            assert result == held

    any_damage_is_read_or_refused(read, archive)


def test_a_full_disk_is_no_damage_of_the_archive(tmp_path, monkeypatch) -> None:
    def full() -> IO[bytes]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "a.zip").write_bytes(b"")
    monkeypatch.setattr("datamodules.download.archives._members", lambda _: [("a", full)])
    with pytest.raises(OSError, match="No space left"):
        unpack(tmp_path / "a.zip", tmp_path)


def test_a_corpus_that_is_there_is_left_alone(server, tmp_path) -> None:
    (tmp_path / "thing").mkdir()
    with pytest.raises(InputError, match="already there"):
        download(entry("a.gz"), tmp_path, server.base)


def test_the_command_fetches_by_name_and_says_how_to_use_it(server, tmp_path, capsys) -> None:
    server.files["treebank.zip"] = zipped(**{"treebank/combined/wsj_0001.mrg": b"(S (NN a))"})
    COMMAND.run(["treebank-sample", f"to={tmp_path}", f"base={server.base}"])
    assert f"corpus=trees corpus.root={tmp_path / 'treebank-sample'}" in capsys.readouterr().out


@pytest.mark.parametrize("name", [each.name for each in CATALOG if each.access == "agreement"])
def test_a_corpus_under_agreement_says_where_to_ask_and_where_to_put_it(name, tmp_path, capsys) -> None:
    assert COMMAND.run([name, f"to={tmp_path}"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert str(tmp_path / name) in message
    assert next(each.homepage for each in CATALOG if each.name == name) in message


def test_an_unknown_name_is_answered_with_the_names(capsys) -> None:
    assert COMMAND.run(["nonsense"]) == 2
    assert "multi30k" in capsys.readouterr().err


@pytest.mark.parametrize("base", ["http://[::1", "ftp://a.example", "http://a b", "http://a:99999", "odd", "http://"])
def test_an_impossible_address_is_tried_once(base, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(module.time, "sleep", lambda _: pytest.fail("tried again"))
    with pytest.raises(InputError, match="not an address"):
        download(entry("a.txt"), tmp_path, base)
