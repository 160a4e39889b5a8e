"""Documents with the position of every token in the raw text, and what stands for what in them; those of GUM."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import files_below, read_json_lines
from probes.coherence.build.draft import single_spaced


class GumDocument(NamedTuple):
    """N tokens, numbered from 1 as in the annotation."""

    name: str
    raw: list[str]  # sentences, with single spaces
    tokens: list[str]
    sentences: list[int]  # (N,) of each token, from 0
    spans: list[tuple[int, int]]  # (N,) characters in its raw sentence
    location: str = ""  # file and line, for messages

    def first_in_sentence(self, token: int) -> int:
        """The first token of the sentence of a token."""
        return self.sentences.index(self.sentences[token - 1]) + 1

    def last_in_sentence(self, token: int) -> int:
        """The last token of the sentence of a token."""
        return len(self.sentences) - self.sentences[::-1].index(self.sentences[token - 1])

    def text(self, first: int, last: int) -> str:
        """The raw text from one token to another, both included; "" where the second comes before the first."""
        parts = []
        for number in range(self.sentences[first - 1], self.sentences[last - 1] + 1) if first <= last else ():
            tokens = [token for token in range(first, last + 1) if self.sentences[token - 1] == number]
            parts.append(self.raw[number][self.spans[tokens[0] - 1][0] : self.spans[tokens[-1] - 1][1]])
        return " ".join(parts)


class Mention(NamedTuple):
    """A stretch of tokens, numbered from 1, that means an entity."""

    entity: int
    first: int
    last: int
    form: str


class AnnotatedDocument(NamedTuple):
    """A document with its mentions."""

    document: GumDocument
    mentions: list[Mention]
    tags: list[str]  # (N,) of the tokens, as in the Penn Treebank
    source: str
    part: str = ""  # of the corpus, as in Table 3 of Beyer et al. 2021


def read_documents(folder: Path) -> dict[str, GumDocument]:
    """The documents of all *.docs.jsonl in a folder, plain or packed, by name."""
    documents: dict[str, GumDocument] = {}
    for path in files_below(folder, [".docs.jsonl"]):
        for number, record in read_json_lines(path):
            try:
                rows, raw = [s.split() for s in record["sentences"]], [single_spaced(text) for text in record["text"]]
                document = align_document(str(record["id"]), rows, raw)
            except (KeyError, TypeError, AttributeError, ValueError):
                raise InputError(f"{path}:{number}: no id, sentences and text of a document; is this GUM?") from None
            if document.name in documents:
                other = documents[document.name].location
                raise InputError(f"{path}:{number}: document {document.name[:40]!r} is also in {other}; keep one copy")
            documents[document.name] = document._replace(location=f"{path}:{number}")
    if not documents:
        raise InputError(f"{path}: no document; is this GUM?")
    return documents


def document_of(documents: Mapping[str, GumDocument], name: str, place: str) -> GumDocument:
    """A document that an annotation names at this place. Raises InputError where it is not among them."""
    if name not in documents:
        paths = ", ".join(sorted({document.location.rpartition(":")[0] for document in documents.values()}))
        raise InputError(f"{place}: no document {name[:40]!r} in {paths}")
    return documents[name]


def read_coreference(folder: Path) -> Iterator[AnnotatedDocument]:
    """The documents of all *.coref.jsonl, plain or packed. Raises InputError naming file and line."""
    documents = read_documents(folder)
    for path in files_below(folder, [".coref.jsonl"]):
        for number, record in read_json_lines(path):
            document = document_of(documents, str(record.get("id")), f"{path}:{number}")
            try:
                spans = ((m, *map(int, m["span"])) for m in record["mentions"])
                mentions = [Mention(int(m["entity"]), first, last, str(m["form"])) for m, first, last in spans]
                tags, size = [str(tag) for tag in record["tokens"]["xpos"]], len(document.tokens)
                if len(tags) != size or not all(1 <= m.first <= m.last <= size for m in mentions):
                    raise ValueError("not a tag for each token, or mentions of others")
            except (KeyError, TypeError, ValueError, OverflowError):
                wrong = f"no mentions with span, entity and form, or no tags, of the tokens in {document.location}"
                raise InputError(f"{path}:{number}: {wrong}") from None
            yield AnnotatedDocument(document, mentions, tags, f"{path.name}:{number}")


def align_document(name: str, rows: list[list[str]], raw: list[str]) -> GumDocument:
    """A document of the tokens of each sentence and its raw text.

    A sentence that cannot be aligned has its tokens, with spaces, as its raw text.
    """
    texts, spans = [], []
    for tokens, text in zip(rows, raw, strict=True):
        token_spans = _token_spans(tokens, text)
        text = text if token_spans is not None else " ".join(tokens)
        texts.append(text)
        spans += token_spans if token_spans is not None else _token_spans(tokens, text) or []
    sentences = [number for number, tokens in enumerate(rows) for _ in tokens]
    return GumDocument(name, texts, [token for tokens in rows for token in tokens], sentences, spans)


def _token_spans(tokens: list[str], text: str) -> list[tuple[int, int]] | None:
    """The characters of each token, one after the other with at most a space between; None where they differ."""
    spans, offset = [], 0
    for token in tokens:
        offset += text[offset : offset + 1] == " "
        if not text.startswith(token, offset):
            return None
        spans.append((offset, offset + len(token)))
        offset += len(token)
    return spans


def numbers_in(text: str, largest: int) -> Iterator[int]:
    """The token numbers in `3-5,9`. Raises ValueError, also where one is not from 1 to `largest`."""
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        if not 1 <= int(first) <= int(last or first) <= largest:
            raise ValueError(part)
        yield from range(int(first), int(last or first) + 1)
