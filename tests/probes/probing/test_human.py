"""A survey of people: its sheets, who counts, and what its answers are worth."""

import re
from pathlib import Path

import pytest

from encoder_lab.errors import InputError
from encoder_lab.reports.models import models_of
from encoder_lab.reports.runs import read_run
from encoder_lab.reports.table import probing_table
from probes.probing import human

TRUTH = {f"sentence {i}": i % 2 == 0 for i in range(60)}


def task_file(folder: Path) -> Path:
    path = folder / "odd_man_out.txt"
    lines = [f"{split}\t{label}\t{label} {split} ." for split in ("tr", "va") for label in "OC"]
    lines += [f"te\t{'O' if intact else 'C'}\t{sentence}" for sentence, intact in TRUTH.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def fill(path: Path, to: Path, wrong: int = 0) -> None:
    """Answer a sheet as the truth is, with the first `wrong` answers turned."""
    head, *rows = path.read_text().splitlines()
    answers = [TRUTH[row.split(",")[1]] != (at < wrong) for at, row in enumerate(rows)]
    to.write_text(
        "\n".join([head, *(f"{row}{'yes' if yes else 'no'}" for row, yes in zip(rows, answers, strict=True))])
    )


def test_a_survey_from_its_pretests_to_the_row_of_the_table(tmp_path, capsys) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    settings = ["pretest=20", "items=40", "sheet=30", "controls=10", f"out={tmp_path}"]
    options = human.COMMAND.read([f"task={task_file(tmp_path)}", *settings])
    human.run_survey(options)
    for name in human.PRETEST_FILES:
        fill(tmp_path / name, tmp_path / name)
    human.run_survey(options)
    sheets = sorted(tmp_path.glob("sheet_*.csv"))
    assert len(sheets) == 2
    for sheet in sheets:
        fill(sheet, answers / f"{sheet.stem}.anna.m.csv")
        fill(sheet, answers / f"{sheet.stem}.anna.careless.csv", wrong=30)
    judged = [f"task={tmp_path}/odd_man_out.txt", *settings, f"answers={answers}"]
    for other in ("seed=2", "items=20", "pretest=10", "pretest=25"):
        changed = [text for text in judged if text.split("=")[0] != other.split("=")[0]]
        with pytest.raises(
            InputError, match=r"csv:\d+: 'sentence \d+' is not of this survey; give task=, pretest=, it"
        ):
            human.run_survey(human.COMMAND.read([*changed, other]))
    human.run_survey(human.COMMAND.read(judged))
    assert re.search(r"of 1 people; .*; left out: anna\.careless$", capsys.readouterr().out, re.M)
    fill(tmp_path / "sheet_001.csv", answers / "sheet_001.csv")
    with pytest.raises(InputError, match=r"sheet_001\.csv: who filled it\? name it sheet_001\.PERSON\.csv"):
        human.run_survey(human.COMMAND.read(judged))
    row = probing_table(models_of([read_run(tmp_path)]), "probing", published_names=[]).rows[0]
    assert (row.name, row.cells["SOMO"].score) == ("Hum. Eval.", 100)
    assert row.cells["SOMO"].low == pytest.approx(100 * 40 / (40 + 1.96**2), abs=0.1)  # Wilson, 40 of 40


def test_every_item_is_on_one_sheet_with_the_controls() -> None:
    items, controls = [f"item {i}" for i in range(1000)], [f"control {i}" for i in range(150)]
    sheets = human.make_sheets(items, controls, 100, 10, seed=1)
    assert [len(sheet) for sheet in sheets] == [100] * 11 + [20]
    assert sorted(s for sheet in sheets for s in sheet if s in set(items)) == sorted(items)
    assert all(len(set(sheet) & set(controls)) == 10 for sheet in sheets)
    with pytest.raises(InputError, match="controls=9: give 10 or more"):
        human.make_sheets(items, controls, 100, 9, seed=1)


@pytest.mark.parametrize(("controls", "wrong", "counts"), [(9, 0, False), (10, 1, True), (10, 2, False), (20, 2, True)])
def test_people_count_with_ten_controls_and_nine_tenths_right(controls, wrong, counts) -> None:
    truth = {f"control {i}": True for i in range(controls)}
    people = {"anna": {name: at >= wrong for at, name in enumerate(truth)} | {"x": False}}
    if counts:
        assert human.judge_answers(people, truth, {"x": False}).accuracy == 100
    else:
        with pytest.raises(InputError, match="no judgment is left"):
            human.judge_answers(people, truth, {"x": False})


def test_a_tie_counts_half_and_the_bias_is_said() -> None:
    controls = {f"control {i}": True for i in range(10)}
    first, second = ({**controls, "a": True, "b": both, "c": True} for both in (True, False))
    texts = {"one": first, "other": second}
    answers = ({"a": not flip, "b": flip, "c": not flip} for flip in (True, False))
    result, opposite = (human.judge_answers(texts, controls, judged) for judged in answers)
    assert (result.accuracy, result.acceptable, result.agreement) == pytest.approx((50 / 3, 250 / 3, 200 / 3))
    assert (opposite.low, opposite.high) == pytest.approx((100 - result.high, 100 - result.low))


def test_krippendorffs_alpha_of_a_worked_example() -> None:
    units = [[True, True], [True, True], [False, False], [True, False]]  # 8 values, 5 and 3; one pair differs
    assert human.krippendorff(units) == pytest.approx(1 - (2 * 1 / 1) / (2 * 5 * 3 / 7))
    assert human.krippendorff([[True, True, True], [False, False]]) == 1


def test_other_tasks_and_other_words_are_refused(tmp_path) -> None:
    path = tmp_path / "past_present.txt"
    path.write_text("".join(f"{s}\t{label}\ta {s} .\n" for s in ("tr", "va", "te") for label in ("PAST", "PRES")))
    with pytest.raises(InputError, match="give BShift, SOMO or CoordInv"):
        human.sentences_to_judge(path)
    (tmp_path / "sheet.csv").write_text("number,sentence,acceptable\n1,a b,perhaps\n")
    with pytest.raises(InputError, match=r"sheet.csv:2: acceptable is 'perhaps'; write yes or no"):
        human.read_sheet(tmp_path / "sheet.csv", {"a b"})
