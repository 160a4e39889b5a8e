"""Corpora without published splits: each document belongs to one fixed split."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate, islice
from operator import methodcaller
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from datamodules.corpora.on_disk import OnDisk, text_files
from datamodules.corpus import Document, Split
from datamodules.text.languages import check_language
from datamodules.text.tokenize import tokenize
from encoder_lab.compute.processes import parallel_map
from encoder_lab.errors import InputError
from encoder_lab.settings.types import CorpusSize, PartHeldOutOrNull, ProbeSplit, SourceLanguage, Tokenized
from encoder_lab.storage.text_files import read_blocks

SPLIT_PARTS: dict[Split, int] = {"dev": 1, "test": 1, "probe": 2}  # parts of `held_out`; the rest is train
HELD_OUT = 20
SMALL_HELD_OUT, SMALL_TEXT_BYTES = 10, 500_000  # of fewer bytes, so that small text has probing tasks
MAX_SENTENCES = {"dev": 10_000, "test": 10_000}
CHUNK_DOCUMENTS = 16  # sent to a process at a time


class UnreadDocument(NamedTuple):
    """A document before it is parsed."""

    id: str
    split: Split | None  # the published split, if any
    read: Callable[[], Document]
    text: str | None = None  # where files name no documents: the split is drawn by the text, not by names of files


def split_of(id: str, published: Split | None = None, held_out: int = HELD_OUT, probe: bool = True) -> Split:
    """The split of a document: the published one, or chosen by a hash of its id or text, the same on every machine.

    One in `held_out` is dev, one test, two probe. Of the documents published for training, these two are taken too.
    Without `probe` these two are training text.
    """
    split = _hashed_split(id, held_out)
    split = "train" if split == "probe" and not probe else split
    if published is None:
        return split
    return "probe" if (published, split) == ("train", "probe") else published


def _hashed_split(id: str, held_out: int) -> Split:
    point = int.from_bytes(hashlib.blake2b(id.encode("utf-8"), digest_size=8).digest()) / 2**64
    for split, parts in SPLIT_PARTS.items():
        if point < parts / held_out:
            return split
        point -= parts / held_out
    return "train"


def refuse_probing(split: Split, probe_split: bool) -> None:
    """Raises InputError for the probe split of a corpus that trains on all of its text."""
    if split == "probe" and not probe_split:
        raise InputError("corpus.probe_split=false: no text is set apart for tasks; give probes= another source")


class DocumentCorpus(OnDisk):
    """One document in `held_out` is dev, one test (at most 10,000 sentences each), two are probe, the others train.

    `size` counts training sentences; the document that reaches it is the last one.
    """

    endings: ClassVar[tuple[str, ...]]  # of its files

    def __init__(
        self,
        root: Annotated[str | None, "the folder with its files, or one file"],
        size: CorpusSize = None,
        held_out: PartHeldOutOrNull = None,
        probe_split: ProbeSplit = True,
        source_language: SourceLanguage = "en",
    ) -> None:
        super().__init__(root, size)
        check_language(source_language, "corpus.source_language")
        self._held_out, self.probe_split, self.source_language = held_out, probe_split, source_language

    @cached_property
    def held_out(self) -> int:
        """One document in this many is dev; by default it depends on the size of the text."""
        if self._held_out is not None:
            return self._held_out
        blocks = (block for path in self.files() for block in read_blocks(path))
        sizes = accumulate(len(block) - block.count(b"\r") for block in blocks)
        return HELD_OUT if any(size >= SMALL_TEXT_BYTES for size in sizes) else SMALL_HELD_OUT

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} 1/{self.held_out}{'' if self.probe_split else ' no probe'}"

    def files(self) -> list[Path]:
        return text_files(self.root, self.endings)

    def unread_documents(self) -> Iterator[UnreadDocument]:
        """All documents, in file order."""
        raise NotImplementedError

    def documents(self, split: Split) -> Iterator[Document]:
        refuse_probing(split, self.probe_split)
        limit = self._max_sentences(split)
        documents = placed = seen = sentences = 0

        def of_split() -> Iterator[UnreadDocument]:
            nonlocal documents, placed
            for unread in self.unread_documents():
                documents += 1
                placed += unread.split is not None
                id = unread.id if unread.text is None else unread.text
                if split_of(id, unread.split, self.held_out, self.probe_split) == split:
                    yield unread

        for document in parallel_map(methodcaller("read"), of_split(), CHUNK_DOCUMENTS):
            seen += 1
            sentences += len(list(document.sentences()))
            yield document
            if limit is not None and sentences >= limit:
                return
        if not documents:
            raise InputError(f"{self.root}: no text in it")
        if not seen and split != "test":
            problem = f"none of its {documents} documents falls into the {split} split"
            more = f"more documents{' (blank lines separate them)' if '.txt' in self.endings else ''}"
            share = f"for which one in {self.held_out} is held out; give {more}, or a smaller corpus.held_out="
            published = f'as their key split says; leave that out, or give documents with "split": "{split}"'
            all_say = split != "probe" and 0 < placed == documents
            raise InputError(f"{self.root}: {problem}, {published if all_say else share}")

    def sentences(self, split: Split) -> Iterator[str]:
        sentences = (s for document in self.documents(split) for s in document.sentences())
        return islice(sentences, self._max_sentences(split))

    def _max_sentences(self, split: Split) -> int | None:
        """Maximum sentences of a split. With a small `size`, dev and test have a fifth of it, at least 500."""
        if split == "train" or self.size is None or split not in MAX_SENTENCES:
            return self.size if split == "train" else MAX_SENTENCES.get(split)
        return min(MAX_SENTENCES[split], max(500, self.size // 5))


class PerhapsTokenized(DocumentCorpus):
    """`tokenized`: the text is already tokenised, with spaces between tokens."""

    def __init__(
        self,
        root: Annotated[str | None, "a file or folder: .txt of corpus=text, .jsonl of corpus=documents; .gz, .bz2"],
        size: CorpusSize = None,
        tokenized: Tokenized = False,
        source_language: SourceLanguage = "en",
        held_out: PartHeldOutOrNull = None,
        probe_split: ProbeSplit = True,
    ) -> None:
        super().__init__(root, size, held_out, probe_split, source_language)
        self.tokenized = tokenized

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} tokenized {self.tokenized}"

    def tokenized_text(self, text: str) -> str:
        """The text with single spaces between its tokens."""
        return " ".join(text.split()) if self.tokenized else tokenize(text, self.source_language)
