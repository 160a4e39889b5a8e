"""Which form a vector file has, by its first bytes; and what is in a packed one."""

import re
import shutil
import struct
import zlib
from pathlib import Path
from typing import Literal
from zipfile import BadZipFile, ZipFile

from datamodules.word_vectors.fasttext_check import MAGIC
from encoder_lab.errors import InputError
from encoder_lab.storage.files import disk_errors, refuse_special
from encoder_lab.storage.text_files import read_blocks

Form = Literal["text", "fasttext", "word2vec"]
READ_FORMS = "text (.vec, GloVe .txt), fastText .bin and word2vec .bin, plain or packed with .gz, .bz2 or .zip"
START_BYTES = 1 << 16
WORD2VEC_PATTERN = re.compile(rb"(\d{1,15}) (\d{1,6})\r?\n\s*(\S+) ")  # count and width, and the first word
PICKLE_PROBLEM = "a Python pickle, as gensim saves; save_word2vec_format of gensim writes a form that is read"
UNREAD_FORMS = {bytes([0x80, protocol]): PICKLE_PROBLEM for protocol in (2, 3, 4, 5)} | {
    b"\x93NUMPY": "a NumPy array without words; write each word and its numbers on a line",
    b"PK\x03\x04": "a zip archive or PyTorch file; name an archive .zip, write the vectors of PyTorch as text",
    b"\x89HDF": "HDF5; write each word and its numbers on a line",
    b"SQLite format 3": "a SQLite database, as Magnitude has; write each word and its numbers on a line",
    b"PAR1": "Parquet; write each word and its numbers on a line",
    b"\x1f\x8b": "packed by gzip; let its name end in .gz",
    b"BZh": "packed by bzip2; let its name end in .bz2",
    b"\xfd7zXZ": "packed by xz; unpack it: unxz FILE",
    b"7z\xbc\xaf": "packed by 7-Zip; unpack it: 7z x FILE",
    b"(\xb5/\xfd": "packed by Zstandard; unpack it: unzstd FILE",
    b"Rar!": "packed by RAR; unpack it",
}


def form_of(path: Path) -> Form:
    """The form of a file. Raises InputError for one that is not read, with its name and the remedy."""
    refuse_special(path)
    start = next(read_blocks(path), b"")[:START_BYTES]
    if start[:4] == struct.pack("<i", MAGIC):
        return "fasttext"
    for magic, problem in UNREAD_FORMS.items():
        if start.startswith(magic):
            raise InputError(f"{path}: {problem}; read are {READ_FORMS}")
    if header := WORD2VEC_PATTERN.match(start):
        numbers = start[header.end() : header.end() + 4 * int(header[2])]
        if 2 * len(re.findall(rb"[-+\d.eE\s,]", numbers)) < len(numbers):
            return "word2vec"
    return "fasttext" if ".bin" in path.suffixes[-2:] else "text"


def unpack_vectors(path: Path, work: Path) -> Path:
    """The file itself, or what a reader needs unpacked in the folder `work`: a .zip, and a packed fastText model."""
    if path.suffix == ".zip":
        return _unpack_zip(path, work)
    if path.suffix in (".gz", ".bz2") and form_of(path) == "fasttext":
        out = work / path.stem
        with out.open("wb") as target, disk_errors(out):
            target.writelines(read_blocks(path))
        return out
    return path


def _unpack_zip(path: Path, work: Path) -> Path:
    try:
        with ZipFile(path) as archive:
            names = [e for e in archive.namelist() if not e.endswith("/") and not e.startswith("__MACOSX/")]
            if len(names) != 1:
                listing = f"{len(names)} files in it ({', '.join(names[:5])})"
                raise InputError(f"{path}: {listing}; unpack it and give one of them")
            out = work / Path(names[0]).name
            with archive.open(names[0]) as source, out.open("wb") as target, disk_errors(out):
                shutil.copyfileobj(source, target, 1 << 20)
    except (BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:  # encrypted: RuntimeError
        raise InputError(f"{path}: {error}; the file is damaged or not what its name says") from None
    return out
