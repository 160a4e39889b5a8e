"""The order of models under several settings; when tasks are learnt: known steps, intervals, agreement of orders."""

import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from encoder_lab.errors import InputError
from encoder_lab.reports.models import models_of
from encoder_lab.reports.order import (
    agreement,
    as_text,
    charts_of_order,
    mean_agreement,
    model_orders,
    order_of,
    steps_reached,
)
from encoder_lab.reports.runs import Run, read_run
from encoder_lab.reports.scores import read_runs
from encoder_lab.reports.stability import scores_by_condition, stability
from probes.results import Answers, ProbeRow, read_rows
from report import main
from tests.reports.small_runs import evaluation_of, of_a_run, run_of, with_rows, with_settings

STEPS = (0, 10, 20, 40)
# percent right at STEPS
CURVES = {"SentLen": (20, 60, 80, 80), "WC": (20, 20, 60, 100), "Tense": (50, 50, 50, 90), "BShift": (50, 50, 50, 50)}


def trained(curves: dict[str, tuple[int, ...]] = CURVES, seed: int = 1, items: int = 1000, name: str = "nmt") -> Run:
    """A run of which `curves` percent of the test items are right, other ones for each seed."""
    rows = []
    for task, scores in curves.items():
        places = np.random.default_rng([seed, len(task)]).permutation(items)
        for step, score in zip(STEPS, scores, strict=False):
            answers = Answers(task, places < items * score // 100)
            rows.append(ProbeRow(step, step, "probing", task, "mlp", 0, score, 0, 0, {}, seed, 0, answers=answers))
    return Run(Path(f"runs/{name}/{seed}"), "bilstm_max", name, {"seed": seed}, rows, [])


def test_a_part_of_a_gain_is_reached_between_two_steps() -> None:
    steps, scores = np.array(STEPS), np.array([[20, 60, 80, 80], [0, 0, 0, 40], [50, 70, 60, 50]], dtype=float)
    assert steps_reached(steps, scores, 0.5)[:2].tolist() == [7.5, 30]  # 30 of 40 points; half of the last stretch
    assert steps_reached(steps, scores, 0.9)[0] == pytest.approx(17)  # 14 of 20 points after step 10
    assert np.isnan(steps_reached(steps, scores, 0.5)[2])  # no gain


def test_a_score_that_is_exactly_at_a_part_of_a_gain_has_reached_it() -> None:
    """First, twice the middle, last; sums of decimal numbers are a little above or below."""
    pairs = [(first / 5, rise / 5) for first in range(0, 250, 7) for rise in range(2, 250, 9)]
    scores = np.array([[first, first + rise, first + rise, first + 2 * rise] for first, rise in pairs]).round(2)
    assert steps_reached(np.array(STEPS), scores, 0.5) == pytest.approx(STEPS[1])


def test_tasks_are_in_the_order_of_half_their_gain_and_one_without_a_gain_has_no_step() -> None:
    late = {"ObjNum": (0, 80, 80, 100)}  # has 90% of its gain after SentLen
    (model,) = model_orders(models_of([trained(CURVES | late)]), "probing", "mlp")
    assert [learnt.task for learnt in model.tasks] == ["ObjNum", "SentLen", "WC", "Tense", "BShift"]
    halves = [learnt.steps[0] for learnt in model.tasks]
    assert [half[0] for half in halves[:4]] == [6.25, 7.5, 20, 30]
    assert all(low <= value <= high for value, low, high in halves[:4])
    assert "BShift" in as_text([model])
    (chart,) = charts_of_order([model]).charts
    assert [dot.x[0] for dot in chart.series if dot.name == "SentLen"] == list(model.tasks[1].steps)
    assert list(chart.y.ticks.values()) == ["ObjNum", "SentLen", "WC", "Tense"]
    assert np.isnan(halves[4]).all()


def test_a_code_is_learnt_as_it_gets_shorter() -> None:
    rows = [
        replace(row, suite="bits", test_low=row.test_accuracy, test_high=row.test_accuracy, answers=None)
        for row in trained({"SentLen": (80, 60, 20, 20), "WC": (20, 60, 80, 100)}).rows
    ]
    shorter, longer = order_of(models_of([replace(trained(), rows=rows)])[0], "bits", "mlp").tasks
    assert (shorter.task, shorter.gain[0], shorter.steps[0][0]) == ("SentLen", 60, 12.5)
    assert (longer.task, longer.gain[0], np.isnan(longer.steps[0]).all()) == ("WC", -80, True)


def test_more_test_items_give_a_narrower_interval() -> None:
    few, many = (order_of(models_of([trained(items=n)])[0], "probing", "mlp").tasks[0].steps[1] for n in (100, 2000))
    assert (many[2] - many[1]) < (few[2] - few[1]) / 2


def test_without_answers_the_interval_is_made_of_those_of_the_scores(tmp_path) -> None:
    run = read_run(run_of(tmp_path / "run"))  # gains of 3 points, scores with an interval of 2 to each side
    learnt = order_of(models_of([run])[0], "probing", "mlp").tasks[0]
    assert learnt.gain == pytest.approx((3, 3 - 2 * 2**0.5, 3 + 2 * 2**0.5), abs=0.2)


@pytest.mark.filterwarnings("error")
def test_a_task_has_no_order_where_its_last_score_is_no_number() -> None:
    run = trained({"SentLen": (20, 40, 70, 80)})
    lost = replace(run, rows=[*run.rows[:-1], replace(run.rows[-1], test_accuracy=np.nan)])
    (learnt,) = order_of(models_of([lost])[0], "probing", "mlp").tasks
    assert np.isnan([learnt.gain[0], *learnt.steps[0]]).all()
    assert "SentLen: no order, a score that is no number" in as_text([order_of(models_of([lost])[0], "probing", "mlp")])


def test_seeds_are_one_curve_and_their_orders_are_compared() -> None:
    """A task with a gain that may be none has no place in them."""
    first, later = CURVES | {"SOMO": (50, 51, 51, 51)}, CURVES | {"SentLen": (20, 40, 70, 80), "SOMO": (50, 50, 50, 51)}
    seeds = [trained(first, seed=1, items=100), trained(later, seed=2, items=100)]
    model = order_of(models_of(seeds)[0], "probing", "mlp")
    assert model.seeds == 1
    assert model.halves["SentLen"] == 10  # the mean curve is 20, 50, 75, 80


def test_a_gain_that_seeds_do_not_agree_on_may_be_none_though_each_of_them_has_it() -> None:
    """The interval is that of `mean_of_runs`: 5, 20 and 40 points, by Student's t of two degrees of freedom."""
    seeds = [trained({"SentLen": (20, 20, 40, 20 + gain)}, seed) for seed, gain in enumerate((5, 20, 40), start=1)]
    (learnt,) = order_of(models_of(seeds)[0], "probing", "mlp").tasks
    assert learnt.gain[1] < -20 < 60 < learnt.gain[2]
    assert np.isnan(learnt.steps[0]).all()
    assert order_of(models_of(seeds[:1])[0], "probing", "mlp").tasks[0].gain[1] > 0


@pytest.mark.parametrize(("epochs", "count", "half"), [(0, 4, 7.875), (100, 4, np.nan), (0, 2, np.nan)])
def test_seeds_are_averaged_at_the_epochs_that_all_have_also_where_these_have_other_steps(epochs, count, half) -> None:
    """The second seed has a step more from its first epoch on. Too few in common are said, not left out."""
    first, second = trained(), trained({task: scores[:count] for task, scores in CURVES.items()}, seed=2)
    rows = [replace(row, epoch=row.epoch + epochs, step=row.step + (row.step > 0)) for row in second.rows]
    model = order_of(models_of([first, replace(second, rows=rows)])[0], "probing", "mlp")
    learnt = next(learnt for learnt in model.tasks if learnt.task == "SentLen")
    assert (learnt.steps[0][0], learnt.gain[0]) == pytest.approx((half, 60 if half > 0 else half), nan_ok=True)
    assert ("SentLen, WC, BShift, Tense: no order, fewer than three" in as_text([model])) == np.isnan(half)


def test_a_task_that_was_scored_over_another_span_has_no_place_in_the_order() -> None:
    """From step 10 half of the gain of WC is reached at 20, from step 0 at 30."""
    run = trained(CURVES | {"WC": (60, 20, 60, 100)})
    late = [row for row in run.rows if row.task != "WC" or row.step]
    (model,) = model_orders(models_of([replace(run, rows=late)]), "probing", "mlp")
    assert list(model.halves) == ["SentLen", "Tense"]
    assert "WC: no order, scores epoch 10 to epoch 40, not epoch 0 to epoch 40" in as_text([model])
    assert "of different spans" not in as_text([model])
    other = replace(run, objective="nli", rows=[row for row in run.rows if row.step])
    models = model_orders(models_of([run, other]), "probing", "mlp")
    note = "of different spans: epoch 0 to epoch 40 (BiLSTM-max, nmt); epoch 10 to epoch 40 (BiLSTM-max, NLI)."
    assert note in as_text(models)
    assert note in charts_of_order(models).note


def test_a_model_that_was_scored_too_rarely_is_named_next_to_others() -> None:
    early = trained({task: scores[:1] for task, scores in CURVES.items()}, name="nli")
    models = model_orders(models_of([trained(), early]), "probing", "mlp")
    assert "BiLSTM-max, NLI\n" in as_text(models)
    assert [chart.title for chart in charts_of_order(models).charts] == ["BiLSTM-max, nmt"]


def test_a_model_that_is_not_trained_has_no_order_for_that_reason() -> None:
    once = replace(trained(), rows=[replace(row, step=0) for row in trained().rows])
    ordered = model_orders([*models_of([trained()]), *models_of([once])], "probing", "mlp")
    assert [model.trained for model in ordered] == [True, False]
    assert "no order, no scores of a step of training" in as_text(ordered)


def test_a_model_in_which_no_task_gains_is_named_and_has_no_empty_chart() -> None:
    flat = trained(dict.fromkeys(CURVES, (50, 50, 50, 50)), name="nli")
    section = charts_of_order(model_orders(models_of([trained(), flat]), "probing", "mlp"))
    assert [chart.title for chart in section.charts] == ["BiLSTM-max, nmt"]
    assert section.note.endswith("No task has a gain: BiLSTM-max, NLI.")
    with pytest.raises(InputError, match="nothing to draw: no task's score rises"):
        charts_of_order(model_orders(models_of([flat]), "probing", "mlp"))


@pytest.mark.parametrize(("other", "tau"), [
    ((1, 2, 3), 1), ((3, 2, 1), -1), ((1, 3, 2), 1 / 3), ((1, 2, np.nan), np.nan), ((1,) * 3, np.nan),
])  # fmt: skip
def test_the_agreement_of_two_orders_is_kendalls_tau(other, tau) -> None:
    names = "SentLen", "WC", "Tense"
    measured = agreement(dict(zip(names, (1, 2, 3), strict=True)), dict(zip(names, other, strict=True)))
    assert measured == pytest.approx(tau, nan_ok=True)
    orders = [dict(zip(names, places, strict=True)) for places in ((1, 2, 3), other, (1, 2, 3))]
    assert mean_agreement(orders) == pytest.approx(1 if tau != tau else (1 + 2 * tau) / 3)


def test_models_are_compared_and_drawn(tmp_path, capsys) -> None:
    folders = [run_of(tmp_path / name, encoder=name) for name in ("bilstm_max", "bigru_mean")]
    runs = [str(with_rows(folder, *trained().rows)) for folder in folders]
    assert main(["order", *runs, f"out={tmp_path / 'order.svg'}"]) == 0
    assert "Kendall's tau  1.00: BiLSTM-max, NMT En-Fr; BiGRU, NMT En-Fr" in capsys.readouterr().out
    assert (tmp_path / "order.svg").stat().st_size


def evaluations(folder: Path, scores: dict[int, list[float]], seeds: int = 1) -> list[Path]:
    """Models a, b, c ... with their scores under each size of probing, with several seeds of the classifier."""
    for size, values in scores.items():
        for name, score in zip("abcdef", values, strict=False):
            for seed in range(1, seeds + 1):
                path, settings = folder / f"{name}{size}-{seed}", f"probes: {{train_size: {size}, dev_size: 9}}\n"
                evaluation_of(path, name, "probing", task="WC", score=score + seed, settings=settings)
                config = (path / "config.yaml").read_text().replace("seed: 1\n", f"seed: {seed}\n")
                (path / "config.yaml").write_text(config.replace("bilstm_max", name))
    return [folder]


@pytest.mark.parametrize(("second", "rho", "same"), [
    ([8, 6, 4, 2], 1.0, True), ([1, 2, 3, 4], -1.0, False), ([4, 2, 3, 1], 0.8, True), ([5, 5, 5, 5], None, False),
])  # fmt: skip
def test_rank_correlation_is_of_the_order_alone(second, rho, same, tmp_path) -> None:
    """Where all are equal, the first is no better than the others. Of other suites no setting counts."""
    evaluation_of(tmp_path / "other", "a")
    runs = read_runs(evaluations(tmp_path, {300: [4, 3, 2, 1], 900: second}, seeds=2))
    (compared,) = stability(scores_by_condition(runs, "probing", "best"))
    assert (compared.task, compared.seeds, compared.same_best) == ("WC", [2] * 4, same)
    assert {compared.first, compared.second} == {"logreg, train_size=300", "logreg, train_size=900"}
    assert compared.rho != compared.rho if rho is None else compared.rho == pytest.approx(rho)


def test_means_over_seeds_that_are_equal_share_a_rank() -> None:
    means = [[99.2, 99.4, 99.6], [99.4, 99.6, 99.2], [99.0, 99.2, 99.1], [98.0, 98.2, 98.1]]
    tied = {(model,): {(seed,): score for seed, score in enumerate(scores)} for model, scores in enumerate(means)}
    apart = {model: {(seed,): float(-model[0]) for seed in range(3)} for model in tied}
    (compared,) = stability({"a": {"WC": tied}, "b": {"WC": apart}})
    assert (compared.rho, compared.same_best) == (pytest.approx(4.5 / 22.5**0.5), False)


def test_the_best_model_of_a_code_is_the_one_with_the_shortest(tmp_path) -> None:
    for size, lengths in {300: [40, 30, 20, 10], 900: [30, 40, 20, 10]}.items():
        for name, length in zip("abcd", lengths, strict=True):
            settings = f"probes: {{train_size: {size}}}\n"
            evaluation_of(tmp_path / f"{name}{size}", name, "bits", task="WC", score=length, settings=settings)
    (compared,) = stability(scores_by_condition(read_runs([tmp_path]), "bits", "best"))
    assert (compared.rho, compared.same_best) == (pytest.approx(0.8), True)


def test_a_model_is_compared_by_the_seeds_that_both_settings_have(tmp_path, capsys) -> None:
    """The second seed is a point better, so that without it the first model is behind the second."""
    evaluations(tmp_path, {300: [4.2, 4, 2, 1], 900: [4.2, 4, 2, 1]}, seeds=2)
    shutil.rmtree(tmp_path / "a900-2")
    assert main(["stability", str(tmp_path), "epoch=2"]) == 0
    assert "WC             1.00  4 models of 1 to 2 seeds, best same" in capsys.readouterr().out


def test_the_scores_of_runs_in_training_are_compared_with_their_evaluations_on_the_same_corpus(tmp_path) -> None:
    """Another corpus has other tasks, another seed other items; folds, too, are a setting."""
    corpus, large = "corpus: {size: 9}\n", "corpus: {size: 99}\n"
    for at, dim in enumerate((512, 1024, 2048, 4096)):
        run = with_settings(run_of(tmp_path / f"run {dim}", dim=dim), f"{corpus}probes: {{train_size: 900}}\n")
        with_rows(run, *(replace(row, classifier="logreg", test_accuracy=at) for row in read_rows(run / "probes.csv")))
        for name, folds, text in (("small", 5, corpus), ("few", 3, corpus), ("large", 5, large)):
            settings = f"{of_a_run(1, dim)}{text}probes: {{train_size: 300}}\nprobing: {{kfold: {folds}}}\n"
            evaluation_of(tmp_path / f"{name} {dim}", run, "probing", score=at, task="WC", settings=settings)
    compared = stability(scores_by_condition(read_runs([tmp_path]), "probing", "best"))
    pairs = {tuple(sorted((each.first[-7:], each.second[-7:]))): (len(each.seeds), each.rho) for each in compared}
    assert pairs == dict.fromkeys(combinations(["kfold=-", "kfold=3", "kfold=5"], 2), (4, 1.0))


@pytest.mark.parametrize(("last", "said"), [("300", False), ("other", True)])
def test_models_of_one_setting_with_other_test_items_are_said(tmp_path, capsys, last, said) -> None:
    """Between two settings the items always differ."""
    evaluations(tmp_path, {300: [1, 2, 3, 4], 900: [1, 3, 2, 4]})
    for folder in tmp_path.iterdir():
        items = last if folder.name.startswith("d300") else "900" if "900" in folder.name else "300"
        rows = read_rows(folder / "probes.csv")
        with_rows(folder, *(replace(row, answers=Answers(items, np.ones(4, bool))) for row in rows))
    assert main(["stability", str(tmp_path), "epoch=2"]) == 0
    assert ("WC: models are of different test sentences: do not compare them." in capsys.readouterr().err) == said


def test_the_report_is_a_block_for_each_two_settings(tmp_path, capsys) -> None:
    evaluations(tmp_path, {300: [1, 2, 3, 4], 600: [1, 2, 3, 4], 900: [1, 3, 2, 4]})
    assert main(["stability", str(tmp_path), "epoch=1"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("At epoch 2, as the requested one has no scores: ")
    assert (out.count("against"), out.count("WC             0.80  4 models, best same")) == (3, 2)
