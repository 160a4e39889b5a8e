"""Penn-style constituency trees: `(ROOT (S (NP (NN rain)) (VP (VBZ falls)) (. .)))`."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from datamodules.errors import InputError
from datamodules.lines import read_lines

TOKEN = re.compile(r"\(|\)|[^\s()]+")
TREE_FILES = (".mrg", ".mrg.gz", ".const.tsv", ".const.tsv.gz")  # taken from a folder
MAX_TREE = 1_000_000  # characters; a file without closing brackets must not fill the memory


class Tree:
    """A node: a label over children, or a part-of-speech tag over a word."""

    __slots__ = ("children", "label", "word")

    def __init__(self, label: str, children: "list[Tree] | None" = None, word: str | None = None) -> None:
        self.label, self.children, self.word = label, children or [], word

    def leaves(self) -> "list[Tree]":
        """The part-of-speech nodes, from left to right."""
        found, stack = [], [self]
        while stack:
            node = stack.pop()
            if node.word is not None:
                found.append(node)
            stack += reversed(node.children)
        return found

    def words(self) -> list[str]:
        return [leaf.word for leaf in self.leaves() if leaf.word is not None]

    def depth(self) -> int:
        """Nodes on the longest path from the root to a word, its tag included (Conneau et al. 2018, section 2)."""
        deepest, stack = 0, [(self, 1)]
        while stack:
            node, level = stack.pop()
            deepest = max(deepest, level)
            stack += [(child, level + 1) for child in node.children]
        return deepest

    def __str__(self) -> str:
        parts, stack = [], [(self, False)]
        while stack:
            node, done = stack.pop()
            if done:
                parts.append(")")
            elif node.word is not None:
                parts.append(f" ({node.label} {node.word})")
            else:
                parts.append(f" ({node.label}")
                stack.append((node, True))
                stack += [(child, False) for child in reversed(node.children)]
        return "".join(parts).strip()


def parse(text: str) -> Tree:
    """One tree under a ROOT, without traces and function labels. Raises ValueError that says what is wrong."""
    top = Tree("")
    open_nodes = [top]
    tokens = TOKEN.findall(text)
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token == "(":
            label = tokens[i + 1] if i + 1 < len(tokens) and tokens[i + 1] not in "()" else ""
            node = Tree(_plain(label))
            open_nodes[-1].children.append(node)
            open_nodes.append(node)
            i += 2 if label else 1
        elif token == ")":
            if len(open_nodes) == 1:
                raise ValueError("a closing bracket too many")
            node = open_nodes.pop()
            if node.word is None and not node.children:
                raise ValueError(f"no word under {node.label or 'a bracket'}")
            i += 1
        else:
            node = open_nodes[-1]
            if len(open_nodes) == 1 or node.children or node.word is not None or not node.label:
                raise ValueError(f"the word {token!r} stands outside a tag")
            node.word = token
            i += 1
    if len(open_nodes) > 1:
        raise ValueError(f"{len(open_nodes) - 1} brackets are not closed")
    if len(top.children) != 1:
        raise ValueError(f"expected one tree, found {len(top.children)}")
    return _rooted(top.children[0])


def _plain(label: str) -> str:
    """NP-SBJ-1 to NP, but -LRB- and -NONE- as they are."""
    return label if label.startswith("-") else re.split(r"[-=]", label, maxsplit=1)[0]


def _rooted(tree: Tree) -> Tree:
    _drop_traces(tree)
    if not tree.children and tree.word is None:
        raise ValueError("nothing but traces")
    if tree.label in ("", "ROOT", "TOP") and tree.word is None:
        tree.label = "ROOT"
        return tree
    return Tree("ROOT", [tree])


def _drop_traces(tree: Tree) -> None:
    """Remove -NONE- leaves and what they leave empty, bottom up."""
    order, stack = [], [tree]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += node.children
    for node in reversed(order):
        node.children = [c for c in node.children if c.label != "-NONE-" and (c.children or c.word is not None)]


def read_trees(path: Path) -> Iterator[Tree]:
    """The trees of a file (`.mrg`, `.txt`, their `.gz`, or tab-separated with the tree last) or of a folder's files.

    A tree may span lines. Raises InputError naming file and line.
    """
    if path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.name.endswith(TREE_FILES))
        if not files:
            raise InputError(f"{path}: no tree files there ({', '.join(TREE_FILES)})")
        for file in files:
            yield from read_trees(file)
        return
    for line, text in _texts(path):
        try:
            yield parse(text)
        except ValueError as error:
            raise InputError(f"{path}:{line}: {error}") from None


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """The text of each tree and the line on which it begins."""
    held, begun, level = [], 0, 0
    for number, line in read_lines(path):
        line = line.rsplit("\t", 1)[-1]
        if not line.strip():
            continue
        begun = begun if held else number
        held.append(line)
        level += line.count("(") - line.count(")")
        if level <= 0:
            yield begun, " ".join(held)
            held, level = [], 0
        elif len(held) > MAX_TREE // 100 or sum(map(len, held[-1:])) > MAX_TREE:
            raise InputError(f"{path}:{begun}: a bracket opened here is not closed")
    if held:
        yield begun, " ".join(held)


def parse_all(lines: Iterable[str]) -> Iterator[Tree]:
    """Trees of one-line texts that a corpus gives."""
    for number, line in enumerate(lines, start=1):
        try:
            yield parse(line)
        except ValueError as error:
            raise InputError(f"tree {number} of the corpus: {error}: {line[:80]}") from None
