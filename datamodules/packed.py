"""Files that may be packed, unpacked while they are read."""

import gzip
import io
from bz2 import BZ2Decompressor
from pathlib import Path
from typing import IO, Any, cast

BLOCK = 1 << 16


def open_packed(path: Path, name: str = "") -> IO[bytes]:
    """The bytes of a file, unpacked if its name (or another that is its) ends in .gz, .tgz or .bz2.

    Reading raises EOFError, OSError or zlib.error where the file is cut off or damaged.
    """
    name = name or path.name
    if name.endswith((".gz", ".tgz")):
        return cast(IO[bytes], gzip.open(path, "rb"))
    return cast(IO[bytes], io.BufferedReader(_Bz2(path), BLOCK)) if name.endswith(".bz2") else path.open("rb")


class _Bz2(io.RawIOBase):
    """The streams of a .bz2 file; the standard library takes damage where a later one begins for the file's end."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("rb")
        self.stream = BZ2Decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills what it can of the buffer; 0 at the end."""
        data = b""
        while not data:
            packed = b""
            if self.stream.eof or self.stream.needs_input:
                packed = self.stream.unused_data or self.file.read(BLOCK)
                if not packed and self.stream.eof:
                    return 0
                if not packed:
                    raise EOFError("the file ends before its last stream does")
                self.stream = BZ2Decompressor() if self.stream.eof else self.stream
            data = self.stream.decompress(packed, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.file.close()
        super().close()
