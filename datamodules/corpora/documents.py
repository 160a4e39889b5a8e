"""Structured documents as JSON lines; docs/documents_format.md describes the format."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any, get_args

from datamodules.corpora.held_out import PerhapsTokenized, UnreadDocument
from datamodules.corpus import Document, Section, Split
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_json_lines


class JsonDocuments(PerhapsTokenized):
    """A file, or all `.jsonl`, `.jsonl.gz`, `.jsonl.bz2` below a folder: a document per line."""

    name = "documents"
    remedy = "give a .jsonl file or a folder of them (docs/documents_format.md)"
    endings = (".jsonl",)

    def unread_documents(self) -> Iterator[UnreadDocument]:
        for path in self.files():
            for number, record in read_json_lines(path):
                yield self._unread_document(f"{path}:{number}", record)

    def _unread_document(self, location: str, record: dict[str, Any]) -> UnreadDocument:
        id, split = _get_text(record, "id", location), _get_text(record, "split", location, optional=True)
        if not id:
            raise InputError(f"{location}: a document without an id; give each document a unique id")
        if split not in (None, *get_args(Split)):
            raise InputError(f"{location}: split {split[:40]!r}, expected train, dev, test or no split at all")
        return UnreadDocument(id, split, partial(self._document, id, record, location))  # type: ignore[arg-type]

    def _document(self, id: str, record: dict[str, Any], location: str) -> Document:
        categories = record.get("categories", [])
        if not isinstance(categories, list) or not all(isinstance(name, str) for name in categories):
            raise InputError(f"{location}: categories must be a list of texts; see docs/documents_format.md")
        if "sections" in record or "sentences" not in record:
            sections = [self._section(section, location) for section in _get_list(record, "sections", location)]
        else:
            sections = [Section(None, None, self._plain_paragraphs(record, location))]
        return Document(id, self._title(record, location), sections, tuple(categories))

    def _plain_paragraphs(self, record: dict[str, Any], location: str) -> list[list[str]]:
        """The sentences of a document without sections, in paragraphs of as many as it says."""
        sentences = self._paragraph(record["sentences"], location)
        counts = record.get("paragraphs", [len(sentences)])
        valid = isinstance(counts, list) and all(isinstance(n, int) and n >= 0 for n in counts)
        if not valid or sum(counts) != len(sentences):
            raise InputError(f"{location}: paragraphs must be numbers of sentences with the sum {len(sentences)}")
        rows = iter(sentences)
        return [list(islice(rows, count)) for count in counts]

    def _section(self, section: Any, location: str) -> Section:
        if not isinstance(section, dict):
            raise InputError(f"{location}: a section is {type(section).__name__}, expected an object with paragraphs")
        level = section.get("level")
        if level is not None and (not isinstance(level, int) or isinstance(level, bool) or not 0 <= level < 100):
            raise InputError(f"{location}: level {str(level)[:40]}, expected 0 to 99, or null where unknown")
        title = self._title(section, location)
        return Section(level, title, [self._paragraph(p, location) for p in _get_list(section, "paragraphs", location)])

    def _paragraph(self, paragraph: Any, location: str) -> list[str]:
        if not isinstance(paragraph, list) or not all(isinstance(sentence, str) for sentence in paragraph):
            raise InputError(f"{location}: a paragraph that is not a list of sentences")
        return [self.tokenized_text(sentence) for sentence in paragraph]

    def _title(self, record: dict[str, Any], location: str) -> str | None:
        title = _get_text(record, "title", location, optional=True)
        return None if title is None else self.tokenized_text(title)


def _get_list(record: dict[str, Any], key: str, location: str) -> list[Any]:
    if not isinstance(record.get(key), list):
        raise InputError(f"{location}: no list of {key}; see docs/documents_format.md")
    return record[key]


def _get_text(record: dict[str, Any], key: str, location: str, optional: bool = False) -> Any:
    value = record.get(key)
    if isinstance(value, str) or (optional and value is None):
        return value
    raise InputError(f"{location}: {key} is {type(value).__name__}, expected a text; see docs/documents_format.md")
