"""Every attack."""

from tests.attack import archives, checkpoints, choices, fasttext_models, names, outputs, paths, transformers_folders
from tests.attack.attack import Attack

MODULES = (outputs, fasttext_models, names, archives, paths, choices, checkpoints, transformers_folders)
ATTACKS: list[Attack] = [attack for module in MODULES for attack in module.ATTACKS]
