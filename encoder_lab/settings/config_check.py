"""Checks a composed configuration before anything is built from it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from omegaconf import DictConfig, OmegaConf

from encoder_lab.errors import printable, shortened
from encoder_lab.settings.command_line import fail
from encoder_lab.settings.setting_types import fits, hints_of, meaning, of_values

CONFIGS = Path(__file__).parents[2] / "configs"
GLOBAL = re.compile(r"^#\s*@package\s+_global_", re.MULTILINE)
PLAIN_VALUE = re.compile(r"\+{0,2}([a-z_][\w.]*)=([\w.:+-]{1,40})")
MISSING = "???"


class Rule(NamedTuple):
    """What a setting must be: as text for the error message, and as a test."""

    meaning: str
    holds: Callable[[Any], bool]


def _whole(value: Any, least: int, most: float = float("inf")) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _number(value: Any, least: float, below: float = float("inf")) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value < below


def _all(values: Any, holds: Callable[[Any], bool]) -> bool:
    return isinstance(values, list) and bool(values) and all(map(holds, values))


def _names(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _devices(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_whole(one, 0, 1024) for one in value)
    if isinstance(value, str):
        return value == "auto" or re.fullmatch(r"-1|\d{1,4}(,\d{1,4})*", value) is not None
    return value == -1 or _whole(value, 1, 1024)


def _part(value: Any) -> bool:
    """Whether Lightning accepts the value as a limit of batches, and it is above zero."""
    return value is None or _whole(value, 1) or (isinstance(value, float) and 0 < value <= 1)


def _only(value: Any, why: str) -> Rule:
    """The one value of an argument of Lightning's trainer that has no other effect here."""
    text = "null" if value is None else str(value).lower()
    return Rule(f"{text}: {why}", lambda v: type(v) is type(value) and v == value)


WITHOUT_EFFECT: dict[str, tuple[Any, str]] = {  # arguments of Lightning's trainer that can have no other value, and why
    "val_check_interval": (None, "a score is of a whole epoch; probes.steps= and checkpoints.steps= look within one"),
    "check_val_every_n_epoch": (1, "every epoch has a score; probes.every_n_epochs= makes probing rarer"),
    "overfit_batches": (0, "trainer=overfit trains on the same eight batches again and again"),
    "limit_test_batches": (None, "training has no test batches"),
    "limit_predict_batches": (None, "training predicts nothing"),
    "reload_dataloaders_every_n_epochs": (0, "the batches of an epoch depend on the seed and the epoch"),
    "enable_checkpointing": (True, "a run has checkpoints"),
    "use_distributed_sampler": (False, "our samplers share the batches among processes"),
    "barebones": (False, "a run has scores and checkpoints"),
    "model_registry": (None, "the model is in the folder of the run"),
    "enable_autolog_hparams": (True, "the settings are in config.yaml"),
}
STRATEGIES = ("auto", "ddp", "ddp_find_unused_parameters_true", "ddp_find_unused_parameters_false")
MOST = 10**9  # of any count: more is a slip of the finger, and would run for ever
MOST_ITEMS = 10**7  # of a split of a probing task; published are 100,000
DEVICE = re.compile(r"(cpu|cuda|mps|xpu|hpu|npu|xla)(:\d{1,4})?")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}$")
COUNT = Rule(f"a whole number from 1 to {MOST}", lambda value: _whole(value, 1, MOST))
COUNT_OR_NULL = Rule(f"{COUNT.meaning}, or null", lambda value: value is None or COUNT.holds(value))
EVEN_OR_NULL = Rule(
    f"an even number from 2 to {MOST_ITEMS}, or null",
    lambda value: value is None or (_whole(value, 2, MOST_ITEMS) and value % 2 == 0),
)
WIDTH = Rule("a whole number from 1 to 65536", lambda value: _whole(value, 1, 65536))
LAYERS_BUILT = Rule("a whole number from 1 to 1000", lambda value: _whole(value, 1, 1000))
ZERO_OR_MORE = Rule(f"a whole number from 0 to {MOST}", lambda value: _whole(value, 0, MOST))
ABOVE_ZERO = Rule("a number above 0", lambda value: _number(value, 0) and value > 0)
PART = Rule("a part of the batches as 0.5 or 1.0, or a whole number of them, 1 or more", _part)
SHARE = Rule("a number from 0 to below 1", lambda value: _number(value, 0, 1))
SIZE = Rule(
    f"a whole number from 1 to {MOST_ITEMS}; null only with probes=senteval and files",
    lambda value: value is None or _whole(value, 1, MOST_ITEMS),
)
NAME = Rule("a name; in quotes if it is a number", lambda value: isinstance(value, str) and bool(value))
NAME_OR_NULL = Rule(f"{NAME.meaning}, or null", lambda value: value is None or NAME.holds(value))
NAMES_OR_NULL = Rule(
    "a name, or a list in brackets, or null", lambda value: value is None or NAME.holds(value) or _names(value)
)
CACHE_OR_OFF = Rule("the name of a folder, or off", lambda v: NAME.holds(v) or v is None or v is False)
DEVICE_OR_NULL = Rule(
    "cpu, cuda, cuda:1, mps, xpu, hpu, npu or xla, or null", lambda v: v is None or DEVICE.fullmatch(str(v)) is not None
)
LIST = Rule("a list in brackets", lambda value: value is None or isinstance(value, list))
MODELS = Rule("a name, or several in brackets", lambda v: isinstance(v, str) or (_names(v) and bool(v)))
LAYERS = Rule("last, all, a number or several in brackets", lambda v: not isinstance(v, dict | float | bool))
PART_OF_ONE = Rule("a number from 0 to 1", lambda value: value == 1 or SHARE.holds(value))
STEPS = Rule("a list of steps, as [1,2,4,8]", lambda value: value == [] or _all(value, COUNT.holds))
RULES = {  # matched with the end of a setting's name, so they also apply to the parts of objective=multitask
    "seed": Rule("a whole number from 0 to 2^32 - 1", lambda value: _whole(value, 0) and value < 2**32),
    "early_stopping.patience": COUNT_OR_NULL,
    **dict.fromkeys(
        ["schedule.patience", "schedule.warmup"], Rule("a whole number, 0 or more", lambda v: _whole(v, 0))
    ),
    **dict.fromkeys([f"schedule.{name}" for name in ("shrink", "cut", "factor", "least", "end")], PART_OF_ONE),
    "schedule.steps": COUNT_OR_NULL,
    "checkpoints.keep": Rule("best_last or every", lambda value: value in ("best_last", "every")),
    "checkpoints.every_n_epochs": COUNT_OR_NULL,
    "checkpoints.steps": STEPS,
    "checkpoints.every_n_steps": COUNT_OR_NULL,
    "probes.steps": STEPS,
    "trainer.max_epochs": Rule("a whole number, or -1 for no end", lambda v: v is None or _whole(v, -1)),
    "trainer.accelerator": NAME,
    "trainer.devices": Rule("a number of devices, -1, auto, or a list as [0,1]", _devices),
    "trainer.log_every_n_steps": COUNT,
    "trainer.num_sanity_val_steps": ZERO_OR_MORE,
    "trainer.gradient_clip_val": Rule("a number, 0 or more, or null", lambda v: v is None or _number(v, 0)),
    "trainer.accumulate_grad_batches": Rule("1, or a larger datamodule.batch_size", lambda value: value == 1),
    "trainer.limit_train_batches": PART,
    "trainer.limit_val_batches": PART,
    **{f"trainer.{name}": _only(value, why) for name, (value, why) in WITHOUT_EFFECT.items()},
    "trainer.strategy": Rule(f"one of {', '.join(STRATEGIES)}", lambda v: v in STRATEGIES or isinstance(v, dict)),
    "trainer.num_nodes": COUNT,
    "trainer.callbacks": LIST,
    "trainer.logger": LIST,
    "logger": Rule("a name, or a list in brackets, as [csv]", lambda v: NAME.holds(v) or isinstance(v, list)),
    "optimizer.lr": ABOVE_ZERO,
    "corpus.size": COUNT_OR_NULL,
    "datamodule.batch_size": COUNT_OR_NULL,
    "datamodule.batch_tokens": COUNT_OR_NULL,
    "datamodule.max_words": COUNT,
    "datamodule.codes": COUNT,
    "datamodule.bag_words": COUNT,
    "datamodule.levels": COUNT,
    "datamodule.sentence_positions": COUNT,
    "datamodule.paragraph_positions": COUNT,
    "embeddings.dim": WIDTH,
    "embeddings.epochs": COUNT,
    "labels.colour": Rule(
        'null, or a colour in quotes, as "#D55E00"', lambda v: v is None or bool(COLOUR.match(str(v)))
    ),
    "embeddings.lowercase": Rule("true, false or auto", lambda value: isinstance(value, bool) or value == "auto"),
    "embeddings.scale": Rule("a number above 0, or null", lambda v: v is None or (_number(v, 0) and v > 0)),
    "embeddings.words": ZERO_OR_MORE,
    "embeddings.lr": ABOVE_ZERO,
    "embeddings.sampling": ABOVE_ZERO,
    "embeddings.bucket": COUNT,
    **dict.fromkeys(["embeddings.minn", "embeddings.maxn"], Rule("0 to 100", lambda value: _whole(value, 0, 100))),
    "embeddings.threads": Rule("a whole number from 1 to 1024", lambda value: _whole(value, 1, 1024)),
    "encoder.dim": WIDTH,
    "encoder.feed_forward": WIDTH,
    **dict.fromkeys(["encoder.layers", "encoder.kernel", "encoder.heads"], LAYERS_BUILT),
    "encoder.projection": Rule(f"{WIDTH.meaning}, or null", lambda v: v is None or WIDTH.holds(v)),
    **dict.fromkeys([f"objective.decoder_{name}" for name in ("embedding", "hidden")], WIDTH),
    "objective.decoder_layers": LAYERS_BUILT,
    "objective.hidden": WIDTH,
    "encoder.dropout": SHARE,
    "objective.dropout": SHARE,
    "probes.every_n_epochs": COUNT,
    "probes.train_size": SIZE,
    "probes.dev_size": SIZE,
    "probes.test_size": SIZE,
    **dict.fromkeys([f"discoeval.{split}_size" for split in ("train", "dev", "test")], EVEN_OR_NULL),
    **dict.fromkeys(["discoeval.root", "downstream.root"], NAME_OR_NULL),
    **dict.fromkeys(["discoeval.tasks", "downstream.tasks", "discoeval.analyses"], NAMES_OR_NULL),
    "probes.tasks": Rule("a name, or a list in brackets, as [SentLen,WC]", lambda v: isinstance(v, str) or _names(v)),
    "probes.paths": Rule("a list in brackets, as [data/treebank]", _names),
    "coherence.items": Rule(f"a whole number from 2 to {MOST_ITEMS}", lambda value: _whole(value, 2, MOST_ITEMS)),
    "downstream.kfold": Rule("a whole number from 2 to 1000", lambda value: _whole(value, 2, 1000)),
    "classifier.widths": Rule("a list of whole numbers, 0 or more", lambda v: _all(v, lambda x: _whole(x, 0))),
    "classifier.dropouts": Rule("a list of numbers from 0 to below 1", lambda v: _all(v, SHARE.holds)),
    "classifier.l2": Rule("a list of numbers, 0 or more", lambda v: _all(v, lambda x: _number(x, 0))),
}

OF_EVALUATION = dict.fromkeys(["sentences", "write_sentences", "published", "protocol"], NAME_OR_NULL)
OF_EVALUATION |= {"cache": CACHE_OR_OFF, "model": MODELS, "layers": LAYERS, "device": DEVICE_OR_NULL}
PLAIN = Rule("a text of sensible length, a finite number or a whole one below 2^63", partial(fits, Any))
ANY = Rule("a single value or a list", lambda value: fits(Any, value) and not isinstance(value, dict))


def mistakes(config: DictConfig) -> list[str]:
    """One line for each invalid value. Missing settings are not reported.

    A value must be in the range of RULES where there is one; else of the type that the class or function takes which
    gets it; else, where there is none, of the type of the values in our YAML files.
    """
    settings: Any = OmegaConf.to_container(config, resolve=True)
    wanted = _wanted(settings)
    rules = RULES | ({"cache": NAME} if "trainer" in settings else OF_EVALUATION)
    groups = [(name[:-1], node) for name, node in _nodes(settings) if name[:-1] in wanted]
    found = []
    for name, value in (*_flat(settings), *groups):
        ruled = [rule for end, rule in rules.items() if f".{name}".endswith(f".{end}")] or [wanted.get(name, ANY)]
        if not isinstance(value, dict):
            ruled.append(PLAIN)
        broken = [rule for rule in ruled if value != MISSING and not rule.holds(value)][:1]
        found += [f"{name}={shortened(printable(str(value)), 200)}: give {rule.meaning}" for rule in broken]
    return found


def refuse_wrong_values(arguments: Sequence[str], more: Mapping[str, Rule] | None = None) -> None:
    """Ends the program with a line for each plain value among the arguments that breaks its rule, before slow imports.

    `more`: rules of one command next to RULES. Lists, sweeps and interpolations are left to `check`.
    """
    found, rules = [], RULES | dict(more or {})
    for name, text in (match.groups() for match in map(PLAIN_VALUE.fullmatch, arguments) if match):
        broken = [rule for end, rule in rules.items() if f".{name}".endswith(f".{end}") and not rule.holds(_read(text))]
        found += [f"{name}={text}: give {rule.meaning}" for rule in broken[:1]]
    if statuses := [fail(mistake) for mistake in found]:
        raise SystemExit(statuses[0])


def _read(text: str) -> Any:
    """A plain value as Hydra reads it."""
    words = {"true": True, "false": False, "null": None, "infinity": text}  # Python's float reads the last too
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def check(config: DictConfig) -> None:
    """Ends the program with a line for each setting that cannot be what it is."""
    if statuses := [fail(mistake) for mistake in mistakes(config)]:
        raise SystemExit(statuses[0])


def _wanted(settings: Mapping[str, Any]) -> dict[str, Rule]:
    """The rule for the type of each setting."""
    rules = {name: Rule(_kinds(values), partial(_is_like, values)) for name, values in defaults().items()}
    found = {**dict(_flat(settings)), **{name[:-1]: node for name, node in _nodes(settings)}}
    for name, node in _nodes(settings):
        if name.startswith("suites."):  # functions; their settings are another group
            continue
        hints = hints_of(str(node["_target_"])) if "_target_" in node else {}
        for key in hints.keys() & node.keys():
            outer = name.removesuffix("source.")  # which gets the settings next to it
            rule = _of_type(hints[key])
            if (of_each := of_values(hints[key])) and isinstance(node[key], dict):
                rules |= {f"{outer}{key}.{inner}": _of_type(of_each) for inner in node[key]}
            rules[f"{outer}{key}"] = rule
            if f"{outer}{key}" not in found or found[f"{outer}{key}"] != found.get(f"{name}{key}"):
                rules[f"{name}{key}"] = rule
            elif outer != name:  # the same setting, which is reported once
                rules.pop(f"{name}{key}", None)
    return rules


def _of_type(hint: Any) -> Rule:
    return Rule(meaning(hint), partial(fits, hint))


def _nodes(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every group of settings, with what comes before the names of its settings."""
    yield above, settings
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _nodes(value, f"{above}{key}.")


@cache
def defaults() -> Mapping[str, Sequence[Any]]:
    """The values of each setting in our YAML files."""
    found: dict[str, list[Any]] = {}
    for path in (CONFIGS / "train.yaml", CONFIGS / "evaluate.yaml", *sorted(CONFIGS.rglob("*/*.yaml"))):
        group = path.relative_to(CONFIGS).parts[0] if path.parent != CONFIGS else ""
        if group in ("study", "experiment"):
            continue
        text = path.read_text(encoding="utf-8")
        settings = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
        for name, value in _flat(settings if not group or GLOBAL.search(text) else {group: settings}):
            found.setdefault(name, []).append(value)
    return found


def _is_like(values: Sequence[Any], value: Any) -> bool:
    """Whether a value is of the type of one of ours; where ours are null or computed, any but a group of settings."""
    known = [
        one for one in values if one is not None and not (isinstance(one, str) and ("${" in one or one == MISSING))
    ]
    if not known or (value is None and None in values):
        return ANY.holds(value)
    return any(fits(type(one), value) for one in known)


def _kinds(values: Sequence[Any]) -> str:
    return " or ".join(dict.fromkeys("null" if one is None else meaning(type(one)) for one in values))


def _flat(settings: Any, above: str = "", parts: Any = None) -> Iterator[tuple[str, Any]]:
    """Every setting with its full name; a list is one setting. `parts`: of objective=multitask, which are repeated."""
    parts = settings.get("parts") if not above else parts
    for key, value in settings.items():
        if isinstance(value, dict) and (key != "settings" or value != parts):
            yield from _flat(value, f"{above}{key}.", parts)
        else:
            yield f"{above}{key}", value
