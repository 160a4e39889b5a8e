"""Paths that are something else than what a setting asks for."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hydra.utils import get_class
from hypothesis import strategies as st

from datamodules.arrays import read_numbers
from datamodules.text.subwords import Subwords
from datamodules.text.vocabulary import Vocabulary
from datamodules.trees.penn import tree_files
from datamodules.word_vectors.fasttext_file import check_bin
from datamodules.word_vectors.store import FromFile
from encoder_lab.reports.run_files import read_metrics
from encoder_lab.reports.runs import read_run, run_folders
from encoder_lab.settings.run_settings import read_settings
from encoder_lab.storage.text_files import count_lines, read_json_lines, read_lines
from encoder_lab.training.run_folder import locked_run, settings_to_resume
from encoders.language_model import CausalLM
from encoders.load import load_encoder
from encoders.sources import precomputed_model
from probes.coherence.suite_file import read_suites
from probes.discoeval.data import read_discoeval
from probes.downstream.data import read_downstream
from probes.probing.published_files import read_senteval
from probes.results import read_rows
from tests.attack.attack import Attack, refused
from tests.fuzzing import limits

CORPORA = ["plain_text.PlainText", "documents.JsonDocuments", "europarl.Europarl", "multi30k.Multi30k", "sick.Sick"]
CORPORA += ["trees.Trees", "markdown.Markdown", "wikipedia.Wikipedia", "inference_files.Snli", "inference_files.AllNli"]


def _corpus(name: str) -> Callable[[Path], object]:
    def read(path: Path) -> None:
        corpus = get_class(f"datamodules.corpora.{name}")(root=str(path))
        corpus.fingerprint()
        for _ in corpus.sentences("train"):
            pass

    return read


def _owned(path: Path) -> None:
    with locked_run(path):
        pass


READERS: dict[str, Callable[[Path], object]] = {
    **{f"corpus.root {name}": _corpus(name) for name in CORPORA},
    "settings": read_settings,
    "lines": lambda path: list(read_lines(path)),
    "json lines": lambda path: list(read_json_lines(path)),
    "count": count_lines,
    "numbers": read_numbers,
    "words": Vocabulary.load,
    "subwords": Subwords.load,
    "fastText": check_bin,
    "embeddings.path": lambda path: FromFile(str(path)).vectors(list, "", path.parent / "cache"),
    "model": lambda path: load_encoder(path, "cpu"),
    "vectors": lambda path: precomputed_model(path, path),
    "suites": lambda path: read_suites([path], False),
    "discoeval.root": lambda path: read_discoeval(path, []),
    "downstream.root": lambda path: read_downstream(path, None),
    "probes.root": lambda path: read_senteval(path, ["SentLen"]),
    "probes.paths": lambda path: tree_files(path),
    "probes.csv": read_rows,
    "metrics.csv": read_metrics,
    "run": read_run,
    "runs": lambda path: [read_run(run) for run in run_folders([path])],
    "resume": lambda path: settings_to_resume(path, []),
    "own": _owned,
    "lm": lambda path: CausalLM(path, "cpu"),
}
KINDS = ("nothing", "empty file", "file", "folder", "empty folder", "below a file", "link to nothing", "loop", "pipe")
KINDS += ("device", "too long", "process", "no path", "unreadable", "dots")


def read(case: Any, folder: Path) -> None:
    """One line, at once, or it is read."""
    reader, entry, name, content = case
    path = _made(entry, folder / name, bytes.fromhex(content))
    with limits():
        refused(lambda: READERS[reader](path))


def _made(entry: str, path: Path, content: bytes) -> Path:
    """Something of this kind; its path."""
    if entry in ("empty file", "file", "below a file", "unreadable"):
        path.write_bytes(b"" if entry == "empty file" else content)
        path.chmod(0 if entry == "unreadable" else 0o600)
    elif entry in ("folder", "empty folder"):
        path.mkdir()
        if entry == "folder":
            (path / "a.txt").write_bytes(content)
            (path / "config.yaml").mkdir()
    elif entry in ("link to nothing", "loop"):
        path.symlink_to(path if entry == "loop" else path.with_name("nothing"))
    elif entry == "pipe":
        os.mkfifo(path)
    others = {"below a file": path / "more", "device": Path("/dev/zero"), "too long": path.with_name("x" * 300)}
    others |= {"process": Path("/proc/self/mem"), "no path": Path("a\0b"), "dots": path / ".." / "a" / ".."}
    return others.get(entry, path)


NAMES = ["a", "a.txt", "a.bin", "a.npy", "a.gz", "a.bz2", "a.vec", "a.jsonl", "a b", "é\n"]
CONTENTS = [b"a b\n", b"{}\n", b"PK\5\6" + bytes(18), b"\x93NUMPY\x01\x00", b"a: 1\n"]
_content = (st.binary(max_size=60) | st.sampled_from(CONTENTS)).map(bytes.hex)
_case = st.tuples(st.sampled_from(sorted(READERS)), st.sampled_from(KINDS), st.sampled_from(NAMES), _content)
ATTACKS = [Attack("path", _case, read)]
