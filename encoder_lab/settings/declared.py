"""The settings of a class or function: the annotated parameters of its signature, read from its source."""

import ast
import re
import sys
import typing
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field, WithJsonSchema

from encoder_lab.errors import IMPORT_REMEDY
from encoder_lab.settings.run_settings import CLASS_KEY

BUILTIN_TYPES = {builtin.__name__: builtin for builtin in (int, float, str, bool, list, dict, tuple)} | {"None": None}
TYPING_NAMES = ("Annotated", "Any", "Iterable", "Literal", "Mapping", "Optional", "Sequence", "Union")


class _AnyClassMeta(type):
    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls


class AnyClass(metaclass=_AnyClassMeta):
    """In an annotation: any class that a setting can be only by a `_target_`, as an encoder or a function."""

    def __class_getitem__(cls, _: Any) -> type:
        return cls

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: Any) -> Any:
        return handler.generate_schema(SETTINGS_WITH_CLASS)


def _require_class(settings: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(settings.get(CLASS_KEY), str):
        raise ValueError
    return settings


SETTINGS_WITH_CLASS = Annotated[
    dict[str, Any], AfterValidator(_require_class), WithJsonSchema({"title": f"settings with a {CLASS_KEY}"})
]


class Parameter(NamedTuple):
    """One setting: where it is declared."""

    module: str
    annotation: ast.expr | None
    required: bool = False  # it has no default

    @property
    def hint(self) -> Any:
        """Its type; Any where that cannot be told from the source."""
        try:
            return evaluate_expression(self.module, self.annotation) if self.annotation else Any
        except Exception:  # the annotation may be of any library
            return Any

    @property
    def description(self) -> str:
        """What it means, in one line."""
        metadata = reversed(getattr(self.hint, "__metadata__", ()))
        texts = (item if isinstance(item, str) else getattr(item, "description", "") for item in metadata)
        return next(filter(None, texts), "")

    @property
    def group(self) -> str | None:
        """The dataclass with its settings, where it is a group of them."""
        names = [node.id for node in ast.walk(self.annotation or ast.Tuple([])) if isinstance(node, ast.Name)]
        return next((f"{entry[0]}.{entry[1].name}" for name in names if (entry := _dataclass(self.module, name))), None)


class Definitions(NamedTuple):
    """The definitions and imports at the top of a module."""

    defined: Mapping[str, ast.stmt]
    imported: Mapping[str, tuple[str, str]]  # local name: module and name there; the name is empty for a module


def parameters(target: str) -> Mapping[str, Parameter] | None:
    """The settings of a class, dataclass or function by name; None where it cannot be found, or takes any."""
    module, _, name = target.rpartition(".")
    entry = find_definition(module, name)
    return _parameters_of_node(*entry) if entry else None


@cache
def _parameters_of_node(module: str, node: ast.stmt) -> Mapping[str, Parameter] | None:
    if isinstance(node, ast.FunctionDef):
        return _parameters_of_signature(module, node.args)
    if not isinstance(node, ast.ClassDef):
        return None
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name in ("__init__", "__new__"):
            args = _parameters_of_signature(module, part.args)
            return args and {name: parameter for name, parameter in args.items() if name != part.args.args[0].arg}
    bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
    definitions = [entry for base in bases if (entry := find_definition(module, base))]
    inherited = next((fields_of_base for entry in definitions if (fields_of_base := _parameters_of_node(*entry))), {})
    annotated = [part for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)]
    no_setting = "field("  # its default
    fields = [part for part in annotated if not ast.unparse(part).partition(" = ")[2].startswith(no_setting)]
    if "dataclass" in "".join(map(ast.unparse, node.decorator_list)) or "NamedTuple" in bases:
        return {**inherited, **{ast.unparse(p.target): Parameter(module, p.annotation) for p in fields}}
    return inherited


def _parameters_of_signature(module: str, signature: ast.arguments) -> Mapping[str, Parameter] | None:
    if signature.kwarg:
        return None
    arguments = [*signature.posonlyargs, *signature.args]
    required = {*arguments[: len(arguments) - len(signature.defaults)]}
    required |= {arg for arg, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True) if not default}
    arguments += signature.kwonlyargs
    return {argument.arg: Parameter(module, argument.annotation, argument in required) for argument in arguments}


def _dataclass(module: str, name: str) -> tuple[str, ast.ClassDef] | None:
    match find_definition(module, name):
        case source, ast.ClassDef() as node if "dataclass" in "".join(map(ast.unparse, node.decorator_list)):
            return source, node
    return None


@cache
def find_definition(module: str, name: str) -> tuple[str, ast.stmt] | None:
    """The module where something is defined and its definition, also where `module` only imports it or its package."""
    top = _definitions_of_module(module)
    first, _, rest = name.partition(".")
    if first not in top.imported:
        return (module, top.defined[name]) if name in top.defined else None
    source, original = top.imported[first]
    if not original and source.startswith(f"{first}."):  # `import torch.optim` gives the name torch
        source = first
    parent, _, last = ".".join(filter(None, [source, original, rest])).rpartition(".")
    if not parent or (parent, last) == (module, name):  # a module: `from torch import nn` in torch itself
        return None
    return find_definition(parent, last)


@cache
def _definitions_of_module(module: str) -> Definitions:
    path = file_of(module)
    return definitions_in(path, module) if path else Definitions({}, {})


def definitions_in(path: Path, module: str) -> Definitions:
    """The definitions and imports at the top of the file of a module."""
    defined: dict[str, ast.stmt] = {}
    imported: dict[str, tuple[str, str]] = {}
    for node in ast.parse(path.read_bytes(), path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part for target in targets for part in getattr(target, "elts", [target])]
            defined |= {name.id: node for name in names if isinstance(name, ast.Name)}
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level + (path.name == "__init__.py") or None]
            source = ".".join([*parents, *filter(None, [node.module])]) if node.level else str(node.module)
            imported |= {alias.asname or alias.name: (source, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {alias.asname or alias.name.partition(".")[0]: (alias.name, "") for alias in node.names}
    return Definitions(defined, imported)


def file_of(module: str) -> Path | None:
    """The Python file of a module, which is not imported."""
    files = (file for stem in _stems(module) for file in (stem / "__init__.py", stem.with_name(f"{stem.name}.py")))
    return next((file for file in files if file.is_file()), None)


def _stems(module: str) -> list[Path]:
    """The paths that a module may have, without an ending."""
    package, *rest = module.split(".")
    stems = [Path(folder, package, *rest) for folder in sys.path if package]
    with suppress(ImportError, ValueError):  # as installed with pip install -e: on no path
        locations = (spec.submodule_search_locations if (spec := find_spec(package)) else None) or ()
        stems += [Path(folder, *rest) for folder in locations]
    return stems


def absence_of(target: str) -> str:
    """What is missing of a class or function by name, in words; empty where it is there, or cannot be told."""
    module, _, name = target.rpartition(".")
    if path := file_of(module):
        text = path.read_text(encoding="utf-8", errors="replace")
        if re.search(rf"\b({re.escape(name)}|__getattr__|globals)\b|import \*", text):
            return ""
        near = get_close_matches(name, _definitions_of_module(module).defined, 1)
        return f"{path} has no {name}{f'; did you mean {near[0]}?' if near else '; correct the name'}"
    builtin = module in sys.builtin_module_names
    there = builtin or any(stem.is_dir() or any(stem.parent.glob(f"{stem.name}.*")) for stem in _stems(module))
    return "" if there else f"Python finds no {module}; {IMPORT_REMEDY}"


class _Names(dict[str, Any]):
    """The names in an annotation: types of settings, values of the module, and AnyClass for every other class."""

    def __init__(self, module: str) -> None:
        types = {name: getattr(typing, name) for name in TYPING_NAMES}
        super().__init__(BUILTIN_TYPES | types | {"Field": Field, "Path": Path})
        self.module = module

    def __missing__(self, name: str) -> Any:
        entry = find_definition(self.module, name)
        value = getattr(entry[1], "value", None) if entry else None
        return evaluate_expression(entry[0], value) if entry and value is not None else AnyClass


@cache
def evaluate_expression(module: str, expression: ast.expr) -> Any:
    """The value of an expression at the top of a module: a type, or the bound of a range."""
    return eval(compile(ast.Expression(expression), module, "eval"), {"__builtins__": {}}, _Names(module))
