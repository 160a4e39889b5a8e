"""The published folder is read unchanged; an error in it is reported in one line."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from encoder_lab.errors import InputError
from probes.discoeval.convert import COMMAND
from probes.discoeval.data import read_discoeval
from probes.discoeval.items import ceiling, group_of, second_measures
from probes.task import Items
from tests.fuzzing import any_damage_is_read_or_refused, lines_in
from tests.probes.discoeval.small_files import small_files

NAMES = "SParxiv SProc SPwiki BSOarxiv BSOroc BSOwiki DCchat DCwiki SSPabs PDTB-E PDTB-I RST"
SEVERAL = Items((["a", "b", "a", "c"], ["x", "x", "x", "x"]), np.array([0, 1, 2, 1]))


@pytest.fixture
def root(tmp_path) -> Path:
    return small_files(tmp_path / "data")


def test_twelve_tasks_in_seven_groups(root) -> None:
    tasks, missing = read_discoeval(root)
    assert " ".join(task.name for task in tasks) == NAMES
    groups = list(dict.fromkeys(group_of(task.name) for task in tasks))
    assert groups == ["SP", "BSO", "DC", "SSP", "PDTB-E", "PDTB-I", "RST-DT"]
    assert not missing
    assert read_discoeval(root.parent)[0][0].train.texts == tasks[0].train.texts


def test_what_is_missing_is_reported_with_the_first_path(root) -> None:
    (root / "SP/wiki/valid.txt").unlink()
    shutil.rmtree(root / "PDTB/Implicit")
    tasks, missing = read_discoeval(root)
    assert len(tasks) == 10
    assert missing == {"SPwiki": root / "SP/wiki/valid.txt", "PDTB-I": root / "PDTB/Implicit/labelset.txt"}


def test_other_domains_take_the_place_of_the_published_ones(root) -> None:
    shutil.rmtree(root / "SP")
    shutil.copytree(root / "BSO/wiki", root / "BSO/gum")
    shutil.copytree(root / "SSP/abs", root / "SP/leer")
    with pytest.raises(InputError, match="1 sentences, expected 5"):
        read_discoeval(root)
    shutil.rmtree(root / "SP/leer")
    assert [task.name for task in read_discoeval(root)[0]][:4] == ["BSOarxiv", "BSOroc", "BSOwiki", "BSOgum"]


@pytest.mark.parametrize("name", ["evil\x1b]0;pwn\x07", "two words", "a,b", "=1"])
def test_a_domain_with_odd_characters_in_its_name_is_refused(name, root) -> None:
    shutil.copytree(root / "SP/wiki", root / "SP" / name)
    with pytest.raises(InputError, match="is no name of a domain") as refused:
        read_discoeval(root)
    assert str(refused.value).isprintable()


def test_tasks_are_chosen_by_name_or_group(root) -> None:
    assert [task.name for task in read_discoeval(root, ["pdtbe", "DC"])[0]] == ["DCchat", "DCwiki", "PDTB-E"]
    with pytest.raises(InputError, match=": no such DiscoEval task; there are SParxiv, SP, "):
        read_discoeval(root, ["xy"])


def test_json_lines_are_read_like_the_pickles(root, capsys) -> None:
    (before,) = read_discoeval(root, ["RST"])[0]
    assert COMMAND.run([str(root), f"out={root / 'RST'}"]) == 0
    for path in (root / "RST").glob("*.pkl"):
        path.unlink()
    (after,) = read_discoeval(root, ["RST"])[0]
    assert before.classes == after.classes == ["NN-Joint", "NS-Elaboration", "SN-Attribution"]
    assert before.test.texts == after.test.texts
    assert before.train.gold.tolist() == after.train.gold.tolist()
    assert (COMMAND.run([str(root), "out="]), COMMAND.run([str(root), f"out={root / 'RST'}"])) == (2, 2)
    assert "RST_TRAIN.pkl: no such file" in capsys.readouterr().err


BROKEN = {
    "no label": ("SP/wiki/train.txt", lambda t: t.replace("\n0\t", "\n5\t", 1), r":6: label '5', expected 0 to 4"),
    "third label": ("DC/chat/test.txt", lambda t: "2" + t[1:], r":1: label '2', expected 0 or 1"),
    "sixth": ("DC/wiki/valid.txt", lambda t: t.replace("\n", "\tmore\n", 1), r":1: 7 sentences, expected 6"),
    "no sixth": ("DC/wiki/train.txt", lambda t: t.rpartition("\t")[0], r":40: 5 sentences, expected 6"),
    "empty": ("BSO/arxiv/test.txt", lambda t: t.split("\t")[0] + "\t \n", r":1: sentence 2 is empty"),
    "sense": ("PDTB/Implicit/test.txt", lambda t: "2" + t[1:], r":1: label '2', expected 0 or 1"),
    "more senses": ("PDTB/Implicit/labelset.txt", lambda t: t + "\nB.C", r":3: 'B.C' is the label of no item"),
    "sense twice": ("PDTB/Explicit/labelset.txt", lambda t: t + "\nContingency.Cause", r":4: the same label again"),
    "one label": ("SSP/abs/train.txt", lambda t: t.replace("1\t", "0\t"), r"train.txt: every item has the label 0"),
    "label gone": ("SP/arxiv/train.txt", lambda t: t.replace("\n3\t", "\n2\t"), r"train.txt: no item has the label 3"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused_in_one_line(case, root) -> None:
    name, change, message = BROKEN[case]
    path = root / name
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=message) as refused:
        read_discoeval(root)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["SP/wiki", "BSO/arxiv", "DC/chat", "SSP/abs", "PDTB/Explicit"])
def test_splits_that_share_items_are_refused(name, root) -> None:
    train, test = root / name / "train.txt", root / name / "test.txt"
    test.write_text("".join(test.read_text().splitlines(True)[:9]) + train.read_text().splitlines(True)[11])
    with pytest.raises(InputError, match=r"test.txt:10: 1 of 10 items are in .*train.txt too \(as in line 12\)"):
        read_discoeval(root)


def test_pairs_in_the_other_order_are_the_same_items(root) -> None:
    pairs = [line.split("\t") for line in (root / "BSO/arxiv/train.txt").read_text().splitlines()]
    (root / "BSO/arxiv/test.txt").write_text("".join(f"{second}\t{first}\n" for first, second in pairs))
    with pytest.raises(InputError, match="different documents"):
        read_discoeval(root, ["BSO"])


@pytest.mark.parametrize(("name", "first", "last"), [("SP/wiki", 1, 4), ("BSO/arxiv", 0, 1), ("PDTB/Explicit", 1, 2)])
def test_splits_that_share_half_of_the_texts_of_their_items_are_refused(name, first, last, root) -> None:
    train, test = ((root / name / file).read_text().splitlines() for file in ("train.txt", "test.txt"))
    rows = [[a.split("\t"), b.split("\t")] for a, b in zip(train, test, strict=False)]
    mixed = ["\t".join([*mine[:first], *theirs[first:last], *mine[last:]]) for theirs, mine in rows]
    (root / name / "test.txt").write_text("\n".join([*mixed, ""]))
    with pytest.raises(InputError, match=r"items with half of their texts or more are in .*train.txt too"):
        read_discoeval(root)


def test_windows_of_one_document_that_overlap_are_refused(root) -> None:
    train, test = root / "SP/wiki/train.txt", root / "SP/wiki/test.txt"
    label, *window = train.read_text().split("\n")[0].split("\t")
    first, *others = test.read_text().splitlines(True)
    test.write_text("\t".join([label, *window[1:], first.split("\t")[-1]]) + "".join(others))
    with pytest.raises(InputError, match="different documents"):
        read_discoeval(root, ["SP"])


def test_a_broken_json_line_is_named(root) -> None:
    COMMAND.run([str(root), f"out={root / 'RST'}"])
    path = root / "RST/RST_DEV.jsonl"
    good = path.read_text().splitlines()
    for bad, message in (
        ({"label": "NN-Joint", "left": ["a"]}, ":2: no right"),
        ({"label": "NN-Joint", "left": [], "right": ["a"]}, ":2: a subtree that is no list of EDUs"),
        ({"label": "NN-Joint", "left": ["a"], "right": [" "]}, ":2: an EDU that is empty"),
        ({"label": 3, "left": ["a"], "right": ["b"]}, ":2: expected a label"),
    ):
        path.write_text("\n".join([good[0], json.dumps(bad), *good[1:]]))
        with pytest.raises(InputError, match=message):
            read_discoeval(root, ["RST"])


@pytest.mark.parametrize(("task", "name"), [
    ("SPwiki", "SP/wiki/train.txt"), ("DCchat", "DC/chat/valid.txt"), ("PDTB-E", "PDTB/Explicit/test.txt"),
    ("BSOwiki", "BSO/wiki/test.txt"),
])  # fmt: skip
def test_any_text_file_is_read_or_its_first_bad_line_named(task, name, root) -> None:
    path = root / name

    def read() -> None:
        (read_task,) = read_discoeval(root, [task])[0]
        part = {"train": read_task.train, "valid": read_task.dev, "test": read_task.test}[path.stem]
        assert len(part.gold) == len(lines_in(path.read_bytes())) * (2 if task == "BSOwiki" else 1)
        assert all(text and text == " ".join(text.split()) for column in part.texts for text in column)

    any_damage_is_read_or_refused(read, path, at_the_end=r"empty|has the label|items are in")


def test_any_labelset_is_read_or_refused(root) -> None:
    """A wrong list of labels may show in the files next to it."""
    path = root / "PDTB/Explicit/labelset.txt"
    any_damage_is_read_or_refused(lambda: read_discoeval(root, ["PDTB-E"]), path, folder=root / "PDTB")


def test_items_with_several_senses_set_the_ceiling() -> None:
    assert ceiling(SEVERAL) == 75
    predicted = np.array([2, 0, 2, 1])
    assert 100 * (predicted == SEVERAL.gold).mean() == 50
    assert second_measures(predicted, SEVERAL) == {"either sense": 75, "ceiling": 75}
    # items that differ have no second measure
    assert second_measures(np.array([0, 0]), Items((["a", "b"], ["x", "x"]), np.array([0, 1]))) == {}
