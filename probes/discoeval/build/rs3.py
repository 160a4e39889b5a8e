"""RSTTool's XML files (.rs3)."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, lookup
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

from datamodules.text.tokenize import tokenize
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import compose_unicode, read_blocks
from probes.discoeval.build.subtrees import Subtree, attach_satellites, join_subtrees, label_of
from probes.discoeval.rst_files import Node

ENCODING_PATTERN = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']""", re.ASCII)


def read_rs3(path: Path) -> list[Node]:
    """RSTTool's XML: segments and groups, each with the parent and the relation to it."""
    text = _decode_file(path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{path}: a document type, which no .rs3 file needs; remove it")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        line = getattr(error, "position", (1, 0))[0]
        raise InputError(f"{path}:{line}: not valid XML ({error})") from None
    return _Rs3Reader(path, root).nodes()


def _decode_file(path: Path) -> str:
    """The text in its declared encoding; as UTF-8 where it is that, as after a conversion that left the declaration.

    Raises InputError for an unknown encoding, and for text that was decoded by a wrong one before.
    """
    data = b"".join(read_blocks(path))
    declared = ENCODING_PATTERN.match(data)
    name = "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else declared[1].decode() if declared else "utf-8"
    try:
        name = {"iso8859-1": "cp1252"}.get(lookup(name).name, name)  # as browsers do: it has no control characters
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode(name)
    except LookupError:
        raise InputError(f"{path}:1: no encoding is called {name!r}; write there how the file is encoded") from None
    except UnicodeError as error:
        raise InputError(f"{path}: not {name}, as it says ({error}); write there how the file is encoded") from None
    for codec in ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            meant = text.encode(codec).decode("utf-8")
            if meant == text:
                continue
            offset = next(index for index, (a, b) in enumerate(zip(text, meant, strict=False)) if a != b)
            problem = f"{text[offset : offset + 2]!r} for {meant[offset]!r}: UTF-8 that was read as Latin-1 and saved"
            raise InputError(f"{path}:{text.count(chr(10), 0, offset) + 1}: {problem}; get the file again")
    return compose_unicode(text, path)


class _Rs3Reader:
    def __init__(self, path: Path, root: ElementTree.Element) -> None:
        self.path = path
        elements = [e for e in root.iter() if e.tag in ("segment", "group") and e.get("id")]
        self.element = {str(e.get("id")): e for e in elements}
        self.position = {str(e.get("id")): i for i, e in enumerate(e for e in elements if e.tag == "segment")}
        self.children: dict[str, list[str]] = {id: [] for id in self.element}
        self.multinuc = {e.get("name") for e in root.iter("rel") if e.get("type") == "multinuc"}
        if len(self.element) < len(elements):
            raise InputError(f"{path}: two segments or groups have the same id")
        for id, e in self.element.items():
            parent = e.get("parent")
            if parent is not None and (parent not in self.element or parent == id):
                raise InputError(f"{path}: {e.tag} {id} has the parent {parent[:20]!r}, which is not in the file")
            if parent is not None:
                self.children[parent].append(id)

    def nodes(self) -> list[Node]:
        tops = [id for id, e in self.element.items() if e.get("parent") is None]
        trees = [self._read_subtree(id)[0] for id in tops]
        if sum(len(tree.edus) for tree in trees) != len(self.position):
            raise InputError(f"{self.path}: segments that hang below themselves")
        return [node for tree in trees for node in tree.nodes]

    def _read_subtree(self, id: str) -> tuple[Subtree, int, int]:
        """A subtree with its first and last position in the text."""
        element, relation = self.element[id], {i: self.element[i].get("relname") or "span" for i in self.children[id]}
        multinuc = element.get("type") == "multinuc"
        nuclei = [i for i in self.children[id] if relation[i] == "span" or (multinuc and relation[i] in self.multinuc)]
        if element.tag == "segment":
            edu = tokenize(" ".join((element.text or "").split()))
            if not edu:
                raise InputError(f"{self.path}: segment {id} has no text")
            subtree, first, last = Subtree([edu], []), self.position[id], self.position[id]
            nuclei = []
        elif not nuclei:
            raise InputError(f"{self.path}: group {id} has no nucleus")
        else:
            parts = sorted((self._read_subtree(i) for i in nuclei), key=lambda part: part[1])
            named = next((relation[i] for i in nuclei if relation[i] != "span"), "span")
            subtree = (
                join_subtrees(label_of("NN", named), [part[0] for part in parts]) if len(parts) > 1 else parts[0][0]
            )
            first, last = parts[0][1], max(part[2] for part in parts)
        inner = set(nuclei)
        satellites = [(self._read_subtree(i), relation[i]) for i in self.children[id] if i not in inner]
        left = sorted((o for o in satellites if o[0][1] < first), key=lambda o: -o[0][1])
        right = sorted((o for o in satellites if o[0][1] >= first), key=lambda o: o[0][1])
        subtree = attach_satellites(subtree, [(r, o[0]) for o, r in left], [(r, o[0]) for o, r in right])
        return subtree, min([first, *(o[0][1] for o in satellites)]), max([last, *(o[0][2] for o in satellites)])
