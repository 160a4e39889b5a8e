"""Running text: one sentence per line, blank lines between documents (the form of BookCorpus)."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from datamodules.corpora.held_out import PerhapsTokenized, UnreadDocument
from datamodules.corpus import Document, Section
from encoder_lab.storage.text_files import log_note_once, read_lines

IDLE_NAMES = {"train", "dev", "valid", "validation", "test"}  # here they choose no split
MAX_SENTENCES, PIECE_SENTENCES = 1000, 100  # a longer document is split: bounded memory, small text has some


class PlainText(PerhapsTokenized):
    """A file, or all `.txt`, `.txt.gz`, `.txt.bz2` below a folder. No titles, one paragraph, no level."""

    name = "text"
    remedy = "give a text file or a folder of .txt files, one sentence per line"
    endings = (".txt",)

    def files(self) -> list[Path]:
        files = super().files()
        names = {name for path in files for name in (path.name.split(".")[0], *path.relative_to(self.root).parts[:-1])}
        if len(idle := sorted(IDLE_NAMES & names)) > 1:
            log_note_once(f"{self.root}: the names of its files and folders choose no split: {', '.join(idle)}")
        return files

    def unread_documents(self) -> Iterator[UnreadDocument]:
        for path in self.files():
            name = path.relative_to(self.root).as_posix() if self.root.is_dir() else path.name
            for first, lines in _document_pieces(path):
                id = f"{name}:{first}"
                yield UnreadDocument(id, None, partial(self._document, id, lines), "\n".join(lines))

    def _document(self, id: str, lines: list[str]) -> Document:
        return Document(id, None, [Section(None, None, [[*map(self.tokenized_text, lines)]])])


def _document_pieces(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The documents of a file, with the number of the first line; those of MAX_SENTENCES lines or more in pieces."""
    lines: list[str] = []
    first, size = 1, MAX_SENTENCES
    for number, line in chain(read_lines(path), [(0, "")]):
        if words := line.split():
            first = first if lines else number
            lines.append(" ".join(words))
        if not words or len(lines) == size:
            size = PIECE_SENTENCES if words else MAX_SENTENCES
            yield from ((first + start, lines[start : start + size]) for start in range(0, len(lines), size))
            lines = []
