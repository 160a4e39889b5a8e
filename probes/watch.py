"""Probing inside any training: the scores of a model that trains."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning.utilities.seed import isolate_rng
from torch import nn

from encoder_lab.compute.devices import device_for, evaluation_mode
from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.settings.check import mistake
from encoder_lab.settings.types import Count
from probes.evaluation import Evaluation
from probes.geometry.history import compare_states, save_state
from probes.results import Epoch, ProbeRow, read_epoch, write_rows
from probes.share import SINGLE_PROCESS, Share
from probes.task import Task
from probes.vectors import EncodesSentences


def check_schedule(every_n_epochs: Any) -> int:
    """How many epochs lie between two probings. Raises InputError unless it is a whole number from 1 on."""
    if line := mistake("every_n_epochs", every_n_epochs, Count):
        raise InputError(line)
    return every_n_epochs


def probe_now(
    tasks: Sequence[Task],
    model: EncodesSentences | Model,
    module: nn.Module,
    results: str | Path,
    epoch: Epoch,
    step: int = 0,
    seed: int | None = None,
    device: str = "cpu",
    share: Share = SINGLE_PROCESS,
    cache: Path | None = None,
) -> list[ProbeRow]:
    """Score a model that trains; writes the rows to the file `results` and returns them.

    Random state and the modes of `module`, the network of which `model` is a part, stay as they were. The classifiers
    run on `device`. `share`: of this process, where several probe together. `cache`: a folder for the scores at step 0,
    which other runs share, of a model with a fingerprint. Raises InputError for a model without `encode`, and for what
    is no number of epochs or no device.
    """
    try:
        epoch = read_epoch(str(epoch).removesuffix(".0"))
    except ValueError:
        raise InputError(f"epoch={epoch}: give the epochs that are done, such as 2, or 0.25 within the first") from None
    if not hasattr(model, "encode"):
        remedy = 'give an object with this method, or encoder_lab.model.Model("its name", "", function)'
        raise InputError(f"the model: {type(model).__name__} has no method encode(sentences); {remedy}")
    results = Path(results)
    bfloat16 = getattr(model, "bfloat16", False) is True  # modules of torch have a method of this name
    base = model if isinstance(model, Model) else Model("the model", "", model.encode, bfloat16=bfloat16)

    def encode(sentences: list[str]) -> Any:
        with evaluation_mode(module), torch.no_grad():
            return model.encode(sentences)  # type: ignore[misc]

    current = base._replace(encode=base.encode and encode, epoch=epoch, step=step, device=device_for(device))
    with isolate_rng():
        evaluation = Evaluation(current, tasks, share, cache if step == 0 else None, seed, cache)
        rows = [score.row for score in evaluation.scores()]
        started = time.monotonic()
        saved = save_state(results.parent, evaluation, tasks)
        seconds = time.monotonic() - started  # of the subspaces
    del evaluation
    torch.cuda.empty_cache()  # what the classifiers needed is free for other processes while the model trains
    if share.rank == 0:
        shape = next((number for number, row in enumerate(rows) if row.suite == "geometry"), None)
        if shape is not None:
            rows[shape] = replace(rows[shape], seconds=rows[shape].seconds + seconds)
        write_rows(results, rows)
        rows += compare_states(results, epoch) if saved else []
    return rows
