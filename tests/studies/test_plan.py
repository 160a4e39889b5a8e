"""What the file of a study says: its cells, their settings and its evaluations."""

from pathlib import Path

import pytest

from encoder_lab.errors import InputError
from encoder_lab.studies.cell import cell_command
from encoder_lab.studies.plan import read_study
from train import CONFIGS


def test_a_scale_may_have_an_axis_of_its_own_and_a_name_stands_for_all_that_begin_so(tmp_path) -> None:
    (tmp_path / "a.yaml").write_text("""\
axes: {objective: {nli: "", nmt: ""}, encoder: {bov: encoder=bov, max: ""}}
scales:
  demo: null
  medium: {axes: {seed: {"1": seed=1, "2": seed=2}}, nli/max: a=1, nmt/bov: null, nmt/max/2: "b={seed}"}
evaluations: {medium: {again: "model={run} c={seed}"}}
""")
    study = read_study(tmp_path / "a.yaml", "a", "medium", "data", [])
    assert {cell.name: cell.overrides for cell in study.cells} == {
        "nli/bov/1": ["encoder=bov", "seed=1"],
        "nli/bov/2": ["encoder=bov", "seed=2"],
        "nli/max/1": ["seed=1", "a=1"],
        "nli/max/2": ["seed=2", "a=1"],
        "nmt/max/1": ["seed=1"],
        "nmt/max/2": ["seed=2", "b=2"],
    }
    assert [cell.overrides[1] for cell in study.evaluations] == ["c=1", "c=2"] * 3
    demo = read_study(tmp_path / "a.yaml", "a", "demo", "data", [])
    assert [cell.name for cell in demo.cells][:2] == ["nli/bov", "nli/max"]


@pytest.mark.parametrize(("old", "new", "message"), [
    ("reports:", "report:", "a.yaml: report: no such name; did you mean reports"),
    ("nli/max:", "max/nli:", "a.yaml: scales.demo: max/nli: no such name; did you mean"),
    ("nmt: null", "nmr: null", "a.yaml: evaluations.demo.again: nmr: no such name; did you mean nmt"),
    ("every: []", "demos: []", "a.yaml: reports: demos: no such name; did you mean demo"),
])  # fmt: skip
def test_a_name_in_a_study_that_names_nothing_is_refused(tmp_path, old, new, message) -> None:
    text = """\
axes: {objective: {nli: "", nmt: ""}, encoder: {1: encoder=bov, max: ""}}
scales: {demo: {nli/max: a=1}}
evaluations: {demo: {again: {every: "model={run}", nmt: null, nli/1: null}}}
reports: {every: []}
"""
    (tmp_path / "a.yaml").write_text(text)
    study = read_study(tmp_path / "a.yaml", "a", "demo", "data", [])
    assert [cell.name for cell in study.cells] == ["nli/1", "nli/max", "nmt/1", "nmt/max"]
    assert [cell.scored for cell in study.evaluations] == ["nli/max"]
    (tmp_path / "a.yaml").write_text(text.replace(old, new))
    with pytest.raises(InputError, match=message):
        read_study(tmp_path / "a.yaml", "a", "demo", "data", [])


def test_the_test_scores_of_objectives_have_the_settings_of_their_runs_alone() -> None:
    """Table 3 is on test; an untrained encoder has no objective."""
    more = ["seed=3", "allow=[my_parts]"]  # the packages are given with each command
    study = read_study(CONFIGS / "study" / "conneau2018" / "table2.yaml", "", "demo", "data", more)
    commands_of = {c.scored: cell_command(c, Path("s"), False)[2:] for c in study.evaluations if c.scores_objective}
    assert len(commands_of) == 21
    assert commands_of["nli/bilstm_max"] == ["model=s/nli/bilstm_max", "suite=objective", "allow=[my_parts]"]
    assert not any(name.startswith("untrained") for name in commands_of)


def test_an_evaluation_may_depend_on_the_axes_and_leave_cells_out(tmp_path) -> None:
    (tmp_path / "a.yaml").write_text("""\
axes:
  language: {en: "", hu: ""}
  encoder: {bov: encoder=bov, bilstm_max: encoder=bilstm_max}
scales: {small: null}
evaluations:
  small:
    parallel: {every: "model={run} probes.paths=[{data}/{language}]", hu: null, bov: device=cpu}
""")
    study = read_study(tmp_path / "a.yaml", "a", "small", "DATA", [])
    assert {cell.name: cell.overrides for cell in study.evaluations} == {
        "evaluations/parallel/en/bov": ["model={run}", "probes.paths=[DATA/en]", "device=cpu"],
        "evaluations/parallel/en/bilstm_max": ["model={run}", "probes.paths=[DATA/en]"],
    }
