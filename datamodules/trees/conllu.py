"""Dependency trees in CoNLL-U, the format of Universal Dependencies: ten columns, a blank line after each sentence.

https://universaldependencies.org/format.html
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import (
    DAMAGED_FILE,
    compose_unicode,
    files_below,
    log_note_once,
    open_packed,
    refuse_missing_file,
    refuse_placeholder,
)

COLUMN_COUNT = 10
SPLIT_PATTERN = re.compile(r"(?:^|[-_.])(train|dev|test)[-_.]", re.IGNORECASE)  # as in en_ewt-ud-train.conllu
BLOCK_BYTES = 1 << 18  # read at a time
MAX_SENTENCE = 1 << 24  # bytes; bounds the memory for a file without blank lines
BLANK_LINE = re.compile(rb"\n\r?\n")
WORD_ID, RANGE_ID, EMPTY_ID = (
    re.compile(form, re.ASCII) for form in (r"[1-9]\d*", r"([1-9]\d*)-([1-9]\d*)", r"\d+\.\d+")
)
SENTENCE_ID = re.compile(r"# *sent_id *= *(\S+)")

NumberedRow = tuple[int, list[str]]  # a line with its number: ten columns
FileLine = tuple[Path, int]


class Dependent(NamedTuple):
    """A syntactic word and its relation to its head."""

    form: str
    part: str  # universal part of speech: NOUN, VERB
    features: str  # as Case=Acc|Number=Sing, sorted; "" without any
    head: int  # place of the head in the sentence; -1 for the root
    relation: str  # with its subtype, as nsubj:pass
    token: int  # place of the token on the surface that holds this word

    def feature(self, name: str) -> str:
        """The value of a feature; "" if the word does not have it."""
        return _parse_features(self.features).get(name, "")

    @property
    def universal_relation(self) -> str:
        """The relation without its subtype."""
        return self.relation.partition(":")[0]


class DependencyTree(NamedTuple):
    """A sentence: the tokens of its surface, and the syntactic words in them (two in French `du`: de, le)."""

    tokens: list[str]
    words: list[Dependent]
    id: str = ""  # its sent_id, the same in all translations of a parallel treebank

    def root(self) -> int:
        return next(index for index, word in enumerate(self.words) if word.head < 0)

    def levels(self) -> list[int]:
        """For each word the number of words on its path to the root, both counted. Raises ValueError for a cycle."""
        levels = [0] * len(self.words)
        for start in range(len(self.words)):
            path, index = [], start
            while index >= 0 and not levels[index]:
                path.append(index)
                index = self.words[index].head
                if len(path) > len(self.words):
                    raise ValueError("the heads form a cycle")
            head_level = levels[index] if index >= 0 else 0
            for steps, index in enumerate(reversed(path), start=1):
                levels[index] = head_level + steps
        return levels


class Portion(NamedTuple):
    """Some whole sentences of a file, not parsed yet."""

    path: Path
    line: int  # of its first line, from 1
    text: bytes
    split: int | None = None  # of the file: train, dev or test by its place, where a treebank says so


@lru_cache(maxsize=1 << 14)
def _parse_features(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split("|")) if text else {}


def read_conllu(path: Path) -> Iterator[DependencyTree]:
    """The sentences of a file, plain, .gz or .bz2. Raises InputError naming file and line."""
    for portion in read_portions(path):
        yield from parse_portion(portion)


def conllu_text(tree: DependencyTree) -> str:
    """A sentence in CoNLL-U, with the blank line after it; lemmas and the columns that we do not read are empty."""
    lines, last = [], -1
    comment = f"# sent_id = {tree.id}\n" if tree.id else ""
    for number, word in enumerate(tree.words, start=1):
        size = sum(other.token == word.token for other in tree.words)
        if size > 1 and word.token != last:
            lines.append([f"{number}-{number + size - 1}", tree.tokens[word.token], *["_"] * 8])
        last = word.token
        head = str(word.head + 1)
        lines.append([str(number), word.form, "_", word.part, "_", word.features or "_", head, word.relation, "_", "_"])
    return comment + "".join("\t".join(columns) + "\n" for columns in lines) + "\n"


def conllu_files(path: Path) -> list[Path]:
    """The file itself, or the CoNLL-U files below a folder, sorted. Raises InputError when there is none.

    Where files are named train, dev or test, these are the treebank. Others, such as those of `not-to-release/`, are
    left out with a note.
    """
    files = files_below(path, [".conllu"])
    named = {file.parent for file in files if split_in_name(file)}
    treebanks = {folder for folder in named if not named.intersection(folder.parents)}
    official = [file for file in files if split_in_name(file) and file.parent in treebanks]
    return official_files(files, official) if official else files


def official_files(files: Sequence[Path], official: Sequence[Path]) -> list[Path]:
    """The official files of a treebank; a note names the others, which are left out."""
    if unofficial := [file for file in files if file not in official]:
        suffix = f" and {len(unofficial) - 1} more files" if len(unofficial) > 1 else ""
        log_note_once(f"{unofficial[0]}{suffix}: no train, dev or test file of the treebank, so left out")
    return list(official)


def split_in_name(path: Path) -> str | None:
    """train, dev or test, if the name of the file says so."""
    match = SPLIT_PATTERN.search(path.name)
    return match[1].lower() if match else None


def read_portions(path: Path) -> Iterator[Portion]:
    """A file in pieces of about BLOCK_BYTES that end between sentences: for several processes to parse."""
    refuse_missing_file(path)
    line, buffer, empty = 1, b"", True
    try:
        with open_packed(path) as file:
            while block := file.read(BLOCK_BYTES):
                if line == 1 and not buffer:
                    refuse_placeholder(path, block)
                buffer += block
                ends = [match.end() for match in BLANK_LINE.finditer(buffer, max(0, len(buffer) - len(block) - 3))]
                if ends:
                    yield Portion(path, line, buffer[: ends[-1]])
                    line, buffer, empty = line + buffer.count(b"\n", 0, ends[-1]), buffer[ends[-1] :], False
                elif len(buffer) > MAX_SENTENCE:
                    raise InputError(f"{path}:{line}: no blank line within {MAX_SENTENCE:,} bytes; is this CoNLL-U?")
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"{path}:{line}: {error}; {DAMAGED_FILE}") from None
    if buffer.strip():
        yield Portion(path, line, buffer)
    elif empty:
        raise InputError(f"{path}: empty; expected sentences in CoNLL-U")


def parse_portion(portion: Portion) -> list[DependencyTree]:
    """The sentences of a portion. Raises InputError naming file and line."""
    try:
        text = compose_unicode(portion.text.decode("utf-8"), portion.path)
    except UnicodeDecodeError as error:
        error_line = portion.line + portion.text.count(b"\n", 0, error.start)
        raise InputError(f"{portion.path}:{error_line}: not valid UTF-8; convert the file") from None
    trees: list[DependencyTree] = []
    rows: list[NumberedRow] = []
    name = ""
    for number, line in enumerate([*text.removeprefix("\ufeff").split("\n"), ""], start=portion.line):
        if line.startswith("#"):
            name = match[1] if not rows and (match := SENTENCE_ID.match(line)) else name
            continue
        if line and not line.isspace():
            rows.append((number, line.rstrip("\r").split("\t")))
        elif rows:
            trees.append(_check_tree(_parse_tree(rows, portion.path), (portion.path, rows[0][0]))._replace(id=name))
            rows, name = [], ""
    return trees


def _error(location: FileLine, problem: str) -> InputError:
    return InputError(f"{location[0]}:{location[1]}: {problem}; fix or remove this sentence")


def _parse_tree(rows: list[NumberedRow], path: Path) -> DependencyTree:
    tokens: list[str] = []
    words: list[Dependent] = []
    last = 0  # the last word of a token that holds several
    for line, columns in rows:
        location = path, line
        if len(columns) != COLUMN_COUNT:
            raise _error(location, f"{len(columns)} columns, expected {COLUMN_COUNT} between tabs")
        id, form = columns[0], " ".join(columns[1].split())
        if not form:
            raise _error(location, f"word {id} has no form")
        if WORD_ID.fullmatch(id):
            if id != str(len(words) + 1):
                raise _error(location, f"word {id[:20]} where {len(words) + 1} is expected")
            if len(words) >= last:
                tokens.append(form)
            words.append(_parse_word(location, columns, form, len(tokens) - 1))
        elif spans := RANGE_ID.fullmatch(id):
            if last > len(words) or spans[1] != str(len(words) + 1) or not len(words) < int(spans[2][:9]) <= len(rows):
                raise _error(location, f"token {id[:20]} does not begin with word {len(words) + 1}, or does not end")
            last = int(spans[2])
            tokens.append(form)
        elif not EMPTY_ID.fullmatch(id):  # empty nodes belong to the enhanced graph, not to the tree
            raise _error(location, f"{id[:20]!r} is not the number of a word, a token or an empty node")
    if last > len(words):
        raise _error((path, rows[0][0]), f"a token ends with word {last}, but there are {len(words)}")
    return DependencyTree(tokens, words)


def _parse_word(location: FileLine, columns: list[str], form: str, token: int) -> Dependent:
    _, _, _, part, _, features, head, relation, _, _ = columns
    if len(f"{part}{features}{relation}".split()) != 1:
        raise _error(location, "a space in a part of speech, a feature or a relation")
    if not head.isascii() or not head.isdigit() or len(head) > 9:
        raise _error(location, f"{head[:20]!r} is not the number of a head")
    try:
        _parse_features(features := "" if features == "_" else features)
    except ValueError:
        raise _error(location, f"features {features[:40]!r}, expected Name=Value|Name=Value or _") from None
    return Dependent(form, part, features, int(head) - 1, relation, token)


def _check_tree(tree: DependencyTree, location: FileLine) -> DependencyTree:
    """The tree. Raises InputError unless it has one root, all heads are words, and nothing depends on itself."""
    words = tree.words
    if not words:
        raise _error(location, "no words between two blank lines")
    for word in words:
        if word.head >= len(words):
            raise _error(location, f"{word.form[:20]!r} depends on word {word.head + 1}, but there are {len(words)}")
    if (roots := sum(word.head < 0 for word in words)) != 1:
        raise _error(location, f"{roots} roots in a sentence, expected one")
    if len(words) > 1 and all(word.form == "_" for word in words):
        raise _error(location, "every word is _: the text is withheld; merge it as the treebank's README says")
    try:
        tree.levels()
    except ValueError as error:
        raise _error(location, str(error)) from None
    return tree
