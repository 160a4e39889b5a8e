"""Stories, documents and dialogues as lists of sentences, from published files and from open ones.

.csv: ROCStories (storyid, storytitle, sentence1, ... sentence5) and the Story Cloze test (InputStoryid,
InputSentence1, ..., RandomFifthSentenceQuiz1, RandomFifthSentenceQuiz2, AnswerRightEnding).
.txt: PersonaChat; lines `N utterance<TAB>answer<TAB>...`, a new dialogue where N is 1, persona lines left out.
.jsonl, .jsonl.gz: records with `sentences`, with `turns` of `text`, or with `sections` of `paragraphs` of sentences.
A turn of a dialogue without a final mark gets a full stop.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import log_note, read_json_lines, read_lines, without_copies
from probes.coherence.build.draft import single_spaced, with_final_mark

ROC = [f"sentence{number}" for number in range(1, 6)]
CONTEXT = [f"InputSentence{number}" for number in range(1, 5)]
ENDINGS = ["RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2"]
ANSWER = "AnswerRightEnding"
WINDOW_SENTENCES = 5  # sentences of a story, and of a piece of a longer text
SILENCE = "__SILENCE__"  # PersonaChat's mark of a speaker who says nothing


class SourceText(NamedTuple):
    """A coherent text."""

    source: str
    sentences: list[str]
    dialogue: bool = False  # utterances; it is kept whole
    wrong_ending: str = ""  # of the Story Cloze test
    topic: str = ""  # stories about the same thing do not exchange their endings


def distinct_texts(paths: Iterable[Path]) -> list[SourceText]:
    """The texts of several files, in any order; one that is there again is left out, with a note."""
    texts = [text for path in without_copies(sorted(paths)) for text in read_texts(path)]
    first: dict[tuple[str, ...], SourceText] = {}
    for text in texts:
        first.setdefault((*text.sentences, text.wrong_ending), text)
    if copies := len(texts) - len(first):
        log_note(f"{copies} of {len(texts)} texts left out, as the same text is there before them")
    return list(first.values())


def read_texts(path: Path) -> Iterator[SourceText]:
    """The texts of one file. Raises InputError with file and line."""
    if path.name.endswith(".csv"):
        yield from _stories(path)
    elif path.name.endswith(".txt"):
        yield from _persona_chat(path)
    elif path.name.endswith((".jsonl", ".jsonl.gz")):
        for number, record in read_json_lines(path):
            yield _text_from_record(record, f"{path}:{number}", f"{path.name}:{record.get('id', number)}")
    else:
        raise InputError(f"{path}: not .csv, .txt, .jsonl or .jsonl.gz; give a file of texts")


def _stories(path: Path) -> Iterator[SourceText]:
    rows = _csv_rows(path)
    _, header = next(rows, (1, []))
    if set(ROC) <= set(header):
        columns, identity = ROC, "storyid"
    elif {*CONTEXT, *ENDINGS, ANSWER} <= set(header):
        columns, identity = [*CONTEXT, *ENDINGS], "InputStoryid"
    else:
        expected = "sentence1 to sentence5, or InputSentence1 to AnswerRightEnding"
        raise InputError(f"{path}:1: the header has not the columns {expected}; is this the published file?")
    for number, row in rows:
        if len(row) != len(header):
            raise InputError(f"{path}:{number}: {len(row)} columns, expected {len(header)}; correct the line")
        fields = dict(zip(header, row, strict=True))
        sentences = [single_spaced(fields[column]) for column in columns]
        if not all(sentences):
            raise InputError(f"{path}:{number}: {columns[sentences.index('')]} is empty; remove the line")
        source = f"{path.name}:{fields.get(identity, number)}"
        if columns is ROC:
            yield SourceText(source, sentences)
            continue
        if fields[ANSWER] not in ("1", "2"):
            raise InputError(f"{path}:{number}: {ANSWER} {fields[ANSWER][:20]!r}; it must be 1 or 2")
        correct = int(fields[ANSWER]) + 3
        yield SourceText(source, [*sentences[:4], sentences[correct]], wrong_ending=sentences[9 - correct])


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    text = "\n".join(line for _, line in read_lines(path))
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: not valid csv ({error}); correct the line") from None


def _persona_chat(path: Path) -> Iterator[SourceText]:
    turns: list[str] = []
    start = 0
    for number, line in read_lines(path):
        line_number, _, rest = line.partition(" ")
        if not line_number.isdecimal():
            problem = "does not begin with the number of the line in its dialogue"
            raise InputError(f"{path}:{number}: {line[:20]!r} {problem}")
        if line_number == "1" and start:
            yield SourceText(f"{path.name}:{start}", turns, dialogue=True)
            turns = []
        start = number if line_number == "1" or not start else start
        if not rest.startswith(("your persona:", "partner's persona:")):
            said = map(single_spaced, rest.split("\t")[:2])
            turns += [with_final_mark(text, True) for text in said if text not in ("", SILENCE)]
    if start:
        yield SourceText(f"{path.name}:{start}", turns, dialogue=True)


def _text_from_record(record: dict[str, Any], location: str, source: str) -> SourceText:
    """A document as JSON; `text` has raw sentences where `sentences` has tokens."""
    try:
        if "turns" in record:
            sentences = [with_final_mark(single_spaced(turn["text"])) for turn in _checked_list(record["turns"])]
        elif "sections" in record:
            paragraphs = [
                p for section in _checked_list(record["sections"]) for p in _checked_list(section["paragraphs"])
            ]
            sentences = [sentence for paragraph in paragraphs for sentence in _checked_list(paragraph)]
        else:
            raw = record.get("text")
            sentences = raw if isinstance(raw, list) else _checked_list(record["sentences"])
        texts = [single_spaced(sentence) for sentence in sentences]
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{location}: no list of sentences, turns or sections; is this a file of texts?") from None
    return SourceText(source, [text for text in texts if text], dialogue="turns" in record)


def _checked_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def split_into_windows(text: SourceText) -> list[SourceText]:
    """A dialogue unchanged; any other text in pieces of WINDOW_SENTENCES sentences that do not overlap."""
    if text.dialogue or len(text.sentences) == WINDOW_SENTENCES:
        return [text]
    starts = range(0, len(text.sentences) - WINDOW_SENTENCES + 1, WINDOW_SENTENCES)
    return [SourceText(f"{text.source}, sentence {i + 1}", text.sentences[i : i + WINDOW_SENTENCES]) for i in starts]
