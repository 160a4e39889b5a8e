"""What TensorBoard shows, read back from the event files."""

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from encoder_lab.training.tensorboard import TaskCharts, add_picture, open_page
from probes.results import ProbeRow


def events_of(folder: Path) -> EventAccumulator:
    return EventAccumulator(str(folder)).Reload()


def test_the_settings_are_in_the_events_line_by_line(tmp_path: Path) -> None:
    open_page(tmp_path, "seed: 7\nencoder:\n  dim: 512")
    (event,) = events_of(tmp_path).Tensors("settings/text_summary")
    assert event.tensor_proto.string_val[0].decode() == "    seed: 7\n    encoder:\n      dim: 512"


@pytest.mark.parametrize("tasks", [1, 2, 10, 40])
@pytest.mark.parametrize("epochs", [1, 2, 5, 30])
def test_all_points_are_inside_of_what_tensorboard_draws(tmp_path: Path, tasks: int, epochs: int) -> None:
    charts = TaskCharts(None, tmp_path, lambda: tmp_path)  # type: ignore[arg-type]
    for epoch in range(epochs):
        names = [f"t{number}" for number in range(tasks)]
        charts._add([ProbeRow(epoch, epoch, "probing", t, "mlp", 1, 50 + epoch, 1, 1, {}, 1, 0.1) for t in names])
    for tag, runs in (("all tasks/probing", [*names, "0", "100"]), ("probing/t0", ["0", "100"])):
        points = [event.value for run in runs for event in events_of(tmp_path / run).Scalars(tag)]
        points = sorted(points if tag != "probing/t0" else points + [50.0 + epoch for epoch in range(epochs)])
        last = len(points) - 1  # TensorBoard's rule for the ends of the axis, with outliers ignored
        assert (points[math.ceil(last * 0.05)], points[math.floor(last * 0.95)]) == (0, 100)


def test_the_picture_is_in_the_events_at_its_epoch(tmp_path: Path) -> None:
    Image.fromarray(np.full((8, 12, 3), 200, np.uint8)).save(tmp_path / "curves.png")
    add_picture(tmp_path / "events", tmp_path / "curves.png", 9)
    (image,) = events_of(tmp_path / "events").Images("curves")
    assert (image.step, image.width, image.height) == (9, 6, 4)
