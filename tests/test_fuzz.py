"""Files that were mangled anywhere: read correctly, or refused in one line that names the file; nothing else."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datamodules.errors import InputError
from datamodules.vector_files import read_vectors
from probes.downstream.files import TASKS, read_downstream
from probes.report.runs import read_run
from probes.results import Answers, read_rows, write_rows
from probes.senteval import FILES, read_task
from tests.probes.test_downstream import folder_of_tasks
from tests.probes.test_report import run_of

many = settings(max_examples=150, deadline=None)
edits = st.lists(
    st.tuples(
        st.floats(0, 1),  # where
        st.integers(0, 12),  # bytes that go
        st.one_of(
            st.binary(max_size=6),
            st.sampled_from(
                [b"\n", b"\t", b" ", b"\0", b"\xff", b"\r\n", b"nan", b"1e999", b'"', b"{", b"- [", b"\xe2\x80\xa8"]
            ),
        ),
    ),
    max_size=4,
)


def mangled(whole: bytes, changes: list[tuple[float, int, bytes]], keep: float) -> bytes:
    """`whole` with a few bytes replaced, cut off after a share of it."""
    text = bytearray(whole)
    for where, gone, new in changes:
        at = int(where * len(text))
        text[at : at + gone] = new
    return bytes(text[: int(keep * len(text))])


def refused_or_read(read: Callable[[], object], path: Path) -> None:
    try:
        read()
    except InputError as error:
        said = str(error)
        assert "\n" not in said
        assert path.name in said or path.parent.name in said


VECTORS = b"4 3\nthe 0.1 0.2 0.3\ndog -1 2 3.5\nsaw 1e-3 0 0\ncat 4 5 6\n"


@many
@given(edits, st.floats(0.2, 1), st.sampled_from([".vec", ".txt"]))
def test_word_vectors(changes: list, keep: float, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"vectors{ending}"
        path.write_bytes(mangled(VECTORS if ending == ".vec" else VECTORS[4:], changes, keep))

        def read() -> None:
            words, matrix = read_vectors(path)
            assert len(words) == len(matrix)
            assert np.isfinite(matrix).all()

        refused_or_read(read, path)


PROBING = "".join(
    f"{split}\t{'AB'[i % 2]}\ta sentence of {i} words .\n" for split in ("tr", "va", "te") for i in range(4)
)


@many
@given(edits, st.floats(0.2, 1))
def test_published_probing_files(changes: list, keep: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILES["Tense"]
        path.write_bytes(mangled(PROBING.encode(), changes, keep))

        def read() -> None:
            task = read_task("Tense", path)
            for split in (task.train, task.dev, task.test):
                assert len(split.sentences) == len(split.labels) > 0
                assert set(split.labels) <= set(range(len(task.classes)))

        refused_or_read(read, path)


@pytest.fixture(scope="module")
def downstream_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of_tasks(tmp_path_factory.mktemp("tasks"))


@settings(max_examples=300, deadline=None)
@given(
    changes=edits,
    keep=st.floats(0.2, 1),
    name=st.sampled_from(sorted(TASKS)),
    which=st.integers(0, 2),
)
def test_downstream_files(downstream_files: Path, changes: list, keep: float, name: str, which: int) -> None:
    files = TASKS[name].files
    path = downstream_files / "downstream" / files[which % len(files)]
    whole = path.read_bytes()
    try:
        path.write_bytes(mangled(whole, changes, keep))

        def read() -> None:
            (task,), missing = read_downstream(downstream_files, [name])
            assert not missing
            for part in task.parts.values():
                assert len(part.first) == len(part.gold) > 0
                assert len(part.second) in (0, len(part.first))
                assert np.isfinite(part.gold.astype(float)).all()

        refused_or_read(read, path)
    finally:
        path.write_bytes(whole)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = run_of(tmp_path_factory.mktemp("runs") / "whole")
    answers = Answers("t", np.arange(50) % 3 > 0)
    write_rows(run / "probes.csv", [replace(row, answers=answers) for row in read_rows(run / "probes.csv")])
    return run


@settings(max_examples=300, deadline=None)
@given(edits, st.floats(0.2, 1), st.sampled_from(["probes.csv", "answers.csv", "metrics.csv", "config.yaml"]))
def test_a_run_that_is_reported(run_folder: Path, changes: list, keep: float, name: str) -> None:
    path = run_folder / name
    whole = path.read_bytes()
    try:
        path.write_bytes(mangled(whole, changes, keep))
        refused_or_read(lambda: json.dumps([read_run(run_folder).own_scores(), read_run(run_folder).score]), path)
    finally:
        path.write_bytes(whole)
