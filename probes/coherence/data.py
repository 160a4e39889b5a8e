"""The suites of an evaluation: files, folders of files, or the embedded world."""

from collections.abc import Sequence
from pathlib import Path

from encoder_lab.errors import InputError
from probes.coherence.minimal_pairs import read_minimal_pairs
from probes.coherence.suite_file import TestSuite, read_suite

BUILD = "python -m probes.coherence.build"
ENDINGS = (".json", ".json.gz", ".jsonl", ".jsonl.gz")


def read_suites(paths: Sequence[Path], syntaxgym: bool = False) -> list[TestSuite]:
    """The suites of files and folders: SyntaxGym's .json, and minimal pairs as .jsonl. Raises InputError for none."""
    files = [file for path in paths for file in _files(path)]
    origins: dict[str, Path] = {}
    suites = []
    for file in dict.fromkeys(files):
        pairs = file.name.removesuffix(".gz").endswith(".jsonl")
        for suite in read_minimal_pairs(file) if pairs else [read_suite(file, syntaxgym)]:
            if suite.name in origins:
                raise InputError(f"{file}: the suite {suite.name} is also in {origins[suite.name]}; rename one of them")
            origins[suite.name] = file
            suites.append(suite)
    return suites


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"coherence.paths: {path}: no such file or folder; build suites with {BUILD}")
    files = sorted(file for file in path.rglob("*") if file.name.endswith(ENDINGS))
    if not files:
        raise InputError(f"coherence.paths: {path}: no .json or .jsonl file there; build suites with {BUILD}")
    return files
