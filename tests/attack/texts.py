"""Texts in the encodings and with the separators of other programs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from datamodules.trees.conllu import read_conllu
from datamodules.trees.penn import read_trees
from datamodules.word_vectors.store import FromFile
from probes.coherence.suite_file import read_suite
from probes.discoeval.build.dis import read_dis
from probes.discoeval.build.rs3 import read_rs3
from probes.probing.published_files import read_task
from tests.attack.attack import Attack, refused
from tests.datamodules.trees.test_conllu import SHORT
from tests.fuzzing import limits
from tests.probes.discoeval.test_trees import DIS, RS3

ROWS = "".join(
    f"{split}\t{label}\tthe dog runs {i} .\n" for split in ("tr", "va", "te") for i in "123" for label in "ab"
)
TEXTS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a.rs3": (RS3, read_rs3),
    "a.dis": (DIS, read_dis),
    "a.conllu": (SHORT, lambda path: list(read_conllu(path))),
    "a.mrg": ("(ROOT (S (NP (NN rain)) (VP (VBZ falls)) (. .)))\n" * 2, lambda path: list(read_trees(path))),
    "a.vec": ("2 3\nthé 1 2 3\ncat 4 5 6\n", lambda path: FromFile(str(path)).vectors(list, "", path.parent / "cache")),
    "a.tsv": (ROWS, lambda path: read_task("a", path)),
    "a.json": ('{"meta": {"name": "a", "metric": "sum"}, "items": []}', read_suite),
}
CODECS = ["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252", "utf-7", "cp037", "shift-jis"]
HEADS = ["", "\ufeff", "\0", "# -*- coding: cp037 -*-\n"]
NAMES = "x-unknown", "utf-16", "ascii", "latin-1", "", "hex"
HEADS += [f'<?xml version="1.0" encoding="{name}"?>\n' for name in NAMES]
SWAPS = [(" ", "\t"), ("\t", " "), ("\n", "\r\n"), ("\n", "\r"), ("\n", "\x85"), (" ", "\u00a0"), (" ", "  ")]
SWAPS += [('"', "'"), ("1", "\u0661"), ("2", "2.5"), ("3", "3,0"), ("\n", ""), ("\n", "\n\n"), (" ", " \t ")]


def read(case: Any, folder: Path) -> None:
    """One line that names the file, or it is read."""
    name, codec, head, swaps = case
    text, reader = TEXTS[name]
    for old, new in swaps:
        text = text.replace(old, new)
    (folder / name).write_bytes((head + text).encode(codec, "replace"))
    with limits():
        message = refused(lambda: reader(folder / name))
    assert message is None or name in message, message


_swaps = st.lists(st.sampled_from(SWAPS), max_size=2)
_case = st.tuples(st.sampled_from(sorted(TEXTS)), st.sampled_from(CODECS), st.sampled_from(HEADS), _swaps)
ATTACKS = [Attack("text", _case, read)]
