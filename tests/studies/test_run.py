"""A study does each cell once, continues after a stop, and ends with its reports."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hydra.errors import HydraException
from omegaconf import OmegaConf

from encoder_lab.errors import InputError
from encoder_lab.settings.arguments import requested_study
from encoder_lab.storage.locks import locked
from encoder_lab.studies.cell import DONE_FILE, SETTINGS_FILE, cell_command
from encoder_lab.studies.compose import checked_settings
from encoder_lab.studies.plan import SCALES, Study, read_study
from encoder_lab.studies.run import STUDY_LOCK, make_reports, refuse_wrong_reports, run_study
from tests import commands
from tests.asked import composed
from tests.conftest import TINY, Lab
from train import CONFIGS

STUDY_FILES = (CONFIGS / "study").rglob("*.yaml")
STUDIES = [path.relative_to(CONFIGS / "study").with_suffix("").as_posix() for path in STUDY_FILES]
TEXT = """\
axes:
  objective: {untrained: objective=untrained}
  encoder: {bov: encoder=bov, bilstm_last: encoder=bilstm_last, gated_convnet: null}
scales: {demo: {gated_convnet: null}}
reports: {every: ["table {runs} epoch=last out={study}/table.md"]}
"""
EVALUATIONS = """\
evaluations:
  demo: {of_a_run: "model={run} probes.tasks=[SentLen]", baseline: "model=majority probes.tasks=[SentLen]"}
"""
WRONG_EVALUATION = "evaluations:\n  demo: {a: 'model={run} suite=downstream probes.train_size=9'}\nreports:"


def tiny(folder: Path, lab: Lab, text: str = TEXT) -> list[str]:
    """The arguments of a study of two cells; its file is written into `folder`."""
    (folder / "study").mkdir(exist_ok=True)
    (folder / "study" / "tiny.yaml").write_text(text)
    settings = [text for text in TINY if not text.startswith(("encoder.", "objective."))]
    return [f"study_dir={folder / 'results'}", f"cache={lab.cache}", *settings]


@pytest.mark.parametrize(("name", "scale"), [
    (name, scale) for name in sorted(STUDIES) for scale in OmegaConf.load(CONFIGS / "study" / f"{name}.yaml").scales
])  # fmt: skip
def test_every_cell_of_every_study_is_a_command_that_works(name, scale) -> None:
    assert scale in SCALES
    study = read_study(CONFIGS / "study" / f"{name}.yaml", name, scale, "data", [])
    assert len(study.cells) == 24 if (name, scale) == ("conneau2018/table2", "paper") else study.cells
    for cell in study.cells[:: max(1, len(study.cells) // 2)]:
        choices = composed("train", *cell.overrides).hydra.runtime.choices
        assert choices.encoder in cell.name or "chen2019" in name
    refuse_wrong_reports(study, Path("a_study"))
    for evaluation in [each for each in study.evaluations if not each.scores_objective][:3]:
        checked_settings("evaluate", [text.replace("{run}", "RUN") for text in evaluation.overrides])


def test_an_evaluation_gets_the_settings_of_its_study_that_it_reads(tmp_path) -> None:
    bov = "  medium: {bag: model=bov, none: model=majority, again: 'model={run}', other: model=hf:a suite=downstream}\n"
    (tmp_path / "a.yaml").write_text(f"{TEXT.replace('demo', 'medium')}evaluations:\n{bov}")

    def read(*more: str) -> set[str]:
        study = read_study(tmp_path / "a.yaml", "a", "medium", "data", [*more, "embeddings.freeze=false"])
        assert not any("embeddings.freeze=false" in cell.overrides for cell in study.evaluations)
        return {cell.name.split("/")[1] for cell in study.evaluations if more[-1] in cell.overrides}

    assert read("embeddings.dim=8") == {"bag"}
    assert read("embeddings=file", "embeddings.path=x") == {"bag", "again"}
    assert read("probes.train_size=9") == read("corpus=demo", "corpus.size=9") == {"bag", "none", "again"}
    assert read("seed=9") == {"bag", "none", "again", "other"}


def test_a_begun_cell_gets_what_may_change_and_all_programs_the_allowed_packages(tmp_path) -> None:
    (tmp_path / "a.yaml").write_text(TEXT + EVALUATIONS)
    more = ["seed=2", "trainer.devices=2", "probes.steps=log", "cache=here", "allow=[my_parts]"]
    study = read_study(tmp_path / "a.yaml", "a", "demo", "data", more)
    assert cell_command(study.cells[0], Path("s"), True)[2:] == ["resume=s/untrained/bov", more[1], *more[3:]]
    assert cell_command(study.cells[0], Path("s"), False)[-6:-1] == more
    for cell in study.evaluations:
        words = set(cell_command(cell, Path("s"), False))
        assert words.intersection(more) == {"seed=2", "cache=here", "allow=[my_parts]"}


@pytest.fixture
def forked(monkeypatch) -> None:
    """Start cells and reports with their imports done. They do not inherit the lock, which this process keeps."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess:
        done = commands.finish(*command[1:])
        print(done.stdout, end="")
        print(done.stderr, end="", file=sys.stderr)
        return done

    monkeypatch.setattr("encoder_lab.studies.cell.subprocess.run", run)


@pytest.mark.usefixtures("forked")
def test_a_study_does_its_cells_once_and_reports(lab, tmp_path, capsys) -> None:
    arguments = tiny(tmp_path, lab, TEXT + EVALUATIONS)
    assert run_study(tmp_path, "tiny", arguments) == 0
    table = (tmp_path / "results" / "table.md").read_text()
    assert "BoV" in table
    assert "BiLSTM-last" in table
    assert "Majority vote" in table
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("probes.csv")}
    assert len(before) == 2 + 3
    assert run_study(tmp_path, "tiny", arguments) == 0
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert "left out" in capsys.readouterr().out


@pytest.fixture
def quick(monkeypatch) -> None:
    """Cells and reports that are done when they begin."""
    done = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr("encoder_lab.studies.cell.subprocess.run", lambda *_, **__: done)


@pytest.mark.usefixtures("quick")
def test_a_study_of_other_settings_needs_another_folder(lab, tmp_path) -> None:
    arguments = tiny(tmp_path, lab, TEXT + EVALUATIONS)
    assert run_study(tmp_path, "tiny", arguments) == 0
    for more in (["seed=2"], ["seed=2", "dry_run=true"]):
        with pytest.raises(InputError, match=r"untrained/bov: begun without seed=2; .* study_dir="):
            run_study(tmp_path, "tiny", [*arguments, *more])
    shutil.rmtree(tmp_path / "results" / "untrained" / "bov")  # a half of the old study is left
    with pytest.raises(InputError, match="bilstm_last: begun without seed=2"):
        run_study(tmp_path, "tiny", [*arguments, "seed=2"])
    assert not (tmp_path / "results" / "untrained" / "bov").exists()


@pytest.mark.usefixtures("quick")
def test_a_run_that_is_made_again_is_scored_again(lab, tmp_path) -> None:
    arguments, results = tiny(tmp_path, lab, TEXT + EVALUATIONS), tmp_path / "results"
    assert run_study(tmp_path, "tiny", arguments) == 0
    shutil.rmtree(results / "untrained" / "bov")
    arguments = tiny(tmp_path, lab, (TEXT + EVALUATIONS).replace("bov: encoder=bov", "bov: encoder=bov seed=3"))
    with pytest.raises(InputError, match=r"of_a_run/untrained/bov: has the scores of an earlier run in .*; remove thi"):
        run_study(tmp_path, "tiny", arguments)
    shutil.rmtree(results / "evaluations" / "of_a_run" / "untrained" / "bov")
    assert run_study(tmp_path, "tiny", arguments) == 0


@pytest.mark.usefixtures("quick")
def test_a_study_goes_on_with_its_settings_in_another_order_or_of_an_earlier_version(lab, tmp_path, capsys) -> None:
    arguments = tiny(tmp_path, lab)
    assert run_study(tmp_path, "tiny", arguments) == 0
    capsys.readouterr()
    assert run_study(tmp_path, "tiny", [*reversed(arguments), "cache=elsewhere", "trainer.devices=[0]"]) == 0
    for path in (tmp_path / "results").rglob(SETTINGS_FILE):
        path.unlink()
    assert run_study(tmp_path, "tiny", [*arguments, "seed=2"]) == 0
    assert "begun" not in capsys.readouterr().out


@pytest.mark.usefixtures("forked")
def test_a_cell_that_fails_is_named_and_the_others_run(lab, tmp_path, capfd) -> None:
    wrong = " corpus=text corpus.root=nowhere"
    text = TEXT.replace("bov: encoder=bov, ", "").replace("gated_convnet: null}", f"bov: encoder=bov{wrong}}}", 1)
    text = text.replace("gated_convnet: null", "untrained: ''")
    assert run_study(tmp_path, "tiny", tiny(tmp_path, lab, text + EVALUATIONS)) == 1
    message = capfd.readouterr().err
    assert "\nfailed: untrained/bov\nwaits for a failed run: evaluations/of_a_run/untrained/bov\n" in message
    assert not (tmp_path / "results" / "evaluations" / "of_a_run" / "untrained" / "bov").exists()
    assert (tmp_path / "results" / "untrained" / "bilstm_last" / DONE_FILE).exists()
    fixed = tiny(tmp_path, lab, (text + EVALUATIONS).replace(wrong, ""))
    assert run_study(tmp_path, "tiny", fixed) == 0  # what had no result yet may change


def test_a_study_has_failed_where_a_report_was_killed(tmp_path, monkeypatch) -> None:
    done = (subprocess.CompletedProcess([], status) for status in (-9, 0))
    monkeypatch.setattr("encoder_lab.studies.run.subprocess.run", lambda *_, **__: next(done))
    assert make_reports(Study("tiny", "demo", [], [], {}, [["table"], ["curves"]]), tmp_path) == -9


@pytest.mark.usefixtures("quick")
def test_a_dry_run_looks_for_trees_and_is_told_in_any_word_for_yes(lab, tmp_path, capsys) -> None:
    trees = ["probes=trees", f"probes.paths=[{tmp_path}/nowhere]"]
    assert run_study(tmp_path, "tiny", [*tiny(tmp_path, lab), *trees, "dry_run=yes"]) == 0
    assert f"missing: {tmp_path}/nowhere\n" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


def test_a_command_names_a_study_or_none_and_an_unknown_scale_is_answered_with_the_choices() -> None:
    assert requested_study(["seed=2", "study=chen2019/table2"]) == "chen2019/table2"
    assert requested_study(["experiment=chen2019/all"]) is None
    with pytest.raises(InputError, match="has demo, small, medium, paper"):
        run_study(CONFIGS, "conneau2018/figure1", ["scale=huge"])


@pytest.mark.parametrize(("setting", "remedy"), [
    ("experiment=conneau2018/table2", "that is a study; give study=conneau2018/table2"),
    ("study.dir=here", "give study_dir=here"),
    ("study=conneau2018/table3", "there are chen2019/table2, conneau2018/figure1, "),
])  # fmt: skip
def test_an_old_or_unknown_name_of_a_study_is_answered_with_the_new_one(setting, remedy) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(setting)}: {re.escape(remedy)}"):
        requested_study(["scale=demo", setting])


WRONG = {"dry_run=maybe": "give true or false", "dry_run": "give true or false", "hydra/launcher=nonsense": "launcher"}
WRONG |= {"trainer.max_epoch=3": "mean trainer.max_epochs=", "encoder=esn": "an axis of study=tiny sets it, so cells"}
WRONG |= {"dryrun=true": "nothing reads such a setting", "seed=abc": "seed"}  # in all cells, and said once
WRONG |= {"hydra.launcher.n_jobs=2": "n_jobs", "hydra.run.dir=x": "dir", "resume=x": "resume"}
WRONG |= {"--config-dir=x": "--config-dir=x: has no effect on a study", "data=x": "data=x: tiny reads no files"}
WRONG |= {"study_dir=x": "study_dir=x: study_dir= is given twice; give it once"}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.usefixtures("quick")
def test_a_setting_that_is_wrong_or_has_no_effect_is_refused(lab, tmp_path, wrong) -> None:
    with pytest.raises((InputError, HydraException), match=WRONG[wrong]):
        run_study(tmp_path, "tiny", [*tiny(tmp_path, lab), wrong])
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(("old", "new", "message"), [
    ("reports:", WRONG_EVALUATION, "^evaluations/a/untrained/bilstm_last: probes.train_size=9: only suite=prob"),
    ("{demo: {", "{demo: {bilstm_last: encoder.dims=8, ", "^untrained/bilstm_last: encoder.dims: nothing reads such"),
    ("table {runs}", "tabel {runs}", "^reports of study=tiny: tabel: no such report; did you mean table"),
    ("epoch=last", "epoch=best epoc=last", "^epoc=last: no such setting; did you mean epoch="),
])  # fmt: skip
@pytest.mark.usefixtures("quick")
def test_what_a_cell_or_a_report_would_refuse_is_refused_before_the_first_run(lab, tmp_path, old, new, message) -> None:
    arguments = tiny(tmp_path, lab, TEXT.replace(old, new))
    with pytest.raises(InputError, match=message):
        run_study(tmp_path, "tiny", arguments)
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("quick")
def test_a_study_belongs_to_one_command_at_a_time(lab, tmp_path) -> None:
    arguments = tiny(tmp_path, lab)
    another = pytest.raises(InputError, match="another process works on this study")
    with locked(tmp_path / "results" / STUDY_LOCK), another:
        run_study(tmp_path, "tiny", arguments)
    assert run_study(tmp_path, "tiny", arguments) == 0
