"""The catalogue is complete, consistent with the readers, and tells what is on this machine."""

import re
from pathlib import Path

import pytest

from datamodules.download.__main__ import COMMAND
from datamodules.download.catalogue import CATALOG, CatalogEntry, describe_state

CONFIGS = Path(__file__).parents[3] / "configs"
MULTI30K = next(entry for entry in CATALOG if entry.name == "multi30k")


def named(entry: CatalogEntry) -> str:
    return entry.name


def test_every_name_is_there_once() -> None:
    assert len({entry.name for entry in CATALOG}) == len(CATALOG)


@pytest.mark.parametrize("entry", CATALOG, ids=named)
def test_an_entry_can_be_used_as_it_says(entry) -> None:
    group, choice = entry.use.split()[0].split("=")
    assert (CONFIGS / group / f"{choice}.yaml").exists()
    assert entry.access == "built in" or "{root}" in entry.use


@pytest.mark.parametrize("entry", CATALOG, ids=named)
def test_an_entry_can_be_fetched_or_says_where_to_ask(entry) -> None:
    assert bool(entry.files) == (entry.access == "free")
    assert bool(entry.ask) == (entry.access == "agreement")
    assert all(re.fullmatch(r"https://\S+", remote.url) for remote in entry.files)
    assert all(remote.sha256 is None or re.fullmatch("[0-9a-f]{64}", remote.sha256) for remote in entry.files)
    assert entry.licence


def test_the_state_follows_the_folder(tmp_path) -> None:
    assert describe_state(MULTI30K, tmp_path) == "not here: python -m datamodules.download multi30k"
    (tmp_path / "multi30k.partial").mkdir()
    assert describe_state(MULTI30K, tmp_path).startswith("half fetched")
    folder = tmp_path / "multi30k"
    folder.mkdir()
    (folder / "train.en.gz").touch()
    assert describe_state(MULTI30K, tmp_path) == f"incomplete: {folder} has no val.en*"
    (folder / "val.en").touch()
    (folder / "test_2016_flickr.en").touch()
    assert describe_state(MULTI30K, tmp_path) == f"here: corpus=multi30k corpus.root={folder}"


def test_the_command_lists_everything(tmp_path, capsys) -> None:
    assert COMMAND.run([f"data={tmp_path}"]) == 0
    printed = capsys.readouterr().out
    assert all(f"{entry.name}\n" in printed and entry.licence in printed for entry in CATALOG)
