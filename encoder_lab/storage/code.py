"""What a function or class is made of, for the keys of caches."""

import inspect
import platform
import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from encoder_lab.storage.content import content_of, key_of

ROOT = Path(__file__).parents[2]
PROJECT_PACKAGES = ("datamodules", "encoder_lab", "encoders", "objectives", "probes")
IMPORT_PATTERN = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]*)"
    r"|import[ \t]+(?P<modules>[^\n#;]+))",
    re.MULTILINE,
)  # a parser would take a tenth of a second
NAME_FIELD, VERSION_FIELD = (re.compile(f"^{field}: (.+)$", re.MULTILINE) for field in ("Name", "Version"))
REQUIRES_FIELD = re.compile(r"^Requires-Dist: ([\w.-]+)(?!.*\bextra\b)", re.MULTILINE)
MODULE_PATTERN = re.compile(r"^(\w+)(?:/|\.py,)", re.MULTILINE)  # in the list of the files of a library


def code_of(definition: Callable[..., Any]) -> str:
    """A hash of the code behind a function or class: results of other code are not taken from a cache.

    The code is its file and all files that this imports, directly or not, of ours and of its own package or folder;
    what else lies in these packages, as lists of words; and the versions of the libraries and of Python. It is what
    this process has loaded: a file that is edited later changes the hash in the next process.
    """
    while isinstance(definition, partial):
        definition = definition.func
    if not inspect.isroutine(definition) and not isinstance(definition, type):
        definition = type(definition)  # of an object that can be called
    if (code := loaded_code(definition)) is None:
        return str(getattr(definition, "__qualname__", type(definition).__qualname__))
    contents, modules = code
    return key_of(contents, library_versions(modules))


@cache
def loaded_code(definition: Any) -> tuple[list[str], set[str]] | None:
    """Hashes of the files behind it, when first asked for, and the modules that they import; None without a file."""
    try:
        source = inspect.getsourcefile(inspect.unwrap(definition))
    except TypeError:  # built in, or typed into an interpreter
        source = None
    if source is None or not Path(source).is_file():
        return None
    path = Path(source).absolute()
    root = import_root(path, str(inspect.unwrap(definition).__module__))
    files = imported_files(path, root)
    packages = {path.parent for path in files} - {root}
    data_files = {path for package in packages for path in package.iterdir() if path.suffix != ".py" and path.is_file()}
    names = (name for path in files for name in _imported_names(path, path.parent, content_of(path)))
    modules = {name.partition(".")[0] for name in names}
    return sorted(map(content_of, files | data_files)), modules


def own_code_of(definition: type) -> str:
    """A hash of the user's own files behind a class, without libraries and ours; of a class in our folders its file."""
    path = Path(inspect.getfile(definition)).absolute()
    if definition.__module__.partition(".")[0] in PROJECT_PACKAGES:
        return content_of(path)
    files = imported_files(path, import_root(path, definition.__module__))
    ours = {file for file in files for package in PROJECT_PACKAGES if file.is_relative_to(ROOT / package)}
    return key_of(sorted(map(content_of, files - ours)))


def library_versions(modules: Iterable[str]) -> list[str]:
    """Python and the libraries that have these modules, and all that these libraries need, each with its version."""
    by_module, by_name = _installed_libraries()
    needed: dict[str, str] = {}
    pending = [name for module in modules for name in by_module.get(module, ())]
    while pending:
        name = pending.pop()
        if name in by_name and name not in needed:
            needed[name], requires = by_name[name]
            pending += requires
    return [platform.python_version(), *(f"{name} {version}" for name, version in sorted(needed.items()))]


@cache
def _installed_libraries() -> tuple[dict[str, set[str]], dict[str, tuple[str, list[str]]]]:
    """The libraries of each module; of each its version and what it needs. `packages_distributions` takes 0.5 s."""
    by_module: dict[str, set[str]] = {}
    by_name: dict[str, tuple[str, list[str]]] = {}
    for library in distributions():
        metadata = (library.read_text("METADATA") or "").partition("\n\n")[0]
        if not ((name := NAME_FIELD.search(metadata)) and (version := VERSION_FIELD.search(metadata))):
            continue
        requires = [*map(_normalized_name, REQUIRES_FIELD.findall(metadata))]
        by_name.setdefault(_normalized_name(name[1]), (version[1], requires))
        listed = (library.read_text("top_level.txt") or "").split()
        for module in set(listed or MODULE_PATTERN.findall(library.read_text("RECORD") or "")):
            by_module.setdefault(module, set()).add(_normalized_name(name[1]))
    return by_module, by_name


def _normalized_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def import_root(source: Path, module: str = "") -> Path:
    """The folder from which Python imports a file as `module`: that of its package, which needs no `__init__.py`."""
    stem = source.parent if source.stem == "__init__" else source.with_suffix("")
    names = tuple(module.split("."))
    if stem.parts[-len(names) :] == names:
        return stem.parents[len(names) - 1]
    root = source.parent
    while (root / "__init__.py").exists():  # a script that is started within a package
        root = root.parent
    return root


def imported_files(source: Path, root: Path | None = None) -> set[Path]:
    """The file and those that it imports, directly or not, of ours and of its own package or folder, below `root`."""
    root = root or import_root(source)
    package = source.relative_to(root).parts[0] if root.name in ("site-packages", "dist-packages") else ""
    files, pending = {source}, [source]
    while pending:
        path = pending.pop()
        new = _direct_imports(path, root, package, content_of(path)) - files
        files |= new
        pending += new
    return files


@cache
def _direct_imports(path: Path, root: Path, package: str, content: str) -> frozenset[Path]:
    """The files that `path` imports directly: ours, and those below `root`, with `package` of it alone."""
    modules = [tuple(name.split(".")) for name in _imported_names(path, root, content)]
    project = [(ROOT, parts) for parts in modules if parts[0] in PROJECT_PACKAGES]
    nearby = [(root, parts) for parts in modules if package in ("", parts[0])]
    stems = {base.joinpath(*parts[:depth]) for base, parts in project + nearby for depth in range(1, len(parts) + 1)}
    files = {file for stem in stems for file in (stem.with_suffix(".py"), stem / "__init__.py")}
    return frozenset(file for file in files if file.is_file())


@cache
def _imported_names(path: Path, root: Path, _content: str) -> list[str]:
    """The modules that a file imports, also where it may mean a name in a module."""
    package, names = path.relative_to(root).parent.parts if path.is_relative_to(root) else (), []
    for match in IMPORT_PATTERN.finditer(path.read_text(encoding="utf-8", errors="replace")):
        imported = (match["modules"] or match["names"].strip("()")).split(",")
        module = (match["module"] or "").lstrip(".")
        if level := len(match["module"] or "") - len(module):  # relative to the package of the file
            module = ".".join([*package[: len(package) - level + 1], *filter(None, [module])])
        names += [f"{module}.{words[0]}".lstrip(".") for part in imported if (words := part.split())]
    return names
