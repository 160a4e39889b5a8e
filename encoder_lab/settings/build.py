"""From settings to objects: one of the program's frozen settings, or one of the class that `_target_` names."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, TypeVar, get_type_hints

from encoder_lab.errors import InputError, in_one_line
from encoder_lab.settings.known import HYDRA_KEYS
from encoder_lab.settings.run_settings import CLASS_KEY

T = TypeVar("T")


class ClassSettings(NamedTuple):
    """A class or function by its path, and the arguments that settings give to it."""

    target: str
    arguments: Mapping[str, Any] = {}

    @property
    def written(self) -> dict[str, Any]:
        return {CLASS_KEY: self.target, **self.arguments}

    def build(self, **extra: Any) -> Any:
        """The object, with arguments of the program in addition."""
        return build(self.written, **extra)


def refuse_missing_text(corpus: ClassSettings) -> None:
    """Raises InputError as the class of a corpus does, before slow imports; for our classes, which import little."""
    if corpus.target.startswith("datamodules."):
        corpus.build()


class SuiteSettings(NamedTuple):
    """A suite: the function that makes its tasks, the name of the group with its settings, and what is in it."""

    target: str
    group: str
    values: Mapping[str, Any]


def frozen_settings(settings_class: type[T], plain: Mapping[str, Any]) -> T:
    """The frozen settings of a program or a group, of plain data without mistakes; `written` gets all of it."""
    assert is_dataclass(settings_class)
    hints, values = get_type_hints(settings_class), {**plain, "written": plain}
    values["suites"] = {
        name: SuiteSettings(suite[CLASS_KEY], suite["settings"], plain[suite["settings"]])
        for name, suite in (plain.get("suites") or {}).items()
    }
    names = [field.name for field in fields(settings_class) if values.get(field.name, "???") != "???"]
    return settings_class(**{name: _frozen_value(hints[name], values[name]) for name in names})


def missing_settings(settings_class: type, plain: Mapping[str, Any], prefix: str = "") -> list[str]:
    """The settings without a default that are not there; with suite=[] there are no suites."""
    hints, names = get_type_hints(settings_class), []
    for setting in fields(settings_class):
        group, needed = plain.get(setting.name), setting.default is MISSING and setting.default_factory is MISSING
        if setting.name not in plain and needed and setting.name != "suites":
            names.append(f"{prefix}{setting.name}")
        elif isinstance(hint := hints[setting.name], type) and is_dataclass(hint) and isinstance(group, Mapping):
            names += missing_settings(hint, group, f"{prefix}{setting.name}.")
    return names


def _frozen_value(hint: Any, value: Any) -> Any:
    if is_dataclass(hint) and isinstance(hint, type):
        return frozen_settings(hint, value)
    if hint is ClassSettings:
        return ClassSettings(value[CLASS_KEY], {key: inner for key, inner in value.items() if key != CLASS_KEY})
    return tuple(value) if isinstance(value, list) else value


def import_object(target: str) -> Any:
    """The class or function with a path. Raises InputError where there is none."""
    module, _, name = target.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{CLASS_KEY}={target}: {in_one_line(error)}") from None


def build(described: Any, **extra: Any) -> Any:
    """What settings describe: a `_target_` is called with the settings next to it, those in them built before.

    `_partial_: true` gives a function that waits for other arguments, `_recursive_: false` the settings as they are.
    Raises InputError, also when the class fails.
    """
    if isinstance(described, list | tuple):
        return [build(part) for part in described]
    if not isinstance(described, Mapping):
        return described
    deep = described.get("_recursive_", True)
    settings = {key: value for key, value in described.items() if key not in HYDRA_KEYS and key not in extra}
    arguments = {key: build(value) if deep else value for key, value in settings.items()}
    if CLASS_KEY not in described:
        return arguments
    called = import_object(str(described[CLASS_KEY]))
    if described.get("_partial_"):
        return partial(called, **arguments, **extra)
    try:
        return called(**arguments, **extra)
    except (InputError, OSError):
        raise
    except Exception as error:  # the class may be of the user or of a library
        raise InputError(f"{described[CLASS_KEY]}: {type(error).__name__}: {in_one_line(error)}") from error
