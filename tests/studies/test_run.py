"""A study does each cell once, goes on where it stopped, and ends with its reports."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException

from common.errors import InputError
from studies.estimate import hours, together
from studies.plan import SCALES, is_study, read_study
from studies.run import DONE, SETTINGS, run_study
from tests.conftest import ROOT, TINY, Lab
from train import CONFIGS

STUDIES = [
    path.relative_to(CONFIGS / "experiment").with_suffix("").as_posix()
    for path in sorted((CONFIGS / "experiment").rglob("*.yaml"))
    if is_study(path)
]
TEXT = """\
axes:
  objective: {untrained: objective=untrained}
  encoder: {bov: encoder=bov, bilstm_last: encoder=bilstm_last, gated_convnet: null}
scales:
  demo: {gated_convnet: null}
reports:
  every:
    - table {runs} --epoch last --out {study}/table.md
"""
EVALUATIONS = """\
evaluations:
  demo: {of_a_run: "model={run} probes.tasks=[SentLen]", baseline: "model=majority probes.tasks=[SentLen]"}
"""


def tiny(folder: Path, lab: Lab, text: str = TEXT) -> list[str]:
    """The arguments of a study of two cells, whose file is written into `folder`."""
    (folder / "experiment").mkdir(exist_ok=True)
    (folder / "experiment" / "tiny.yaml").write_text(text)
    settings = [text for text in TINY if not text.startswith(("encoder.", "objective."))]
    return [f"study.dir={folder / 'study'}", f"cache={lab.cache}", *settings]


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("scale", SCALES)
def test_every_cell_of_every_study_is_a_command_that_works(name: str, scale: str) -> None:
    study = read_study(CONFIGS / "experiment" / f"{name}.yaml", name, scale, "data", [])
    assert study.cells
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        for cell in study.cells[:: max(1, len(study.cells) // 3)]:
            config = compose("train", cell.overrides, return_hydra_config=True)
            assert config.hydra.runtime.choices.encoder in cell.name or "chen2019" in name
        for evaluation in study.evaluations[:4]:
            compose("evaluate", [text.replace("{run}", "RUN") for text in evaluation.overrides])


def test_the_grid_of_table_2_has_its_24_cells() -> None:
    study = read_study(CONFIGS / "experiment" / "conneau2018" / "table2.yaml", "", "paper", "data", [])
    assert len({cell.name for cell in study.cells}) == 24


def test_a_study_does_its_cells_once_and_reports(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    arguments = tiny(tmp_path, lab, TEXT + EVALUATIONS)
    assert run_study(tmp_path, "tiny", arguments) == 0
    table = (tmp_path / "study" / "table.md").read_text()
    assert "BoV" in table
    assert "BiLSTM-last" in table
    assert "Majority vote" in table
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "study").rglob("probes.csv")}
    assert len(before) == 2 + 3
    assert run_study(tmp_path, "tiny", arguments) == 0
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert "left out" in capsys.readouterr().out


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells and reports that are done when they begin."""
    monkeypatch.setattr("studies.run.subprocess.run", lambda command, **_: subprocess.CompletedProcess(command, 0))


@pytest.mark.usefixtures("quick")
def test_a_study_of_other_settings_needs_another_folder(lab: Lab, tmp_path: Path) -> None:
    arguments = tiny(tmp_path, lab, TEXT + EVALUATIONS)
    assert run_study(tmp_path, "tiny", arguments) == 0
    for more in (["seed=2"], ["seed=2", "dry_run=true"]):
        with pytest.raises(InputError, match=r"untrained/bov: begun without seed=2; .* study\.dir="):
            run_study(tmp_path, "tiny", [*arguments, *more])
    shutil.rmtree(tmp_path / "study" / "untrained" / "bov")  # a half of the old study is left
    with pytest.raises(InputError, match="bilstm_last: begun without seed=2"):
        run_study(tmp_path, "tiny", [*arguments, "seed=2"])
    assert not (tmp_path / "study" / "untrained" / "bov").exists()


@pytest.mark.usefixtures("quick")
def test_a_study_goes_on_with_its_settings_in_another_order_or_of_an_earlier_version(
    lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    arguments = tiny(tmp_path, lab)
    assert run_study(tmp_path, "tiny", arguments) == 0
    capsys.readouterr()
    assert run_study(tmp_path, "tiny", [*reversed(arguments), "cache=elsewhere", "trainer.devices=[0]"]) == 0
    for path in (tmp_path / "study").rglob(SETTINGS):
        path.unlink()
    assert run_study(tmp_path, "tiny", [*arguments, "seed=2"]) == 0
    assert "begun" not in capsys.readouterr().out


def test_two_processes_share_a_study(lab: Lab, tmp_path: Path) -> None:
    arguments = tiny(tmp_path, lab)
    code = f"""
from pathlib import Path
from studies.run import run_study
run_study(Path({str(tmp_path)!r}), "tiny", {arguments!r})
"""
    both = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in "ab"]
    said = "".join(process.communicate(timeout=300)[0] for process in both)
    begun = sorted(line.removesuffix(": begun") for line in said.splitlines() if line.endswith(": begun"))
    assert begun == ["untrained/bilstm_last", "untrained/bov"]
    assert "resumed" not in said
    assert len(list((tmp_path / "study").rglob(DONE))) == 2


def test_a_cell_that_fails_is_named_and_the_others_run(lab: Lab, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    text = TEXT.replace("bov: encoder=bov, ", "").replace("gated_convnet: null}", "bov: encoder=nonsense}", 1)
    arguments = tiny(tmp_path, lab, text + EVALUATIONS)
    assert run_study(tmp_path, "tiny", arguments) == 1
    said = capfd.readouterr().err
    assert "\nfailed: untrained/bov\nwaits for a failed run: evaluations/of_a_run/untrained/bov\n" in said
    assert "other processes" not in said
    assert not (tmp_path / "study" / "evaluations" / "of_a_run" / "untrained" / "bov").exists()
    assert (tmp_path / "study" / "untrained" / "bilstm_last" / DONE).exists()


def test_a_dry_run_says_what_is_missing_and_does_nothing(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    arguments = [f"study.dir={tmp_path / 'study'}", "scale=paper", f"data={tmp_path}", "dry_run=true"]
    assert run_study(CONFIGS, "conneau2018/figure1", arguments) == 0
    printed = capsys.readouterr().out
    assert f"missing: {tmp_path}/crawl-300d-2M.vec; {tmp_path}/probing; corpus.root=" in printed
    assert not (tmp_path / "study").exists()


@pytest.mark.usefixtures("quick")
def test_a_dry_run_looks_for_trees_and_is_told_in_any_word_for_yes(
    lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    trees = ["probes=trees", f"probes.paths=[{tmp_path}/nowhere]"]
    assert run_study(tmp_path, "tiny", [*tiny(tmp_path, lab), *trees, "dry_run=yes"]) == 0
    assert f"missing: {tmp_path}/nowhere\n" in capsys.readouterr().out
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize("said", ["dry_run=maybe", "dry_run"])
@pytest.mark.usefixtures("quick")
def test_a_dry_run_that_is_neither_yes_nor_no_is_refused(lab: Lab, tmp_path: Path, said: str) -> None:
    with pytest.raises(InputError, match="give true or false"):
        run_study(tmp_path, "tiny", [*tiny(tmp_path, lab), said])


@pytest.mark.parametrize("wrong", ["trainer.max_epoch=3", "seed=abc"])
@pytest.mark.usefixtures("quick")
def test_a_setting_that_is_wrong_for_all_cells_is_said_once(lab: Lab, tmp_path: Path, wrong: str) -> None:
    with pytest.raises((InputError, HydraException), match=wrong.split("=")[0]):
        run_study(tmp_path, "tiny", [*tiny(tmp_path, lab), wrong])
    assert not (tmp_path / "study").exists()


def test_hours_are_examples_by_the_rate_that_was_measured(tmp_path: Path) -> None:
    case = {"encoder": "bilstm_max", "objective": "nmt", "ours": {"sentences_per_second": 500.0}}
    (tmp_path / "training-x.json").write_text(json.dumps({"machine": "X", "cases": [case]}))
    assert hours("bilstm_max", "autoencoder", 1_800_000, 5, tmp_path) == {"X": 5.0}
    assert hours("bilstm_max", "nli", 1_800_000, 5, tmp_path) == {}


def test_the_sum_of_hours_names_the_cells_that_were_not_measured() -> None:
    assert together({"a": {"X": 2.0}, "b": {}}) == [
        "together 2 hours on X, as measured there; without 1 of 2 cells, not measured: b"
    ]
    assert together({"a": {}}) == ["no hours: the throughput of no cell was measured (a)"]
    assert together({}) == []


def test_an_unknown_scale_is_answered_with_the_choices() -> None:
    with pytest.raises(InputError, match="has demo, small, paper"):
        run_study(CONFIGS, "conneau2018/figure1", ["scale=huge"])
