"""Each number and switch of an encoder, an objective and its data changes the weights or a step, or is refused."""

import re
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch

from encoder_lab.errors import InputError
from encoder_lab.settings.run import RunSettings
from encoder_lab.settings.without_effect import unread_settings
from encoders.embedding import WordEmbedding
from tests.asked import run_settings
from tests.packages import ENCODERS, OBJECTIVES

PARTS = [f"encoder={name}" for name in ENCODERS]
PARTS += [f"objective={name}" for name in OBJECTIVES if name not in ("multitask", "untrained")]
PARTS += ["objective=nli objective.head=linear", "objective=discourse objective.losses=[nl]"]
SMALL = {"dim": 8, "projection": 6, "heads": 2, "feed_forward": 8, "decoder_embedding": 4, "decoder_hidden": 6}
TRIES = 60  # a larger number is a limit that these few sentences do not reach


def numbers(settings: RunSettings) -> dict[str, float]:
    """The numbers and switches of the encoder, the objective and its data, by name."""
    groups = {"encoder": settings.encoder, "objective": settings.objective, "datamodule": settings.datamodule}
    named = {f"{group}.{key}": value for group, part in groups.items() for key, value in part.arguments.items()}
    return {name: value for name, value in named.items() if isinstance(value, int | float)}


def other(value: float) -> float:
    if isinstance(value, bool):
        return not value
    return (5 if value > TRIES else 2 * value + value % 2) if isinstance(value, int) else value / 2 or 0.4


def first_step(settings: RunSettings, cache: Path) -> str:
    """What the weights, the first batch and its loss are."""
    data = settings.datamodule.build(corpus=settings.corpus.build(), cache=cache, seed=1)
    table = np.random.default_rng(1).normal(size=(len(data.vocabulary.words), 10)).astype(np.float32)
    torch.manual_seed(1)
    parts = {"encoder": settings.encoder.build(input_dim=10), "embedding": WordEmbedding(table), "data": data}
    module = settings.objective.build(**parts, seed=1, optimizer=partial(torch.optim.Adam, lr=0.1))
    module.log_score = lambda *_, **__: None
    batch = next(iter(data.train_dataloader()))
    shapes = [tensor.shape for tensor in torch.utils._pytree.tree_leaves(batch) if torch.is_tensor(tensor)]
    seen = [*module.state_dict().values(), module.training_step(batch, 0).detach()]
    return sha256(b"".join([str(shapes).encode(), *(tensor.numpy().tobytes() for tensor in seen)])).hexdigest()


@pytest.mark.parametrize("part", PARTS)
def test_each_number_of_a_part_has_an_effect_or_is_refused(part, lab) -> None:
    group, chosen = part.split("=")[0], ["corpus.size=200", "objective=nli", *part.split()]
    small = [f"{name}={SMALL[key]}" for name in numbers(run_settings(*chosen)) if (key := name.split(".")[1]) in SMALL]
    plain = run_settings(*chosen, *small)
    before = first_step(plain, lab.cache)
    for name, value in numbers(plain).items():
        if name.startswith("encoder.") != (group == "encoder"):
            continue
        changed = run_settings(*chosen, *small, f"{name}={str(other(value)).lower()}")
        try:
            same = first_step(changed, lab.cache) == before
        except InputError:
            continue
        idle = [pattern for settings in (plain, changed) for pattern, _ in unread_settings("train", settings.written)]
        assert same == any(re.fullmatch(pattern, name) for pattern in idle), name
