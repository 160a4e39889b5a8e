"""Where files are written: onto links, pipes, devices and folders, and into the folders of other runs."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from matplotlib.figure import Figure

from datamodules.text.vocabulary import Vocabulary
from encoder_lab.reports.commands import write_text
from encoder_lab.reports.figure import save_figure
from encoder_lab.storage.csv_files import upsert_csv
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.locks import is_locked, locked
from encoder_lab.training.checkpoints import AtomicCheckpoints
from encoder_lab.training.run_folder import RUN_FOLDERS, RUN_LOCK, locked_run
from tests.attack.attack import Attack, refused, unchanged


def _written(out: Path) -> None:
    with atomic_write(out, binary=True) as file:
        np.save(file, np.ones(3))


def _locked(out: Path) -> None:
    with locked(out):
        assert is_locked(out)


def _owned(out: Path) -> None:
    with locked_run(out):
        pass


WRITERS: dict[str, Callable[[Path], object]] = {
    "numbers": _written,
    "text": lambda out: write_text("a table\n", out),
    "table": lambda out: upsert_csv(out, [{"a": 1}], ("a",)),
    "figure": lambda out: save_figure(Figure((1, 1)), out.with_name("x.png")),
    "words": lambda out: Vocabulary(["a"]).save(out),
    "checkpoint": lambda out: AtomicCheckpoints().save_checkpoint({"epoch": 1}, out),
    "lock": _locked,
    "run": lambda out: _owned(out.parent),
}
NAMES = {"figure": "x.png", "run": RUN_LOCK}
KINDS = (
    "file", "link", "link to a folder", "dangling link", "link to itself", "second name", "pipe", "device", "folder",
)  # fmt: skip


def _placed(entry: str, at: Path, victim: Path) -> None:
    """Something that is no file of ours, under the name of one."""
    if entry == "file":
        at.write_bytes(victim.read_bytes())
    elif entry == "second name":
        os.link(victim, at)
    elif entry == "pipe":
        os.mkfifo(at)
    elif entry == "folder":
        at.mkdir()
    else:
        to = {"link to a folder": victim.parent, "dangling link": victim.parent / "new", "link to itself": at}
        at.symlink_to(Path("/dev/null") if entry == "device" else to.get(entry, victim))


def onto(case: Any, folder: Path) -> None:
    """What the name leads to stays as it is, and so does the name, except a second name of a file."""
    writer, entry, content = case
    victims, target = folder / "elsewhere", folder / "work"
    victims.mkdir()
    target.mkdir()
    victim = victims / "victim"
    victim.write_bytes(bytes.fromhex(content))
    at = target / NAMES.get(writer, "x")
    _placed(entry, at, victim)
    with unchanged(victims):
        message = refused(lambda: WRITERS[writer](at))
    if entry == "file" and writer in ("lock", "run"):
        assert message is None, message
        assert at.read_bytes() == victim.read_bytes(), "a lock has no content of its own"
    elif entry not in ("file", "second name") or writer in ("lock", "run"):
        assert message is not None
    elif message is None:
        assert at.lstat().st_ino != victim.lstat().st_ino, "written through a second name"


def inside(case: Any, folder: Path) -> None:
    """A run inside the folder of another one, or with a part elsewhere, is refused; the other one keeps its files."""
    place, mark, temporary = case
    other, elsewhere = folder / "other", folder / "elsewhere"
    (other / "checkpoints").mkdir(parents=True)
    elsewhere.mkdir()
    (other / "config.yaml").write_text("seed: 1\n")
    (other / mark).write_text("")
    for made in (other, other / "checkpoints", elsewhere):
        (made / f".last.ckpt.{temporary}.making").write_bytes(b"half")
    run = other.joinpath(*place)
    if place[0] in RUN_FOLDERS and len(place) == 1:
        run = folder / "mine"
        run.mkdir()
        (run / place[0]).symlink_to(elsewhere)
    with unchanged(elsewhere), unchanged(other):
        assert refused(lambda: _owned(run)), run


_hex = st.binary(max_size=40).map(bytes.hex)
_steps = st.lists(st.sampled_from([*RUN_FOLDERS, "a", "runs", "2026"]), min_size=1, max_size=3)
_uuid = st.uuids().map(lambda number: number.hex)
ATTACKS = [
    Attack("output", st.tuples(st.sampled_from(sorted(WRITERS)), st.sampled_from(KINDS), _hex), onto),
    Attack("place of a run", st.tuples(_steps, st.sampled_from([RUN_LOCK, "metrics.csv"]), _uuid), inside),
]
