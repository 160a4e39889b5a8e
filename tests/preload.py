"""Imported by the fork server: all that our commands import, also late.

The garbage collector would search the new modules again and again, a fifth of the time; and in each fork it would
search, and so copy, the memory that all forks share.
"""

import gc
from importlib import import_module
from pathlib import Path

from hydra._internal.hydra import Hydra

ROOT = Path(__file__).parents[1]
PACKAGES = ("common", "datamodules", "encoders", "evaluation", "objectives", "probes", "reports", "studies", "training")
HEAVY = (
    "torch",
    "torch._dynamo",
    "torch.utils.tensorboard",
    "pytorch_lightning",
    "sklearn.linear_model",
    "transformers",
    "nltk.lm",
    "matplotlib.pyplot",
)
OURS = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if not path.stem.startswith("__")
]

gc.disable()
for name in ("train", "evaluate", "report", *HEAVY, *OURS):
    import_module(name)
import_module("common.code").imported_by(ROOT / "train.py")  # it remembers what each of our files imports
Hydra.get_mode = lambda *_, **__: None  # it composes all settings only to read hydra.mode=, which no test gives
gc.freeze()
gc.enable()
