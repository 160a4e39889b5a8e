"""Wikitext to sections of tokenised sentences; the markup itself is read by mwparserfromhell."""

import re
from collections.abc import Iterable, Iterator

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, Heading, HTMLEntity, Node, Tag, Text, Wikilink

from datamodules.corpus import Section
from datamodules.text.tokenize import split_sentences, tokenize

NO_PROSE = {"ref", "references", "gallery", "table", "math", "timeline", "score", "syntaxhighlight", "source", "pre"}
LIST_ITEM = "\x01"  # never occurs in XML
ITEM = re.compile(f"{LIST_ITEM}(.*)")
UNSEEN = re.compile(  # titles of links that show nothing: of pictures, categories and the same page in other languages
    r"\s*((?i:file|image|category)\s*:|[a-z]{2,3}(-[a-z]+)*:(?! )|[^:]+:.*\.\w{3,4}\s*$)"
)
SWITCH = re.compile(r"__[A-Z]+__")
BLANK_LINES = re.compile(r"\n\s*\n")
MAX_TEXT = 4 * 1024 * 1024  # characters; the limit of MediaWiki is 2 MiB
MAX_OPEN = 40  # marks open at once; the parser rereads the page for each unclosed one
OPENERS = {
    "braces": re.compile(r"(\{\{)|\}\}"),
    "brackets": re.compile(r"(\[\[)|\]\]"),
    "links": re.compile(r"(\[(?:[a-z]+:)?//)|\]", re.I),
    "tables": re.compile(r"(\{\|)|\|\}"),
    "comments": re.compile(r"(<!--)|-->"),
    "tags": re.compile(r"(<(?!br|hr|li|td|tr|th)[a-z])|</|/>", re.I),
}


def read_wikitext(wikitext: str, language: str = "en") -> list[Section]:
    """The lead (level 0, untitled) and the sections of an article; `== title ==` is level 1.

    Templates, tables, notes, pictures and categories are left out. A list item is a paragraph.
    """
    sections, level, title, parts = [], 0, None, list[str]()
    for node in mwparserfromhell.parse(wikitext).nodes:
        if isinstance(node, Heading):
            sections.append(Section(level, title, _paragraphs("".join(parts), language)))
            level, title, parts = max(1, node.level - 1), tokenize(_prose(node.title.nodes), language), []
        else:
            parts += _text(node)
    sections.append(Section(level, title, _paragraphs("".join(parts), language)))
    return sections if sections[0].paragraphs else sections[1:]


def tangled(wikitext: str) -> str | None:
    """Why a page is not parsed: broken markup could take hours. None if the page is fine."""
    if len(wikitext) > MAX_TEXT:
        return f"more than {MAX_TEXT} characters"
    for name, pattern in OPENERS.items():
        if most_open(pattern, wikitext) > MAX_OPEN:
            return f"more than {MAX_OPEN} {name} open at once"
    return None


def most_open(pattern: re.Pattern[str], text: str) -> int:
    """The largest number of marks open at once. A match of group 1 opens a mark, any other match closes one."""
    highest = open_now = 0
    for mark in pattern.finditer(text):
        open_now = open_now + 1 if mark[1] else max(0, open_now - 1)
        highest = max(highest, open_now)
    return highest


def paragraph_of(text: str, language: str) -> list[str]:
    """The tokenised sentences of a paragraph of raw text."""
    sentences = (tokenize(sentence, language) for sentence in split_sentences(text))
    return [sentence for sentence in sentences if sentence]


def _paragraphs(text: str, language: str) -> list[list[str]]:
    texts = BLANK_LINES.split(ITEM.sub(r"\n\n\1\n\n", SWITCH.sub("", text)))
    return [paragraph for text in texts if (paragraph := paragraph_of(text, language))]


def _prose(nodes: Iterable[Node]) -> str:
    return "".join(part for node in nodes for part in _text(node))


def _text(node: Node) -> Iterator[str]:
    """The visible text of a node; templates, arguments and comments have none."""
    if isinstance(node, Text):
        yield str(node.value)
    elif isinstance(node, HTMLEntity):
        yield _character(node)
    elif isinstance(node, Wikilink) and not UNSEEN.match(str(node.title)):
        yield _prose((node.text if node.text is not None else node.title).nodes).removeprefix(":")
    elif isinstance(node, ExternalLink) and node.title is not None:
        yield _prose(node.title.nodes)
    elif isinstance(node, Heading):
        yield f"\n\n{_prose(node.title.nodes)}\n\n"
    elif isinstance(node, Tag):
        yield from _tag(node)


def _tag(node: Tag) -> Iterator[str]:
    name = str(node.tag).strip().lower()
    if name == "br":
        yield "\n"
    elif name in ("li", "dd", "dt") and node.wiki_markup:
        yield f"\n{LIST_ITEM}"
    elif name not in NO_PROSE and node.contents is not None:
        yield _prose(node.contents.nodes)


def _character(node: HTMLEntity) -> str:
    try:
        character = str(node.normalize())
        character.encode()
        return character
    except (ValueError, OverflowError, KeyError):
        return ""
