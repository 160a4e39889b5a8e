"""Models by the size of their sentence vector: which runs belong together, and their charts."""

from encoder_lab.reports.runs import read_run
from encoder_lab.reports.sizes import charts_by_size, group_by_size
from report import main
from tests.reports.small_runs import evaluation_of, run_of, score_row, with_rows, with_settings

RATE = "objective:\n  optimizer:\n    lr: {}\n"


def test_a_rate_may_follow_the_size_but_two_rates_of_a_size_are_two_models(tmp_path) -> None:
    rates = {512: 0.001, 1024: 0.0005}
    runs = [with_settings(run_of(tmp_path / str(dim), dim=dim), RATE.format(rate)) for dim, rate in rates.items()]
    assert [model.sizes for model in group_by_size(map(read_run, runs))] == [[512, 1024]]
    other = with_settings(run_of(tmp_path / "other", dim=512), RATE.format(0.0005))
    sized = group_by_size(map(read_run, [*runs, other]))
    assert sorted((model.sizes, model.title) for model in sized) == [
        ([512], "BiLSTM-max, NMT En-Fr (objective.optimizer.lr=0.001)"),
        ([512, 1024], "BiLSTM-max, NMT En-Fr (objective.optimizer.lr=0.0005)"),
    ]


def test_each_unit_of_a_suite_has_its_own_axis_of_sizes(tmp_path) -> None:
    units = {"EffRank": "dimensions", "IsoScore": "percent"}
    rows = [score_row(task, 300, "geometry", unit) for task, unit in units.items()]
    runs = [with_rows(run_of(tmp_path / str(dim), dim=dim), *rows) for dim in (512, 1024)]
    charts = charts_by_size(group_by_size(map(read_run, runs)), "geometry", "last", "mlp").charts
    names = {"geometry: dimensions": "EffRank", "geometry of the vectors (%)": "IsoScore"}
    assert {chart.y.label: chart.series[0].name for chart in charts} == names


def test_sizes_are_compared_on_a_suite_that_evaluations_scored(tmp_path, capsys) -> None:
    runs = [run_of(tmp_path / str(dim), dim=dim) for dim in (512, 1024)]
    scored = [evaluation_of(tmp_path / f"of {run.name}", run) for run in runs]
    bov = evaluation_of(tmp_path / "bov", "bov")
    paths = [str(path) for path in (*runs, *scored, bov)]
    assert main(["size", *paths, "suite=downstream", f"out={tmp_path / 'size.png'}"]) == 0
    early = "; ".join(f"BiLSTM-max, NMT En-Fr (dim={dim}) (epoch 2 of 3)" for dim in (512, 1024))
    assert capsys.readouterr().err == f"left out, no encoder.dim: {bov}\nScores of an epoch before the last: {early}.\n"
