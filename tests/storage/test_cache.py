"""python -m encoder_lab.storage.cache lists the cache and deletes from it what nobody uses."""

import os
import time
from pathlib import Path

import pytest

from encoder_lab.storage.cache import COMMAND, DAY_SECONDS, cache_entries, prune_cache
from encoder_lab.storage.locks import locked

KEY = "0123456789abcdef"
PAIRS, SCORE = f"pairs-demo-en-fr-{KEY}", f"score-{KEY}.json"
LEFT = f".trees-demo-{KEY}.{0:032x}.making"


@pytest.fixture
def cache(tmp_path) -> Path:
    """An old folder, a new file, what a killed process left, and two files that are not ours."""
    folder = tmp_path / "cache"
    (folder / PAIRS).mkdir(parents=True)
    (folder / PAIRS / "words.txt").write_text("dog\n")
    (folder / SCORE).write_text("{}")
    (folder / LEFT).mkdir()
    (folder / "thesis.tex").write_text("mine")
    (folder / ".bashrc").write_text("mine")
    past = time.time() - 40 * DAY_SECONDS
    for path in (folder / PAIRS / "words.txt", folder / PAIRS, folder / "thesis.tex"):
        os.utime(path, (past, past))
    return folder


def names(cache: Path) -> set[str]:
    return {path.name for path in cache.iterdir() if not path.name.endswith(".lock")}


def test_the_list_has_our_entries_alone(cache, capsys) -> None:
    assert COMMAND.run([f"cache={cache}"]) == 0
    printed = capsys.readouterr().out
    assert [f" {name}" in printed for name in (PAIRS, SCORE, "thesis.tex")] == [True, True, False]
    assert f"    40 days  {PAIRS}" in printed
    assert [size for path, size, _ in cache_entries(cache) if path.name.startswith("pairs")] == [4]


def test_pruning_deletes_what_is_old_and_what_was_left(cache) -> None:
    assert COMMAND.run([f"cache={cache}", "prune=true", "older=30"]) == 0
    assert names(cache) == {SCORE, "thesis.tex", ".bashrc"}


def test_pruning_deletes_nothing_that_is_being_made(cache) -> None:
    with locked(cache / f".{PAIRS}.lock"):
        assert {path.name for path, _, _ in prune_cache(cache, 0)} == {SCORE, LEFT}
    assert PAIRS in names(cache)


def test_a_file_is_no_cache_and_a_folder_that_is_not_there_is_empty(cache, capsys) -> None:
    assert COMMAND.run([f"cache={cache / 'thesis.tex'}"]) == 2
    assert capsys.readouterr().err == f"error: cache={cache / 'thesis.tex'}: give a folder\n"
    assert COMMAND.run([f"cache={cache / 'nowhere'}", "prune=true"]) == 0
