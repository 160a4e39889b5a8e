from pathlib import Path

import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from datamodules.files import upsert_csv
from probes import curves
from probes.results import ProbeRow, write_rows
from probes.tensorboard import add_picture, custom_layout, open_page

TASKS = ("SentLen", "WC", "TreeDepth", "TopConst", "BShift", "Tense", "SubjNum", "ObjNum", "SOMO", "CoordInv")


def run_of(folder: Path, epochs: int, tasks: tuple[str, ...] = TASKS) -> Path:
    rows = [
        ProbeRow(epoch, epoch, "probing", task, "mlp", 50, 40 + 5 * place, 38 + 5 * place, 42 + 5 * place, {}, 1, 0.1)
        for epoch in range(epochs)
        for place, task in enumerate(tasks)
    ]
    write_rows(folder / "probes.csv", rows)
    if epochs > 1:
        upsert_csv(folder / "metrics.csv", [{"epoch": e, "val/bleu": 3.0 * e} for e in range(1, epochs)], ("epoch",))
    return folder


@pytest.mark.parametrize("epochs", [1, 2, 9])
def test_a_picture_is_drawn_for_any_number_of_epochs(tmp_path: Path, epochs: int) -> None:
    picture = curves.draw_curves(run_of(tmp_path, epochs), "val/bleu")
    assert Image.open(picture).size[0] > 1000


def test_one_chart_holds_all_tasks_and_another_the_score() -> None:
    charts = custom_layout(["SentLen", "WC"], ["val/bleu"])["what the encoder learns"]
    assert [tags for _, tags in charts.values()] == [["probe/SentLen$", "probe/WC$"], ["val/bleu$"]]


def test_the_page_holds_settings_and_picture(tmp_path: Path) -> None:
    picture = curves.draw_curves(run_of(tmp_path, 2), "val/bleu")
    open_page(tmp_path / "tensorboard", ["SentLen"], "val/bleu", "seed: 1")
    add_picture(tmp_path / "tensorboard", picture, 1)
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert events.Images("curves")[0].step == 1
    assert "settings/text_summary" in events.Tags()["tensors"]
