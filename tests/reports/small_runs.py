"""Run folders and evaluations, as train.py and evaluate.py leave them, with scores that are easy to know again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from encoder_lab.reports.claims import CLAIMS
from encoder_lab.reports.evidence import Evidence
from encoder_lab.reports.findings import Finding, check_claims
from encoder_lab.reports.models import ReportedModel, models_of
from encoder_lab.reports.runs import read_run
from encoder_lab.storage.csv_files import upsert_csv
from probes.results import ProbeRow, write_rows

SCORES = {"SentLen": 70.0, "WC": 50.0, "BShift": 60.0}


def score_row(
    task: str, score: float, suite: str = "probing", reader: str = "mlp", epoch: float = 2, half: float = 2, **more: Any
) -> ProbeRow:
    """A score with an interval of `half` to each side; `more` are other fields of the row."""
    row = ProbeRow(epoch, int(epoch), suite, task, reader, 1.0, score, score - half, score + half, {}, 1, 0.1)
    return replace(row, **more)


def run_of(
    folder: Path,
    encoder: str = "bilstm_max",
    seed: int = 1,
    more: float = 0.0,
    dev: tuple[float, ...] = (5.0, 9.0, 7.0),
    score: str = "val/bleu",
    dim: int = 512,
    objective: str = "nmt_enfr",
) -> Path:
    """A run of three epochs; at epoch e every probe is e points above SCORES."""
    folder.mkdir(parents=True)
    config = f"seed: {seed}\nencoder_name: {encoder}\nobjective_name: {objective}\nencoder:\n  dim: {dim}\n"
    (folder / "config.yaml").write_text(config)
    scores = [(epoch, task, base + epoch + more) for epoch in range(4) for task, base in SCORES.items()]
    write_rows(folder / "probes.csv", [score_row(task, points, epoch=at, seed=seed) for at, task, points in scores])
    upsert_csv(
        folder / "metrics.csv", [{"epoch": e, "step": e, score: dev[e - 1]} for e in range(1, len(dev) + 1)], ("epoch",)
    )
    return folder


def with_settings(folder: Path, text: str) -> Path:
    """The run with more lines in its config.yaml."""
    with (folder / "config.yaml").open("a") as config:
        config.write(text)
    return folder


def with_rows(folder: Path, *rows: ProbeRow) -> Path:
    """The run with these probing scores alone."""
    (folder / "probes.csv").unlink()
    write_rows(folder / "probes.csv", rows)
    return folder


def models(*folders: Path) -> list[ReportedModel]:
    return models_of(map(read_run, folders))


def of_a_run(seed: int, dim: int = 512, max_epochs: int = 5, checkpoint: str = "best.ckpt") -> str:
    """What the config.yaml of an evaluation says of the run that it scored."""
    trainer = f"trainer: {{max_epochs: {max_epochs}}}"
    return f"checkpoint: {checkpoint}\nrun:\n  seed: {seed}\n  encoder: {{dim: {dim}}}\n  {trainer}\n"


def evaluation_of(
    folder: Path,
    model: Path | str,
    suite: str = "downstream",
    kfold: int = 10,
    score: float = 80,
    task: str = "MR",
    objective: str = "nmt_enfr",
    epoch: int = 2,
    settings: str = "",
) -> Path:
    """An evaluated model, as evaluate.py leaves it; `settings` are more lines of its config.yaml."""
    folder.mkdir(parents=True)
    names = f"encoder_name: bilstm_max\nobjective_name: {objective}\nmodel: {model}\n{settings}"
    names += "checkpoint: best.ckpt\n" if isinstance(model, Path) and "checkpoint:" not in settings else ""
    (folder / "config.yaml").write_text(f"{names}seed: 1\ndownstream:\n  kfold: {kfold}\n")
    write_rows(folder / "probes.csv", [score_row(task, score, suite, "logreg", epoch, test_low=75, test_high=85)])
    return folder


def finding_of(claim: str, evidence: Evidence) -> Finding:
    """What some evidence says of the claim of this name."""
    return check_claims([each for each in CLAIMS if each.name == claim], evidence)[0]
