"""Files are complete or absent; each key of a CSV file and each name of a text file is there once."""

import errno
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.storage.csv_files import read_csv, upsert_csv
from encoder_lab.storage.files import atomic_write, no_folder_if_refused
from encoder_lab.storage.reads import READS_FILE, read_reads
from encoder_lab.storage.text_files import compose_unicode, read_json_lines, read_table
from probes.coherence.suite_file import read_suite

texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=5)
row = st.fixed_dictionaries({"key": st.sampled_from("abc")}, optional={"x": texts, "y": texts})
rows = st.lists(row, min_size=1, max_size=6)


@pytest.mark.parametrize("binary", [False, True])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, binary) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("old")
    with pytest.raises(TypeError), atomic_write(path, binary) as file:
        file.writelines([b"new" if binary else "new", 0])
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("scores.csv", "old")]


@pytest.mark.parametrize(("files", "remains"), [([], False), (["config.yaml"], False), (["config.yaml", "a"], True)])
def test_a_refused_command_leaves_no_folder_without_work_in_it(files, remains, tmp_path) -> None:
    for name in files:
        (tmp_path / name).touch()
    with pytest.raises(InputError), no_folder_if_refused(tmp_path, ["config.yaml"]):
        raise InputError
    assert tmp_path.exists() == remains


def test_two_writes_at_once_both_succeed_and_the_folder_is_made(tmp_path) -> None:
    path = tmp_path / "runs" / "scores.csv"
    with atomic_write(path) as first, atomic_write(path) as second:
        first.write("first")
        second.write("second")
    assert [(p.name, p.read_text()) for p in path.parent.iterdir()] == [("scores.csv", "first")]


@example([{"key": "e\u0301"}], [{"key": "e\u0301", "x": "\u2329"}])  # letters that are read as others
@given(rows, rows)
def test_each_key_has_its_last_row_and_upserting_twice_is_upserting_once(tmp_path, first, second) -> None:
    path = tmp_path / "table.csv"
    path.unlink(missing_ok=True)
    upsert_csv(path, first, ["key"])
    upsert_csv(path, second, ["key"])
    once = read_csv(path)
    read = [{name: compose_unicode(value) for name, value in row.items() if value} for row in (*first, *second)]
    last = {row.get("key", ""): row for row in read}
    assert {row["key"]: {name: value for name, value in row.items() if value} for row in once} == last
    upsert_csv(path, second, ["key"])
    assert read_csv(path) == once


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """A write beyond so many bytes fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_error_names_the_file_of_the_array(tmp_path) -> None:
    full_disk = pytest.raises(OSError, match=r"No space left on device: .*matrix\.npy")
    with full_disk as caught, files_of_at_most(20_000), atomic_write(tmp_path / "matrix.npy", binary=True) as file:
        np.save(file, np.zeros(10_000))
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def test_new_columns_are_empty_in_old_rows(tmp_path) -> None:
    path = tmp_path / "metrics.csv"
    upsert_csv(path, [{"epoch": 1, "loss": 0.5}], ["epoch"])
    upsert_csv(path, [{"epoch": 2, "loss": 0.25, "bleu": 10.0}], ["epoch"])
    assert path.read_text() == "epoch,loss,bleu\n1,0.5,\n2,0.25,10\n"


@pytest.mark.parametrize(("text", "message"), [
    ("epoch,loss\n1,0.5\n2\n", r"metrics.csv:3: expected 2 columns"),
    ("epoch;loss\n1;0,5\n", r"metrics.csv:1: no column epoch in the header; save it with commas"),
])  # fmt: skip
def test_a_truncated_line_and_another_separator_are_named(tmp_path, text, message) -> None:
    (tmp_path / "metrics.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_csv(tmp_path / "metrics.csv", ["epoch"])


def test_of_many_columns_that_are_not_there_three_are_named(tmp_path) -> None:
    (tmp_path / "notes.csv").write_text("# Notes\n")
    with pytest.raises(InputError, match=":1: no column a, b, c and 2 others in the header"):
        read_csv(tmp_path / "notes.csv", list("abcde"))


@pytest.mark.parametrize(("text", "read", "message"), [
    ('{"text": "a"}\n{"text": "b", "text": "c"}\n', read_json_lines, ":2: not valid JSON .*'text' twice"),
    ('{"in": {"label": 1, "x": 2, "label": 3}}\n', read_json_lines, ":1: not valid JSON .*'label' twice"),
    ('{"meta": {}, "meta": {}}', read_suite, "'meta' twice"),
    ('{"corpus": "1", "corpus": "2"}', lambda path: read_reads(path.parent), "'corpus' twice"),
    ("text\tlabel\ttext\na\tb\tc\n", lambda path: read_table(path, ["text"]), ":1: the header has text twice"),
])  # fmt: skip
def test_a_name_that_is_there_twice_is_refused(tmp_path, text, read, message) -> None:
    path = tmp_path / READS_FILE
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(read(path))


def test_a_folder_that_takes_no_file_is_answered_with_the_file_that_was_asked_for() -> None:
    with pytest.raises(OSError, match=r"'/proc/scores\.csv'$"), atomic_write(Path("/proc/scores.csv")):
        pass
