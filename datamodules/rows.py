"""The texts of files, one for each row: text, JSON lines (both also packed), Parquet, Arrow."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.storage.files import refuse_special
from encoder_lab.storage.text_files import compose_unicode, count_lines, parse_json_object, read_lines

JSON, ARROW, PARQUET = (".jsonl", ".ndjson", ".json"), (".arrow", ".feather"), (".parquet",)
STREAM_END = b"\xff" * 4 + bytes(4)  # of Arrow's stream; its first half begins each message
BATCH_ROWS = 1 << 14  # of a Parquet file in memory at a time


def has_columns(path: Path) -> bool:
    """Whether the texts of a file are a column or a key of it, by its name."""
    return _file_ending(path) in (*JSON, *ARROW, *PARQUET)


def _file_ending(path: Path) -> str:
    return next((end.lower() for end in reversed(path.suffixes) if end not in (".gz", ".bz2")), "")


def count_rows(path: Path) -> int:
    """How many rows `read_rows` yields. Raises InputError if the file is missing or damaged."""
    if _file_ending(path) in (".csv", ".tsv"):
        raise InputError(f"{path}: has columns; write its sentences into a file that ends in .txt or .jsonl")
    if _file_ending(path) not in (*ARROW, *PARQUET):
        return count_lines(path)
    if _file_ending(path) in ARROW:
        return sum(batch.num_rows for _, batch in record_batches(path))
    with _open_table(path) as pyarrow:
        return int(pyarrow.parquet.read_metadata(path).num_rows)


def read_rows(path: Path, column: str, skip: int = 0) -> Iterator[str]:
    """The texts after the first `skip` rows, which are not decoded. A blank line and null are empty texts.

    `column`: of Parquet and Arrow, or the key of JSON lines; `translation.en` is the field en of a column. Raises
    InputError that names file and row where there is no text.
    """
    if not has_columns(path):
        yield from (line for _, line in read_lines(path, skip=skip))
        return
    if _file_ending(path) in JSON:
        for number, line in read_lines(path, skip=skip):
            record = parse_json_object(path, number, line) if line.strip() else {column: ""}
            if column not in record:
                raise InputError(f"{path}:{number}: no key {column}; there are {', '.join(record) or 'none'} (column=)")
            yield _checked_text(record[column], f"{path}:{number}: {column}")
        return
    for first, batch in _parquet_batches(path, column, skip) if _file_ending(path) in PARQUET else record_batches(path):
        if first + len(batch) > skip:
            values = column_values(path, batch.slice(max(0, skip - first)), column, "column=")
            for row, value in enumerate(values, max(first, skip)):
                yield _checked_text(value, f"{path}: row {row} of column {column}")


def _checked_text(value: object, location: str) -> str:
    """The value in composed Unicode, of null "". Raises InputError if it is no text."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{location} is {str(value)[:40]} ({type(value).__name__}), no text; remove this row")
    return compose_unicode(value)


@contextmanager
def _open_table(path: Path) -> Iterator[Any]:
    """The library; its errors are InputErrors that name the file."""
    refuse_special(path)
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(f"{path}: needs pyarrow; pip install pyarrow") from None
    try:
        yield pyarrow
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: not a table of this form, or damaged ({error}); save it again") from None


def record_batches(path: Path) -> Iterator[tuple[int, Any]]:
    """Record batches, each with its first row, of Arrow's file format or stream; memory-mapped."""
    with _open_table(path) as pyarrow, pyarrow.memory_map(str(path)) as file:
        if (start := file.read(6)) == b"ARROW1":
            reader = pyarrow.ipc.open_file(file)
            batches: Any = map(reader.get_batch, range(reader.num_record_batches))
        else:
            file.seek(max(0, file.size() - len(STREAM_END)))
            if start[:4] == STREAM_END[:4] and file.read() != STREAM_END:
                raise InputError(f"{path}: ends without the mark of an end: cut off, or never closed; save it again")
            file.seek(0)
            batches = pyarrow.ipc.open_stream(file)
        first = 0
        for batch in batches:
            yield first, batch
            first += batch.num_rows
        if start != b"ARROW1" and file.tell() < file.size():
            raise InputError(f"{path}: several streams in one file, of which Arrow reads the first; save them apart")


def _parquet_batches(path: Path, column: str, skip: int) -> Iterator[tuple[int, Any]]:
    """Record batches with the column, each with its first row; a group of rows before `skip` is not read."""
    with _open_table(path) as pyarrow, pyarrow.parquet.ParquetFile(path, pre_buffer=False) as file:
        present = {column, column.partition(".")[0]}.intersection(file.schema_arrow.names)
        first = 0
        for group in range(file.num_row_groups):
            end = first + file.metadata.row_group(group).num_rows
            if end <= skip:
                first = end
                continue
            for batch in file.iter_batches(BATCH_ROWS, [group], [column] if present else None):
                yield first, batch
                first += batch.num_rows


def column_values(path: Path, batch: Any, name: str, setting: str) -> list:
    """A column of a record batch as Python values; `translation.fr` is also the field fr of translation.

    Raises InputError that names `path` and `setting` if there is no such column, or several.
    """
    column, _, field = (name, "", "") if name in batch.schema.names else name.partition(".")
    fields = {part.name: [part.type.field(i).name for i in range(part.type.num_fields)] for part in batch.schema}
    for part, names, parent in ((column, list(fields), ""), (field, fields.get(column, []), f" {column} with a field")):
        if part and part not in names:
            raise InputError(f"{path}: no column{parent} {part}; there are {', '.join(names) or 'none'} ({setting})")
    if (times := batch.schema.names.count(column)) > 1:
        raise InputError(f"{path}: {times} columns with the name {column}; rename them ({setting})")
    values = batch.column(column)
    try:
        values.validate(full=True)
    except ValueError as error:
        raise InputError(f"{path}: column {column} is damaged ({error}); save it again") from None
    return [value and value[field] for value in values.to_pylist()] if field else values.to_pylist()
