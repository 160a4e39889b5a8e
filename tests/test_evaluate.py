"""evaluate.py: any frozen model gets the scores that the callback would give it, once."""

import re
import shutil
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import torch
from omegaconf import DictConfig, OmegaConf

from encoder_lab.errors import InputError
from encoder_lab.reports.evaluations import WrittenScores
from encoder_lab.reports.evidence import evidence_of
from encoder_lab.reports.models import models_of, one_run_per_seed
from encoder_lab.reports.runs import read_run
from encoder_lab.settings.config_help import evaluate_help
from encoder_lab.storage.reads import READS_FILE
from encoders import load_encoder
from evaluate import CONFIGS, evaluate, print_tables
from probes.classifiers.grid import Grid
from probes.results import read_rows
from tests import commands
from tests.asked import evaluation
from tests.conftest import TINY, Lab
from tests.probes.discoeval.small_files import small_files
from tests.probes.downstream.small_files import folder_of_tasks
from tests.reports.small_runs import finding_of

SAME_SUITE = [text for text in TINY if text.startswith(("corpus.", "probes.", "embeddings."))]
DEFAULT = "widths: [50, 100, 200], dropouts: [0.0, 0.1, 0.2]"
COUNTED: list[str] = []


def scored(lab: Lab, out: Path, *more: str) -> list[WrittenScores]:
    widths = not any("downstream" in text for text in more)  # which a downstream task refuses
    same = [text for text in SAME_SUITE if widths or "classifier" not in text]
    return evaluate(evaluation(*same, f"cache={lab.cache}", f"out={out}", "published=null", *more))


def accuracies(done: WrittenScores) -> dict[str, tuple[float, float]]:
    return {e.row.task: (e.row.dev_accuracy, e.row.test_accuracy) for e in done.main}


def test_help_names_every_setting_as_one_types_it() -> None:
    settings, suite = (OmegaConf.load(CONFIGS / name) for name in ("evaluate.yaml", "suite/downstream.yaml"))
    assert isinstance(settings, DictConfig)
    names = [name for name in settings if name not in ("defaults", "hydra")]
    names += [f"downstream.{name}" for name in suite.downstream]
    names += [f"probes.classifier.{field.name}" for field in fields(Grid)]
    described = [line.partition("=")[0] for line in evaluate_help().partition("defaults:\n")[2].splitlines()]
    assert [name for name in names if f"  {name}" not in described] == []


def test_two_names_of_one_model_are_said(lab, tmp_path) -> None:
    with pytest.warns(UserWarning, match="model=untrained/bov: the same model as bov"):
        (done,) = scored(lab, tmp_path, "model=[untrained/bov,bov]", "probes.tasks=SentLen")
    assert done.model == "bov"


def test_a_run_gets_the_scores_and_answers_that_it_got_while_training(lab, finished_run, tmp_path) -> None:
    (done,) = scored(lab, tmp_path, f"model={finished_run}")
    epoch = done.main[0].row.epoch
    then = {r.task: r for r in read_rows(finished_run / "probes.csv") if r.epoch == epoch}
    rows = read_rows(done.folder / "probes.csv")
    assert [row.task for row in rows] == [e.row.task for e in done.main]
    assert {r.step for r in then.values()} == {done.main[0].row.step}
    for row in rows:
        before = then[row.task]
        assert row.answers.test == before.answers.test
        assert round(100 * row.answers.right.mean(), 2) == row.test_accuracy
        scores = row.dev_accuracy, row.test_accuracy
        assert scores == pytest.approx((before.dev_accuracy, before.test_accuracy), abs=0.01)
    assert len({row.answers.test for row in rows if row.answers}) == 3


def test_vectors_made_elsewhere_score_as_the_model_that_made_them(lab, finished_run, tmp_path) -> None:
    text, vectors = tmp_path / "all.txt", tmp_path / "all.npy"
    assert scored(lab, tmp_path, f"write_sentences={text}") == []
    np.save(vectors, load_encoder(finished_run).encode(text.read_text().splitlines()))
    elsewhere, here = scored(lab, tmp_path, f"model=[vectors:{vectors},{finished_run}]", f"sentences={text}")
    assert accuracies(elsewhere) == accuracies(here)


@pytest.mark.parametrize(("paths", "names"), [
    (("", ""), ["model=whole", "model=other"]),
    (("checkpoints/best.ckpt", "checkpoints/other.ckpt"), ["(other.ckpt) minus", "(best.ckpt), percentage points"]),
], ids=["runs", "checkpoints"])  # fmt: skip
def test_models_of_one_name_are_told_apart_in_every_table(lab, finished_run, tmp_path, capsys, paths, names) -> None:
    other = shutil.copytree(finished_run, tmp_path / "other")
    state = torch.load(other / "checkpoints" / "last.ckpt", weights_only=True)
    halved = {k: v * 0.5 if k.startswith("encoder.") else v for k, v in state["state_dict"].items()}
    torch.save(state | {"state_dict": halved}, other / (paths[1] or "checkpoints/best.ckpt"))
    done = scored(lab, tmp_path, f"model=[{finished_run / paths[0]},{other / paths[1]}]", "probes.tasks=[BShift]")
    assert done[0].folder != done[1].folder
    print_tables(done, evaluation("model=bov", "published=null"))
    printed = capsys.readouterr().out
    assert [name for name in names if name not in printed] == []


def test_an_evaluation_names_models_as_reports_do(lab, tmp_path, capsys) -> None:
    done = scored(lab, tmp_path, "model=[untrained/bilstm_max,majority,bov]", "probes.tasks=[BShift]")
    print_tables(done, evaluation("model=bov", "published=null"))
    printed = capsys.readouterr().out
    assert "A - B: Baselines, Majority vote minus BiLSTM-max, Untrained, percentage points" in printed
    assert printed.count("A - B with its 95% interval") == 1


@pytest.mark.parametrize(("model", "other"), [("bov", "embeddings.dim=8"), ("majority", "corpus.seed=2")])
def test_other_word_vectors_or_another_corpus_make_another_model_of_a_report(lab, tmp_path, model, other) -> None:
    asked = ["probes.tasks=[BShift]", f"model={model}"]
    done = [*scored(lab, tmp_path, *asked), *scored(lab, tmp_path, *asked, other)]
    models = models_of(one_run_per_seed(read_run(each.folder) for each in done))
    assert [len(each.runs) for each in models] == [1, 1]
    assert other in models[1].variant


@pytest.mark.parametrize(("corpus", "runs"), [("demo seed 1", [2]), ("another text", [1, 1])])
def test_evaluated_runs_that_differ_in_their_seed_are_one_model_of_a_report(
    lab, finished_run, tmp_path, corpus, runs
) -> None:
    other = shutil.copytree(finished_run, tmp_path / "other")
    (other / "config.yaml").write_text(re.sub("(?m)^seed: 1$", "seed: 2", (other / "config.yaml").read_text()))
    (other / READS_FILE).write_text((other / READS_FILE).read_text().replace("demo seed 1", corpus))
    done = scored(lab, tmp_path, f"model=[{finished_run},{other}]", "probes.tasks=[BShift]", "corpus.seed=2")
    assert [len(model.runs) for model in models_of(read_run(each.folder) for each in done)] == runs


@pytest.mark.parametrize(("settings", "seed"), [("", 1), ("protocol=senteval", 1111), ("protocol=senteval seed=5", 5)])
def test_the_seed_of_the_published_protocol_is_that_of_the_toolkit(lab, tmp_path, settings, seed) -> None:
    (done,) = scored(lab, tmp_path, "model=majority", "probes.tasks=[SentLen]", *settings.split())
    assert OmegaConf.load(done.folder / "config.yaml").seed == seed


def lengths(sentences: list[str]) -> np.ndarray:
    """A callable to be scored: says nothing but the length."""
    return np.array([[len(s.split()), 1.0] for s in sentences], dtype=np.float32)


def test_a_callable_that_knows_the_length_alone_reads_the_length(lab, tmp_path) -> None:
    more = ["probes.tasks=[SentLen,BShift]", "control=true", "mdl=true"]
    (done,) = scored(lab, tmp_path, "model=call:tests.test_evaluate:lengths", *more)
    scores = accuracies(done)
    assert scores["SentLen"][1] > 60 > scores["BShift"][1]
    measures = {(row.suite, row.task): row for row in done.measures}
    assert measures["control", "SentLen control per sentence"].test_accuracy < 40
    assert measures["selectivity", "SentLen"].test_accuracy > 20
    bits = [measures["bits", task].hyperparameters["compression"] for task in ("SentLen", "BShift")]
    assert bits[0] > 1.1 > bits[1]


def test_scoring_a_model_again_computes_nothing(lab, tmp_path, monkeypatch) -> None:
    asked = ["model=bov", "probes.tasks=[SentLen]", "control=true", "mdl=true"]
    (first,) = scored(lab, tmp_path, *asked)

    def computed(*_: object) -> None:
        pytest.fail("computed again")

    for name in ("classification.Classification.score", "evaluation.vectors_of", "bits.codes._linear_scores"):
        monkeypatch.setattr(f"probes.{name}", computed)
    (repeated,) = scored(lab, tmp_path, *asked)
    assert [e.row for e in repeated.main] == [e.row for e in first.main]
    assert repeated.measures == first.measures


def test_baselines_and_untrained_models_are_rows_like_any(lab, tmp_path, capsys) -> None:
    more = ["probes.tasks=[BShift]", "model=[bov,untrained/bilstm_last,majority,nb-uni-tfidf]"]
    done = scored(lab, tmp_path, *more)
    assert accuracies(done[2])["BShift"][1] == pytest.approx(50, abs=2)
    print_tables(done, evaluation("model=bov"))
    printed = capsys.readouterr().out
    names = "BoV", "Majority vote", "NB-uni-tfidf", "Untrained", "Hum. Eval.", "(Conneau et al. 2018, Table 2)"
    assert [name for name in (*names, "p, Holm") if name not in printed] == []


def test_a_baseline_has_controls_and_is_said_to_have_no_description_length(lab, tmp_path, capsys) -> None:
    (done,) = scored(lab, tmp_path, "probes.tasks=[BShift]", "model=majority", "control=true", "mdl=true")
    controls = [row.task for row in done.measures if row.suite != "bits"]
    assert controls == ["BShift control per word", "BShift control per sentence", "BShift"]
    assert "majority: no description length" in capsys.readouterr().err


FIXED = ["suite=downstream", "model=call:tests.test_evaluate:lengths", "downstream.kfold=2"]
MODELS = "model=[call:tests.test_evaluate:lengths,majority]"
CALL_FORM = "write call:package.module:function"
REFUSED = {
    "probes=none": "no tasks; give suite=",
    "probes.tasks=[]": "no tasks; give suite=",
    "model=[]": "model= is missing",
    "model=[bov,bov]": r"model=\[bov,bov\]: give each once",
    "write_sentences=a.txt": "writes and stops, so model= is not scored",
    "model=no/such/run": "no such run folder",
    "model=untrained/perceptron": "there are bigru_mean",
    "model=call:tests.test_evaluate:nothing": "nothing",
    **{f"model=call:{n}": CALL_FORM for n in ("tests.test_evaluate", ":lengths", ".test_evaluate:lengths")},
    "model=call:tests.test_evaluate:FIXED": "not a function",
    "model=vectors:/no/such.npy": "sentences=",
    "published=table2": "no published table 'table2'",
    "downstream.kfold=1": "downstream.kfold=1: give the number of folds, 2 or more",
    "downstream.tasks=SNLI": "SNLI: no such downstream task",
    "suite=downstream probes.classifier.widths=[100]": "no task here has a hidden layer; leave widths= and",
    "suite=downstream probes.classifier.reduction=sum": "reduction= is a setting of protocol=senteval",
    "suite=downstream model=[call:tests.test_evaluate:lengths,length]": "model=length: .* majority alone",
}


@pytest.mark.parametrize("setting", REFUSED)
def test_what_cannot_be_scored_is_refused_before_anything_is(lab, tmp_path, tasks, setting) -> None:
    models = [*FIXED, tasks] if "downstream" in setting else ["model=[majority,length]"]
    with pytest.raises(InputError, match=REFUSED[setting]):
        scored(lab, tmp_path / "out", *models, *setting.split())
    assert not (tmp_path / "out").exists()


def test_scores_by_logistic_regression_are_compared_with_the_papers_by_it(lab, tmp_path, capsys) -> None:
    linear = "probes.classifier.widths=[0]"
    done = scored(lab, tmp_path, "model=call:tests.test_evaluate:lengths", "probes.tasks=[BShift]", linear)
    print_tables(done, evaluation("model=bov", linear))
    printed = capsys.readouterr().out
    assert "by logistic regression, as evaluated" in printed
    assert "(Conneau et al. 2018, Table 4)" in printed


def test_a_broken_run_is_refused_before_any_task_is_built(lab, finished_run, tmp_path) -> None:
    broken = shutil.copytree(finished_run, tmp_path / "broken")
    (broken / "checkpoints" / "best.ckpt").write_bytes(b"PK")
    with pytest.raises(InputError, match="damaged"):
        scored(lab, tmp_path, f"model=[bov,{broken}]", "probes=trees", "probes.paths=[/no/such/trees]")


def fails(sentences: list[str]) -> np.ndarray:
    """A callable that cannot encode."""
    raise ValueError(f"no memory left for {len(sentences)}")


def test_what_was_scored_before_a_model_that_fails_is_shown(lab, tmp_path, capsys) -> None:
    models = "model=[call:tests.test_evaluate:lengths,call:tests.test_evaluate:fails]"
    with pytest.raises(InputError, match="fails: the function failed, ValueError: no memory"):
        scored(lab, tmp_path, models, "probes.tasks=[SentLen]")
    (written,) = (tmp_path / "probing").iterdir()
    assert f"{written}/probes.csv" in capsys.readouterr().out


@pytest.mark.parametrize("message", ["suite=nonsense", "protocol=nonsense", "device=gpu", "model= is missing"])
def test_a_wrong_setting_ends_the_command_in_one_line(message) -> None:
    setting = [] if "missing" in message else ["model=bov", message]
    assert message in commands.refusal("evaluate.py", *setting, "probes.tasks=[SentLen]")


@pytest.fixture
def tasks(tmp_path) -> str:
    return f"downstream.root={folder_of_tasks(tmp_path / 'tasks')}"


def test_downstream_tables_name_each_measure(lab, tmp_path, tasks, capsys) -> None:
    print_tables(scored(lab, tmp_path, *FIXED, tasks, MODELS), evaluation("suite=downstream", "model=bov"))
    printed = capsys.readouterr().out
    measures = ["Pearson's r times 100", "MRPC    accuracy 50.0; F1", "SICK-R  Pearson"]
    measures += ["STS12   Pearson, mean over domains 0.0; weighted mean 0.0, all pairs 0.0, Spearman mean"]
    assert [text for text in ("Majority vote", "Chance", *measures) if text not in printed] == []


def test_answers_are_kept_of_downstream_accuracies_and_predictions_of_correlations(lab, tmp_path, tasks) -> None:
    done = scored(lab, tmp_path, *FIXED, tasks, "downstream.tasks=[MR,SICK-R,STS12]", MODELS)
    (mr, relatedness, sts), (same, _, _) = (read_rows(each.folder / "probes.csv") for each in done)
    assert mr.answers.test == same.answers.test
    assert 100 * mr.answers.right.mean() == pytest.approx(mr.test_accuracy, abs=1)  # the mean over folds
    for row, domains in ((relatedness, 1), (sts, 5)):
        correlations = [domain.r for domain in row.answers.domains]
        assert (len(correlations), 100 * np.mean(correlations)) == (domains, pytest.approx(row.test_accuracy, abs=0.01))


def test_the_settings_of_the_classifiers_reach_the_downstream_tasks(lab, tmp_path, tasks) -> None:
    more = ["downstream.tasks=MR", "protocol=senteval", "probes.classifier.l2=[0.5]", "probes.classifier.max_passes=4"]
    summed = ["probes.classifier.reduction=sum"]
    (mean,), (total,) = (scored(lab, tmp_path, *FIXED, tasks, *more, *extra) for extra in ([], summed))
    assert list(accuracies(mean)) == ["MR"]  # one task needs no list
    assert mean.main[0].row.hyperparameters == {"l2": "0.5 0.5"}
    assert mean.folder != total.folder
    assert OmegaConf.load(mean.folder / "config.yaml").probes.classifier.protocol == "senteval"


def test_two_suites_are_scored_in_one_go_each_sentence_encoded_once(lab, tmp_path, tasks) -> None:
    COUNTED.clear()
    asked = ["suite=[probing,downstream]", "model=call:tests.test_evaluate:counted", "probes.tasks=[BShift]"]
    done = scored(lab, tmp_path, *asked, tasks, "downstream.kfold=2", "downstream.tasks=[MR,SICK-E]")
    assert [[e.row.task for e in d.main] for d in done] == [["BShift"], ["MR", "SICK-E"]]
    assert [d.folder.parent.name for d in done] == ["probing", "downstream"]
    assert len(COUNTED) == len(set(COUNTED))
    (alone,) = scored(lab, tmp_path, asked[1], asked[2], f"probes.classifier={{{DEFAULT}}}")
    assert accuracies(alone) == accuracies(done[0])


def counted(sentences: list[str]) -> np.ndarray:
    from tests import test_evaluate

    test_evaluate.COUNTED.extend(sentences)
    return lengths(sentences)


def test_discourse_tables_have_groups_their_mean_people_and_the_published_rows(lab, tmp_path, capsys) -> None:
    root = f"discoeval.root={small_files(tmp_path / 'published')}"
    done = scored(lab, tmp_path / "out", "suite=discoeval", MODELS, "published=paper", root)
    assert len(done[0].main) == 12
    print_tables(done, evaluation("suite=discoeval", "model=bov"))
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["model", "SP", "BSO", "DC", "SSP", "PDTB-E", "PDTB-I", "RST-DT", "avg."]
    rows = {line.split("  ")[1]: line.split()[-8:] for line in lines if line.startswith("  ")}
    assert rows["BERT-Base"] == ["53.1", "68.5", "58.9", "80.3", "41.9", "42.4", "58.8", "57.7"]
    assert rows["Human"][-3:] == ["77.3", "84.7", "87.0"]


def test_the_hidden_layer_of_dc_and_the_context_of_sp_are_left_out_on_request_as_findings_read(
    lab, tmp_path, capsys
) -> None:
    world = [f"discoeval.{split}_size=20" for split in ("train", "dev", "test")]
    asked = ["discoeval.tasks=[DC,SP]", "discoeval.analyses=[hidden_layer,context]", *world]
    done = scored(lab, tmp_path, "suite=discoeval", "model=call:tests.test_evaluate:lengths", *asked)
    print_tables(done, evaluation("suite=discoeval", "model=bov", "published=chen2019_table4"))
    printed = capsys.readouterr().out
    assert "DC without hidden layer" in printed.splitlines()[0]
    assert "52.0" in printed
    evidence = evidence_of(models_of(read_run(each.folder) for each in done))
    assert len(finding_of("context helps position", evidence).comparisons) == 1
