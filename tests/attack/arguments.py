"""Odd values of arguments of Lightning's trainer and of torch's optimisers; paths of any letters on a command line."""

from inspect import signature
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import strategies as st

from encoder_lab.settings import check
from encoder_lab.settings.quoting import quoted, unquoted
from encoder_lab.training.build import trainable_optimizer
from tests.attack.attack import Attack, refused
from tests.attack.choices import ODD
from tests.parts import TORCH_OPTIMIZERS

TRAINER = sorted(signature(pl.Trainer).parameters)
OPTIMIZERS = {name: sorted(signature(cls).parameters.keys() - {"params"}) for name, cls in TORCH_OPTIMIZERS.items()}
VALUES = [*ODD, [0.9, 1.0], [0.9, 0.999], [-1, 0.5], 1.0, -1.0, 0.0]


def of_trainer(case: Any, _: Path) -> None:
    """Every argument with any value is judged in one line; a group of settings and a null character are refused."""
    name, odd = case
    value = ODD[odd]
    trainer = {"_target_": "pytorch_lightning.Trainer", name: value}
    named = [text for text in check.mistakes("train", {"trainer": trainer}) if text.startswith(f"trainer.{name}")]
    assert all("\n" not in text and len(text) < 1000 for text in named)
    harmful = value != value or value in (float("inf"), 10**30, "a\0b") or value == "x" * 5000
    assert named or not harmful, f"trainer.{name}={value!r} was accepted"


def of_optimizer(case: Any, _: Path) -> None:
    """It is refused in one line that names the optimiser, or takes a step."""
    name, which, odd = case
    setting = OPTIMIZERS[name][which % len(OPTIMIZERS[name])]
    settings = {"_target_": f"torch.optim.{name}", "_partial_": True, "lr": 0.01, setting: VALUES[odd]}
    if VALUES[odd] == "${seed}" or (isinstance(VALUES[odd], dict | list) and "_target_" in str(VALUES[odd])):
        return  # computed, which settings of a run never are
    message = refused(lambda: trainable_optimizer(settings, "cpu"))
    assert message is None or message.startswith("error: objective.optimizer."), message
    if message is None:
        weight = torch.nn.Parameter(torch.ones(2))
        weight.grad = torch.ones(2)
        trainable_optimizer(settings, "cpu")([weight]).step()


def of_path(text: Any, _: Path) -> None:
    """Hydra and our commands read a quoted text as it was."""
    (override,) = OverridesParser.create().parse_overrides([f"key={quoted(text)}"])
    assert override.value() == unquoted(quoted(text)) == text


_letters = st.characters(exclude_categories=["Cs", "Cc"])
_setting = st.tuples(st.sampled_from(sorted(OPTIMIZERS)), st.integers(0, 20), st.integers(0, len(VALUES) - 1))
ATTACKS = [
    Attack("trainer argument", st.tuples(st.sampled_from(TRAINER), st.integers(0, len(ODD) - 1)), of_trainer),
    Attack("optimiser setting", _setting, of_optimizer),
    Attack("quoted path", st.text(_letters, max_size=30).filter(lambda text: "${" not in text), of_path),
]
