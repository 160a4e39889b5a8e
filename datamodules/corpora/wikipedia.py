"""A MediaWiki XML dump: articles with nested titled sections and paragraphs."""

import re
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from datamodules.corpora.held_out import DocumentCorpus, UnreadDocument
from datamodules.corpora.wikitext import read_wikitext, why_not_parsed
from datamodules.corpus import Document
from datamodules.text.tokenize import tokenize
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import DAMAGED_FILE, log_note, open_packed

MAX_PAGE = 64 * 1024 * 1024  # bytes of XML without the end of a page; MediaWiki's own limit is 2 MiB of text
ARTICLE_NAMESPACE = "0"  # others hold talk, users, templates
HIDDEN_NAMESPACES = {"6": "File", "14": "Category"}  # links to them show nothing; each wiki knows the English names too


class Page(NamedTuple):
    """An article, in wikitext."""

    id: str
    title: str
    wikitext: str


class Wikipedia(DocumentCorpus):
    """A dump, or all `.xml`, `.xml.bz2`, `.xml.gz` below a folder. Keeps articles only, no redirects."""

    name = "wikipedia"
    remedy = "get a pages-articles.xml.bz2 of dumps.wikimedia.org (python -m datamodules.download simplewiki)"
    endings = (".xml",)

    def unread_documents(self) -> Iterator[UnreadDocument]:
        for path in self.files():
            for page in read_pages(path):
                if reason := why_not_parsed(page.wikitext):
                    log_note(f"{path}: article {page.title!r} left out: {reason}")
                else:
                    yield UnreadDocument(page.id, None, partial(_parse_page, page, self.source_language))


def _parse_page(page: Page, language: str) -> Document:
    return Document(page.id, tokenize(page.title, language), read_wikitext(page.wikitext, language))


def read_pages(path: Path) -> Iterator[Page]:
    """The articles of a dump, one at a time. Raises InputError naming file and line."""
    parser: XMLPullParser = XMLPullParser(["start", "end"])
    line, since_page, root = 1, 0, None
    unseen: dict[str, str] = {}  # names of namespaces in the language of the wiki, and in English
    try:
        with open_packed(path) as file:
            while block := file.readline(1 << 16):
                parser.feed(block)
                for event, element in cast(Iterator[tuple[str, Element]], parser.read_events()):
                    root = element if root is None else root
                    if _tag(root) != "mediawiki":
                        raise InputError(f"{path}:{line}: <{_tag(root)}>, expected <mediawiki>: not a MediaWiki dump")
                    if event == "end" and _tag(element) == "namespace" and element.get("key") in HIDDEN_NAMESPACES:
                        unseen[_element_text(element)] = HIDDEN_NAMESPACES[element.get("key", "")]
                    if event == "end" and _tag(element) == "page":
                        for page in _read_article(element, f"{path}:{line}"):
                            yield page._replace(wikitext=_translate_namespaces(page.wikitext, unseen))
                        root.clear()
                        since_page = 0
                line += block.endswith(b"\n")
                since_page += len(block)
                if since_page > MAX_PAGE:
                    raise InputError(f"{path}:{line}: {MAX_PAGE} bytes without the end of a page; not a MediaWiki dump")
            parser.close()
    except (ParseError, LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}:{line}: {error}; the dump is damaged or cut off") from None
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"{path}:{line}: {error}; {DAMAGED_FILE}") from None


def _read_article(page: Element, location: str) -> Iterator[Page]:
    parts = {_tag(child): child for child in page}
    revision = {_tag(child): child for child in parts.get("revision", ())}
    namespace = _element_text(parts.get("ns"), ARTICLE_NAMESPACE)
    if not namespace.removeprefix("-").isdecimal():
        raise InputError(f"{location}: the namespace of a page that ends here is {namespace[:40]!r}, expected a number")
    if "redirect" in parts or namespace != ARTICLE_NAMESPACE:
        return
    title, id = _element_text(parts.get("title")), _element_text(parts.get("id"))
    if not title or not id or "text" not in revision:
        raise InputError(f"{location}: a page that ends here has no title, id or text; is the dump complete?")
    yield Page(id, title, _element_text(revision["text"]))


def _translate_namespaces(wikitext: str, names: dict[str, str]) -> str:
    for name, english in names.items():
        wikitext = re.sub(rf"\[\[\s*{re.escape(name)}\s*:", f"[[{english}:", wikitext, flags=re.IGNORECASE)
    return wikitext


def _element_text(element: Element | None, default: str = "") -> str:
    return default if element is None else (element.text or "").strip()


def _tag(element: Element) -> str:
    return element.tag.rsplit("}", 1)[-1]
