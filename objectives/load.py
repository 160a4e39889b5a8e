"""Loads the decoder of a run as a language model. Nothing in its folder is executed."""

from encoder_lab.errors import InputError
from encoders.load import SavedRun, class_in
from objectives.likelihood import NoLikelihood, SentenceLikelihood
from objectives.objective import Objective


def load_likelihood(run: SavedRun, ends: bool = False) -> SentenceLikelihood:
    """The likelihood of a run; `ends`: also score the mark that ends a sentence.

    Raises NoLikelihood where its objective has none, and InputError where a file is missing or damaged.
    """
    settings, config = run.folder / "config.yaml", run.config
    if not all(isinstance(config.get(part), dict) for part in ("objective", "datamodule")):
        raise InputError(f"{settings}: no objective and datamodule in it; copy the whole run folder")
    target = str(config["objective"].get("_target_"))
    objective = class_in(["objectives"], target, Objective)
    if objective is None:
        raise InputError(f"{settings}: objective._target_ is {target}; only those in objectives/ are loaded")
    if why := objective.without_likelihood(config):
        raise NoLikelihood(why)
    return objective.saved_likelihood(run, ends)
