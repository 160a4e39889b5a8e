"""Archives with hostile members: refused, or unpacked inside their folder as plain files."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from datamodules.download.archives import unpack, verify_archive
from tests.attack.attack import Attack, refused, unchanged
from tests.fuzzing import limits

GNU_NAME, PAX, PAX_ALL, SPARSE = b"L", b"x", b"g", b"S"
KINDS = [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
KINDS += [GNU_NAME, PAX, PAX_ALL, SPARSE, b"V"]
NAMES = ["a", "b/c", "../x", "/tmp/x", "a/../../x", "..", ".", "", "a\\..\\..\\x", "C:x", "a\nb", "é", "x" * 300, "a/"]
NAMES += ["__MACOSX/a", "\x00a", "a\x1b[2J", "-rf", "~", "link/x", "link"]
SIZES = [None, 0, 2**31, 2**63 - 1, 10**6, 2**21]


def unpacked(case: Any, folder: Path) -> None:
    """Nothing outside the folder changes, and what is in it are plain files and folders."""
    ending, members, repeated = case
    path, target, elsewhere = folder / f"a{ending}", folder / "work", folder / "elsewhere"
    for made in (target, elsewhere):
        made.mkdir()
    (elsewhere / "x").write_text("mine")
    path.write_bytes(_zip(members) if ending == ".zip" else _tar(members, ending == ".tgz", repeated))
    with unchanged(elsewhere), limits():
        before = {entry.name for entry in folder.iterdir()}
        message = refused(lambda: unpack(path, target)) or refused(lambda: verify_archive(path, path.name))
    assert {entry.name for entry in folder.iterdir()} == before
    entries = list(target.rglob("*"))
    assert all((entry.is_file() or entry.is_dir()) and not entry.is_symlink() for entry in entries)
    assert message or any(entry.is_file() for entry in entries), "nothing came out of it"


def _tar(members: list[Any], packed: bool, repeated: bool) -> bytes:
    made = io.BytesIO()
    for name, entry_type, size, content in members * (300 if repeated else 1):
        info = tarfile.TarInfo(name)
        info.type, info.linkname = KINDS[entry_type], "../elsewhere"
        data = bytes.fromhex(content)
        info.size = len(data) if size is None else size
        made.write(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
        made.write(data.ljust(-(-len(data) // 512) * 512, b"\0"))
    made.write(bytes(1024))
    return gzip.compress(made.getvalue(), 1) if packed else made.getvalue()


def _zip(members: list[Any]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, entry_type, size, content in members:
            info = zipfile.ZipInfo(name or "a")
            info.external_attr = [0o100644, 0o40755, 0o120777][entry_type % 3] << 16
            archive.writestr(info, bytes.fromhex(content) * (1000 if size else 1))
    return made.getvalue()


_member = st.tuples(
    st.sampled_from(NAMES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.integers(0, len(KINDS) - 1) | st.just(0),
    st.sampled_from(SIZES) | st.none(),
    st.binary(max_size=600).map(bytes.hex),
)
_case = st.tuples(st.sampled_from([".zip", ".tar", ".tgz"]), st.lists(_member, max_size=4), st.booleans())
ATTACKS = [Attack("archive", _case, unpacked)]
