"""Imported by the fork server: all that our commands import, also late.

The garbage collector would search the new modules again and again, a fifth of the time; and in each fork it would
search, and so copy, the memory that all forks share.
"""

import gc
from importlib import import_module

from hydra import compose, initialize_config_dir
from hydra._internal.hydra import Hydra

from tests import quick  # noqa: F401
from tests.packages import PACKAGES, ROOT

HEAVY = (
    "torch", "torch._dynamo", "torch.utils.tensorboard", "pytorch_lightning", "sklearn.linear_model", "transformers",
    "nltk.lm", "matplotlib.pyplot",
)  # fmt: skip
OURS = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if not path.stem.startswith("__")
]

gc.disable()
for name in ("train", "evaluate", "report", *HEAVY, *OURS):
    import_module(name)
code = import_module("encoder_lab.storage.code")
for package in PACKAGES:
    for path in (ROOT / package).rglob("*.py"):
        code.imported_files(path)  # it remembers what each file imports, and its hash
code.code_of(import_module("train").train)  # and the libraries
for program in ("train", "evaluate"):
    settings = import_module("encoder_lab.settings.known").known_settings(program)
    list(
        import_module("encoder_lab.settings.arguments").wrong_values(
            settings, program, [f"{n}=1" for n in settings.names]
        )
    )
with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):  # its parsers learn the grammar once
    compose("train", ["probes.tasks=[SentLen,WC]", "trainer.max_epochs=2", "hydra.run.dir=a/b"])
    compose("evaluate", [])
    for choice in ("objective=untrained", "objective=nli", "probes=none"):
        compose("train", [choice])
figure_module = import_module("encoder_lab.reports.figure")
figure = figure_module.Figure(figsize=(2.0, 2.0), layout="constrained")
figure.add_subplot().set(title="fonts are found once", xlabel="0")
blank = figure_module.render_figure(figure, "png")
# forks make figures as they are, but do not draw them, nor place their texts; tests of figures do, in their own process
figure_module.render_figure = lambda *_: blank
import_module("matplotlib.layout_engine").do_constrained_layout = lambda *_, **__: None
Hydra.get_mode = lambda *_, **__: None  # it composes all settings only to read hydra.mode=, which no test gives
gc.freeze()
gc.enable()
