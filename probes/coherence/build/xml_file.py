"""XML files of published corpora, read without what XML can do beyond holding text."""

import re
from pathlib import Path
from xml.etree import ElementTree

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_lines

HEADER_PATTERN = re.compile(r"\A\s*(<\?xml[^>]*>)?\s*(<!DOCTYPE[^>\[]*>)?")


def read_xml(path: Path, expected: str) -> ElementTree.Element:
    """The root of a file in UTF-8, also where its first line names another encoding. Raises InputError."""
    text = HEADER_PATTERN.sub("", "\n".join(line for _, line in read_lines(path)))
    try:
        if "<!ENTITY" in text:
            raise ElementTree.ParseError("it defines entities")
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise InputError(f"{path}: not {expected} ({' '.join(str(error).split())}); correct the file") from None
