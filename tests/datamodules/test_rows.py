"""Texts from files: in every format the same rows, from any row on."""

import gzip
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from unicodedata import normalize

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from datamodules.rows import count_rows, read_rows
from encoder_lab.errors import InputError

TEXTS = st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["C"]), max_size=5), min_size=1)


def stream(path: Path, texts: Sequence[str]) -> None:
    with pyarrow.ipc.new_stream(str(path), pyarrow.schema({"text": pyarrow.string()})) as file:
        for text in texts:
            file.write(pyarrow.record_batch({"text": [text]}))


FORMATS: dict[str, Callable[[Path, Sequence[str]], object]] = {
    "a.txt": lambda path, texts: path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8"),
    "a.gz": lambda path, texts: path.write_bytes(gzip.compress("".join(f"{text}\n" for text in texts).encode())),
    "a.jsonl": lambda path, texts: path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts)),
    "a.jsonl.gz": lambda path, texts: path.write_bytes(
        gzip.compress("".join(json.dumps({"x": 1, "text": text}) + "\n" for text in texts).encode())
    ),
    "a.parquet": lambda path, texts: parquet.write_table(
        pyarrow.table({"x": range(len(texts)), "text": texts}), path, row_group_size=3
    ),
    "a.feather": lambda path, texts: feather.write_feather(pyarrow.table({"text": texts}), str(path), chunksize=2),
    "a.arrow": stream,
}


@pytest.mark.parametrize("name", FORMATS)
@given(texts=TEXTS, skip=st.integers(0, 9))
def test_every_format_gives_the_same_rows_from_any_row_on(tmp_path_factory, name, texts, skip) -> None:
    path = tmp_path_factory.mktemp("rows") / name
    FORMATS[name](path, texts)
    assert count_rows(path) == len(texts)
    assert list(read_rows(path, "text", skip)) == [normalize("NFC", text) for text in texts[skip:]]


def test_a_blank_line_is_an_empty_text(tmp_path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n\n{"text": "b"}\n')
    assert list(read_rows(tmp_path / "a.jsonl", "text")) == ["a", "", "b"]
    assert count_rows(tmp_path / "a.jsonl") == 3


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet", "a.feather"])
def test_null_is_an_empty_text_and_keeps_its_row(tmp_path, name) -> None:
    FORMATS[name](tmp_path / name, ["a", None, "b"])
    assert (list(read_rows(tmp_path / name, "text")), count_rows(tmp_path / name)) == (["a", "", "b"], 3)


def test_a_stream_that_was_not_closed_is_refused(tmp_path) -> None:
    stream(path := tmp_path / "a.arrow", ["a", "b"])
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(InputError, match=r"a.arrow: ends without the mark of an end: cut off, or never closed"):
        count_rows(path)


def test_two_streams_in_one_file_are_refused_as_arrow_reads_the_first(tmp_path) -> None:
    stream(path := tmp_path / "a.arrow", ["a", "b"])
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(InputError, match=r"a.arrow: several streams in one file"):
        count_rows(path)


def test_a_group_of_rows_that_is_skipped_is_not_read(tmp_path) -> None:
    path = tmp_path / "a.parquet"
    FORMATS["a.parquet"](path, list("abcdef"))
    begin = parquet.read_metadata(path).row_group(1).column(0).dictionary_page_offset
    path.write_bytes(b"PAR1" + b"\0" * (begin - 4) + path.read_bytes()[begin:])  # instead of the first group
    with pytest.raises(InputError):
        list(read_rows(path, "text"))
    assert list(read_rows(path, "text", 3)) == ["d", "e", "f"]


@pytest.mark.parametrize(("name", "column", "break_it", "wrong"), [
    ("a.jsonl", "words", None, "a.jsonl:1: no key words; there are text (column=)"),
    ("a.jsonl", "text", b'{"text": "a"}\n{"text": 3}\n', "a.jsonl:2: text is 3 (int), no text"),
    ("a.jsonl", "text", b'{"text": "a"}\n{"te\n', "a.jsonl:2: not valid JSON"),
    ("a.parquet", "words", None, "a.parquet: no column words; there are x, text (column=)"),
    ("a.parquet", "x", None, "a.parquet: row 0 of column x is 0 (int), no text"),
    ("a.parquet", "text", b"PAR1 no PAR1", "a.parquet: not a table of this form, or damaged"),
    ("a.arrow", "text", b"no", "a.arrow: not a table of this form, or damaged"),
    ("a.arrow", "text", b"version https://git-lfs.github.com/\n", "a.arrow: a pointer of Git LFS (git lfs pull)"),
    ("a.feather", "text.en", None, "a.feather: no column text with a field en; there are none"),
    ("a.txt", "text", b"a\n\xff\n", "a.txt:2: not valid UTF-8"),
    ("a.txt", "text", "ab\n".encode("utf-16-le"), "a.txt:1: a NUL character; remove it or, if the file is in UTF-16"),
    ("a.txt", "text", b"a\rb\r", "a.txt:1: lines that end in CR alone; convert the file: tr"),
])  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, name, column, break_it, wrong) -> None:
    path = tmp_path / name
    FORMATS[name](path, ["a", "b"])
    if break_it is not None:
        path.write_bytes(break_it)
    with pytest.raises(InputError, match=re.escape(wrong)):
        list(read_rows(path, column))


def test_two_columns_of_one_name_are_refused(tmp_path) -> None:
    twice = pyarrow.Table.from_arrays([pyarrow.array(["a"]), pyarrow.array(["b"])], names=["text", "text"])
    parquet.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a.parquet: 2 columns with the name text; rename them \(column=\)"):
        list(read_rows(tmp_path / "a.parquet", "text"))


@pytest.mark.parametrize("flat", [False, True])  # as the library datasets flattens it
def test_a_field_of_a_column_is_a_text(tmp_path, flat) -> None:
    nested = pyarrow.table({"translation": [{"en": "a", "fr": "b"}]})
    table = nested.flatten() if flat else nested
    parquet.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, str(tmp_path / "a.feather"))
    for name in ("a.parquet", "a.feather"):
        assert list(read_rows(tmp_path / name, "translation.fr")) == ["b"]


@given(
    cut=st.integers(0, 10_000), at=st.integers(0, 10_000), byte=st.integers(0, 255), name=st.sampled_from([*FORMATS])
)
def test_a_damaged_file_is_an_error_of_one_kind(tmp_path_factory, cut, at, byte, name) -> None:
    path = tmp_path_factory.mktemp("rows") / name
    FORMATS[name](path, ["a b", "c"] * 20)
    content = bytearray(path.read_bytes())
    content[at % len(content)] = byte
    path.write_bytes(content[: cut % len(content) or None])
    with suppress(InputError):  # any other error fails
        assert all(isinstance(text, str) for text in read_rows(path, "text"))
        count_rows(path)
