"""report.py scores: what it writes says what the run folders say."""

import math
from pathlib import Path

import numpy as np
import pandas
import pytest

from encoder_lab.errors import InputError
from encoder_lab.reports.models import models_of
from encoder_lab.reports.scores import as_csv, read_runs, read_scores, scores
from encoder_lab.reports.table import probing_table
from encoder_lab.storage.csv_files import upsert_csv
from probes.results import Answers, pack_correct, write_rows
from report import main
from tests.reports.small_runs import evaluation_of, of_a_run, run_of, score_row, with_rows, with_settings

REPORTS = {
    "table": ["suite=probing"], "training": ["published=none"], "findings": ["epoch=last"], "scores": [],
    "size": [], "curves": [], "correlation": ["published=true"],
}  # fmt: skip


@pytest.fixture
def runs(tmp_path) -> Path:
    """Two seeds of one model, another size that diverged, another encoder, an evaluation of a run, and answers."""
    folder = tmp_path / "runs"
    for name, settings in {"a": {}, "b": {"seed": 2, "more": 3.0}, "c": {"dim": 64, "dev": (1.0, math.nan)}}.items():
        run_of(folder / name, **settings)
    equal = run_of(folder / "f", encoder="bilstm_att", dev=(9.0, 9.0, 9.0))  # the lowest loss decides
    losses = [{"epoch": e, "val/bleu": 9.0, "val/loss": loss} for e, loss in ((1, 3.0), (2, 2.0), (3, 4.0))]
    upsert_csv(equal / "metrics.csv", losses, ("epoch",))
    upsert_csv(equal / "test.csv", [{"epoch": 2, "val/bleu": 8.0}], ("epoch",))
    with_settings(equal, "labels: {encoder: Attention, objective: Translation}\n")
    last = run_of(folder / "d", encoder="bilstm_last", score="val/perplexity")
    answers = Answers("items", np.arange(11) % 3 == 0)
    with_rows(last, score_row("WC", 50, reader="logreg", epoch=3, half=10, answers=answers))
    write_rows(folder / "c" / "probes.csv", [score_row("WC", math.nan, "use", "loss")])
    evaluation_of(folder / "e", folder / "a", settings=of_a_run(seed=1))
    return folder


@pytest.mark.usefixtures("plain_layout")
@pytest.mark.parametrize("report", REPORTS)
def test_a_report_from_the_file_is_the_report_from_the_folders(runs, tmp_path, report, capsys) -> None:
    file = tmp_path / "scores.csv"
    assert main(["scores", str(runs), f"out={file}"]) == 0
    out = [] if report in ("table", "training", "findings", "scores") else [f"out={tmp_path / 'picture.svg'}"]
    printed = []
    for source in (runs, file):
        capsys.readouterr()
        assert main([report, str(source), *REPORTS[report], *out]) == 0
        printed.append((capsys.readouterr().out, (tmp_path / "picture.svg").read_text() if out else ""))
    assert printed[0] == printed[1]
    assert printed[0][0]


def test_there_is_a_row_for_each_score_and_a_column_for_each_setting(runs, tmp_path) -> None:
    with_settings(runs / "b", 'corpus: {text: "a\\nb", flag: "true", size: null}\n')
    rows, file = scores(runs), tmp_path / "scores.csv"
    assert len(rows) == len({(row["run"], row["epoch"], row["suite"], row["task"], row["classifier"]) for row in rows})
    file.write_text(as_csv(rows[::-1]), encoding="utf-8")
    read = {run.folder.name: dict(run.settings) for run in read_runs([file])}
    assert read["e"].pop("model") == str(file.resolve() / "a")  # the run that it scored, also where the folders are not
    for run in read_runs([runs]):
        assert {**run.settings, **read[run.folder.name]} == {**read[run.folder.name], **run.settings}
        assert run.settings.keys() - read[run.folder.name].keys() <= {"model"}
    trained = [row["test_accuracy"] for row in rows if (row["run"], row["suite"]) == ("a", "training")]
    assert trained == ["5", "9", "7"]


@pytest.mark.parametrize("whole", [True, False])
def test_what_is_in_a_folder_and_in_files_is_one_run(runs, tmp_path, whole) -> None:
    every, some = tmp_path / "all.csv", tmp_path / "some.csv"
    every.write_text(as_csv(scores(runs)), encoding="utf-8")
    some.write_text(as_csv(scores(runs / "a", runs / "e")), encoding="utf-8")
    reported = models_of(read_runs([runs] if whole else [runs / "a"]))
    for paths in ([every, some], [some, every]) if whole else ([some],):
        joined = models_of(read_runs([runs if whole else runs / "a", *paths]))
        assert [(model.title, len(model.runs)) for model in joined] == [(m.title, len(m.runs)) for m in reported]
    assert {row.task for run in joined[0].runs for row in run.rows} == {"SentLen", "WC", "BShift", "MR"}
    assert len(read_runs([some, every])) == len(read_scores(every))


def test_two_files_of_one_run_are_one_seed_and_are_refused_where_they_differ(runs, tmp_path) -> None:
    files = [tmp_path / name for name in ("early.csv", "again.csv", "late.csv")]
    for file, score in zip(files, ("70.00", "70.00", "71.00"), strict=True):
        file.write_text(as_csv(scores(runs)).replace("70.00", score), encoding="utf-8")
    files[1].write_text(as_csv(scores(runs)[::-1]), encoding="utf-8")  # also in another order
    (tmp_path / "link.csv").symlink_to(files[0])
    for others in ([files[1]], [files[0]], [tmp_path / "link.csv"]):
        assert len(read_runs([files[0], *others])) == len(read_scores(files[0]))
    for first, name in ((files[0], "early.csv"), (runs, "a")):
        with pytest.raises(InputError, match=rf"late.csv: .* seed 1, has other scores in .*{name}; give one"):
            read_runs([first, files[2]])


def test_a_file_that_pandas_wrote_again_has_the_same_models(runs, tmp_path) -> None:
    """It writes 64 as 64.0 where another run has no size or epochs are parts, false as False and null as nothing."""
    write_rows(runs / "a" / "probes.csv", [score_row("WC", 9, epoch=0.5)])
    with_settings(runs / "a", "objective: {dropout: 0.0, select: null}\nembeddings: {freeze: false}\n")
    file, rewritten = tmp_path / "scores.csv", tmp_path / "rewritten.csv"
    file.write_text(as_csv(scores(runs)), encoding="utf-8")
    pandas.read_csv(file).to_csv(rewritten, index=False)
    sources = [runs], [rewritten], [file, rewritten]
    reported = [[(m.title, len(m.runs)) for m in models_of(read_runs(paths))] for paths in sources]
    assert reported == reported[:1] * 3
    assert all(main(["size", str(path), f"out={tmp_path / 'size.svg'}"]) == 0 for path in (file, rewritten))


def test_evaluated_seeds_and_what_was_stopped_are_the_same_from_a_file(tmp_path) -> None:
    scored = [evaluation_of(tmp_path / f"e{k}", f"/gone/{k}", "probing", settings=of_a_run(k)) for k in (1, 2, 3)]
    stopped = with_settings(run_of(tmp_path / "run"), "trainer: {max_epochs: 5}\n")
    unprobed = [with_rows(run_of(tmp_path / f"run{k}", seed=k)) for k in (1, 2, 3)]
    untrained = [with_rows(run_of(tmp_path / f"0{k}", seed=k, dev=(), objective="untrained")) for k in (1, 2, 3)]
    joined = [evaluation_of(tmp_path / f"{run.name} later", run) for run in unprobed]
    later = [evaluation_of(tmp_path / f"{run.name} later", run, objective="untrained", epoch=0) for run in untrained]
    probed = [run_of(tmp_path / f"probed{k}", seed=k) for k in (1, 2, 3)]
    more = [evaluation_of(tmp_path / f"{run.name} more", run, "coherence") for run in probed]
    for folders in ([*unprobed, *joined], [*untrained, *later], [*probed, *more], scored, scored[:1], [stopped]):
        file = tmp_path / "scores.csv"
        file.write_text(as_csv(sorted(scores(*folders), key=lambda row: row["suite"])), encoding="utf-8")
        assert sorted(as_csv(scores(file)).splitlines()) == sorted(file.read_text(encoding="utf-8").splitlines())
        (model,), (again,) = models_of(read_runs(folders)), models_of(read_runs([file]))
        assert len(again.runs) == len(model.runs)
        suite = model.runs[0].rows[0].suite
        ours, theirs = (probing_table([m], suite, published_names=[]).notes for m in (model, again))
        assert ours == theirs
        assert any("of 5" in note or "3 seeds" in note for note in ours)


def test_two_files_of_runs_on_other_data_are_no_seeds_of_one_model(tmp_path) -> None:
    files = []
    for seed, size in enumerate((300, 300, 2000)):
        run = with_settings(run_of(tmp_path / str(seed), seed=seed), f"corpus: {{size: {size}}}\n")
        files.append(tmp_path / f"{seed}.csv")
        files[-1].write_text(as_csv(scores(run)), encoding="utf-8")
    assert [(model.variant, len(model.runs)) for model in models_of(read_runs(files))] == [
        *(("(corpus.size=300)", 2), ("(corpus.size=2000)", 1)),
    ]


def test_scores_of_an_evaluation_are_said_to_be_by_its_classifiers_also_from_a_file(tmp_path) -> None:
    for seed, protocol in enumerate(("modern", "senteval")):
        made = f"made_with: {{commit: c{seed}}}\nprobes: {{classifier: {{protocol: modern}}}}\n"
        run = with_settings(run_of(tmp_path / str(seed), seed=seed), made)
        settings = f"checkpoint: best.ckpt\nprobes: {{classifier: {{protocol: {protocol}}}}}\n"
        evaluation_of(tmp_path / f"evaluated {seed}", run, kfold=5 + seed, score=80 - seed, settings=settings)
    file = tmp_path / "scores.csv"
    file.write_text(as_csv(sorted(scores(tmp_path), key=lambda row: row["suite"])))
    ours = ", ".join(f"protocol={name} folds (BiLSTM-max, NMT En-Fr)" for name in ("modern, 5", "senteval, 6"))
    evaluated = sorted(tmp_path.glob("evaluated *"))
    (both,) = models_of(read_runs([file, *evaluated]))  # each score counts once
    assert [run.evaluations for run in both.runs] == [[folder] for folder in evaluated]
    for path in (tmp_path, file):
        reported = models_of(read_runs([path]))
        notes = probing_table(reported, "downstream", published_names=[]).notes
        assert f"Our classifiers: {ours}." in notes
        assert "Seeds trained by different commits: BiLSTM-max, NMT En-Fr." in notes
        assert "Our classifiers: protocol=modern." in probing_table(reported, "probing", published_names=[]).notes


def test_a_model_with_the_name_of_a_run_is_not_that_run(tmp_path) -> None:
    folders = [run_of(tmp_path / "a"), evaluation_of(tmp_path / "b", "a")]
    (tmp_path / "scores.csv").write_text(as_csv(scores(*folders)), encoding="utf-8")
    assert len(models_of(read_runs([tmp_path / "scores.csv"]))) == len(models_of(read_runs(folders))) == 2


def test_a_file_without_scores_is_refused(runs, tmp_path, capsys) -> None:
    file = tmp_path / "none.csv"
    file.write_text(as_csv(scores(runs)).partition("\n")[0] + "\n", encoding="utf-8")
    assert main(["table", str(file)]) == 2
    assert "none.csv: no scores there" in capsys.readouterr().err


@pytest.mark.parametrize(("suite", "part", "warns"), [
    ("probing", 1, 0), ("probing", 100, 1), ("hard", 100, 1), ("selectivity", 100, 0),
])  # fmt: skip
def test_a_file_with_fractions_in_place_of_percent_is_read_with_a_warning(tmp_path, suite, part, warns, capsys) -> None:
    file, rows = tmp_path / "scores.csv", scores(run_of(tmp_path / "a"))
    probed = [row for row in rows if row["suite"] == "probing"]
    small = [row | {"suite": suite, "test_accuracy": str(float(row["test_accuracy"]) / part)} for row in probed]
    file.write_text(as_csv(small), encoding="utf-8")
    read_scores(file)
    assert capsys.readouterr().err.count(f"no score of {suite} is above 1%; if they are fractions") == warns


def test_scores_that_are_small_by_their_answers_are_no_fractions(tmp_path, capsys) -> None:
    row = scores(run_of(tmp_path / "a"))[0] | {"suite": "own", "test_accuracy": "0.5", "test": "items"}
    (tmp_path / "scores.csv").write_text(as_csv([row | {"right": pack_correct(np.arange(200) == 7)}]))
    read_scores(tmp_path / "scores.csv")
    assert not capsys.readouterr().err


def test_an_evaluation_of_a_run_that_only_a_file_has_is_said_not_to_join_it(tmp_path, capsys) -> None:
    run, file = run_of(tmp_path / "runs" / "a"), tmp_path / "scores.csv"
    file.write_text(as_csv(scores(run)), encoding="utf-8")
    scored = evaluation_of(tmp_path / "b", run, settings=of_a_run(seed=1))
    for sources, notes in (([run, scored], 0), ([file, scored], 1), ([run, file, scored], 0)):
        read_runs(sources)
        assert capsys.readouterr().err.count("not joined with the run of") == notes


def test_a_report_replaces_no_file_that_reports_read(tmp_path, capsys) -> None:
    run, file = run_of(tmp_path / "a"), tmp_path / "scores.csv"
    assert main(["scores", str(run), f"out={file}"]) == 0
    reads = {file: "this command reads that file", run / "probes.csv": "the table of a run"}
    for source, out in ((file, file), (run, run / "probes.csv")):
        before = out.read_bytes()
        assert main(["table", str(source), "format=csv", f"out={out}"]) == 2
        assert capsys.readouterr().err == f"error: out={out}: {reads[out]}; choose another name\n"
        assert out.read_bytes() == before


def test_a_folder_and_a_file_are_told_apart_by_what_both_say(tmp_path) -> None:
    more = "corpus: {size: 300}\n"
    runs = [with_settings(run_of(tmp_path / name, dim=dim), more) for name, dim in (("a", 64), ("b", 32), ("c", 16))]
    file = tmp_path / "b.csv"
    file.write_text(as_csv(scores(*runs[1:])), encoding="utf-8")
    assert [m.variant for m in models_of(read_runs([runs[0], file]))] == ["(dim=64)", "(dim=32)", "(dim=16)"]


@pytest.mark.parametrize(("seed", "size", "seeds"), [(2, 300, [2]), (2, 2000, [1, 1])])
def test_a_file_next_to_a_folder_is_another_seed_of_its_model(tmp_path, seed, size, seeds) -> None:
    """Not with other data."""
    folder, more = (
        with_settings(run_of(tmp_path / name, seed=s, more=points), f"corpus: {{size: {of}}}\n")
        for name, s, points, of in (("a", 1, 0.0, 300), ("b", seed, 3.0, size))
    )
    file = tmp_path / "b.csv"
    file.write_text(as_csv(scores(more)), encoding="utf-8")
    assert [len(model.runs) for model in models_of(read_runs([folder, file]))] == seeds


@pytest.mark.parametrize(("old", "new", "message"), [
    ("run,encoder", "run,model", r":1: no column encoder"),
    (",70.00,", ",many,", r":2: test_accuracy is 'many'"),
    ("val/bleu,,,5,", "val/bleu,,,high,", r": val/bleu is 'high'"),
    (",11:92", ",12:9", r": not the answers of a score"),
    ("a,bilstm_max", "a,bilstm", r":3: encoder is another than on line 2, of the same run; write"),
])  # fmt: skip
def test_a_damaged_file_names_its_line(runs, tmp_path, old, new, message) -> None:
    text, file = as_csv(scores(runs)), tmp_path / "scores.csv"
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_scores(file)
