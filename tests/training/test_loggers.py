"""TensorBoard shows what a run writes, read back from its files; loggers of other tools get the same, offline."""

import json
import math
import shutil
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import one_line_errors
from encoder_lab.settings.run import LOGGERS
from encoder_lab.storage.csv_files import read_csv
from encoder_lab.training.loggers import LOGGER_MAKERS, loggers_of, refuse_missing_packages
from encoder_lab.training.run_folder import refuse_links_and_nesting
from encoder_lab.training.tensorboard import FRAME_LINES, FramedLogger, TaskCharts, add_picture, add_settings
from probes.results import ProbeRow
from tests.asked import run_settings

SCORES = {"probing/SentLen": 61.5, "val/bleu": 3.25}


@pytest.fixture(autouse=True)
def offline(monkeypatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    for name in ("WANDB_X_DISABLE_STATS", "WANDB_X_DISABLE_META", "WANDB_X_DISABLE_MACHINE_INFO", "WANDB_DISABLE_GIT"):
        monkeypatch.setenv(name, "true")  # what costs seconds and is not looked at
    for name in ("WANDB_PROJECT", "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)


def log(run: Path, name: str, epoch: int) -> None:
    """What a process of a run logs: the settings, of which `trainer.` may change, and the scores of an epoch."""
    (logger,) = loggers_of([name], {"logger": [name], "seed": 7, "trainer": {"max_epochs": epoch}}, run)
    logger.log_metrics(SCORES, step=epoch)
    logger.save()
    logger.finalize("success")


def test_a_logger_that_is_not_there_is_refused(monkeypatch) -> None:
    assert set(LOGGER_MAKERS) == set(LOGGERS)
    with pytest.raises(InputError, match="choose some of tensorboard, csv, wandb, mlflow"):
        run_settings("logger=[csv,comet]")
    monkeypatch.setattr("encoder_lab.training.loggers.LOGGER_PACKAGES", {"comet": "comet-ml"})
    with pytest.raises(InputError, match="logger=comet: the package comet-ml is not installed; pip install comet-ml"):
        refuse_missing_packages(["csv", "comet"])


@pytest.mark.parametrize(("name", "setting", "value", "why"), [
    ("wandb", "WANDB_MODE", "online", "No API key configured. Use `wandb login`"),
    ("mlflow", "MLFLOW_TRACKING_URI", "nowhere://x", "unsupported URI 'nowhere://x'"),
])  # fmt: skip
def test_a_logger_that_cannot_log_there_says_why_in_one_line(
    tmp_path, monkeypatch, capsys, request, name, setting, value, why
) -> None:
    forget = getattr(pytest.importorskip(name), "teardown", lambda: None)  # wandb reads its settings once a process
    forget()
    request.addfinalizer(forget)
    for key, text in {setting: value, "NETRC": str(tmp_path / "netrc"), "WANDB_API_KEY": ""}.items():
        monkeypatch.setenv(key, text)
    with pytest.raises(SystemExit), one_line_errors(tmp_path):
        log(tmp_path, name, 1)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert why in line


def test_csv_has_the_rows_of_all_processes_of_a_run_also_of_one_that_was_killed(tmp_path) -> None:
    table = tmp_path / "csv" / "metrics.csv"
    for epoch in (3, 4, 5):
        log(tmp_path, "csv", epoch)
        if epoch == 4:
            table.rename(table.with_name("earlier.csv"))  # while Lightning's writer began
    rows = [(row["step"], float(row["probing/SentLen"]), float(row["val/bleu"])) for row in read_csv(table)]
    assert rows == [(step, 61.5, 3.25) for step in "345"]
    assert [path.name for path in table.parent.glob("*.csv")] == ["metrics.csv"]


def test_mlflow_has_scores_and_settings_and_a_resumed_run_is_the_same_run(tmp_path) -> None:
    pytest.importorskip("mlflow")
    run = tmp_path / "a #1 %20"  # a name with signs of addresses
    for epoch in (1, 2):
        log(run, "mlflow", epoch)
        refuse_links_and_nesting(run)  # does not raise, or the run could not be resumed
    (metric,) = run.glob("mlruns/*/*/metrics/probing/SentLen")
    assert [line.split()[1:] for line in metric.read_text().splitlines()] == [["61.5", "1"], ["61.5", "2"]]
    (seed,) = run.glob("mlruns/*/*/params/seed")
    assert seed.read_text() == "7"


def test_wandb_writes_offline_and_a_resumed_run_is_the_same_run_also_in_another_folder(tmp_path) -> None:
    wandb = pytest.importorskip("wandb")
    run = tmp_path / "run"
    log(run, "wandb", 3)
    wandb.finish()
    refuse_links_and_nesting(run)
    time.sleep(1)  # the tool names a folder by the second
    moved = Path(shutil.move(run, tmp_path / "moved"))
    log(moved, "wandb", 4)
    wandb.finish()
    files = sorted(moved.glob("wandb/offline-run-*/*.wandb"))
    assert len({file.name for file in files}) == 1  # the name of the run
    deadline, rows = time.monotonic() + 30, list[dict[str, float]]()
    while len(rows) < 2 and time.monotonic() < deadline:  # the tool's own process may still write
        rows = [row for file in files for row in history(file)]
    assert [row["trainer/global_step"] for row in rows] == [3, 4]
    assert all(row.items() >= SCORES.items() for row in rows)


def history(file: Path) -> Iterator[dict[str, float]]:
    """The scores in a file of Weights & Biases: protocol buffers in the log format of LevelDB, in blocks of 32 KB."""
    from wandb.proto.wandb_internal_pb2 import Record

    content, at, record = file.read_bytes(), 7, b""
    while at + 7 <= len(content):
        if at % 2**15 > 2**15 - 7:  # no room for a header: the rest of a block is empty
            at += -at % 2**15
        _, size, record_type = struct.unpack_from("<IHB", content, at)
        at += 7 + size
        record += content[at - size : at]
        if record_type in (1, 4):  # whole, or the last part
            items = Record.FromString(record).history.item
            record = b""
            if items:
                yield {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


def events_of(folder: Path) -> EventAccumulator:
    return EventAccumulator(str(folder)).Reload()


def test_the_settings_are_in_the_events_line_by_line(tmp_path) -> None:
    add_settings(tmp_path, "seed: 7\nencoder:\n  dim: 512")
    (event,) = events_of(tmp_path).Tensors("settings/text_summary")
    assert event.tensor_proto.string_val[0].decode() == "    seed: 7\n    encoder:\n      dim: 512"


def as_read(folder: Path, runs: list[str], tag: str) -> list[float]:
    """The values that TensorBoard's server reads: of several points at one step, and of later steps before it, none."""
    values = []
    for run in runs:
        line: dict[int, float] = {}
        for event in events_of(folder / run).Scalars(tag):
            line = {step: value for step, value in line.items() if step < event.step} | {event.step: event.value}
        values += line.values()
    return values


def ends(values: list[float]) -> tuple[float, float]:
    """TensorBoard's rule for the ends of an axis of more than two points, with outliers ignored."""
    points, last = sorted(values), len(values) - 1
    return points[math.ceil(last * 0.05)], points[math.floor(last * 0.95)]


@pytest.mark.parametrize(("suite", "chart"), [("probing", "probing"), ("selectivity", "selectivity points")])
@pytest.mark.parametrize("tasks", [1, 2, 10, 17])
@pytest.mark.parametrize("epochs", [1, 2, 5, 30])
def test_all_scores_are_inside_of_what_tensorboard_draws(tmp_path, tasks, epochs, suite, chart) -> None:
    charts = TaskCharts(None, tmp_path, lambda: tmp_path)  # type: ignore[arg-type]
    for epoch in range(epochs):
        names = [f"t{number}" for number in range(tasks)]
        charts._add_rows([ProbeRow(epoch, epoch, suite, t, "mlp", 1, 50 + epoch, 1, 1, {}, 1, 0.1) for t in names])
    assert ends(as_read(tmp_path, [*names, *FRAME_LINES], f"all tasks/{chart}")) == (0, 100)


@pytest.mark.parametrize("values", [[5.0], [0.0, 8.0], list(range(40)), [500 / n for n in range(1, 300)]], ids=len)
def test_all_points_of_other_curves_are_inside(tmp_path, values) -> None:
    run = tmp_path / "a $HOME"  # no variable
    logger = FramedLogger(run)
    for step, value in enumerate(values):
        logger.log_metrics({"val/bleu": value}, step)
    logger.finalize("success")
    low, high = ends(as_read(run / "tensorboard", [".", "lowest", "highest"], "val/bleu"))
    spare = 0.06 * np.ptp(values)
    assert min(values) - spare <= low <= min(values)
    assert max(values) <= high <= max(values) + spare


def test_the_picture_is_in_the_events_at_its_epoch(tmp_path) -> None:
    Image.fromarray(np.full((8, 12, 3), 200, np.uint8)).save(tmp_path / "curves.png")
    add_picture(tmp_path / "events", tmp_path / "curves.png", 9)
    (image,) = events_of(tmp_path / "events").Images("curves")
    assert (image.step, image.width, image.height) == (9, 6, 4)
