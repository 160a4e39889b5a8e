"""Discourse relations: the pipe files of PDTB 2 and PDTB 3, and tables as GUM has them (.gdtb.tsv)."""

import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from datamodules.text.tokenize import tokenize
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_lines, read_table, visible_files, without_copies
from probes.discoeval.items import SPLITS, with_frequent_labels

GROUPS = ("Explicit", "Implicit")
SECTIONS = {"train": range(2, 15), "dev": range(15, 19), "test": range(19, 24)}  # Chen et al. 2019, section 3.1
TABLE = ("type", "sense", "sense2", "arg1", "arg2")
PDTB_2, PDTB_3 = 48, 34  # columns
SENSES = {PDTB_2: (11, 12, 13, 14), PDTB_3: (8, 9, 11, 12)}
ARGUMENTS = {PDTB_2: (24, 34), PDTB_3: (14, 20)}  # their texts, or their positions in the raw text: 9..20;31..40
FILE_NAME = re.compile(r"wsj_(\d\d)\d\d")
RELATIONS_NAME = re.compile(rf".*\.(pipe|pdtb|gdtb\.tsv(\.gz)?)|{FILE_NAME.pattern}", re.DOTALL)

Triple = tuple[str, str, str]  # sense, first and second argument


class Relation(NamedTuple):
    """One annotated relation; one with two senses is two items with the same texts."""

    split: str
    group: str
    senses: list[str]
    first: str
    second: str


def read_relations(paths: Sequence[Path], raw: Path | None) -> dict[str, dict[str, list[Triple]]]:
    """By kind (Explicit, Implicit) and split, the relations of the senses that train has at least 10 times.

    Senses have two levels. `raw` is the folder of the WSJ texts, which PDTB 3 needs. Raises InputError naming file and
    line.
    """
    triples: dict[str, dict[str, list[Triple]]] = {group: {split: [] for split in SPLITS} for group in GROUPS}
    for path in without_copies(sorted(_files(paths))):
        for relation in _table_relations(path) if ".tsv" in path.suffixes else _pipe_relations(path, raw):
            triples[relation.group][relation.split] += [
                (sense, relation.first, relation.second) for sense in relation.senses
            ]
    return {group: with_frequent_labels(parts, itemgetter(0)) for group, parts in triples.items()}


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            files = sorted(file for file in visible_files(path) if RELATIONS_NAME.fullmatch(file.name))
            if not files:
                raise InputError(f"{path}: no .pipe, .pdtb, .gdtb.tsv or wsj_ files below it (pdtb=)")
            yield from files
        else:
            yield path


def _table_relations(path: Path) -> Iterator[Relation]:
    """A table with a header; its file name begins with its split. `<*>` marks a gap in an argument."""
    split = path.name.split(".")[0].replace("valid", "dev")
    if split not in SPLITS:
        raise InputError(f"{path}: the name must begin with train, dev or test, such as train.gdtb.tsv")
    for number, row in read_table(path, TABLE):
        if row["type"] in GROUPS:
            first, second = (" ".join(row[key].replace("<*>", " ").split()) for key in ("arg1", "arg2"))
            senses = _two_levels([row["sense"], row["sense2"]])
            yield from _checked_relation(f"{path}:{number}", Relation(split, row["type"], senses, first, second))


def _pipe_relations(path: Path, raw: Path | None) -> Iterator[Relation]:
    """A line of 48 fields (PDTB 2, with the texts) or 34 (PDTB 3, with positions in the raw text)."""
    text: str | None = None
    for number, line in read_lines(path):
        location, fields = f"{path}:{number}", line.split("|")
        if not line.strip():
            continue
        if len(fields) not in SENSES:
            expected = f"expected {PDTB_2} (PDTB 2) or {PDTB_3} (PDTB 3)"
            raise InputError(f"{location}: {len(fields)} fields between |, {expected}")
        if fields[0] not in GROUPS:
            continue
        split = _split_of_section(location, path, fields)
        if split is None:
            continue
        arguments = [fields[i] for i in ARGUMENTS[len(fields)]]
        if len(fields) == PDTB_3:
            text = text if text is not None else _read_raw_text(path, raw)
            arguments = [_text_of_spans(location, text, spans) for spans in arguments]
        senses = _two_levels([fields[i] for i in SENSES[len(fields)]])
        first, second = map(tokenize, arguments)
        yield from _checked_relation(location, Relation(split, fields[0], senses, first, second))


def _checked_relation(location: str, relation: Relation) -> Iterator[Relation]:
    if not relation.first or not relation.second:
        raise InputError(f"{location}: argument {1 if not relation.first else 2} is empty; correct or remove the line")
    if relation.senses:
        yield relation


def _two_levels(senses: Sequence[str]) -> list[str]:
    """Class and type of each sense that has both, each once."""
    parts = [sense.split(".")[:2] for sense in senses]
    return list(dict.fromkeys(".".join(part) for part in parts if len(part) == 2 and all(part)))


def _split_of_section(location: str, path: Path, fields: Sequence[str]) -> str | None:
    """The split of a section of the WSJ; None for sections 0, 1 and 24, which are not used."""
    named = FILE_NAME.search(path.name)
    section = fields[1] if len(fields) == PDTB_2 else named[1] if named else ""
    if not section.isascii() or not section.isdigit():
        raise InputError(f"{location}: no section of the WSJ; keep the file's name, such as wsj_0203.pipe")
    return next((split for split, sections in SECTIONS.items() if int(section) in sections), None)


def _read_raw_text(path: Path, raw: Path | None) -> str:
    if raw is None:
        raise InputError(f"{path}: PDTB 3 has places instead of texts; give the folder of the WSJ texts (raw=DIR)")
    stem = path.name.split(".")[0]
    file = next((file for file in visible_files(raw) if file.name.split(".")[0] == stem), None)
    if file is None:
        raise InputError(f"{raw}: no file {stem} below it, which {path} needs (raw=)")
    return file.read_bytes().decode("latin-1")


def _text_of_spans(location: str, text: str, spans: str) -> str:
    pieces = []
    for span in spans.split(";") if spans else []:
        low, _, high = span.partition("..")
        if not (low.isdecimal() and high.isdecimal() and int(low) < int(high) <= len(text)):
            raise InputError(f"{location}: {span[:40]!r} is no place in a raw text of {len(text)} characters")
        pieces.append(text[int(low) : int(high)])
    return " ".join(pieces)
