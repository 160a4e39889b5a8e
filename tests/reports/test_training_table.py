"""The objectives' own scores: which epoch, which corpora, which interval."""

import math

import pytest

from encoder_lab.reports.training_table import training_table
from encoder_lab.storage.reads import write_reads
from report import main
from tests.reports.small_runs import models, run_of


@pytest.mark.parametrize(("score", "highest"), [("val/bleu", 100.0), ("val/perplexity", 100.1)])
def test_an_interval_of_seeds_has_only_scores_that_can_be(tmp_path, score, highest) -> None:
    runs = [run_of(tmp_path / str(s), seed=s, dev=(float(s),) if s else (), score=score) for s in (0, 1, 99)]
    ((cell,),) = [row.cells.values() for row in training_table(models(*runs), []).rows]
    assert cell.low == 0
    assert min(cell.high, 100.1) == highest


def test_test_scores_of_the_best_epoch_stand_next_to_those_on_dev(tmp_path) -> None:
    run = run_of(tmp_path / "a")  # best at epoch 2
    (run / "test.csv").write_text("epoch,step,val/bleu\n0.5,1,3.0\n1,1,4.5\n2,2,8.25\n")
    first, *_, last = training_table(models(run)).rows
    scores = {name: cell.score for name, cell in first.cells.items()}
    assert scores == {"NMT En-Fr BLEU (dev)": 9.0, "NMT En-Fr BLEU": 8.25}
    assert last.cells["NMT En-Fr BLEU"].score == 39.1  # of the paper


def test_scores_on_other_corpora_are_not_compared(tmp_path) -> None:
    sizes = {"bilstm_max": 300, "bilstm_last": 300, "bov": 2000}
    runs = [run_of(tmp_path / encoder, encoder, dev=(1.0 + size,)) for encoder, size in sizes.items()]
    for run, size in zip(runs, sizes.values(), strict=True):
        write_reads(run, {"corpus": f"demo {size}"})
    table = training_table(models(*runs), [])
    assert [table.best(row, *table.columns) for row in table.rows] == [True, True, False]
    assert "NMT En-Fr BLEU (dev): rows are of different corpora: do not compare them" in " ".join(table.notes)
    assert "corpora" not in " ".join(training_table(models(*runs[:2]), []).notes)


@pytest.mark.parametrize("dev", [(), (math.nan, math.nan)])
def test_a_model_without_a_finite_score_of_its_own_is_in_no_training_table(tmp_path, dev) -> None:
    runs = run_of(tmp_path / "a", dev=dev), run_of(tmp_path / "b", encoder="bilstm_last")
    assert [row.name for row in training_table(models(*runs), []).rows] == ["BiLSTM-last"]
    assert main(["html", str(runs[0]), f"out={tmp_path / 'page.html'}"]) == 0
