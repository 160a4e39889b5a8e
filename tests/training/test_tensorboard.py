"""What TensorBoard shows, read back from the event files."""

from pathlib import Path

import numpy as np
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from encoder_lab.training.tensorboard import add_picture, open_page


def events_of(folder: Path) -> EventAccumulator:
    return EventAccumulator(str(folder)).Reload()


def test_the_settings_are_in_the_events_line_by_line(tmp_path: Path) -> None:
    open_page(tmp_path, "seed: 7\nencoder:\n  dim: 512")
    (event,) = events_of(tmp_path).Tensors("settings/text_summary")
    assert event.tensor_proto.string_val[0].decode() == "    seed: 7\n    encoder:\n      dim: 512"


def test_the_picture_is_in_the_events_at_its_epoch(tmp_path: Path) -> None:
    Image.fromarray(np.full((8, 12, 3), 200, np.uint8)).save(tmp_path / "curves.png")
    add_picture(tmp_path / "events", tmp_path / "curves.png", 9)
    (image,) = events_of(tmp_path / "events").Images("curves")
    assert (image.step, image.width, image.height) == (9, 6, 4)
