"""The order of models under several settings of probing."""

import shutil
from pathlib import Path

import pytest

from encoder_lab.reports.scores import read_runs
from encoder_lab.reports.stability import scores_by_condition, stability
from report import main
from tests.reports.small_runs import evaluation_of


def evaluations(folder: Path, scores: dict[int, list[float]], seeds: int = 1) -> list[Path]:
    """Models a, b, c ... with their scores under each size of probing, with several seeds of the classifier."""
    for size, values in scores.items():
        for name, score in zip("abcdef", values, strict=False):
            for seed in range(1, seeds + 1):
                path, settings = folder / f"{name}{size}-{seed}", f"probes: {{train_size: {size}}}\n"
                evaluation_of(path, name, "probing", task="WC", score=score + seed, settings=settings)
                config = (path / "config.yaml").read_text().replace("seed: 1\n", f"seed: {seed}\n")
                (path / "config.yaml").write_text(config.replace("bilstm_max", name))
    return [folder]


@pytest.mark.parametrize(("second", "rho", "same"), [
    ([8, 6, 4, 2], 1.0, True), ([1, 2, 3, 4], -1.0, False), ([4, 2, 3, 1], 0.8, True), ([5, 5, 5, 5], None, False),
])  # fmt: skip
def test_rank_correlation_is_of_the_order_alone(second, rho, same, tmp_path) -> None:
    """Where all are equal, the first is no better than the others."""
    runs = read_runs(evaluations(tmp_path, {300: [4, 3, 2, 1], 900: second}, seeds=2))
    (compared,) = stability(scores_by_condition(runs, "probing", "best"))
    assert (compared.task, compared.seeds, compared.same_best) == ("WC", [2] * 4, same)
    assert {compared.first[-14:], compared.second[-14:]} == {"train_size=300", "train_size=900"}
    assert compared.rho != compared.rho if rho is None else compared.rho == pytest.approx(rho)


def test_a_model_is_compared_by_the_seeds_that_both_settings_have(tmp_path, capsys) -> None:
    """The second seed is a point better, so that without it the first model is behind the second."""
    evaluations(tmp_path, {300: [4.2, 4, 2, 1], 900: [4.2, 4, 2, 1]}, seeds=2)
    shutil.rmtree(tmp_path / "a900-2")
    assert main(["stability", str(tmp_path), "epoch=2"]) == 0
    assert "WC             1.00  4 models of 1 to 2 seeds, best same" in capsys.readouterr().out


def test_the_report_is_a_block_for_each_two_settings(tmp_path, capsys) -> None:
    evaluations(tmp_path, {300: [1, 2, 3, 4], 600: [1, 2, 3, 4], 900: [1, 3, 2, 4]})
    assert main(["stability", str(tmp_path), "epoch=1"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("At epoch 2, as the requested one has no scores: ")
    assert (out.count("against"), out.count("WC             0.80  4 models, best same")) == (3, 2)
