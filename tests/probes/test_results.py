"""probes.csv keeps one row per key, whole, in order."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from probes.results import Answers, ProbeRow, pack_correct, read_rows, unpack_correct, write_rows

ROW = ProbeRow(1, 10, "probing", "Tense", "mlp", 80.125, 79.0, 77.5, 81.25, {"width": 50, "l2": 1e-05}, 1, 2.5)


def test_the_columns_and_their_order_are_fixed(tmp_path) -> None:
    write_rows(tmp_path / "probes.csv", [ROW])
    header, line = (tmp_path / "probes.csv").read_text().splitlines()
    assert header == (
        "epoch,step,suite,task,classifier,dev_accuracy,test_accuracy,test_low,test_high,hyperparameters,seed,seconds,chance"
    )
    assert line == '1,10,probing,Tense,mlp,80.12,79.00,77.50,81.25,"{""l2"":1e-05,""width"":50}",1,2.50,'


def test_what_was_written_is_read_sorted_by_epoch_then_by_arrival_the_last_row_of_each_key(tmp_path) -> None:
    path, early = tmp_path / "probes.csv", replace(ROW, epoch=5e-05, dev_accuracy=80.25, task='a, "b"')
    assert read_rows(path) == []
    write_rows(path, [early])  # the first of 20,000 batches
    assert read_rows(path) == [early]
    for epoch, task in ((10, "B"), (2, "B"), (10, "A"), (2, "C")):
        write_rows(path, [replace(ROW, epoch=epoch, task=task)])
    write_rows(path, [replace(ROW, epoch=2, task="B", test_accuracy=10.0, step=99)])
    assert [(r.epoch, r.task, r.test_accuracy) for r in read_rows(path)[1:]] == [
        *[(2, "B", 10.0), (2, "C", 79.0), (10, "B", 79.0), (10, "A", 79.0)]
    ]


@pytest.mark.parametrize(("old", "new", "named"), [
    ("79.00", "good", "probes.csv:2: test_accuracy"),
    (",2.50", "", "probes.csv:2: expected 13 columns"),
    ('"{""l2"":1e-05,""width"":50}"', "[1]", "probes.csv:2: hyperparameters"),
    ('""width"":50', '""l2"":50', "probes.csv:2: hyperparameters"),
    ("suite", "sweet", "probes.csv:1: no column suite"),
    ("\n1,10,", "\n01,10,", "probes.csv:2: epoch is '01'"),
    ("\n1,10,", '\n1,"10\n",', "probes.csv:2: not a line of CSV"),
    ("2.50,\n", "2.50,\n1,9,probing,Tense,mlp,0,0,0,0,{},1,0,\n", "probes.csv:3: 1 .* is already on line 2"),
])  # fmt: skip
def test_a_broken_file_is_named_and_left_alone(tmp_path, old, new, named) -> None:
    path = tmp_path / "probes.csv"
    write_rows(path, [ROW])
    broken = path.read_text().replace(old, new, 1)
    path.write_text(broken)
    with pytest.raises(InputError, match=named):
        write_rows(path, [replace(ROW, epoch=3)])
    assert path.read_text() == broken


@given(st.lists(st.booleans(), max_size=40))
def test_packed_answers_are_unpacked(right) -> None:
    assert unpack_correct(pack_correct(np.array(right, dtype=bool))).tolist() == right
    twice = np.array([[each, not each] for each in right], dtype=bool).reshape(-1, 2)
    assert unpack_correct(pack_correct(twice)).tolist() == twice.tolist()


def test_answers_are_read_with_their_row_and_replaced_with_it(tmp_path) -> None:
    path = tmp_path / "probes.csv"
    for right in ([True, False, True], [False, False, True]):
        write_rows(path, [replace(ROW, answers=Answers("t", np.array(right))), replace(ROW, task="WC")])
    tense, wc = read_rows(path)
    assert (tense.answers.test, tense.answers.right.tolist()) == ("t", [False, False, True])
    assert wc.answers is None
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 2


def test_a_task_with_other_test_items_is_refused_in_a_file_that_has_scores_of_it(tmp_path) -> None:
    path = tmp_path / "probes.csv"
    first, second = (
        ProbeRow(epoch, epoch, "probing", "SentLen", "mlp", 1, 2, 1, 3, {}, 1, 0.1, Answers("a", np.ones(3, bool)))
        for epoch in (0, 1)
    )
    write_rows(path, [first])
    write_rows(path, [second])
    other = replace(second, answers=Answers("b", np.ones(5, bool)))
    with pytest.raises(InputError, match=r"probes\.csv: SentLen was scored on other test items at epoch 0; write to"):
        write_rows(path, [other])
    assert [row.answers.test for row in read_rows(path) if row.answers] == ["a", "a"]
    write_rows(path, [replace(other, epoch=0), other])


def test_answers_to_a_million_items_fit_into_a_row(tmp_path) -> None:
    write_rows(tmp_path / "probes.csv", [replace(ROW, answers=Answers("t", np.ones(1_000_000, dtype=bool)))])
    (row,) = read_rows(tmp_path / "probes.csv")
    assert row.answers.right.sum() == 1_000_000


def test_answers_are_written_before_their_row(tmp_path, monkeypatch) -> None:
    written: list[str] = []
    monkeypatch.setattr("probes.results.upsert_csv", lambda path, *_, **__: written.append(path.name))
    write_rows(tmp_path / "probes.csv", [replace(ROW, answers=Answers("t", np.ones(3, dtype=bool)))])
    assert written == ["answers.csv", "probes.csv"]


@pytest.mark.parametrize(("old", "new"), [
    ("3:a0", "9:a0"), ("3:a0", "3:xx"), ("3:a0", "a0"), (",right", ",wrong"), ("\n1,", "\nx,"),
])  # fmt: skip
def test_broken_answers_are_named(tmp_path, old, new) -> None:
    write_rows(tmp_path / "probes.csv", [replace(ROW, answers=Answers("t", np.array([True, False, True])))])
    path = tmp_path / "answers.csv"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=r"answers.csv:[12]: (not the answers of a score|no column right)"):
        read_rows(tmp_path / "probes.csv")
