"""Minimal pairs as JSON lines, in the form of BLiMP (Warstadt et al. 2020): a suite for each phenomenon of a file."""

from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_json_lines
from probes.coherence.suite_file import Item, TestSuite

GOOD, BAD = "sentence_good", "sentence_bad"


def read_minimal_pairs(path: Path) -> list[TestSuite]:
    """A suite for each `UID` of a file, or one named after the file: the good sentence is the less surprising one.

    Raises InputError naming file and line.
    """
    suites: dict[str, list[Item]] = {}
    for number, record in read_json_lines(path):
        texts = [record.get(key) for key in (GOOD, BAD)]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise InputError(f"{path}:{number}: no text under {GOOD} and {BAD}, as minimal pairs in JSON lines have")
        name = str(record.get("UID") or path.name.partition(".")[0])
        if not name.isprintable():
            raise InputError(f"{path}:{number}: the UID of a pair is a word or a few, in one line")
        items = suites.setdefault(name, [])
        good, bad = (" ".join(str(text).split()) for text in texts)
        items.append(Item(len(items) + 1, ((good,), (bad,)), str(record.get("pairID", ""))))
    formula = ("(1;%good%) < (1;%bad%)",)
    return [
        TestSuite(name, "sum", ("sentence",), ("good", "bad"), formula, tuple(items)) for name, items in suites.items()
    ]
