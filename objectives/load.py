"""Loads the objective of a run: its decoder as a language model, or its loss. Nothing in its folder is executed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from datamodules.base import ResumableData
from datamodules.corpus import Corpus, exclude_sentences
from datamodules.excluded import read_left_out
from encoder_lab.errors import InputError
from encoder_lab.settings.build import build
from encoder_lab.settings.run_settings import leaves
from encoder_lab.storage.reads import read_reads, warn_of_changed_code
from encoders.load import SavedRun, import_class, load_encoder, matching_weights
from objectives.dev_loss import REMEDY, DevLoss
from objectives.likelihood import NoLikelihood, SentenceLikelihood
from objectives.objective import Objective

PACKAGES = ("objectives", "datamodules")


def load_likelihood(run: SavedRun, ends: bool = False) -> SentenceLikelihood:
    """The likelihood of a run; `ends`: also of the end of a sentence. Raises NoLikelihood, InputError."""
    objective = _objective_of(run)
    warn_of_changed_code(run.folder, [objective])
    if reason := objective.without_likelihood(run.config):
        raise NoLikelihood(reason)
    return objective.saved_likelihood(run, ends)


def load_dev_loss(run: SavedRun, device: str, cache: Path, allow: Sequence[str] = ()) -> DevLoss:
    """The loss of a run's objective on its own dev text. Raises InputError if it has none or the text changed."""
    objective, path = _objective_of(run, allow), run.folder / "config.yaml"
    if reason := objective.without_use(run.config):
        raise InputError(f"{run.folder}: its objective has no loss of changed vectors: {reason}; {REMEDY}")
    parts = {part: _without_optimizer(run.config[part]) for part in ("objective", "datamodule", "corpus")}
    targets = [str(value) for name, value in leaves(parts) if name.endswith("_target_")]
    classes = {each: import_class((*PACKAGES, *allow), each, (Objective, ResumableData, Corpus)) for each in targets}
    if foreign := [target for target, loaded in classes.items() if loaded is None]:
        raise InputError(f"{path}: a class there is {foreign[0]}; only those in {' and '.join(PACKAGES)}/ are loaded")
    warn_of_changed_code(run.folder, filter(None, classes.values()))
    seed = run.config.get("seed", 1)
    corpus = exclude_sentences(build(parts["corpus"]), read_left_out(run.folder))
    data: ResumableData = build(parts["datamodule"], corpus=corpus, cache=cache, seed=seed)
    recorded = read_reads(run.folder)
    if changed := [name for name, digest in data.contents.items() if recorded.get(f"text {name}", digest) != digest]:
        raise InputError(f"{run.folder}: its text has changed since it was trained: {', '.join(changed[:3])}; {REMEDY}")
    frozen = load_encoder(run, device, allow=allow)
    kwargs = {"encoder": frozen.encoder, "embedding": frozen.embedding, "data": data, "seed": seed, "optimizer": None}
    with torch.device("meta"):  # the weights come from the checkpoint
        module: Objective = build(parts["objective"], **kwargs)
    module.load_state_dict(matching_weights(run.checkpoint, module, "", run.weights), assign=True)
    return DevLoss(module.to(device), data, parts["objective"])


def _objective_of(run: SavedRun, allow: Sequence[str] = ()) -> type[Objective]:
    """The class of its objective. Raises InputError where it is none of ours."""
    settings, config = run.folder / "config.yaml", run.config
    if not all(isinstance(config.get(part), dict) for part in ("objective", "datamodule", "encoder")):
        raise InputError(f"{settings}: no objective, datamodule and encoder in it; copy the whole run folder")
    target = str(config["objective"].get("_target_"))
    objective = import_class(["objectives", *allow], target, Objective)
    if objective is None:
        raise InputError(f"{settings}: objective._target_ is {target}; only those in objectives/ are loaded")
    return objective


def _without_optimizer(settings: Any) -> Any:
    if isinstance(settings, dict):
        return {key: _without_optimizer(value) for key, value in settings.items() if key != "optimizer"}
    return [_without_optimizer(value) for value in settings] if isinstance(settings, list) else settings
