"""Penn-style constituency trees: `(ROOT (S (NP (NN rain)) (VP (VBZ falls)) (. .)))`; also of Stanford CoreNLP."""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import files_below, log_note_once, read_lines, without_packed_suffix

TOKEN_PATTERN = re.compile(  # tag and word of a leaf | opening bracket with label | closing bracket | anything else
    r"\(\s*+([^\s()]++)\s++([^\s()]++)\s*+\)|(\()\s*+([^\s()]*+)|(\))|([^\s()]++)"
)
ODD_SPACE_PATTERN = re.compile(r"[^\S \t\r\n\f\v]")  # such as no-break spaces inside a word
WITHOUT_LEMMAS = "sed -E 's/-[^ ()-]+\\)/)/g'"  # the command
TRACE_TAG = "-NONE-"
TRACE_PATTERN = re.compile(r"\*(T|ICH|con|pro|exp|arb)\*(-\d+)?")  # traces of the historical corpora, under any tag
# of the historical corpora and Switchboard: no words
CODE_TAGS = {"ID", "CODE", "COMMENT", "META", "METADATA", "VERSION", "-DFL-"}
ROOT_LABELS = ("", "ROOT", "TOP", "S1", "VROOT")  # labels of the outermost bracket
# of a line: also after a tree with an open bracket
TREE_START_PATTERN = re.compile(r"([^(]*\t)?\(\s*(\(|(ROOT|TOP|S1|VROOT)\b)")
TREE_ENDINGS = (".mrg", ".const.tsv", ".txt.json", ".txt.xml", ".txt.out")  # taken from a folder
MAX_TREE = 1_000_000  # characters; bounds the memory for a file without closing brackets

OnBadTree = Literal["refuse", "skip"]
OnBadTreeSetting = Annotated[
    OnBadTree, "skip: leave out and count trees that cannot be read, such as (()) of a failed parse"
]
T = TypeVar("T")


class Tree:
    """A node: a label over children, or a part-of-speech tag over a word."""

    __slots__ = ("children", "label", "role", "word")

    def __init__(
        self, label: str, children: "list[Tree] | None" = None, word: str | None = None, role: str = ""
    ) -> None:
        self.label, self.children, self.word = label, children or [], word
        self.role = role  # function labels, as "SBJ" or "LOC-PRD"; "" where there are none

    def walk(self) -> "Iterator[tuple[Tree, bool]]":
        """Every node from left to right, and each one with children again where it ends: then True."""
        stack: list[tuple[Tree, bool]] = [(self, False)]
        while stack:
            node, ends = stack.pop()
            yield node, ends
            if node.word is None and not ends:
                stack += [(node, True), *((child, False) for child in reversed(node.children))]

    def leaves(self) -> "list[Tree]":
        """The part-of-speech nodes, from left to right."""
        return [node for node, _ in self.walk() if node.word is not None]

    def words(self) -> list[str]:
        return [str(leaf.word) for leaf in self.leaves()]

    def depth(self) -> int:
        """Nodes on the longest path from the root to a word, its tag included (Conneau et al. 2018, section 2)."""
        deepest, level = 0, [self]
        while level:
            deepest += 1
            level = [child for node in level for child in node.children]
        return deepest

    def __str__(self) -> str:
        """In brackets, without function labels."""
        return self.bracketed(roles=False)

    def bracketed(self, roles: bool = True) -> str:
        """In brackets, with function labels, such as those of adverbial noun phrases."""
        parts = []
        for node, ends in self.walk():
            label = f"{node.label}-{node.role}" if roles and node.role else node.label
            parts.append(")" if ends else f" ({label}" if node.word is None else f" ({label} {node.word})")
        return "".join(parts).strip()


class Bracketed(NamedTuple):
    """The text of one or more trees, and its location (file and line)."""

    location: str
    text: str
    skipped_if_bad: bool = False


def parse_trees(text: str) -> list[Tree]:
    """All trees of a text, each under ROOT, without traces; none of ids and codes alone. Raises ValueError."""
    nodes = [Tree("")]
    emptied = ""  # "trace" or "code" if a node with nothing else was just removed
    depth = codes = 0  # open brackets of a node without words; trees with nothing but codes
    words = pairs = 0  # pairs: words that may be form-lemma
    for tag, word, opened, label, closed, stray in TOKEN_PATTERN.findall(ODD_SPACE_PATTERN.sub("_", text)):
        if depth:
            depth += bool(opened) - bool(closed)
        elif (word or opened) and _split_label(tag or label)[0] in CODE_TAGS:
            depth, emptied = int(bool(opened)), "code"
        elif word:
            emptied = "trace" if _is_trace(tag, word) else ""
            if not emptied:
                nodes[-1].children.append(Tree(_split_label(tag)[0], None, word))
                words, pairs = words + 1, pairs + ("-" in word[1:-1])
            elif len(nodes) == 1:
                raise ValueError("nothing but traces")
        elif opened:
            emptied = ""
            category, role = _split_label(label)
            nodes.append(Tree(category, None, None, role))
        elif closed and len(nodes) == 1:
            raise ValueError("a closing bracket too many")
        elif closed:
            node = nodes.pop()
            if node.children:
                nodes[-1].children.append(node)
            elif not emptied:
                raise ValueError(f"no word under {node.label or 'a bracket'}")
            elif len(nodes) == 1 and emptied == "trace":
                raise ValueError("nothing but traces")
            codes += emptied == "code" and len(nodes) == 1
        else:
            raise ValueError(f"the word {stray!r} stands outside a tag")
    if depth or len(nodes) > 1:
        raise ValueError(f"{depth + len(nodes) - 1} brackets are not closed")
    if not nodes[0].children and not codes:
        raise ValueError("no tree")
    if words == pairs > 2:
        raise ValueError(f"each word is form-lemma, as in IcePaHC; leave the lemmas out: {WITHOUT_LEMMAS}")
    return [_add_root(tree) for tree in nodes[0].children]


def _is_trace(tag: str, word: str) -> bool:
    """Whether a leaf is no word of the sentence: of the Penn Treebank, or of the historical corpora (`(C 0)`)."""
    return tag == TRACE_TAG or (word == "0" and (tag == "C" or tag[0] == "W")) or bool(TRACE_PATTERN.fullmatch(word))


@lru_cache(maxsize=4096)
def _split_label(label: str) -> tuple[str, str]:
    """Category and function: NP-SBJ-1 to NP and SBJ, NP=2 to NP, PRT|ADVP to PRT, but -LRB- as it is."""
    if label.startswith("-"):
        return label, ""
    category, *functions = re.split(r"[-=|]", label)
    return category or label, "-".join(function for function in functions if function.isupper())


def _add_root(tree: Tree) -> Tree:
    if tree.label in ROOT_LABELS and tree.word is None:
        tree.label = "ROOT"
        return tree
    return Tree("ROOT", [tree])


def read_trees(path: Path, on_bad_tree: OnBadTree = "refuse") -> Iterator[Tree]:
    """The trees of a file (`.mrg`, `.txt`, their `.gz`, tab-separated with the tree last, or CoreNLP's output) or of a
    folder's files.

    A tree may span lines. Raises InputError naming file and line.
    """
    return readable_trees(map(parse_bracketed, read_texts(path, on_bad_tree)), f"{path}: ")


def read_texts(path: Path, on_bad_tree: OnBadTree = "refuse") -> Iterator[Bracketed]:
    """The texts that `read_trees` parses. `on_bad_tree`: "skip" leaves out those that cannot be parsed."""
    texts = ((file, line, text) for file in tree_files(path) for line, text in _tree_texts(file))
    return (Bracketed(f"{file}:{line}", text, on_bad_tree == "skip") for file, line, text in texts)


def corpus_texts(texts: Iterable[str]) -> Iterator[Bracketed]:
    """The trees of a corpus, one per line, each with its number as place."""
    return (Bracketed(f"tree {number} of the corpus", text) for number, text in enumerate(texts, start=1))


def parse_bracketed(text: Bracketed) -> list[Tree] | None:
    """Parse the trees of a text; None for bad ones that are to be skipped. Raises InputError naming its place."""
    try:
        return parse_trees(text.text)
    except ValueError as error:
        if text.skipped_if_bad:
            return None
        skip = "on_bad_tree=skip (train.py: corpus.on_bad_tree=skip or probes.on_bad_tree=skip)"
        remedy = f"fix or remove this tree, or leave out all such trees with {skip}"
        raise InputError(f"{text.location}: {error}; {remedy}") from None


def readable_trees(parsed: Iterable[list[T] | None], prefix: str = "") -> Iterator[T]:
    """The trees that could be read; a note has the number of texts that were skipped."""
    skipped = 0
    for trees in parsed:
        skipped += trees is None
        yield from trees or ()
    if skipped:
        log_note_once(f"{prefix}trees left out, as they cannot be read: {skipped:,} (on_bad_tree=skip)")


def tree_files(path: Path) -> list[Path]:
    """The file itself, or the tree files below a folder, sorted. Raises InputError when there is none."""
    return files_below(path, TREE_ENDINGS)


def _tree_texts(path: Path) -> Iterator[tuple[int, str]]:
    """The text of each tree, with the line on which it begins."""
    lines: list[str] = []
    first_line = level = size = 0
    read = FORMATS.get(without_packed_suffix(path).suffix)  # of an output file of CoreNLP
    for number, line in read(read_lines(path)) if read else read_lines(path):
        new_tree = level <= 0 or bool(TREE_START_PATTERN.match(line))
        if new_tree and "\t" in line and not line.lstrip().startswith("("):
            line = line.rsplit("\t", 1)[1]  # document, tab, index, tab, tree
        if not line.strip():
            continue
        if lines and new_tree:
            yield first_line, " ".join(lines)
            lines, level, size = [], 0, 0
        first_line = first_line if lines else number
        lines.append(line)
        level += line.count("(") - line.count(")")
        size += len(line)
        if level > 0 and size > MAX_TREE:
            raise InputError(f"{path}:{first_line}: a bracket opened here is not closed within {MAX_TREE:,} characters")
    if lines:
        yield first_line, " ".join(lines)
    else:
        raise InputError(f"{path}: no tree in it; expected (ROOT (S ...))")


Lines = Iterable[tuple[int, str]]  # with their numbers

JSON_TREE_PATTERN = re.compile(r'"parse"\s*:\s*("(?:[^"\\]|\\.)*+")')


def _xml_trees(lines: Lines) -> Iterator[tuple[int, str]]:
    in_parse = False
    for number, line in lines:
        for part in re.split(r"(?=<)", line):
            in_parse = part.startswith("<parse>") or (in_parse and not part.startswith("<"))
            if in_parse:
                yield number, html.unescape(part.removeprefix("<parse>"))


def _text_trees(lines: Lines) -> Iterator[tuple[int, str]]:
    level = 0
    for number, line in lines:
        if level > 0 or line.startswith("(ROOT"):
            level += line.count("(") - line.count(")")
            yield number, line


FORMATS: dict[str, Callable[[Lines], Iterator[tuple[int, str]]]] = {
    ".json": lambda lines: ((n, json.loads(text)) for n, line in lines for text in JSON_TREE_PATTERN.findall(line)),
    ".xml": _xml_trees,
    ".out": _text_trees,
}
