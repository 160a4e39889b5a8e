"""RST-DT's files of brackets (.dis)."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from datamodules.text.tokenize import tokenize
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_lines
from probes.discoeval.build.subtrees import Subtree, attached, joined, label_of
from probes.discoeval.rst_files import Node

REMARK = "//"  # as //TT_ERR behind a field in two files of RST-DT
TOKEN = re.compile(r"\(|\)|_!.*?(?:!_|\Z)|[^\s()]+", re.DOTALL)  # a text without an end goes on to the last line


class Child(NamedTuple):
    """A node as its parent sees it."""

    role: str  # Root, Nucleus or Satellite
    relation: str  # to the parent
    below: Subtree


def read_dis(path: Path) -> list[Node]:
    """RST-DT's brackets: ( Root (span 1 2) ( Nucleus (leaf 1) (rel2par span) (text _!...!_) ) ... ).

    Raises InputError naming file and line.
    """
    brackets = _Brackets(path)
    root = brackets.node()
    if brackets.next():
        raise brackets.wrong("something after the tree")
    return root.below.nodes


class _Brackets:
    """The tokens of a file, and how far they are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = "\n".join(line for _, line in read_lines(path))
        tokens = ((match[0], match.start()) for match in TOKEN.finditer(self.text))
        self.tokens = [token for token in tokens if not token[0].startswith(REMARK)]
        self.at = 0

    def wrong(self, problem: str) -> InputError:
        """An error that names the line of the next token."""
        place = self.tokens[min(self.at, len(self.tokens) - 1)][1] if self.tokens else 0
        line = self.text.count("\n", 0, place) + 1
        return InputError(f"{self.path}:{line}: {problem}; is it a .dis file?")

    def next(self, offset: int = 0) -> str:
        """The token at an offset from the next one; empty at the end."""
        return self.tokens[self.at + offset][0] if self.at + offset < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.next()
        if not token or (expected and token != expected):
            raise self.wrong(f"expected {expected or 'more'}, found {token[:20] or 'the end'}")
        self.at += 1
        return token

    def node(self) -> Child:
        """A node with its role, its relation to the parent, and a text or children."""
        self.take("(")
        role, relation, leaf = self.take(), "span", ""
        if role not in ("Root", "Nucleus", "Satellite"):
            raise self.wrong(f"expected Root, Nucleus or Satellite, found {role[:20]}")
        children = []
        while self.next() == "(":
            if self.next(1) in ("Nucleus", "Satellite"):
                children.append(self.node())
                continue
            key, value = self.field()
            relation = value if key == "rel2par" else relation
            leaf = value if key == "text" else leaf
        self.take(")")
        if bool(leaf) == bool(children) or len(children) == 1:
            raise self.wrong("a node must have a text or two subtrees")
        return Child(role, relation, _leaf(leaf) if leaf else _combined(children))

    def field(self) -> tuple[str, str]:
        """( key value ... )"""
        self.take("(")
        key, values = self.take(), []
        while self.next() not in (")", ""):
            values.append(self.take())
        self.take(")")
        return key, " ".join(values)


def _leaf(text: str) -> Subtree:
    inner = text.removeprefix("_!").removesuffix("!_").replace("<P>", " ")
    return Subtree([tokenize(inner) or "."], [])


def _combined(children: Sequence[Child]) -> Subtree:
    """Nuclei under one label, each with the satellites behind it; those in front of the first belong to all."""
    first = next((i for i, child in enumerate(children) if child.role == "Nucleus"), None)
    if first is None:
        return joined(label_of("NN", children[0].relation), [child.below for child in children])
    groups: list[list[Child]] = []
    for child in children[first:]:
        groups += [[child]] if child.role == "Nucleus" else []
        if child.role != "Nucleus":
            groups[-1].append(child)
    nuclei = [group[0] for group in groups]
    if len(nuclei) == 1:
        subtree = _with_satellites(groups[0])
    else:
        relation = next((child.relation for child in nuclei if child.relation != "span"), "span")
        subtree = joined(label_of("NN", relation), [_with_satellites(group) for group in groups])
    return attached(subtree, [(child.relation, child.below) for child in reversed(children[:first])], [])


def _with_satellites(group: Sequence[Child]) -> Subtree:
    return attached(group[0].below, [], [(child.relation, child.below) for child in group[1:]])
