"""Wikitext to sections of tokenised sentences; the markup itself is read by mwparserfromhell."""

import re
from collections.abc import Iterable, Iterator

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, Heading, HTMLEntity, Node, Tag, Text, Wikilink

from datamodules.corpus import Section
from datamodules.text.tokenize import split_sentences, tokenize

NO_PROSE = {
    "ce", "chem", "gallery", "graph", "hiero", "imagemap", "mapframe", "maplink", "math", "pre", "ref", "references",
    "score", "source", "syntaxhighlight", "table", "timeline",
}  # fmt: skip
BLOCKS = {"blockquote", "center", "dd", "div", "dl", "dt", "hr", "li", "ol", "p", "poem", "ul"}  # of HTML: paragraphs
LIST_ITEM, EDGE = "\x01", "\x02"  # never occur in XML; EDGE: of a node, over which no mark of bold text reaches
LIST_ITEM_PATTERN = re.compile(f"{LIST_ITEM}(.*)")
# titles of links that show nothing: of pictures, categories and the same page in other languages
HIDDEN_LINK_PATTERN = re.compile(
    r"\s*((?i:file|image|category)\s*:|([a-z]{2,3}(-[a-z]+)*|simple):(?! )|[^:]+:.*\.\w{3,4}\s*$)"
)
SWITCH_PATTERN = re.compile(r"__[A-Z]+__")
BLANK_LINES_PATTERN = re.compile(r"\n\s*\n")
QUOTES_PATTERN = re.compile("('{2,})")
TABLE_PATTERN = re.compile(r"^\{\|.*?^\|\}", re.MULTILINE | re.DOTALL)  # one that the parser took for text
MAX_CHARACTERS = 4 * 1024 * 1024  # the limit of MediaWiki is 2 MiB
MAX_OPEN_MARKS = 40  # the parser rereads the page for each unclosed one
MARK_PATTERNS = {
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
    # the parser takes a link, template or note for text where a mark of bold or italic text in it has no end
    for node in mwparserfromhell.parse(wikitext, skip_style_tags=True).nodes:
        if isinstance(node, Heading):
            sections.append(Section(level, title, _paragraphs("".join(parts), language)))
            heading = _without_quotes(_visible_text(node.title.nodes))
            level, title, parts = max(1, node.level - 1), tokenize(heading, language), []
        else:
            parts.append(_visible_text([node]))
    sections.append(Section(level, title, _paragraphs("".join(parts), language)))
    return sections if sections[0].paragraphs else sections[1:]


def why_not_parsed(wikitext: str) -> str | None:
    """Why a page is not parsed: broken markup could take hours. None if the page is fine."""
    if len(wikitext) > MAX_CHARACTERS:
        return f"more than {MAX_CHARACTERS} characters"
    for name, pattern in MARK_PATTERNS.items():
        if max_open_marks(pattern, wikitext) > MAX_OPEN_MARKS:
            return f"more than {MAX_OPEN_MARKS} {name} open at once"
    return None


def max_open_marks(pattern: re.Pattern[str], text: str) -> int:
    """The largest number of marks open at once. A match of group 1 opens a mark, any other match closes one."""
    highest = open_now = 0
    for mark in pattern.finditer(text):
        open_now = open_now + 1 if mark[1] else max(0, open_now - 1)
        highest = max(highest, open_now)
    return highest


def tokenize_paragraph(text: str, language: str) -> list[str]:
    """The tokenised sentences of a paragraph of raw text."""
    sentences = (tokenize(sentence, language) for sentence in split_sentences(text))
    return [sentence for sentence in sentences if sentence]


def _paragraphs(text: str, language: str) -> list[list[str]]:
    text = SWITCH_PATTERN.sub("", TABLE_PATTERN.sub("", text))
    text = "\n".join(map(_without_quotes, text.split("\n")))
    texts = BLANK_LINES_PATTERN.split(LIST_ITEM_PATTERN.sub(r"\n\n\1\n\n", text))
    return [paragraph for text in texts if (paragraph := tokenize_paragraph(text, language))]


def _without_quotes(line: str) -> str:
    """A line without the marks of bold and italic text; MediaWiki decides in this way which apostrophes are text."""
    parts = [part.replace(EDGE, "") for part in QUOTES_PATTERN.split(line)]
    texts, sizes = parts[::2], [len(run) for run in parts[1::2]]
    marks = [3 if size == 4 else min(size, 5) for size in sizes]
    apostrophes = [size - mark for size, mark in zip(sizes, marks, strict=True)]
    bold = [run for run, mark in enumerate(marks) if mark == 3]
    if bold and all(sum(mark in pair for mark in marks) % 2 for pair in ((2, 5), (3, 5))):
        # one bold mark is an apostrophe and an italic mark: behind a word of one letter, or else behind any word
        apostrophes[min(bold, key=lambda run: (texts[run].endswith(" "), texts[run][-2:-1] != " "))] += 1
    return "".join(text + "'" * count for text, count in zip(texts, [*apostrophes, 0], strict=True))


def _visible_text(nodes: Iterable[Node]) -> str:
    return "".join(str(n) if isinstance(n, Text) else f"{EDGE}{''.join(_text_parts(n))}{EDGE}" for n in nodes)


def _text_parts(node: Node) -> Iterator[str]:
    """The visible text of a node; templates, arguments and comments have none."""
    if isinstance(node, HTMLEntity):
        yield _decode_entity(node)
    elif isinstance(node, Wikilink) and not HIDDEN_LINK_PATTERN.match(str(node.title)):
        yield _visible_text((node.text if node.text is not None else node.title).nodes).removeprefix(":")
    elif isinstance(node, ExternalLink) and node.title is not None:
        yield _visible_text(node.title.nodes)
    elif isinstance(node, Heading):
        yield f"\n\n{_visible_text(node.title.nodes)}\n\n"
    elif isinstance(node, Tag):
        yield from _tag_parts(node)


def _tag_parts(node: Tag) -> Iterator[str]:
    name = str(node.tag).strip().lower()
    if name == "br":
        yield "\n"
    elif name in ("li", "dd", "dt") and node.wiki_markup:
        yield f"\n{LIST_ITEM}"
    elif name not in NO_PROSE:
        text = _visible_text(node.contents.nodes) if node.contents is not None else ""
        yield f"\n\n{text}\n\n" if name in BLOCKS and not node.wiki_markup else text


def _decode_entity(node: HTMLEntity) -> str:
    try:
        character = str(node.normalize())
        character.encode()
        return character
    except (ValueError, OverflowError, KeyError):
        return ""
