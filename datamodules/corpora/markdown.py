"""A folder of Markdown: each file a document with nested titled sections and paragraphs."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from datamodules.corpora.held_out import DocumentCorpus, UnreadDocument
from datamodules.corpora.on_disk import text_files
from datamodules.corpora.wikitext import most_open, paragraph_of
from datamodules.corpus import Document, Section
from datamodules.text.tokenize import tokenize
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import note, read_lines

MAX_FILE = 1024 * 1024  # characters
BRACKETS = re.compile(r"(\[)|\]")
MAX_OPEN = 40  # the parser rereads the paragraph for each unclosed bracket
NOTE = re.compile(r"^ {0,3}(\[\^[^\]\s]+\]):[ \t]*(?:\n +)?", re.MULTILINE)  # what begins a footnote: it is a paragraph
BOX = r"^\[[ xX]\] "  # of a task
FENCES = ("---", "+++")  # around the metadata at the top of a file, in YAML or TOML


class Markdown(DocumentCorpus):
    """All `.md` and `.markdown` below a folder. `# title` is level 1; a list item or table cell is a paragraph."""

    name = "markdown"
    remedy = "give a folder of .md files"

    def files(self) -> list[Path]:
        return text_files(self.root, (".md", ".markdown"))

    def unread_documents(self) -> Iterator[UnreadDocument]:
        for path in self.files():
            id = path.relative_to(self.root).as_posix() if self.root.is_dir() else path.name
            text = _read_text(path)
            if most_open(BRACKETS, text) > MAX_OPEN:
                note(f"{path}: left out: more than {MAX_OPEN} brackets open at once")
            else:
                yield UnreadDocument(id, None, partial(_document, path, id, text, self.source_language), text)


def _document(path: Path, id: str, text: str, language: str) -> Document:
    """Parse one file. The title is the first heading of level 1, else the file name."""
    sections = read_markdown(text, language)
    title = next((section.title for section in sections if section.level == 1), None)
    return Document(id, title or tokenize(path.name.split(".")[0], language), sections)


def _read_text(path: Path) -> str:
    """The text of the file. Raises InputError naming file and line."""
    lines, size = [], 0
    for number, line in read_lines(path):
        size += len(line) + 1
        if size > MAX_FILE:
            raise InputError(f"{path}:{number}: more than {MAX_FILE} characters in one file; cut it into several")
        lines.append(line)
    fence, *rest = map(str.rstrip, lines)
    if fence in FENCES and fence in rest:
        lines = lines[rest.index(fence) + 2 :]
    return "\n".join(lines)


def read_markdown(text: str, language: str = "en") -> list[Section]:
    """The text before the first heading (level 0, untitled), and the sections. Code and HTML are left out."""
    sections = [Section(0, None, [])]
    heading, left_out = None, re.compile("|".join([BOX, *map(re.escape, {*NOTE.findall(text)})]))
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(NOTE.sub("\n", text)):
        if token.type == "heading_open":
            heading = int(token.tag.removeprefix("h"))
        elif token.type == "inline" and heading is not None:
            sections.append(Section(heading, tokenize(_prose(token.children or (), left_out), language), []))
            heading = None
        elif token.type == "inline":
            sections[-1].paragraphs.append(paragraph_of(_prose(token.children or (), left_out), language))
    with_text = [section._replace(paragraphs=[p for p in section.paragraphs if p]) for section in sections]
    return with_text if with_text[0].paragraphs else with_text[1:]


def _prose(children: Sequence[Token], left_out: re.Pattern[str]) -> str:
    """The visible text of a line: no pictures, no tags, no boxes of tasks, no marks of the footnotes of the file."""
    parts = []
    for token in children:
        if token.type == "text":
            parts.append(left_out.sub("", token.content))
        elif token.type in ("code_inline", "text_special"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return "".join(parts)
