"""Loads the decoder of a run folder as a language model. Nothing in the folder is executed."""

from pathlib import Path

from omegaconf import OmegaConf

from encoder_lab.errors import InputError
from encoders.load import class_in, find_checkpoint, read_checkpoint, read_config
from objectives.likelihood import NoLikelihood, SavedRun, SentenceLikelihood
from objectives.objective import Objective


def load_likelihood(path: Path, ends: bool = False) -> SentenceLikelihood:
    """The likelihood of a run: its folder (the best checkpoint) or one of its `.ckpt` files.

    `ends`: also score the mark that ends a sentence. Raises NoLikelihood where its objective has none, and InputError
    where a file is missing or damaged.
    """
    checkpoint = find_checkpoint(path)
    run = checkpoint.parents[1]
    config = read_config(run)
    if not all(OmegaConf.is_dict(config.get(part)) for part in ("objective", "datamodule")):
        raise InputError(f"{run / 'config.yaml'}: no objective and datamodule in it; copy the whole run folder")
    target = str(config.objective.get("_target_"))
    kind = class_in(["objectives"], target, Objective)
    if kind is None:
        raise InputError(f"{run / 'config.yaml'}: objective._target_ is {target}; only those in objectives/ are loaded")
    if why := kind.without_likelihood(config):
        raise NoLikelihood(why)
    return kind.saved_likelihood(SavedRun(checkpoint, read_checkpoint(checkpoint)["state_dict"]), ends)
