"""One Python file of what an exported encoder needs: classes and functions of ours, without our imports."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.settings.declared import Definitions, definitions_in

REMEDY = "an export takes what is defined once at the top of a file and imported by its name: from FILE import NAME"
REMOVED_LINE = "\0"  # marks a line that is left out
QualifiedName = tuple[str, str]  # a module and a name in it


def bundled_source(roots: Iterable[Any], packages: Iterable[str]) -> str:
    """The source of `roots` and of all that they need from `packages`. Raises InputError for a name twice."""
    parts: dict[QualifiedName, str] = {}
    foreign: set[tuple[str, str, str]] = set()
    for root in roots:
        _collect_definitions(root.__module__, root.__name__, tuple(packages), parts, foreign)
    names = [name for _, name in parts]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        modules = sorted(module for module, name in parts if name in twice)
        raise InputError(f"{', '.join(twice)}: defined in {' and '.join(modules)}; rename one of them")
    return "\n\n\n".join(["\n".join(_import_statements(foreign)), *_group_constants(parts)]) + "\n"


def _collect_definitions(
    module: str, name: str, packages: tuple[str, ...], parts: dict[QualifiedName, str], foreign: set[Any]
) -> None:
    """Add a definition after everything that it uses."""
    path, source = _read_definitions(module)
    if name not in source.defined:  # imported there, or made by __getattr__
        value = getattr(import_module(module), name, None)
        if not isinstance(value, type | FunctionType):
            raise InputError(f"{module}: {name}: {REMEDY}")
        module, name = value.__module__, value.__name__
        path, source = _read_definitions(module)
    if (module, name) in parts:
        return
    parts[module, name] = ""  # entered before its body, as a definition may use itself
    node = source.defined[name]
    local = (part for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom))
    if own := [ast.unparse(part) for part in local if _names_one_of(packages, part)]:
        raise InputError(f"{module}: {own[0]}, within {name}: {REMEDY}")
    settings = [part for part in ast.walk(node) if isinstance(part, ast.arg) and _is_setting(part)]
    aside = {id(inner) for part in settings for inner in ast.walk(part)}
    named = [part for part in ast.walk(node) if isinstance(part, ast.Name) and id(part) not in aside]
    for used in dict.fromkeys(part.id for part in named):
        if used in source.defined:
            _collect_definitions(module, used, packages, parts, foreign)
        elif used in source.imported:
            origin, original = source.imported[used]
            if origin.split(".")[0] not in packages:
                foreign.add((origin, original, used))
            elif original != used:
                raise InputError(f"{module}: {used}: {REMEDY}")
            else:
                _collect_definitions(origin, original, packages, parts, foreign)
    del parts[module, name]
    first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])
    lines = _without_annotations(path.read_text(encoding="utf-8").split("\n"), settings)[first - 1 : node.end_lineno]
    parts[module, name] = "\n".join(line for line in lines if line != REMOVED_LINE)


def _names_one_of(packages: Iterable[str], statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether an import is of one of the packages, or relative."""
    if isinstance(statement, ast.ImportFrom):
        return statement.level > 0 or str(statement.module).split(".")[0] in packages
    return any(alias.name.split(".")[0] in packages for alias in statement.names)


def _is_setting(argument: ast.arg) -> bool:
    """Whether it is a setting with its range and meaning, which an exported encoder has no use for."""
    return argument.annotation is not None and ast.unparse(argument.annotation).startswith("Annotated[")


def _without_annotations(lines: Sequence[str], arguments: Sequence[ast.arg]) -> list[str]:
    """The lines without the annotations of these arguments; a line that is empty now is marked with REMOVED_LINE."""
    result = list(lines)
    for argument in arguments:
        assert argument.annotation
        row, end = argument.lineno - 1, argument.annotation.end_lineno
        assert end
        head = result[row][: argument.col_offset + len(argument.arg)]
        rest = result[end - 1][argument.annotation.end_col_offset :]
        result[row:end] = [REMOVED_LINE] * (end - 1 - row) + [head + rest]
    return result


@cache
def _read_definitions(module: str) -> tuple[Path, Definitions]:
    path = import_module(module).__file__
    if path is None:  # a package without __init__.py
        raise InputError(f"{module}: a folder, not a file; {REMEDY}")
    return Path(path), definitions_in(Path(path), module)


def _import_statements(foreign: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    for module, name, local in sorted(foreign, key=lambda entry: (bool(entry[1]), entry)):
        renamed = f" as {local}" if local not in (name or module.split(".")[0], name) else ""
        yield f"from {module} import {name}{renamed}" if name else f"import {module}{renamed}"


def _group_constants(parts: dict[QualifiedName, str]) -> Iterator[str]:
    """The definitions; constants next to each other stay together."""
    lines: list[str] = []
    for text in parts.values():
        if text.startswith(("class ", "def ", "@")):
            if lines:
                yield "\n".join(lines)
            lines = []
            yield text
        else:
            lines.append(text)
    if lines:
        yield "\n".join(lines)
