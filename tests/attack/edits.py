"""Data edited under a cache, with the size and the time of modification that it had: the new data, or a refusal."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from datamodules.base import cached_lines
from datamodules.corpora.parallel import Parallel
from datamodules.corpora.plain_text import PlainText
from datamodules.sentences import PlainSentences
from datamodules.word_vectors.store import open_store
from tests.attack.attack import Attack, refused

TEXT = "\n\n".join(f"the dog no {number} sees it .\nthe cat {number % 7} hears it ." for number in range(60)) + "\n"
VECTORS = "4 3\na 1 2 3\nb 4 5 6\nc 7 8 9\nd 1 1 1\n"


def _plain(path: Path, cache: Path) -> Any:
    data = PlainSentences(PlainText(str(path), tokenized=True), cache, seed=1)
    return [list(cached_lines(data.folder / f"{split}.source.txt")) for split in ("train", "dev")]


def _parallel(path: Path, cache: Path) -> Any:
    target = path.with_name("target.txt")
    if not target.exists():
        target.write_text(TEXT.upper())
    corpus = Parallel(str(path), str(target), target_language="fr", tokenized=True)
    return list(PlainSentences(corpus, cache, seed=1).source_sentences())


def _vectors(path: Path, cache: Path) -> Any:
    store = open_store(path, cache)
    return store.matrix.tolist(), store.lookup(["a", "b", "c", "d"]).matrix.tolist()


READERS: dict[str, tuple[str, Callable[[Path, Path], Any]]] = {"text.txt": (TEXT, _plain)}
READERS |= {"pairs.txt": (TEXT, _parallel), "v.vec": (VECTORS, _vectors)}


def edited(case: Any, folder: Path) -> None:
    """What is read after the edit is what is read without a cache; an edited file of the cache is refused."""
    name, place, bits, in_cache = case
    content, read = READERS[name]
    path, cache = folder / name, folder / "cache"
    path.write_text(content)
    before = read(path, cache)
    files = sorted(file for file in cache.rglob("*") if file.is_file() and not file.name.startswith("."))
    victim = files[place % len(files)] if in_cache else path
    state, data = victim.stat(), bytearray(victim.read_bytes())
    if not data:
        return
    data[place % len(data)] ^= bits
    victim.write_bytes(data)
    os.utime(victim, ns=(state.st_atime_ns, state.st_mtime_ns))
    now: list[Any] = []
    message = refused(lambda: now.append(read(path, cache)))
    if in_cache:
        assert message or now == [before]
        assert not message or "delete this folder" in message
        return
    fresh: list[Any] = []
    assert (message is None) == (refused(lambda: fresh.append(read(path, folder / "fresh"))) is None)
    assert str(now) == str(fresh)  # NaN is equal to NaN


_case = st.tuples(st.sampled_from(["v.vec", *READERS]), st.integers(0, 10**6), st.integers(1, 255), st.booleans())
ATTACKS = [Attack("edited data", _case, edited)]
