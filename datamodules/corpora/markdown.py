"""A folder of Markdown: each file a document with nested titled sections and paragraphs."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from datamodules.corpora.held_out import DocumentCorpus, UnreadDocument
from datamodules.corpora.wikitext import max_open_marks, tokenize_paragraph
from datamodules.corpus import Document, Section
from datamodules.text.tokenize import tokenize
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import log_note, read_lines

MAX_CHARACTERS = 1024 * 1024
BRACKET_PATTERN = re.compile(r"(\[)|\]")
MAX_OPEN_BRACKETS = 40  # the parser rereads the paragraph for each unclosed bracket
FOOTNOTE_PATTERN = re.compile(r"^ {0,3}(\[\^[^\]\s]+\]):[ \t]*(?:\n +)?", re.MULTILINE)  # its beginning
BOX_PATTERN = r"^\[[ xX]\] "  # of a task
FENCES = {"---": ("---", "..."), "+++": ("+++",)}  # before and after the metadata at the top, in YAML or TOML


class Markdown(DocumentCorpus):
    """All `.md` and `.markdown` below a folder. `# title` is level 1; a list item or table cell is a paragraph."""

    name = "markdown"
    remedy = "give a folder of .md files"
    endings = (".md", ".markdown")

    def unread_documents(self) -> Iterator[UnreadDocument]:
        for path in self.files():
            id = path.relative_to(self.root).as_posix() if self.root.is_dir() else path.name
            text = _read_text(path)
            if max_open_marks(BRACKET_PATTERN, text) > MAX_OPEN_BRACKETS:
                log_note(f"{path}: left out: more than {MAX_OPEN_BRACKETS} brackets open at once")
            else:
                yield UnreadDocument(id, None, partial(_parse_document, path, id, text, self.source_language), text)


def _parse_document(path: Path, id: str, text: str, language: str) -> Document:
    """Parse one file. The title is the first heading of level 1, else the file name."""
    sections = read_markdown(text, language)
    title = next((section.title for section in sections if section.level == 1), None)
    return Document(id, title or tokenize(path.name.split(".")[0], language), sections)


def _read_text(path: Path) -> str:
    lines, size = [], 0
    for number, line in read_lines(path):
        size += len(line) + 1
        if size > MAX_CHARACTERS:
            raise InputError(f"{path}:{number}: more than {MAX_CHARACTERS} characters in one file; cut it into several")
        lines.append(line.rstrip())
    fence, *rest = lines
    ends = [row for row, line in enumerate(rest, 2) if line in FENCES.get(fence, ())]
    if ends and rest[0]:  # before a blank line it is a rule
        lines = lines[ends[0] :]
    return "\n".join(lines).rstrip("\n")


def read_markdown(text: str, language: str = "en") -> list[Section]:
    """The text before the first heading (level 0, untitled), and the sections. Code and HTML are left out."""
    sections = [Section(0, None, [])]
    heading, left_out = None, re.compile("|".join([BOX_PATTERN, *map(re.escape, {*FOOTNOTE_PATTERN.findall(text)})]))
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(FOOTNOTE_PATTERN.sub("\n", text)):
        if token.type == "heading_open":
            heading = int(token.tag.removeprefix("h"))
        elif token.type == "inline" and heading is not None:
            sections.append(Section(heading, tokenize(_visible_text(token.children or (), left_out), language), []))
            heading = None
        elif token.type == "inline":
            sections[-1].paragraphs.append(tokenize_paragraph(_visible_text(token.children or (), left_out), language))
    with_text = [section._replace(paragraphs=[p for p in section.paragraphs if p]) for section in sections]
    return with_text if with_text[0].paragraphs else with_text[1:]


def _visible_text(children: Sequence[Token], left_out: re.Pattern[str]) -> str:
    """The visible text of a line: no pictures, no tags, no boxes of tasks, no marks of the footnotes of the file."""
    parts = []
    for token in children:
        if token.type == "text":
            parts.append(left_out.sub("", token.content))
        elif token.type in ("code_inline", "text_special"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak") or token.content.lower().startswith("<br"):
            parts.append(" ")
    return "".join(parts)
