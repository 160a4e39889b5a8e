"""Names that a text file has twice: one of both values would be lost without a word."""

import pytest

from encoder_lab.errors import InputError
from encoder_lab.storage.reads import READS_FILE, read_reads
from encoder_lab.storage.text_files import read_json_lines, read_table
from probes.coherence.suite_file import read_suite


@pytest.mark.parametrize(("text", "read", "said"), [
    ('{"text": "a"}\n{"text": "b", "text": "c"}\n', read_json_lines, ":2: not valid JSON .*'text' twice"),
    ('{"in": {"label": 1, "x": 2, "label": 3}}\n', read_json_lines, ":1: not valid JSON .*'label' twice"),
    ('{"meta": {}, "meta": {}}', read_suite, "'meta' twice"),
    ('{"corpus": "1", "corpus": "2"}', lambda path: read_reads(path.parent), "'corpus' twice"),
    ("text\tlabel\ttext\na\tb\tc\n", lambda path: read_table(path, ["text"]), ":1: the header has text twice"),
])  # fmt: skip
def test_a_name_that_is_there_twice_is_refused(tmp_path, text, read, said) -> None:
    path = tmp_path / READS_FILE
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        list(read(path))
