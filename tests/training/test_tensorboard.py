"""What TensorBoard shows, read back from the event files."""

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from encoder_lab.training.tensorboard import FRAME_LINES, FramedLogger, TaskCharts, add_picture, add_settings
from probes.results import ProbeRow


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


@pytest.mark.parametrize("tasks", [1, 2, 10, 17])
@pytest.mark.parametrize("epochs", [1, 2, 5, 30])
def test_all_scores_are_inside_of_what_tensorboard_draws(tmp_path, tasks, epochs) -> None:
    charts = TaskCharts(None, tmp_path, lambda: tmp_path)  # type: ignore[arg-type]
    for epoch in range(epochs):
        names = [f"t{number}" for number in range(tasks)]
        charts._add_rows([ProbeRow(epoch, epoch, "probing", t, "mlp", 1, 50 + epoch, 1, 1, {}, 1, 0.1) for t in names])
    assert ends(as_read(tmp_path, [*names, *FRAME_LINES], "all tasks/probing")) == (0, 100)


@pytest.mark.parametrize("values", [[5.0], [0.0, 8.0], list(range(40)), [500 / n for n in range(1, 300)]], ids=len)
def test_all_points_of_other_curves_are_inside(tmp_path, values) -> None:
    logger = FramedLogger(tmp_path)
    for step, value in enumerate(values):
        logger.log_metrics({"val/bleu": value}, step)
    logger.finalize("success")
    low, high = ends(as_read(tmp_path / "tensorboard", [".", "lowest", "highest"], "val/bleu"))
    spare = 0.06 * np.ptp(values)
    assert min(values) - spare <= low <= min(values)
    assert max(values) <= high <= max(values) + spare


def test_the_picture_is_in_the_events_at_its_epoch(tmp_path) -> None:
    Image.fromarray(np.full((8, 12, 3), 200, np.uint8)).save(tmp_path / "curves.png")
    add_picture(tmp_path / "events", tmp_path / "curves.png", 9)
    (image,) = events_of(tmp_path / "events").Images("curves")
    assert (image.step, image.width, image.height) == (9, 6, 4)
