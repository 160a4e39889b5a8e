"""Speaker commitment (Beyer et al. 2021, section 4.6): a contradiction by the same speaker or by another."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from datamodules.text.sentences import SEPARATOR
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_json_lines, read_lines, read_table
from probes.coherence.build.draft import Draft, DraftPair, single_spaced, suite_of_pairs, with_final_mark
from probes.coherence.suite_file import TestSuite, read_json

CONTRADICTIONS = ("negative", "contradiction")
SICK = ("sentence_A", "sentence_B", "entailment_judgment")


def build_speakers(path: Path) -> Draft:
    """One suite: a contradiction by the same speaker should be more surprising than by another one."""
    pairs, excluded = [], Counter[str]()
    for source, first, second, label in _sentence_pairs(path):
        if label.lower() not in CONTRADICTIONS:
            excluded[f"pairs labelled {label.lower()}"] += 1
        elif not first or not second or first == second:
            excluded["pairs without two different sentences"] += 1
        else:
            pairs.append(speaker_pair(source, first, second))
    return Draft([speaker_suite(pairs)], excluded)


def speaker_pair(source: str, first: str, second: str) -> DraftPair:
    """Two sentences by two speakers, and by the same one."""
    first, second = with_final_mark(first), with_final_mark(second)  # the sentences of SICK have no final mark
    return DraftPair(source, ((f"{first} {SEPARATOR}", second), (first, second)))


def speaker_suite(pairs: Iterable[DraftPair]) -> TestSuite:
    """The suite of contradictions."""
    comment = f"{SEPARATOR} is where the speaker changes; the second sentence is scored"
    suite = suite_of_pairs("speaker_commitment", ("first", "second"), ("change", "same"), 2, pairs, comment)
    return suite._replace(predictions=("(2;%same%) > (2;%change%)",))


def _sentence_pairs(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """DialogueNLI (a JSON list, or a record on each line) and SICK (a table of columns)."""
    if path.name.endswith(".txt"):
        for number, row in read_table(path, SICK):
            yield f"{path.name}:{number}", *(single_spaced(row[name]) for name in SICK)  # type: ignore[misc]
        return
    for number, record in _records(path):
        values = [record.get(name) for name in ("sentence1", "sentence2", "label")]
        if not all(isinstance(value, str) for value in values):
            raise InputError(f"{path}:{number}: no sentence1, sentence2 and label; is this DialogueNLI?")
        yield f"{path.name}:{number}", *(single_spaced(str(value)) for value in values)  # type: ignore[misc]


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    first = next(read_lines(path))[1].lstrip()
    if not first.startswith("["):
        yield from read_json_lines(path)
        return
    for number, record in enumerate(read_json(path), 1):
        yield number, record if isinstance(record, dict) else {}
