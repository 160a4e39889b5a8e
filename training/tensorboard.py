"""What a run adds to its TensorBoard page in addition to the curves."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from torch.utils.tensorboard import SummaryWriter


def custom_layout(suites: Mapping[str, Sequence[str]], scores: Sequence[str]) -> dict:
    """The custom-scalars page: the tasks of each suite in one chart, the objective's scores in another."""
    charts: dict[str, list] = {
        f"{suite} scores by epoch": ["Multiline", [f"{suite}/{task}$" for task in tasks]]
        for suite, tasks in suites.items()
        if tasks
    }
    charts["the objective's own score by epoch"] = ["Multiline", [f"{score}$" for score in scores]]
    return {"what the encoder learns": charts}


def open_page(folder: Path, suites: Mapping[str, Sequence[str]], score: str, settings: str) -> None:
    """At the start: the layout of the custom-scalars page, and the run's settings as text."""
    with SummaryWriter(str(folder)) as writer:
        writer.add_custom_scalars(custom_layout(suites, [score]))
        writer.add_text("settings", "\n".join(f"    {line}" for line in settings.splitlines()))


def add_picture(folder: Path, picture: Path, epoch: int) -> None:
    """At the end: the picture of the curves."""
    with SummaryWriter(str(folder)) as writer:
        writer.add_image("curves", np.asarray(Image.open(picture).convert("RGB")), epoch, dataformats="HWC")
