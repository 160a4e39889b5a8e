"""Every attack."""

from importlib import import_module

from tests.attack.attack import Attack

MODULES = (
    *("outputs", "edits", "fasttext_models", "names", "archives", "paths", "choices", "arguments", "checkpoints"),
    *("transformers_folders", "reports_of_runs", "resumes", "texts"),
)
ATTACKS: list[Attack] = [attack for name in MODULES for attack in import_module(f"tests.attack.{name}").ATTACKS]
