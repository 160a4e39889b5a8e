"""Every attack."""

from tests.attack import (
    archives,
    arguments,
    checkpoints,
    choices,
    edits,
    fasttext_models,
    names,
    outputs,
    paths,
    reports_of_runs,
    resumes,
    texts,
    transformers_folders,
)
from tests.attack.attack import Attack

MODULES = (
    outputs, edits, fasttext_models, names, archives, paths, choices, arguments, checkpoints, transformers_folders,
    reports_of_runs, resumes, texts,
)  # fmt: skip
ATTACKS: list[Attack] = [attack for module in MODULES for attack in module.ATTACKS]
