"""Documents for the tasks that need no annotation: read from files, each in one split for good."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from datamodules.corpora.documents import JsonDocuments
from datamodules.corpora.on_disk import text_files
from datamodules.corpus import Document, Section
from datamodules.text.tokenize import tokenize
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_json_lines
from probes.discoeval.items import SPLITS

SHORTEST, LONGEST = 3, 100  # tokens of a sentence that may be in an item
ENOUGH = 60  # sentences for each wanted item; the documents after those are not read


class DocumentSource(NamedTuple):
    """Where documents are, and how their text becomes tokens."""

    root: Path
    language: str = "en"  # for the tokeniser
    tokenized: bool = False  # the text has its tokens between spaces already


class Part(NamedTuple):
    """A section with sentences of its own."""

    title: str
    sentences: list[str]


class PlainDocument(NamedTuple):
    """A document as the tasks see it."""

    id: str
    parts: list[Part]


def read_documents(source: DocumentSource, sizes: Mapping[str, int]) -> dict[str, list[PlainDocument]]:
    """The documents of each split: as published, or each to the split that has least of what it needs.

    Reading stops when every split has enough. Raises InputError naming file and line.
    """
    found: dict[str, list[PlainDocument]] = {split: [] for split in SPLITS}
    have = dict.fromkeys(SPLITS, 0)
    seen: dict[str, bool] = {}
    for split, document in _documents(source):
        if document.id in seen:
            raise InputError(f"{source.root}: two documents have the id {document.id[:40]!r}; give each its own")
        seen[document.id] = split is not None
        if len(set(seen.values())) > 1:
            said = f"document {document.id[:40]!r} says {'which' if split else 'no'} split, unlike those before it"
            raise InputError(f"{source.root}: {said}; give all documents a split, or none")
        into = split or min(SPLITS, key=lambda name: have[name] / sizes[name] if sizes[name] else float("inf"))
        if have[into] < ENOUGH * sizes[into]:
            text = _text(document)
            found[into].append(text)
            have[into] += sum(len(part.sentences) for part in text.parts)
        if all(have[name] >= ENOUGH * sizes[name] for name in SPLITS):
            break
    if empty := [split for split in SPLITS if sizes[split] and not found[split]]:
        raise InputError(f"{source.root}: no document for {', '.join(empty)}; give more documents")
    return found


def _documents(source: DocumentSource) -> Iterator[tuple[str | None, Document]]:
    for path in text_files(source.root, (".jsonl",)):
        first = next(read_json_lines(path), None)
        stories = first is not None and "sections" not in first[1] and "sentences" in first[1]
        for split, document in _stories(path) if stories else _with_sections(path):
            yield split, document if source.tokenized else _tokenized(document, source.language)


def _with_sections(path: Path) -> Iterator[tuple[str | None, Document]]:
    """The documents of docs/documents_format.md."""
    for found in JsonDocuments(str(path), tokenized=True).unread_documents():
        yield found.split, found.read()


def _stories(path: Path) -> Iterator[tuple[str | None, Document]]:
    """Documents without sections: `id`, `sentences`, perhaps `paragraphs` (how many sentences each has) and `split`."""
    for number, record in read_json_lines(path):
        place = f"{path}:{number}"
        sentences, id, split = record.get("sentences"), record.get("id"), record.get("split")
        if not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
            raise InputError(f"{place}: no list of sentences, each a text")
        if not isinstance(id, str) or not id:
            raise InputError(f"{place}: a document without an id; give each its own")
        if split is not None and split not in SPLITS:
            raise InputError(f"{place}: split {str(split)[:40]!r}, expected train, dev, test or no split at all")
        words = [" ".join(sentence.split()) for sentence in sentences]
        yield split, Document(id, None, [Section(None, None, _paragraphs(record, words, place))])


def _paragraphs(record: dict[str, Any], words: list[str], place: str) -> list[list[str]]:
    counts = record.get("paragraphs", [len(words)])
    whole = isinstance(counts, list) and all(isinstance(n, int) and n >= 0 for n in counts)
    if not whole or sum(counts) != len(words):
        raise InputError(f"{place}: paragraphs must be numbers of sentences with the sum {len(words)}")
    ends = [sum(counts[: i + 1]) for i in range(len(counts))]
    return [words[end - count : end] for count, end in zip(counts, ends, strict=True)]


def _tokenized(document: Document, language: str) -> Document:
    sections = [
        Section(s.level, s.title, [[tokenize(sentence, language) for sentence in p] for p in s.paragraphs])
        for s in document.sections
    ]
    return Document(document.id, document.title, sections)


def _text(document: Document) -> PlainDocument:
    parts = [
        Part(section.title or "", [sentence for paragraph in section.paragraphs for sentence in paragraph if sentence])
        for section in document.sections
    ]
    return PlainDocument(document.id, [part for part in parts if part.sentences])


def fits(sentence: str) -> bool:
    """Whether a sentence may be in an item: words, not too few and not too many."""
    return SHORTEST <= len(sentence.split()) <= LONGEST and any(c.isalpha() for c in sentence)
