"""Conversations of the Ubuntu channel (Kummerfeld et al. 2019), as Chen et al. 2019 take them for DC.

A folder has `NAME.annotation.txt`, lines `7 9 -` for two messages of one conversation, numbered from 0, and
`NAME.tok.txt` with a message on each line, between `<s>` and `</s>`. Folders named train, dev and test are the splits.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from scipy.cluster.hierarchy import DisjointSet

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_lines
from probes.discoeval.items import SPLITS

ANNOTATION, MESSAGES = ".annotation.txt", ".tok.txt"
LINK = re.compile(r"(\d{1,9}) (\d{1,9})( -)?\s*")
MARKS = re.compile(r"^\s*<s>\s*|\s*</s>\s*$")


def has_conversations(root: Path) -> bool:
    """Whether there is an annotated log anywhere below a folder."""
    return root.is_dir() and next(root.rglob(f"*{ANNOTATION}"), None) is not None


def read_conversations(root: Path) -> Iterator[tuple[str | None, str, list[str]]]:
    """The split, if folders say so, the name and the messages of each conversation, in their order.

    Raises InputError naming file and line.
    """
    for path in sorted(root.rglob(f"*{ANNOTATION}")):
        name = path.name.removesuffix(ANNOTATION)
        split = next((folder for folder in reversed(path.parts[:-1]) if folder in SPLITS), None)
        messages = [" ".join(MARKS.sub("", line).split()) for _, line in read_lines(path.with_name(name + MESSAGES))]
        for numbers in _conversations(path, len(messages)):
            texts = [messages[number] for number in numbers]
            yield split, f"{path.parent.name}/{name}/{numbers[0]}", [message for message in texts if message]


def _conversations(path: Path, messages: int) -> list[list[int]]:
    """The messages that links connect, one list for each conversation."""
    linked: DisjointSet = DisjointSet()
    for number, line in read_lines(path):
        link = LINK.fullmatch(line)
        if line.strip() and (link is None or max(int(link[1]), int(link[2])) >= messages):
            problem = f"{line[:40]!r} is no link between two of the {messages:,} messages"
            raise InputError(f"{path}:{number}: {problem} of *{MESSAGES}")
        if link:
            linked.add(int(link[1]))
            linked.add(int(link[2]))
            linked.merge(int(link[1]), int(link[2]))
    return sorted(map(sorted, linked.subsets()))
