"""What a report reads of run folders, which of their epochs is best, and which are one model."""

import os
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from encoder_lab.reports.commands import model_panel
from encoder_lab.reports.models import models_of, one_run_per_seed
from encoder_lab.reports.order import order_of
from encoder_lab.reports.runs import Run, final_rows, read_run, run_folders
from encoder_lab.reports.scores import as_csv, read_runs, scores
from encoder_lab.reports.strips import TOKENS_FILE
from encoder_lab.reports.table import probing_table
from encoder_lab.reports.training_table import training_table
from encoder_lab.storage.csv_files import upsert_csv
from encoder_lab.storage.reads import write_reads
from encoder_lab.training.checkpoints import BestCheckpoint
from encoder_lab.training.run_folder import record_settings
from probes.results import Answers, read_rows, write_rows
from tests.reports.small_runs import evaluation_of, models, of_a_run, run_of, score_row, with_rows, with_settings


@pytest.mark.parametrize(("select", "best", "name"), [("null", 1, "nli accuracy"), ("nmt_enfr", 3, "nmt_enfr BLEU")])
def test_the_best_epoch_of_several_objectives_is_that_of_the_part_that_selects(tmp_path, select, best, name) -> None:
    run = run_of(tmp_path / "a")
    settings = f"objective_name: multitask\nobjective:\n  parts: [nli, nmt_enfr]\n  select: {select}\n"
    (run / "config.yaml").write_text(f"encoder_name: bilstm_max\n{settings}")
    scores = [{"epoch": e, "val/nli/accuracy": 90 - e, "val/nmt_enfr/bleu": e} for e in (1, 2, 3)]
    (run / "metrics.csv").unlink()
    upsert_csv(run / "metrics.csv", scores, ("epoch",))
    assert read_run(run).best_epoch() == best
    assert training_table(models(run), []).columns == [f"multitask {name} (dev)"]


def test_a_folder_of_runs_stands_for_each_of_them_once(tmp_path) -> None:
    run, other = run_of(tmp_path / "wandb" / "b"), run_of(tmp_path / "wandb" / "c" / "d")
    assert run_folders([other, tmp_path / "wandb", run]) == [other, run]
    (tmp_path / "last").symlink_to(run)
    assert run_folders([run, tmp_path / "last"]) == [tmp_path / "last"]


def test_a_folder_of_links_to_runs_stands_for_them(tmp_path) -> None:
    run, links = run_of(tmp_path / "a"), tmp_path / "links"
    links.mkdir()
    (links / "first").symlink_to(run)
    assert run_folders([links]) == [links / "first"]


def test_the_best_epoch_is_chosen_by_the_objectives_own_score(tmp_path) -> None:
    table = probing_table(models(run_of(tmp_path / "a")), "probing")
    assert table.rows[0].cells["SentLen"][:3] == (72.0, 70.0, 74.0)
    assert read_run(run_of(tmp_path / "b", dev=(9.0, 5.0, 7.0), score="val/perplexity")).best_epoch() == 2


@pytest.mark.parametrize(("score", "mode", "best"), [("val/loss", "min", 1), ("val/f1", "max", 3), ("f1", "min", 2)])
def test_reports_choose_the_epoch_by_what_the_run_says_that_it_chose_by(tmp_path, score, mode, best) -> None:
    """Also from a file of its scores; the name of the score says it in runs without a record alone."""
    run, scored = run_of(tmp_path / "a"), zip((1, 2, 3), (5, 9, 7), (4, 6, 8), (1, 0, 1), strict=True)
    names = ("epoch", "val/accuracy", "val/loss", "f1")
    rows = [dict(zip(names, row, strict=True)) | {"val/f1": row[0]} for row in scored]
    upsert_csv(run / "metrics.csv", rows, ("epoch",))
    assert read_run(run).best_epoch() == 2
    run = with_settings(run, "embeddings: {}\ncorpus: {}\ntrainer: {}\n")
    record_settings(run, {}, SimpleNamespace(score=score, mode=mode))
    (tmp_path / "scores.csv").write_text(as_csv(scores(run)))
    read = [read_run(run), *read_runs([tmp_path / "scores.csv"])]
    assert [(each.score, each.mode, each.best_epoch()) for each in read] == [(score, mode, best)] * 2
    columns = training_table(models_of(read[:1]), []).columns
    assert columns == [f"NMT En-Fr {score.removeprefix('val/')} (dev)"]


def test_before_training_is_never_the_best_epoch_of_a_run_that_trained(tmp_path) -> None:
    run = read_run(run_of(tmp_path / "a", dev=(9.0, 5.0, 7.0)))
    rarely = replace(run, rows=[row for row in run.rows if row.epoch in (0, 3)])
    assert (rarely.best_epoch(), rarely.epoch("best", "probing")) == (1, 3)


@pytest.mark.parametrize(
    ("losses", "best"), [((2.0, 1.0, 3.0), 2), ((2.0, 1.0, 1.0), 3), ((2.0, 1.0, 1.0000004), 2), ((), 3)]
)
def test_of_equal_scores_the_lowest_loss_is_best_then_the_last_epoch(tmp_path, losses, best) -> None:
    run = run_of(tmp_path / "a", dev=(0.0, 0.0, 0.0))
    merged = [{"epoch": e, "val/bleu": 0.0} | ({"val/loss": losses[e - 1]} if losses else {}) for e in (1, 2, 3)]
    (run / "metrics.csv").unlink()
    upsert_csv(run / "metrics.csv", merged, ("epoch",))
    assert read_run(run).best_epoch() == best
    trainer = SimpleNamespace(strategy=SimpleNamespace(reduce_boolean_decision=lambda decision: decision))
    checkpoints = BestCheckpoint(tmp_path, "best", monitor="val/bleu", mode="max")
    for row in merged:
        trainer.callback_metrics = {name: torch.tensor(value) for name, value in row.items()}
        if checkpoints.check_monitor_top_k(trainer, torch.tensor(row["val/bleu"])):
            checkpoints.best_k_models, saved = {"best.ckpt": torch.tensor(0.0)}, row["epoch"]
            checkpoints.best_model_score, checkpoints.kth_best_model_path = torch.tensor(0.0), "best.ckpt"
    assert saved == best


def test_runs_of_other_lengths_of_training_are_no_seeds_of_one_model(tmp_path) -> None:
    folders = [run_of(tmp_path / name, seed=seed) for seed, name in enumerate("ab")]
    for folder, epochs in zip(folders, (5, 8), strict=True):
        with_settings(folder, f"trainer:\n  max_epochs: {epochs}\n  accelerator: auto\n")
    assert [model.variant for model in models(*folders)] == ["(max_epochs=5)", "(max_epochs=8)"]


def test_runs_on_a_corpus_that_changed_are_no_seeds_of_one_model(tmp_path) -> None:
    """Also from a file of their scores, or one for each."""
    folders = [run_of(tmp_path / "runs" / name, seed=seed) for seed, name in enumerate("abc")]
    for folder, content in zip(folders, ("text en 1f", "text en 1f", "text en 2a"), strict=True):
        write_reads(folder, {"corpus": content})
    files = [tmp_path / "all.csv", *(tmp_path / f"{folder.name}.csv" for folder in folders)]
    for file, folder in zip(files, (tmp_path / "runs", *folders), strict=True):
        file.write_text(as_csv(scores(folder)))
    for paths in ([tmp_path / "runs"], files[:1], files[1:]):
        seeds = [(model.variant, len(model.runs)) for model in models_of(read_runs(paths))]
        assert seeds == [("(corpus.content=text en 1f)", 2), ("(corpus.content=text en 2a)", 1)]


def test_one_curve_or_mean_is_of_one_classifier(tmp_path) -> None:
    folders = [run_of(tmp_path / name, seed=seed) for seed, name in enumerate("ab")]
    write_rows(folders[0] / "probes.csv", [score_row("WC", 9, reader="logreg", seed=0)])
    (model,) = models(*folders)
    for classifier, score, epochs in (("mlp", 52, [0, 1, 2, 3]), ("logreg", 9, [2])):
        assert probing_table([model], "probing", "2", classifier).rows[0].cells["WC"].score == score
        drawn = model_panel(model, "probing", classifier, "")
        assert next(line.x for line in drawn.lines if line.name == "WC") == epochs
        learnt = order_of(model, "probing", classifier).measured
        assert ("WC" in [task.task for task in learnt]) == (classifier == "mlp")


def folders_read(*evaluations: Path) -> list[str]:
    """The names of the folders that a report reads."""
    return [run.folder.name for run in one_run_per_seed(map(read_run, evaluations))]


@pytest.mark.parametrize("model", ["bov", "run"])
def test_of_one_model_evaluated_twice_the_later_epoch_counts(tmp_path, model) -> None:
    settings = {epoch: of_a_run(1, max_epochs=epoch) if model == "run" else "" for epoch in (9, 5)}  # as resumed
    folders = [evaluation_of(tmp_path / str(e), model, epoch=e, settings=settings) for e, settings in settings.items()]
    assert folders_read(*folders) == ["9"]


def test_of_one_model_evaluated_twice_at_one_epoch_the_later_evaluation_counts(tmp_path) -> None:
    folders = [evaluation_of(tmp_path / name, "vectors:a.npy") for name in ("newer", "older")]
    os.utime(folders[1] / "config.yaml", (0, 0))
    assert folders_read(*folders) == ["newer"]


def test_evaluations_of_seeds_are_one_model(tmp_path) -> None:
    folders = [evaluation_of(tmp_path / str(s), f"run_{s}", score=70 + s, settings=of_a_run(s)) for s in (1, 2, 3)]
    assert folders_read(*folders) == ["1", "2", "3"]
    (model,) = models(*folders)
    assert model.variant == ""
    assert probing_table([model], "downstream").rows[0].cells["MR"].score == 72


def test_evaluations_of_a_run_with_other_settings_are_no_seeds(tmp_path) -> None:
    settings = {"a": of_a_run(1), "b": of_a_run(2), "c": of_a_run(3, dim=64)}
    settings |= {"d": of_a_run(1, checkpoint="last.ckpt")}
    folders = [evaluation_of(tmp_path / name, f"run_{name}", settings=settings) for name, settings in settings.items()]
    reported = models(*folders)
    assert [[run.folder.name for run in model.runs] for model in reported] == [["a", "b"], ["c"], ["d"]]
    assert [model.variant.count("dim=") for model in reported] == [1, 1, 1]


def test_evaluations_of_two_runs_of_one_seed_are_no_seeds(tmp_path) -> None:
    folders = [evaluation_of(tmp_path / name, f"run_{name}", settings=of_a_run(1)) for name in "ab"]
    assert [model.variant for model in models(*folders)] == ["(model=run_a)", "(model=run_b)"]


def test_an_evaluation_is_a_part_of_the_run_that_it_scored(tmp_path) -> None:
    run = run_of(tmp_path / "a")
    for name, model in (("x", run), ("y", run / "checkpoints" / "best.ckpt")):
        (run / "checkpoints").mkdir(exist_ok=True)
        (run / "checkpoints" / "best.ckpt").touch()
        (reported,) = models(evaluation_of(tmp_path / name, model), run)
        assert probing_table([reported], "downstream").rows[0].cells["MR"].score == 80
        assert probing_table([reported], "probing").rows[0].cells["WC"].score == 52


@pytest.mark.parametrize(("ours", "others", "count"), [
    ("probes:\n  train_size: 1200\n", "probes:\n  train_size: 1200\n", 1),
    ("probes:\n  train_size: 1200\n", "probes:\n  train_size: 600\n", 2),
    ("probes:\n  train_size: 1200\n", "probes:\n  train_size: 1200\n  source: {tags: english/penn}\n", 1),
    ("corpus: {size: 400}\n", "corpus: {size: 400}\n", 1),
    ("corpus: {size: 400}\n", "corpus: {size: 500}\n", 2),
])  # fmt: skip
def test_another_readout_of_the_same_tasks_and_corpus_is_a_part_of_the_run(tmp_path, ours, others, count) -> None:
    run = with_settings(run_of(tmp_path / "run"), ours)
    assert len(models(run, evaluation_of(tmp_path / "more", run, "probing", task="WC2", settings=others))) == count


def test_an_evaluation_of_an_earlier_run_in_the_folder_is_no_part_of_the_later_one(tmp_path) -> None:
    run, before = run_of(tmp_path / "run"), evaluation_of(tmp_path / "x", tmp_path / "run", settings=of_a_run(1, 64))
    assert joined(run, before) == [sorted(row.task for row in read_run(run).rows), ["MR"]]


def test_of_copies_of_a_run_one_counts_with_its_evaluations(tmp_path, capsys) -> None:
    runs = [run_of(tmp_path / name) for name in "ab"]
    folders = [evaluation_of(run / "evaluations" / "x", run, score=at) for at, run in enumerate(runs)]
    (model,) = models_of(one_run_per_seed(map(read_run, [*runs, *folders])))
    assert probing_table([model], "downstream").rows[0].cells["MR"].score == 1
    assert capsys.readouterr().err == f"{runs[0]}: left out, as {runs[1]} has the same settings and seed\n"


@pytest.mark.parametrize(("settings", "files"), [("", 1), ("checkpoint: each epoch\n", 0)])
def test_tokens_of_which_only_the_last_scored_epoch_is_there_are_not_shown(tmp_path, settings, files) -> None:
    folder = evaluation_of(tmp_path / "scored", "run", settings=settings)
    (folder / TOKENS_FILE).touch()
    assert len(read_run(folder).files_named(TOKENS_FILE)) == files


@pytest.mark.parametrize(("settings", "epoch"), [("", 1), ("checkpoint: each epoch\n", 3)])
def test_evaluations_of_one_model_add_their_tasks_and_the_newest_score_counts(tmp_path, settings, epoch) -> None:
    new, old, more = (evaluation_of(tmp_path / n, "run", "use", task=n[0], settings=settings) for n in ("A", "A0", "B"))
    with_rows(old, *(replace(row, epoch=epoch, test_accuracy=9) for row in read_rows(old / "probes.csv")))
    os.utime(old / "config.yaml", (0, 0))
    (run,) = one_run_per_seed(map(read_run, (new, old, more)))
    assert sorted((row.task, row.epoch, row.test_accuracy) for row in run.rows) == [("A", 2, 80), ("B", 2, 80)]


@pytest.mark.parametrize(("other", "epochs"), [("each epoch", [[2, 3]]), ("last.ckpt", [[2], [3]])])
def test_the_order_of_evaluations_does_not_matter(tmp_path, other, epochs) -> None:
    """Those of several epochs add to one; of two epochs the best one is that of the run."""
    run = run_of(tmp_path / "run")
    best = evaluation_of(tmp_path / "a", run, settings="checkpoint: best.ckpt\n")
    more = evaluation_of(tmp_path / "b", run, epoch=3, settings=f"checkpoint: {other}\n")
    for folders in permutations((run, best, more)):
        scored = [[row.epoch for row in model.runs[0].rows if row.task == "MR"] for model in models(*folders)]
        assert scored == epochs


def test_no_two_models_have_one_name(tmp_path) -> None:
    settings = [f"{{a: {a}, b: {a + 1}, c: {a + 2}, d: {d}}}" for a, d in ((1, 10), (1, 20), (4, 30))]
    runs = [with_settings(run_of(tmp_path / str(at)), f"other: {text}\n") for at, text in enumerate(settings)]
    assert len({model.title for model in models(*runs)}) == 3  # the name has three settings at most


def test_a_report_made_elsewhere_finds_the_run_that_an_evaluation_names_from_where_it_was_made(tmp_path) -> None:
    run = run_of(tmp_path / "lab" / "runs" / "a")
    assert len(models(run, evaluation_of(tmp_path / "lab" / "evaluations" / "b", "runs/a"))) == 1


def joined(*evaluations: Path) -> list[list[str]]:
    """The tasks in each row of a report."""
    return [sorted(row.task for run in model.runs for row in run.rows) for model in models(*evaluations)]


def test_scores_of_one_layer_are_no_part_of_anothers(tmp_path) -> None:
    layers = [evaluation_of(tmp_path / k, "hf:name", "probing", task="WC", objective=f"layer {k}") for k in ("0", "12")]
    assert joined(*layers, evaluation_of(tmp_path / "x", "hf:name", objective="layer 12")) == [["WC"], ["MR", "WC"]]


@pytest.mark.parametrize("setting", ["embeddings: {path: %s.vec}\n", "corpus: {size: %s}\n", "checkpoint: %s.ckpt\n"])
def test_scores_of_a_model_made_otherwise_are_no_part_of_it(tmp_path, setting) -> None:
    probed = evaluation_of(tmp_path / "probed", "bov", "probing", task="WC", settings=setting % "1")
    scored = [evaluation_of(tmp_path / of, "bov", settings=setting % of) for of in ("1", "2")]
    assert joined(probed, scored[0]) == [["MR", "WC"]]
    assert joined(probed, scored[1]) == [["WC"], ["MR"]]


@pytest.mark.parametrize(("test", "count"), [("t", 1), ("other", 2)])
def test_epochs_evaluated_with_another_corpus_belong_to_the_run_by_their_test_items(tmp_path, test, count) -> None:
    run = with_settings(run_of(tmp_path / "run"), "corpus: {size: 400}\n")
    rows = read_rows(run / "probes.csv")
    settings = "corpus: {size: 500}\ncheckpoint: each epoch\n"
    evaluation = evaluation_of(tmp_path / "more", run, "probing", settings=settings)
    for folder, items in ((run, "t"), (evaluation, test)):
        with_rows(folder, *(replace(row, answers=Answers(items, np.ones(4, bool))) for row in rows))
    assert len(models(run, evaluation)) == count


@pytest.mark.parametrize(("again", "tasks"), [(80, [["CR", "MR"]]), (81, [["CR", "MR"], ["MR"]])])
def test_an_evaluation_that_repeats_scores_of_another_is_no_second_row(tmp_path, again, tasks) -> None:
    both, one = (evaluation_of(tmp_path / k, "hf:name", settings=f"probes: {{tasks: [{k}]}}\n") for k in ("a", "b"))
    with_rows(both, *(score_row(task, 80, "downstream", "logreg") for task in ("MR", "CR")))
    with_rows(one, score_row("MR", again, "downstream", "logreg"))
    assert joined(both, one) == tasks
    assert len(joined(one, both)) == len(tasks)


def test_two_evaluations_on_one_suite_stay_apart(tmp_path) -> None:
    five, ten = (evaluation_of(tmp_path / str(k), "hf:name", kfold=k) for k in (5, 10))
    assert [m.name for m in models(five, ten)] == [f"NMT En-Fr (downstream.kfold={k})" for k in (5, 10)]


@pytest.mark.parametrize(("setting", "count"), [
    ("downstream: {kfold: %s}", 2), ("probes: {classifier: {protocol: %s}}", 2), ("downstream: {root: %s}", 1),
    ("probes: {classifier: {memory_mb: %s}}", 1),
])  # fmt: skip
@pytest.mark.parametrize("reverse", [False, True])
def test_evaluations_of_one_suite_by_other_settings_are_no_one_row(tmp_path, setting, count, reverse) -> None:
    """Neither with one another nor with their run, though they have other tasks."""
    run, evaluations = run_of(tmp_path / "run"), []
    for task, value in (("MR", "a"), ("CR", "b")):
        folder = evaluation_of(tmp_path / task, run, task=task)
        text = (folder / "config.yaml").read_text().partition("downstream:")[0]
        (folder / "config.yaml").write_text(f"{text}{setting.replace('%s', value)}\n")
        evaluations.append(folder)
    assert len(models(run, *evaluations[:: -1 if reverse else 1])) == count
    with_rows(with_settings(run, f"{setting.replace('%s', 'a')}\n"), *read_rows(evaluations[0] / "probes.csv"))
    assert len(models(run, evaluations[1])) == count


def test_names_of_models_have_no_brackets_and_leave_out_what_is_not_set(tmp_path) -> None:
    corpora = ["{root: data/ewt, more: []}", "{root: data/sequoia, more: [data/captions/train.gz]}"]
    runs = [with_settings(run_of(tmp_path / str(at)), f"corpus: {text}\n") for at, text in enumerate(corpora)]
    names = [model.name for model in models(*runs)]
    assert names == ["NMT En-Fr (corpus.root=ewt)", "NMT En-Fr (corpus.more=train.gz, corpus.root=sequoia)"]


def test_settings_of_a_suite_that_one_model_alone_has_are_in_no_name_where_others_tell_them_apart(tmp_path) -> None:
    texts = "trainer: {max_epochs: 1}\n", "trainer: {max_epochs: 3}\ngeometry: {sentences: 1000}\n"
    runs = [with_settings(run_of(tmp_path / str(at)), text) for at, text in enumerate(texts)]
    assert [model.name for model in models(*runs)] == [f"NMT En-Fr (max_epochs={epochs})" for epochs in (1, 3)]
    same = [with_settings(run_of(tmp_path / name), text) for name, text in (("a", ""), ("b", "geometry: {draws: 9}\n"))]
    assert "NMT En-Fr (geometry.draws=9)" in [model.name for model in models(*same)]


def test_a_run_without_names_takes_them_from_its_folder(tmp_path) -> None:
    folder = tmp_path / "nli" / "mine" / "now"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("seed: 1\n")
    run = read_run(folder)
    assert (run.objective, run.encoder) == ("nli", "mine")


def test_the_shown_epoch_is_computed_once_for_all_rows(tmp_path, monkeypatch) -> None:
    run, asked, epoch = read_run(run_of(tmp_path / "run")), [], Run.epoch
    monkeypatch.setattr(Run, "epoch", lambda self, *which: asked.append(which) or epoch(self, *which))
    assert len(final_rows(run, "probing", "best", "mlp")) == 3
    assert len(asked) == 1
