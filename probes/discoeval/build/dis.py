"""RST-DT's files of brackets (.dis)."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from datamodules.text.tokenize import tokenize
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_lines
from probes.discoeval.build.subtrees import Subtree, attach_satellites, join_subtrees, label_of
from probes.discoeval.rst_files import Node

CHILD_ROLES = ("Nucleus", "Satellite")
REMARK = "//"  # as //TT_ERR behind a field in two files of RST-DT
TOKEN_PATTERN = re.compile(r"\(|\)|_!.*?(?:!_|\Z)|[^\s()]+", re.DOTALL)  # text without an end goes on to the last line


class DisNode(NamedTuple):
    """A node as its parent sees it."""

    role: str  # Root, Nucleus or Satellite
    relation: str  # to the parent
    subtree: Subtree


def read_dis(path: Path) -> list[Node]:
    """RST-DT's brackets: ( Root (span 1 2) ( Nucleus (leaf 1) (rel2par span) (text _!...!_) ) ... ).

    Raises InputError naming file and line.
    """
    text = "\n".join(line for _, line in read_lines(path))
    stack: list[list[Any]] = [[]]
    line, offset = 1, 0
    for match in TOKEN_PATTERN.finditer(text):
        line, offset = line + text.count("\n", offset, match.start()), match.start()
        if match[0] == "(":
            stack.append([])
        elif match[0] == ")" and len(stack) > 1:
            stack[-2].append([line, *stack.pop()])
        elif not match[0].startswith(REMARK):
            stack[-1].append(match[0])
    if len(stack) > 1:
        raise _error(path, line, "expected ), found the end")
    if len(stack[0]) != 1 or isinstance(stack[0][0], str):
        raise _error(path, line, "expected one tree in brackets")
    return _parse_node(path, stack[0][0]).subtree.nodes


def _error(path: Path, line: int, problem: str) -> InputError:
    return InputError(f"{path}:{line}: {problem}; is it a .dis file?")


def _parse_node(path: Path, content: Sequence[Any]) -> DisNode:
    line, role, *parts = [*content, ""]
    if role not in ("Root", *CHILD_ROLES):
        raise _error(path, line, f"expected Root, Nucleus or Satellite, found {str(role)[:20]}")
    fields = {"rel2par": "span", "text": ""}
    children: list[DisNode] = []
    for part in parts[:-1]:
        if not isinstance(part, list):
            raise _error(path, line, f"expected a bracket, found {part[:20]}")
        if len(part) > 1 and part[1] in CHILD_ROLES:
            children.append(_parse_node(path, part))
        elif len(part) > 1:
            fields[str(part[1])] = " ".join(map(str, part[2:]))
    leaf = fields["text"].removeprefix("_!").removesuffix("!_").replace("<P>", " ")
    if bool(fields["text"]) == bool(children) or len(children) == 1:
        raise _error(path, line, "a node must have a text or two subtrees")
    if children and not any(child.role == "Nucleus" for child in children):
        raise _error(path, line, "a node must have a nucleus")
    subtree = _combine_children(children) if children else Subtree([tokenize(leaf) or "."], [])
    return DisNode(role, fields["rel2par"], subtree)


def _combine_children(children: Sequence[DisNode]) -> Subtree:
    """Nuclei under one label, each with the satellites behind it; those in front of the first belong to all."""
    first = next(i for i, child in enumerate(children) if child.role == "Nucleus")
    groups: list[list[DisNode]] = []
    for child in children[first:]:
        if child.role == "Nucleus":
            groups.append([])
        groups[-1].append(child)
    nuclei = [group[0] for group in groups]
    if len(nuclei) == 1:
        subtree = _attach_satellites(groups[0])
    else:
        relation = next((child.relation for child in nuclei if child.relation != "span"), "span")
        subtree = join_subtrees(label_of("NN", relation), [_attach_satellites(group) for group in groups])
    return attach_satellites(subtree, [(child.relation, child.subtree) for child in reversed(children[:first])], [])


def _attach_satellites(group: Sequence[DisNode]) -> Subtree:
    return attach_satellites(group[0].subtree, [], [(child.relation, child.subtree) for child in group[1:]])
