"""Features, labels and order of each task are those of an independent, plain implementation."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from encoder_lab.errors import InputError
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.discoeval.data import read_discoeval
from probes.discoeval.features import ABLATIONS, READINGS
from probes.discoeval.items import group_of
from probes.task import Items
from probes.vectors import Vectors
from tests.probes.discoeval.small_files import small_files

D = 3
WIDTHS = {"SP": 5, "BSO": 3, "DC": 6, "SSP": 1, "PDTB-E": 4, "PDTB-I": 4, "RST-DT": 4}
FOLDERS = {
    "SParxiv": "SP/arxiv", "SProc": "SP/rocstory", "SPwiki": "SP/wiki", "BSOarxiv": "BSO/arxiv",
    "BSOroc": "BSO/rocstory", "BSOwiki": "BSO/wiki", "DCchat": "DC/chat", "DCwiki": "DC/wiki", "SSPabs": "SSP/abs",
    "PDTB-E": "PDTB/Explicit", "PDTB-I": "PDTB/Implicit",
}  # fmt: skip


def vector(text: str) -> list[float]:
    """Any function of a text that tells texts apart."""
    return [float(np.float32(sum(ord(c) * (i + 1) ** p for i, c in enumerate(text)) % 977) / 977) for p in range(D)]


def ours(part: Items, group: str) -> np.ndarray:
    made = Vectors(np.array([vector(text) for text in part.sentences]), part.sentences)
    return made.features(part, READINGS[group].features)[:].numpy()


def plain_row(name: str, texts: list[str]) -> list[float]:
    x = [vector(text) for text in texts]
    if name.startswith("SP"):
        return x[0] + [a - b for other in x[1:] for a, b in zip(x[0], other, strict=True)]
    if name.startswith("BSO"):
        return x[0] + x[1] + [a - b for a, b in zip(*x, strict=True)]
    if name.startswith("PDTB"):
        return plain_relation(*x)
    return [value for row in x for value in row]


def plain_relation(u: list[float], v: list[float]) -> list[float]:
    return u + v + [a * b for a, b in zip(u, v, strict=True)] + [abs(a - b) for a, b in zip(u, v, strict=True)]


def plain(root: Path, name: str) -> list[tuple[list[list[float]], list[int]]]:
    np.random.seed(1111)  # noqa: NPY002 (as the published toolkit does)
    parts = []
    for file in ("train", "valid", "test"):
        rows = [line.strip().split("\t") for line in (root / FOLDERS[name] / f"{file}.txt").read_text().splitlines()]
        if name.startswith("BSO"):
            data = [(plain_row(name, row), 1) for row in rows] + [(plain_row(name, row[::-1]), 0) for row in rows]
            in_pairs = np.arange(len(data)).reshape(2, -1).T.ravel()  # which changes no score
            data = [data[i] for i in (in_pairs if file == "test" else np.random.permutation(len(data)))]  # noqa: NPY002
        else:
            data = [(plain_row(name, row[1:]), int(row[0])) for row in rows]
        parts.append(([x for x, _ in data], [y for _, y in data]))
    return parts


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return small_files(tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="module")
def tasks(root) -> dict[str, Classification]:
    return {task.name: task for task in read_discoeval(root)[0]}


@pytest.mark.parametrize("name", FOLDERS)
def test_features_labels_and_order_equal_a_plain_implementation(name, root, tasks) -> None:
    task, group = tasks[name], group_of(name)
    for part, (x, y) in zip(task.parts, plain(root, name), strict=True):
        assert part.gold.tolist() == y
        np.testing.assert_allclose(ours(part, group), x, atol=1e-6)
        assert ours(part, group).shape == (len(y), WIDTHS[group] * D)


def test_rst_averages_the_edus_of_each_side_and_sorts_its_labels(root, tasks) -> None:
    nodes = pickle.loads((root / "RST/RST_TRAIN.pkl").read_bytes())
    x = [plain_relation(*(np.mean([vector(e) for e in side], 0).tolist() for side in node[1:])) for node in nodes]
    names = sorted({node[0] for node in nodes})
    np.testing.assert_allclose(ours(tasks["RST"].train, "RST-DT"), x, atol=1e-6)
    assert tasks["RST"].train.gold.tolist() == [names.index(node[0]) for node in nodes]


def test_only_dc_has_a_hidden_layer_and_its_settings_stay_its_own() -> None:
    published = Grid(protocol="senteval")
    grids = {group: reading.grid(published) for group, reading in READINGS.items()}
    assert {group: grid.widths for group, grid in grids.items() if not grid.is_logistic} == {"DC": (2000,)}
    assert (grids["DC"].block, grids["DC"].tenacity, grids["DC"].l2) == (15, 8, (1e-9,))
    assert grids["SP"] == grids["BSO"] == replace(published, widths=(0,), dropouts=(0.0,))
    assert (grids["SSP"].l2, grids["SSP"].block, grids["SSP"].max_passes) == ((1e-9,), 4, 200)
    for group in ("PDTB-E", "PDTB-I", "RST-DT"):
        assert (grids[group].l2, grids[group].block, grids[group].max_passes) == ((1e-9,), 1, 15)


def test_our_protocol_has_the_grid_that_the_user_gives() -> None:
    grid = Grid(widths=(7,), l2=(0.1,))
    assert READINGS["DC"].grid(grid) == grid
    assert {reading.grid(grid) for group, reading in READINGS.items() if group != "DC"} == {grid.logistic()}


@pytest.mark.parametrize("setting", [{"widths": (0,)}, {"l2": [0.1]}, {"max_passes": 4}, {"tenacity": 9}])
def test_what_the_toolkit_fixes_cannot_be_set(setting) -> None:
    with pytest.raises(InputError, match=f"published settings for each group .*{next(iter(setting))}= out"):
        READINGS["PDTB-E"].grid(Grid(protocol="senteval", **setting))


def test_the_papers_ablations_change_one_thing_each(tasks) -> None:
    part = tasks["SPwiki"].dev
    group, alone = ABLATIONS["context"]
    made = Vectors(np.array([vector(text) for text in part.sentences]), part.sentences).features(part, alone.features)
    np.testing.assert_array_equal(made[:], ours(part, "SP")[:, :D])
    assert alone == READINGS[group]._replace(features=alone.features)
    assert ABLATIONS["hidden_layer"] == ("DC", READINGS["DC"]._replace(hidden=0))
