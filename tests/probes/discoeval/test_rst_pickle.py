"""The RST pickles are taken apart, never unpickled."""

import pickle
import pickletools
import tracemalloc
from collections import OrderedDict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from probes.discoeval.rst_files import read_rst
from probes.discoeval.rst_pickle import read_pickle
from tests.encoders.test_load import Malicious
from tests.fuzzing import any_damage_is_read_or_refused, refusal

NODES = [("NS-Elaboration", ["a b", "c é"], ["d"]), ("NN-Joint", ["d"], ["a b", "e " * 40])]

VALUES = st.recursive(
    st.text() | st.integers() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple),
    max_leaves=20,
)


def pickled(folder: Path, value: object, protocol: int = 2, name: str = "a.pkl") -> Path:
    (folder / name).write_bytes(pickle.dumps(value, protocol))
    return folder / name


@pytest.mark.parametrize("protocol", range(6))
def test_lists_tuples_strings_and_numbers_are_read_as_pickle_reads_them(protocol, tmp_path) -> None:
    @settings(max_examples=15)
    @given(VALUES)
    def check(value: object) -> None:
        assert read_pickle(pickled(tmp_path, value, protocol)) == value

    check()


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_calls_something_is_refused_and_runs_nothing(protocol, tmp_path) -> None:
    made = tmp_path / "made"
    path = pickled(tmp_path, [("NN-Joint", ["a"], [Malicious(made)])], protocol, "RST_TRAIN.pkl")
    with pytest.raises(InputError, match=r"RST_TRAIN.pkl: .*nothing was run"):
        read_rst(path)
    assert not made.exists()


@pytest.mark.parametrize("value", [{"a": 1}, {1, 2}, b"x", None, True, OrderedDict(), 1j, bytearray(3)])
def test_other_values_are_refused(value, tmp_path) -> None:
    with pytest.raises(InputError, match="may hold only lists, tuples, strings and numbers"):
        read_pickle(pickled(tmp_path, value, 4))


def test_only_opcodes_of_plain_values_are_known(tmp_path) -> None:
    path = tmp_path / "a.pkl"
    refused = set()
    for code in pickletools.opcodes:
        path.write_bytes(b"]]]" + code.code.encode("latin-1") + b"\x00" * 12 + b"\n\n.")
        try:
            read_pickle(path)
        except InputError as error:
            if "may hold only" in str(error):
                refused.add(code.name)
    assert {"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX"} <= refused
    assert {"PERSID", "BINPERSID", "EXT1", "EXT2", "EXT4", "NEXT_BUFFER", "BYTEARRAY8", "DICT", "DUP"} <= refused


BOMBS = {
    "a memo of 4 billion places": b"\x80\x02]r\xff\xff\xff\xff.",
    "a text of 1 TB": b"\x80\x04\x8d" + (1 << 40).to_bytes(8, "little") + b"x.",
    "a number of 2 GB": b"\x80\x02\x8b\xff\xff\xff\x7f1.",
    "lists of lists of lists": b"\x80\x02]q\x00(" + b"h\x00" * 1000 + b"e.",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_file_takes_little_memory(bomb, tmp_path) -> None:
    path = tmp_path / "a.pkl"
    path.write_bytes(BOMBS[bomb])
    assert refusal(lambda: read_rst(path), path)


def test_many_references_to_one_list_are_counted(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("probes.discoeval.rst_files.MAX_EDUS", 50)
    edus = ["a"] * 10
    with pytest.raises(InputError, match="item 3: more than 50 EDUs"):
        read_rst(pickled(tmp_path, [("NN-Joint", edus, edus)] * 3))


def test_a_long_text_with_many_references_is_refused_in_little_memory(tmp_path) -> None:
    path = pickled(tmp_path, [("NN-Joint", ["a " * 500_000] * 20_000, ["b"])])
    tracemalloc.start()
    with pytest.raises(InputError, match="item 1: more than 200,000,000 characters"):
        read_rst(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20


def test_equal_texts_are_kept_once(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"label": "NN-Joint", "left": ["a  b"], "right": ["a  b", "c"]}\n' * 2)
    first, second = read_rst(path)
    assert first.left[0] is first.right[0] is second.left[0]
    assert first.left == ["a b"]


@pytest.mark.parametrize("node", [("NN-Joint", ["a"], ["\ud800 x"]), ("NN-\ud800", ["a"], ["b"])])
def test_half_of_a_surrogate_pair_is_refused(node, tmp_path) -> None:
    with pytest.raises(InputError, match=r"RST_DEV\.pkl: item 2: half of a surrogate pair"):
        read_rst(pickled(tmp_path, [NODES[0], node], name="RST_DEV.pkl"))


def test_bytes_of_an_old_python_are_text(tmp_path) -> None:
    path = tmp_path / "a.pkl"
    path.write_bytes(b"\x80\x02U\x03c\xc3\xa9.")
    assert read_pickle(path) == "cé"


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_any_damage_is_read_or_refused_in_one_line(protocol, tmp_path) -> None:
    path = pickled(tmp_path, NODES, protocol)
    any_damage_is_read_or_refused(lambda: read_rst(path), path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_pickle_is_refused(share, tmp_path) -> None:
    path = pickled(tmp_path, NODES)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(InputError, match=r"a\.pkl"):
        read_rst(path)
