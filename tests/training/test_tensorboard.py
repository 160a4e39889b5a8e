"""What TensorBoard shows, read back from the event files."""

from pathlib import Path

import numpy as np
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.custom_scalar import layout_pb2

from training.tensorboard import add_picture, custom_layout, open_page


def events_of(folder: Path) -> EventAccumulator:
    return EventAccumulator(str(folder)).Reload()


def test_each_suite_has_a_chart_and_the_score_another() -> None:
    suites = {"probing": ["SentLen", "WC"], "downstream": ["MR"]}
    charts = custom_layout(suites, ["val/bleu"])["what the encoder learns"]
    tags = [tags for _, tags in charts.values()]
    assert tags == [["probing/SentLen$", "probing/WC$"], ["downstream/MR$"], ["val/bleu$"]]


def test_a_run_without_tasks_has_the_chart_of_its_score_only() -> None:
    assert len(custom_layout({"probing": []}, ["val/bleu"])["what the encoder learns"]) == 1


def test_the_layout_is_in_the_events(tmp_path: Path) -> None:
    open_page(tmp_path, {"probing": ["SentLen", "WC"]}, "val/bleu", "seed: 1")
    (event,) = events_of(tmp_path).Tensors("custom_scalars__config__")
    layout = layout_pb2.Layout.FromString(event.tensor_proto.string_val[0])
    assert [list(chart.multiline.tag) for chart in layout.category[0].chart] == [
        ["probing/SentLen$", "probing/WC$"],
        ["val/bleu$"],
    ]


def test_the_settings_are_in_the_events_line_by_line(tmp_path: Path) -> None:
    open_page(tmp_path, {"probing": ["WC"]}, "val/bleu", "seed: 7\nencoder:\n  dim: 512")
    (event,) = events_of(tmp_path).Tensors("settings/text_summary")
    assert event.tensor_proto.string_val[0].decode() == "    seed: 7\n    encoder:\n      dim: 512"


def test_the_picture_is_in_the_events_at_its_epoch(tmp_path: Path) -> None:
    Image.fromarray(np.full((4, 6, 3), 200, np.uint8)).save(tmp_path / "curves.png")
    add_picture(tmp_path / "events", tmp_path / "curves.png", 9)
    (image,) = events_of(tmp_path / "events").Images("curves")
    assert (image.step, image.width, image.height) == (9, 6, 4)
