"""Whether a setting has the type that the parameter of a class or function is annotated with."""

import inspect
import math
import types
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

SINGLE = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", Path: "a path"}
MOST_LETTERS = 4096  # of a text
LARGEST = 2**63  # of a whole number


@cache
def hints_of(target: str) -> Mapping[str, Any]:
    """The annotations of the parameters of a class or function; none of one that cannot be found or has none."""
    from hydra.utils import get_object

    try:
        found = get_object(target)
        made = found.__init__ if inspect.isclass(found) else found
        return get_type_hints(made)
    except Exception:  # instantiate says what is wrong with it
        return {}


def fits(hint: Any, value: Any) -> bool:
    """Whether a plain value, as YAML has it, is of this type. A number is always finite."""
    kind, inside = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return any(fits(one, value) for one in inside)
    if kind is Literal:
        return value in inside
    if hint is None or hint is type(None):
        return value is None
    if hint in SINGLE:
        return _is_single(hint, value)
    if hint is Any or isinstance(hint, TypeVar):
        return _is_plain(value)
    if kind is tuple and Ellipsis not in inside:
        return isinstance(value, list) and len(value) == len(inside) and all(map(fits, inside, value))
    of = kind or hint
    if inspect.isclass(of) and issubclass(of, Mapping):
        return isinstance(value, dict)
    if inspect.isclass(of) and issubclass(of, Iterable) and of is not str:
        return isinstance(value, list) and all(fits(inside[0] if inside else Any, one) for one in value)
    return isinstance(value, dict) and "_target_" in value  # another object: settings make it


def of_values(hint: Any) -> Any:
    """The type of the values of a mapping that a setting may be; None where it may be none, or of any values."""
    kind, inside = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return next(filter(None, map(of_values, inside)), None)
    return inside[1] if inspect.isclass(kind) and issubclass(kind, Mapping) and inside[1] in SINGLE else None


def meaning(hint: Any) -> str:
    """The type in the words of an error message."""
    kind, inside = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(meaning, inside)))
    if kind is Literal:
        return ", ".join(map(str, inside))
    if hint is type(None):
        return "null"
    of = kind or hint
    if hint in SINGLE:
        return SINGLE[hint]
    if inspect.isclass(of) and issubclass(of, Mapping):
        return "a group of settings"
    return "a list in brackets" if inspect.isclass(of) and issubclass(of, Iterable) else "settings with a _target_"


def _is_single(hint: type, value: Any) -> bool:
    if hint is bool or isinstance(value, bool):
        return hint is bool and isinstance(value, bool)
    if hint in (int, float):
        numbers = (int, float) if hint is float else int
        return isinstance(value, numbers) and _is_plain(value)
    return isinstance(value, str) and _is_plain(value)


def _is_plain(value: Any) -> bool:
    """A text of sensible length without a null character, a finite number, or lists of them."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, str):
        return len(value) <= MOST_LETTERS and "\0" not in value
    return not isinstance(value, int | float) or (
        math.isfinite(value) and (type(value) is float or abs(value) < LARGEST)
    )
