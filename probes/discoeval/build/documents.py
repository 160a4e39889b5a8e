"""Documents for the tasks that need no annotation: read from files, each in one split for good."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from scipy.cluster.hierarchy import DisjointSet

from datamodules.corpora.documents import JsonDocuments
from datamodules.corpus import Document
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_lines, visible_files
from probes.discoeval.items import SPLITS

ANNOTATION, MESSAGES = ".annotation.txt", ".tok.txt"
LINK_PATTERN = re.compile(r"(\d{1,9}) (\d{1,9})( -)?\s*")
MARKS_PATTERN = re.compile(r"^\s*<s>\s*|\s*</s>\s*$")
MIN_TOKENS, MAX_TOKENS = 3, 100  # tokens of a sentence that may be in an item
INTRODUCTION = "Introduction"
SENTENCES_PER_ITEM = 60  # sentences for each wanted item; the documents after those are not read


class Part(NamedTuple):
    """A section with sentences."""

    title: str
    sentences: list[str]
    enclosing: tuple[str, ...] = ()  # titles of the sections that it lies in


class PlainDocument(NamedTuple):
    """A document as the tasks see it."""

    id: str
    parts: list[Part]
    categories: frozenset[str] = frozenset()
    conversation: bool = False


def read_documents(
    root: Path, sizes: Mapping[str, int], language: str = "en", tokenized: bool = False
) -> dict[str, list[PlainDocument]]:
    """The documents of each split: as published, or each to the split that has least of what it needs.

    `language` is for the tokeniser; `tokenized` text has its tokens between spaces already. Reading stops when every
    split has enough. Raises InputError naming file and line.
    """
    documents: dict[str, list[PlainDocument]] = {split: [] for split in SPLITS}
    sentence_counts = dict.fromkeys(SPLITS, 0)
    seen: dict[str, bool] = {}
    for split, document in _plain_documents(root, language, tokenized):
        if document.id in seen:
            raise InputError(f"{root}: two documents have the id {document.id[:40]!r}; give each its own")
        if split not in (None, *SPLITS):
            raise InputError(f"{root}: document {document.id[:40]!r} is in {split}; expected train, dev or test")
        seen[document.id] = split is not None
        if len(set(seen.values())) > 1:
            problem = f"document {document.id[:40]!r} says {'which' if split else 'no'} split, unlike those before it"
            raise InputError(f"{root}: {problem}; give all documents a split, or none")
        into = split or min(SPLITS, key=lambda name: sentence_counts[name] / sizes[name])
        if sentence_counts[into] < SENTENCES_PER_ITEM * sizes[into]:
            documents[into].append(document)
            sentence_counts[into] += sum(len(part.sentences) for part in document.parts)
        if all(sentence_counts[name] >= SENTENCES_PER_ITEM * sizes[name] for name in SPLITS):
            break
    if empty := [split for split in SPLITS if not documents[split]]:
        remedy = "give them too, or leave the key split out" if any(seen.values()) else "give more documents"
        raise InputError(f"{root}: no document for {', '.join(empty)}; {remedy}")
    return documents


def _plain_documents(root: Path, language: str, tokenized: bool) -> Iterator[tuple[str | None, PlainDocument]]:
    if root.is_dir() and any(file.name.endswith(ANNOTATION) for file in visible_files(root)):
        for split, name, messages in read_conversations(root):
            yield split, PlainDocument(name, [Part("", messages)], conversation=True)
    else:
        reader = JsonDocuments(str(root), tokenized=tokenized, source_language=language)
        yield from ((unread.split, _plain_document(unread.read())) for unread in reader.unread_documents())


def _plain_document(document: Document) -> PlainDocument:
    """Sections with the titles of their parents; text before a heading is an introduction, as in an encyclopedia."""
    parts, enclosing = [], list[tuple[int, str]]()
    for section in document.sections:
        title = section.title or (INTRODUCTION if section.level == 0 else "")
        if section.level is not None:
            enclosing = [(level, name) for level, name in enclosing if level < section.level]
        sentences = [sentence for paragraph in section.paragraphs for sentence in paragraph if sentence]
        parts.append(Part(title, sentences, tuple(name for _, name in enclosing)))
        if section.level:
            enclosing.append((section.level, title))
    return PlainDocument(document.id, [part for part in parts if part.sentences], frozenset(document.categories))


def has_fitting_length(sentence: str) -> bool:
    """Whether a sentence may be in an item: words, not too few and not too many."""
    return MIN_TOKENS <= len(sentence.split()) <= MAX_TOKENS and any(c.isalpha() for c in sentence)


def read_conversations(root: Path) -> Iterator[tuple[str | None, str, list[str]]]:
    """The split, if folders say so, the name and the messages of each conversation, in their order.

    A folder of the Ubuntu channel (Kummerfeld et al. 2019) has `NAME.annotation.txt`, lines `7 9 -` for two messages of
    one conversation, numbered from 0, and `NAME.tok.txt` with a message on each line, between `<s>` and `</s>`. Folders
    named train, dev and test are the splits. Raises InputError naming file and line.
    """
    # equal links are no copy: the messages are in another file
    for path in (file for file in visible_files(root) if file.name.endswith(ANNOTATION)):
        name = path.name.removesuffix(ANNOTATION)
        split = next((folder for folder in reversed(path.parts[:-1]) if folder in SPLITS), None)
        messages = [
            " ".join(MARKS_PATTERN.sub("", line).split()) for _, line in read_lines(path.with_name(name + MESSAGES))
        ]
        for numbers in _conversations(path, len(messages)):
            texts = [messages[number] for number in numbers]
            yield split, f"{path.parent.name}/{name}/{numbers[0]}", [message for message in texts if message]


def _conversations(path: Path, messages: int) -> list[list[int]]:
    linked: DisjointSet = DisjointSet()
    for number, line in read_lines(path):
        link = LINK_PATTERN.fullmatch(line)
        if line.strip() and (link is None or max(int(link[1]), int(link[2])) >= messages):
            problem = f"{line[:40]!r} is no link between two of the {messages:,} messages"
            raise InputError(f"{path}:{number}: {problem} of *{MESSAGES}")
        if link:
            linked.add(int(link[1]))
            linked.add(int(link[2]))
            linked.merge(int(link[1]), int(link[2]))
    return sorted(map(sorted, linked.subsets()))
