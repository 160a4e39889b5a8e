"""ARRAU (Uryupina et al. 2020) in MMAX2's format: words, sentences and coreference in a file each.

A folder has `Basedata/NAME_words.xml` and, in `markables/` or `Markables/`, `NAME_sentence_level.xml`,
`NAME_coref_level.xml` and, where there are tags, `NAME_pos_level.xml`. Spans are `word_3..word_5`, `coref_set` names
the entity. The corpus is licensed and was not available: this follows its published description.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import visible_files, without_copies
from probes.coherence.build.gum import AnnotatedDocument, Mention, align_document
from probes.coherence.build.xml_file import read_xml

WORDS_ENDING = "_words.xml"
LEVELS, MARKABLES = ("sentence", "coref", "pos"), ("markables", "Markables")
SPAN_PATTERN = re.compile(r"(\w+?)(?:\.\.(\w+))?")
PARTS = {
    "RST_DTreeBank": "wsj", "VPC": "vpc", "Trains_91": "dialogue", "Trains_93": "dialogue", "Pear_Stories": "fiction",
}  # fmt: skip
NO_SPACE_BEFORE = re.compile(r"[.,;:?!%)\]}]+|''|'\w*|n't|-R[RCS]B-", re.IGNORECASE)
NO_SPACE_AFTER = {"(", "[", "{", "``", "$", "#", "-LRB-", "-LCB-", "-LSB-"}
PERSONAL = ("he", "she", "it", "they", "him", "them")
PRONOUNS = {
    *PERSONAL, *(f"who{end}" for end in ("", "m", "se")),
    "i", "me", "my", "mine", "you", "your", "yours", "his", "her", "hers", "its", "we", "us", "our", "ours",
    "their", "theirs", "this", "that", "these", "those", "which", "myself", "yourself",
    "himself", "herself", "itself", "ourselves", "themselves", "one", "each", "both", "there",
}  # fmt: skip
MARKS = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]"}


def has_mmax(folder: Path) -> bool:
    """Whether there are files of MMAX2 anywhere below."""
    return any(file.name.endswith(WORDS_ENDING) for file in visible_files(folder))


def read_mmax(folder: Path) -> Iterator[AnnotatedDocument]:
    """Every document below a folder that has sentences and coreference. Raises InputError naming the file."""
    for words in without_copies(file for file in visible_files(folder) if file.name.endswith(WORDS_ENDING)):
        name = words.name.removesuffix(WORDS_ENDING)
        folder = next((words.parents[1] / child for child in MARKABLES if (words.parents[1] / child).is_dir()), words)
        paths = {level: folder / f"{name}_{level}_level.xml" for level in LEVELS}
        levels = {level: path for level, path in paths.items() if path.is_file()}
        if "sentence" in levels and "coref" in levels:
            yield _read_document(words, levels)


def _read_document(words: Path, levels: dict[str, Path]) -> AnnotatedDocument:
    rows = [(str(word.get("id")), "".join((word.text or "").split())) for word in _read_elements(words, "word")]
    rows = [(id, text) for id, text in rows if text]
    index = {id: number for number, (id, _) in enumerate(rows)}  # from 0
    tokens = [MARKS.get(text, text) for _, text in rows]
    starts = sorted({span[0] for _, span in _markable_spans(levels["sentence"], index, words)} | {0})
    if not tokens:
        raise InputError(f"{words}: no words")
    ends = [*starts[1:], len(tokens)]
    sentences = [tokens[start:end] for start, end in zip(starts, ends, strict=True)]
    raw = [_join_tokens([text for _, text in rows[start:end]]) for start, end in zip(starts, ends, strict=True)]
    document = align_document(words.name.removesuffix(WORDS_ENDING), sentences, raw)
    tags = _tags(levels.get("pos"), index, tokens, words)
    entities: dict[str, int] = {}
    mentions = []
    for element, (first, last) in _markable_spans(levels["coref"], index, words):
        if (entity := element.get("coref_set")) and entity != "empty":
            form = "pronoun" if first == last and tokens[first].lower() in PRONOUNS else "common"
            mentions.append(Mention(entities.setdefault(entity, len(entities)), first + 1, last + 1, form))
    mentions.sort(key=lambda mention: (mention.first, -mention.last))
    part = next((PARTS[folder] for folder in words.parts if folder in PARTS), "")
    return AnnotatedDocument(document, mentions, tags, words.name, part)


def _read_elements(path: Path, name: str) -> list[ElementTree.Element]:
    root = read_xml(path, "a file of MMAX2")
    return [element for element in root.iter() if element.tag.rpartition("}")[2] == name]


def _markable_spans(
    path: Path, index: dict[str, int], words: Path
) -> Iterator[tuple[ElementTree.Element, tuple[int, int]]]:
    """Each markable with its first and last word, from 0; those of several pieces are left out."""
    for element in _read_elements(path, "markable"):
        span = element.get("span", "")
        if "," in span:
            continue
        match = SPAN_PATTERN.fullmatch(span)
        ends = [index.get(id) for id in (match[1], match[2] or match[1])] if match else [None]
        if None in ends or ends[0] > ends[1]:  # type: ignore[operator]
            problem = f"span {span[:40]!r} names no words of {words}"
            raise InputError(f"{path}: markable {element.get('id')!r}: {problem}")
        yield element, (ends[0], ends[1])  # type: ignore[misc]


def _tags(path: Path | None, index: dict[str, int], tokens: list[str], words: Path) -> list[str]:
    """The tags of the file; where there is none, PRP for pronouns, and NNP for words that are never in lower case.

    Without tags `her` is not taken for a pronoun, as it may be a determiner.
    """
    if path is not None:
        tags = [""] * len(tokens)
        for element, (first, last) in _markable_spans(path, index, words):
            tags[first : last + 1] = [element.get("tag", "").upper()] * (last + 1 - first)
        return tags
    lower = {token for token in tokens if token.islower()}
    return [
        "PRP" if token.lower() in PERSONAL else "NNP" if token[:1].isupper() and token.lower() not in lower else ""
        for token in tokens
    ]


def _join_tokens(tokens: list[str]) -> str:
    """The text of a sentence: no space before a mark or a clitic, none after an opening bracket."""
    text, glue = "", True
    for token in tokens:
        space = "" if glue or NO_SPACE_BEFORE.fullmatch(token) else " "
        text += space + MARKS.get(token, token)
        glue = token in NO_SPACE_AFTER
    return text
