"""The suites of an evaluation: files, folders of files, or the embedded world."""

from collections.abc import Sequence
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import files_below, read_json_lines, without_packed_suffix
from probes.coherence.suite_file import Item, TestSuite, read_suite

BUILD_COMMAND = "python -m probes.coherence.build"
ENDINGS = (".json", ".jsonl")


def read_suites(paths: Sequence[Path], syntaxgym: bool = False) -> list[TestSuite]:
    """The suites of files and folders: SyntaxGym's .json, and minimal pairs as .jsonl. Raises InputError for none."""
    if missing := [path for path in paths if not path.exists()]:
        raise InputError(f"coherence.paths: {missing[0]}: no such file or folder; build suites with {BUILD_COMMAND}")
    files = [file for path in paths for file in files_below(path, ENDINGS)]
    origins: dict[str, Path] = {}
    suites = []
    for file in dict.fromkeys(files):
        pairs = without_packed_suffix(file).suffix == ".jsonl"
        for suite in read_minimal_pairs(file) if pairs else [read_suite(file, syntaxgym)]:
            if suite.name in origins:
                raise InputError(f"{file}: the suite {suite.name} is also in {origins[suite.name]}; rename one of them")
            origins[suite.name] = file
            suites.append(suite)
    return suites


GOOD, BAD = "sentence_good", "sentence_bad"


def read_minimal_pairs(path: Path) -> list[TestSuite]:
    """A suite for each `UID` of a file, or one of its name: the good sentence surprises less. Raises InputError."""
    suites: dict[str, list[Item]] = {}
    for number, record in read_json_lines(path):
        texts = [record.get(key) for key in (GOOD, BAD)]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise InputError(f"{path}:{number}: no text under {GOOD} and {BAD}, as minimal pairs in JSON lines have")
        name = str(path.name.partition(".")[0] if record.get("UID") in (None, "") else record["UID"])
        if not name.isprintable():
            raise InputError(f"{path}:{number}: the UID of a pair is a word or a few, in one line")
        items = suites.setdefault(name, [])
        good, bad = (" ".join(str(text).split()) for text in texts)
        items.append(Item(len(items) + 1, ((good,), (bad,)), str(record.get("pairID", ""))))
    formula = ("(1;%good%) < (1;%bad%)",)
    return [
        TestSuite(name, "sum", ("sentence",), ("good", "bad"), formula, tuple(items)) for name, items in suites.items()
    ]
