"""Checks a composed configuration before anything is built from it."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from omegaconf import DictConfig, OmegaConf

from common.command_line import fail


class Rule(NamedTuple):
    """What a setting must be: as text for the error message, and as a test."""

    meaning: str
    holds: Callable[[Any], bool]


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(value: Any, least: float, below: float = float("inf")) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value < below


def _all(values: Any, holds: Callable[[Any], bool]) -> bool:
    return isinstance(values, list) and bool(values) and all(map(holds, values))


def _names(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _part(value: Any) -> bool:
    """Whether Lightning accepts the value as a limit of batches, and it is above zero."""
    return value is None or _whole(value, 1) or (isinstance(value, float) and 0 < value <= 1)


COUNT = Rule("a whole number, 1 or more", lambda value: _whole(value, 1))
COUNT_OR_NULL = Rule("a whole number, 1 or more, or null", lambda value: value is None or _whole(value, 1))
EVEN_OR_NULL = Rule(
    "an even number, 2 or more, or null", lambda value: value is None or (_whole(value, 2) and value % 2 == 0)
)
PART = Rule("a part of the batches as 0.5 or 1.0, or a whole number of them, 1 or more", _part)
SHARE = Rule("a number from 0 to below 1", lambda value: _number(value, 0, 1))
SIZE = Rule("a whole number, 1 or more; null only with probes=senteval", COUNT_OR_NULL.holds)
RULES = {  # matched with the end of a setting's name, so they also apply to the parts of objective=multitask
    "seed": Rule("a whole number from 0 to 2^32 - 1", lambda value: _whole(value, 0) and value < 2**32),
    "checkpoint_every_n_steps": COUNT_OR_NULL,
    "trainer.max_epochs": Rule("a whole number, or -1 for no end", lambda v: v is None or _whole(v, -1)),
    "trainer.accumulate_grad_batches": Rule("1, or a larger datamodule.batch_size", lambda value: value == 1),
    "trainer.limit_train_batches": PART,
    "trainer.limit_val_batches": PART,
    "optimizer.lr": Rule("a number above 0", lambda value: _number(value, 0) and value > 0),
    "datamodule.batch_size": COUNT_OR_NULL,
    "datamodule.batch_tokens": COUNT_OR_NULL,
    "datamodule.max_words": COUNT,
    "datamodule.codes": COUNT,
    "datamodule.bag_words": COUNT,
    "datamodule.levels": COUNT,
    "datamodule.sentence_positions": COUNT,
    "datamodule.paragraph_positions": COUNT,
    "embeddings.dim": COUNT,
    "embeddings.epochs": COUNT,
    "embeddings.threads": COUNT,
    **dict.fromkeys([f"encoder.{name}" for name in ("dim", "layers", "kernel")], COUNT),
    "encoder.projection": COUNT_OR_NULL,
    **dict.fromkeys([f"objective.decoder_{name}" for name in ("embedding", "hidden", "layers")], COUNT),
    "objective.hidden": COUNT,
    "encoder.dropout": SHARE,
    "objective.dropout": SHARE,
    "probes.every_n_epochs": COUNT,
    "probes.train_size": SIZE,
    "probes.dev_size": SIZE,
    "probes.test_size": SIZE,
    **dict.fromkeys([f"discoeval.{split}_size" for split in ("train", "dev", "test")], EVEN_OR_NULL),
    "probes.tasks": Rule("a list in brackets, as [SentLen,WC]", _names),
    "probes.paths": Rule("a list in brackets, as [data/treebank]", _names),
    "classifier.widths": Rule("a list of whole numbers, 0 or more", lambda v: _all(v, lambda x: _whole(x, 0))),
    "classifier.dropouts": Rule("a list of numbers from 0 to below 1", lambda v: _all(v, SHARE.holds)),
    "classifier.l2": Rule("a list of numbers, 0 or more", lambda v: _all(v, lambda x: _number(x, 0))),
}


def mistakes(config: DictConfig) -> list[str]:
    """One line for each invalid value. Missing settings are not reported."""
    settings = OmegaConf.to_container(config, resolve=True)
    return [
        f"{name}={value}: give {rule.meaning}"
        for name, value in _flat(settings)
        for end, rule in RULES.items()
        if f".{name}".endswith(f".{end}") and not rule.holds(value)
    ]


def check(config: DictConfig) -> None:
    """Ends the program with a line for each setting that cannot be what it is."""
    if statuses := [fail(mistake) for mistake in mistakes(config)]:
        raise SystemExit(statuses[0])


def _flat(settings: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting with its full name; a list is one setting."""
    for key, value in settings.items():
        if isinstance(value, dict) and key != "settings":  # in objective=multitask they repeat its parts
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value
