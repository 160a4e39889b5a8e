"""What is wrong with the settings of a command, as Hydra composed them: one line for each mistake."""

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from encoder_lab.errors import InputError, printable, shortened
from encoder_lab.settings.build import missing_settings
from encoder_lab.settings.declared import Parameter, absence_of, parameters
from encoder_lab.settings.evaluate import EvaluationSettings
from encoder_lab.settings.known import (
    HYDRA_KEYS,
    PART_PREFIX,
    PROGRAM_ARGUMENTS,
    own_files,
    unknown_setting_message,
)
from encoder_lab.settings.quoting import home_mistake
from encoder_lab.settings.run import RunSettings
from encoder_lab.settings.run_settings import CLASS_KEY, dotted_items
from encoder_lab.settings.without_effect import ineffective_settings

MISSING = "???"
PLAIN_VALUE_MESSAGE = "a text of sensible length, a finite number or a whole one below 2^63"
STRICT_CONFIG = ConfigDict(strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
PROGRAM_CLASSES: dict[str, type] = {"train": RunSettings, "evaluate": EvaluationSettings}
NAMES_OF_CHOICES = ("suites", "parts")  # groups of which the keys are names of suites and of objectives
LIBRARY_REQUIREMENTS = {  # what we ask of classes of libraries, in addition to what they declare
    "pytorch_lightning.Trainer": "encoder_lab.settings.run.Trainer",
    "torch.optim.": "encoder_lab.settings.run.Optimizer",
}
SET_BY_PROGRAM = {  # arguments that this program gives, and what the user gives instead
    "trainer.default_root_dir": "hydra.run.dir=",
    "trainer.plugins": "trainer.precision= or trainer.strategy=",
}

Plain = Mapping[str, Any]  # a group of settings
adapter_of = cache(partial(TypeAdapter, config=STRICT_CONFIG))
GroupParameters = Mapping[str, Parameter] | None  # of a group; None where it takes any setting


def mistakes_of_command(program: str, settings: Plain, named: Collection[str], arguments: Sequence[str]) -> list[str]:
    """A line for each mistake in a new run or evaluation, where each setting must have an effect."""
    return (
        list(_mistaken_removals(program, settings, arguments))
        or list(_settings_in_wrong_group(program, settings))
        or [f"{name}: missing; give it" for name in missing_settings(PROGRAM_CLASSES[program], settings)]
        or list(_mistaken_classes(settings))
        or [line for name, value in dotted_items(settings) if (line := home_mistake(name, value))]
        or mistakes(program, settings, named)
        or ineffective_settings(program, settings, arguments)
    )


def _mistaken_classes(settings: Plain) -> Iterator[str]:
    """A line for each class that is not there or lacks an argument, with the user's YAML file that names it."""
    for name, value in dotted_items(settings):
        if not isinstance(value, dict) or not (target := str(value.get(CLASS_KEY) or "")):
            continue
        group = PART_PREFIX.sub("", name)
        place = ", ".join([*map(str, own_files(group)), f"{name}.{CLASS_KEY}={target}"])
        if absent := absence_of(target):
            yield f"{place}: {absent}"
        elif group in PROGRAM_ARGUMENTS:
            provided = {*value, *PROGRAM_ARGUMENTS[group]}
            needed = [key for key, argument in (parameters(target) or {}).items() if argument.required]
            missing = (key for key in needed if key not in provided)
            yield from (f"{place}: it needs {key}; write it there, or give +{name}.{key}=" for key in missing)


def _mistaken_removals(program: str, settings: Plain, arguments: Sequence[str]) -> Iterator[str]:
    """A line for each `~name` of a user's class or of `tasks_for`, which would give it the default of its class."""
    for text in arguments:
        name = text.removeprefix("~").partition("=")[0]
        if text.startswith("~") and parameter_of(program, settings, name.split(".")):
            yield f"{text}: it needs a value; give {name}= instead"


def _settings_in_wrong_group(program: str, settings: Plain) -> Iterator[str]:
    """A line for each choice with settings of the whole command in its YAML file, without the line that says so."""
    declared = program_parameters(program, settings) or {}
    for group, node in settings.items():
        whole = isinstance(node, dict) and CLASS_KEY not in node and group not in NAMES_OF_CHOICES
        for key in node if whole else ():
            if key in declared and (isinstance(node[key], dict) or group not in declared):
                remedy = f"begin the YAML file of {group}= with # @package _global_"
                yield f"{group}.{key}: {remedy}; without it {key} stands below {group}"
                break


def mistakes(program: str, settings: Plain, referred: Collection[str] = ()) -> list[str]:
    """A line for each wrong value, suite without a group, and setting that neither code nor `referred` reads."""
    checker = _Checker(frozenset(name for name, _ in dotted_items(settings)), referred, settings.get("parts"))
    lines = list(checker.group_mistakes("", settings, program_parameters(program, settings)))
    groups = {name: suite.get("settings") for name, suite in ({} if lines else settings.get("suites") or {}).items()}
    remedy = "give the name of a group with the settings of the suite"
    lost = {name: group for name, group in groups.items() if not isinstance(settings.get(group), dict)}
    return lines + [f"suites.{name}.settings={group}: {remedy}" for name, group in lost.items()]


def program_parameters(program: str, settings: Plain) -> GroupParameters:
    """The settings of a program, and those of its suites."""
    declared = dict(parameters(f"{PROGRAM_CLASSES[program].__module__}.{PROGRAM_CLASSES[program].__name__}") or {})
    suites = settings.get("suites")
    for suite in suites.values() if isinstance(suites, dict) else ():
        if isinstance(suite, dict) and (parameter := (parameters(str(suite.get(CLASS_KEY))) or {}).get("settings")):
            declared.setdefault(str(suite.get("settings")), parameter)
    return declared


def group_parameters(node: Plain, parameter: Parameter | None, name: str) -> GroupParameters:
    """The settings of a group: those that its class takes, or those of its dataclass; and those of its `source`."""
    declared: GroupParameters = None
    if name.startswith("suites."):
        return parameters("encoder_lab.settings.run.SuiteEntry")
    if CLASS_KEY in node:
        target = str(node[CLASS_KEY])
        declared = parameters(target)
        for prefix, requirements in LIBRARY_REQUIREMENTS.items():
            if declared is not None and target.startswith(prefix):
                declared = {**declared, **(parameters(requirements) or {})}
    elif parameter and parameter.group:
        declared = parameters(parameter.group)
    source = node.get("source")
    if declared is not None and isinstance(source, dict) and CLASS_KEY in source:
        return {**(group_parameters(source, None, name) or {}), **declared}
    return declared


def parameter_of(program: str, settings: Plain, name: Sequence[str]) -> Parameter | None:
    """What declares the setting with a dotted name."""
    declared, node = program_parameters(program, settings), settings
    for depth, group in enumerate(name[:-1], 1):
        parameter, inner = (declared or {}).get(group), node.get(group)
        if not isinstance(inner, dict):
            return None
        declared, node = group_parameters(inner, parameter, ".".join(name[:depth])), inner
    return (declared or {}).get(name[-1])


class _Checker(NamedTuple):
    names: frozenset[str]
    referred: Collection[str]
    parts: Any  # of objective=multitask, which are repeated

    def group_mistakes(self, prefix: str, node: Plain, declared: GroupParameters, outer: Any = None) -> Iterator[str]:
        """The mistakes in a group of settings. `outer`: the group around it, from which it copies some."""
        for key, value in node.items():
            name = f"{prefix}{key}"
            if name in SET_BY_PROGRAM:
                yield f"{name}: set by this program; give {SET_BY_PROGRAM[name]}"
                continue
            copied = outer and key in outer and outer[key] == value
            if key in HYDRA_KEYS or copied or (key == "settings" and prefix and value == self.parts):
                continue
            if declared is not None and key not in declared and name not in self.referred:
                leaves = (leaf for leaf in dotted_items({name: value}) if not (leaf[1] and isinstance(leaf[1], dict)))
                inner, single = next(leaves)
                provided = PROGRAM_ARGUMENTS.get(prefix.removesuffix("."), ())
                names = {f"{prefix}{sibling}" for sibling in declared if sibling not in provided}
                advice = unknown_setting_message(PART_PREFIX.sub("", name), (self.names | names) - {name})
                yield f"{inner}={_short_text(single)}: {advice}"
            else:
                yield from self.value_mistakes(name, value, (declared or {}).get(key), node)

    def value_mistakes(self, name: str, value: Any, parameter: Parameter | None, parent: Plain) -> Iterator[str]:
        """The mistakes in one setting, and in those below it."""
        hint = parameter.hint if parameter else Any
        if isinstance(value, dict) and CLASS_KEY not in value and (value_type := _value_type(hint)) not in (None, Any):
            for key, inner in value.items():
                if line := mistake(f"{name}.{key}", inner, value_type):
                    yield line
                elif isinstance(inner, dict):
                    declared = group_parameters(inner, None, f"{name}.{key}")
                    yield from self.group_mistakes(f"{name}.{key}.", inner, declared)
        elif line := mistake(name, value, dict if parameter and parameter.group else hint):
            yield line
        elif isinstance(value, dict):
            outer = parent if name.endswith("source") else None
            yield from self.group_mistakes(f"{name}.", value, group_parameters(value, parameter, name), outer)


def refuse_wrong_fields(settings: object, group: str) -> None:
    """Raises InputError for the first field of a dataclass that is not what it declares."""
    for name, hint in get_type_hints(type(settings), include_extras=True).items():
        if line := mistake(f"{group}.{name}", getattr(settings, name), hint):
            raise InputError(line)


def mistake(name: str, value: Any, hint: Any) -> str:
    """What to give in place of a value that is not of a type; empty where it is."""
    if value == MISSING:
        return ""
    if not _is_plain_value(value):
        return f"{name}={_short_text(value)}: give {PLAIN_VALUE_MESSAGE}"
    if hint is Any:
        return ""
    adapter = adapter_of(hint)
    try:
        parsed = adapter.validate_json(json.dumps(value, default=str), strict=True)
        valid = isinstance(parsed, bool) == isinstance(value, bool)  # true is equal to 1
    except ValidationError:
        valid = False
    return "" if valid else f"{name}={_short_text(value)}: give {_allowed_values(adapter.json_schema())}"


def _short_text(value: Any) -> str:
    return shortened(printable(str(value)), 200)


def _value_type(hint: Any) -> Any:
    """The type of the values of a mapping that a setting may be; None where it may be none."""
    if isinstance(origin := get_origin(hint), type) and issubclass(origin, Mapping):
        return get_args(hint)[1]
    return next(filter(None, map(_value_type, get_args(hint))), None)


def _allowed_values(schema: Mapping[str, Any]) -> str:
    """What a JSON schema allows, in the words of an error message."""
    if "title" in schema:
        return str(schema["title"])
    if choices := schema.get("enum", [schema["const"]] if "const" in schema else None):
        *first, last = map(str, choices)
        return f"{', '.join(first)} or {last}" if first else last
    if schemas := schema.get("anyOf"):
        *parts, last = dict.fromkeys(map(_allowed_values, schemas))
        return f"{' or '.join(parts)}, or {last}" if parts else last
    minimum, maximum, lower, upper = map(schema.get, ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
    match schema.get("type"):
        case "integer" | "number" as json_type:
            bounds = [f"from {minimum}"] * (minimum is not None and (maximum or upper) is not None)
            bounds += [f"{minimum} or more"] * (minimum is not None and not bounds)
            bounds += [f"above {lower}"] * (lower is not None) + [f"to {maximum}"] * (maximum is not None)
            bounds += [f"to below {upper}"] * (upper is not None)
            noun = "a whole number" if json_type == "integer" else "a number"
            return " ".join([noun + "," * bool(bounds and bounds[0].endswith("more")), *bounds])
        case "array":
            item = _allowed_values(schema.get("items", {}))
            return "a list in brackets" + (f", each {item}" if "number" in item else "")
        case "object":
            return "a group of settings"
        case json_type:
            return {"boolean": "true or false", "null": "null", "string": "a text"}.get(str(json_type), "another value")


def _is_plain_value(value: Any) -> bool:
    """A text of sensible length without a null character, a finite number, or lists of them."""
    if isinstance(value, list):
        return all(map(_is_plain_value, value))
    if isinstance(value, str):
        return len(value) <= 4096 and "\0" not in value
    if isinstance(value, int | float):
        return math.isfinite(value) and (type(value) is float or abs(value) < 2**63)
    return True
