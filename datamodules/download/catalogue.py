"""The catalogue of corpora: what each is, its publisher, licence and size, and whether it is on this machine."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml


class RemoteFile(NamedTuple):
    """A file to fetch; `sha256` is None if it is unknown or the file changes."""

    url: str
    sha256: str | None = None


class CatalogEntry(NamedTuple):
    """A corpus. Sizes are those of the publisher or the paper: English side, all splits; None is unknown."""

    name: str
    what: str
    homepage: str
    licence: str
    access: Literal["free", "agreement", "built in"]
    use: str  # the setting that reads it, with {root}
    sentences: int | None = None
    words: int | None = None
    needs: tuple[str, ...] = ()  # patterns of required files
    files: tuple[RemoteFile, ...] = ()
    ask: str = ""  # if a licence agreement is needed: whom to ask, and what to copy


def _make_entry(facts: dict[str, Any]) -> CatalogEntry:
    files = tuple(RemoteFile(**file) for file in facts.pop("files", ()))
    return CatalogEntry(**{**facts, "needs": tuple(facts.get("needs", ())), "files": files})


CATALOG = tuple(map(_make_entry, yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))))


def describe_state(entry: CatalogEntry, data: Path) -> str:
    """Whether the corpus is in its folder below `data`, and how to use it or get it."""
    folder = data / entry.name
    if entry.access == "built in":
        return f"here: {entry.use}"
    if folder.is_dir():
        missing = [pattern for pattern in entry.needs if not any(folder.rglob(pattern))]
        return f"incomplete: {folder} has no {missing[0]}" if missing else f"here: {entry.use.format(root=folder)}"
    if entry.access == "agreement":
        return f"not here: {entry.ask}, into {folder}"
    status = "half fetched" if folder.with_name(f"{entry.name}.partial").is_dir() else "not here"
    return f"{status}: python -m datamodules.download {entry.name}"


def describe(entry: CatalogEntry, data: Path) -> str:
    """A few lines about a corpus."""
    sizes = ((entry.sentences, "sentences"), (entry.words, "words"))
    size = ", ".join(f"{count:,} {unit}" for count, unit in sizes if count is not None) or "size not stated"
    licence = f"licence: {entry.licence} ({entry.access})"
    rows = (entry.what, f"{entry.homepage}   {size}", licence, describe_state(entry, data))
    return "\n".join([entry.name, *(f"    {row}" for row in rows)])
