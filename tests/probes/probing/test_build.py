"""python -m probes.probing.build: trees in, published files and a report out."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from datamodules.trees.conllu import read_conllu
from datamodules.trees.penn import corpus_texts
from encoder_lab.errors import InputError
from probes.probing import FILES
from probes.probing.build.__main__ import COMMAND, build
from probes.probing.build.all_tasks import TASKS, build_tasks, from_trees
from probes.probing.build.pool import Sizes
from probes.probing.build.tags import GERMAN
from probes.probing.published_files import read_senteval, read_task, read_test_ids
from probes.probing.tasks import MODIFIED_LABEL
from tests.probes.probing.test_plain import lines
from tests.probes.probing.tiny_treebank import tiny_treebank
from tests.probes.probing.tiny_trees import tiny_trees

TREES = tiny_trees(2500, seed=3)
SIZES = Sizes(120, 24, 24)


@pytest.fixture(scope="module")
def trees(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("trees") / "tiny.mrg.gz"
    path.write_bytes(gzip.compress("\n".join(TREES).encode()))
    return path


@pytest.fixture(autouse=True)
def blank_pictures(monkeypatch) -> None:
    """Only the tasks for all tests have a picture."""
    monkeypatch.setattr("probes.probing.build.report._figure", lambda _: Figure())


@pytest.fixture(scope="module")
def built(trees, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("built")
    assert COMMAND.run([f"trees={trees}", f"out={out}", "train=120", "dev=24", "test=24"]) == 0
    return out


def test_built_tasks_are_read_back_unchanged(built) -> None:
    made = build_tasks(from_trees(corpus_texts(TREES)), SIZES).tasks
    for task, read in zip(made, read_senteval(built), strict=True):
        assert (read.name, read.classes, read.originals) == (task.name, task.classes, task.originals)
        assert bool(read.originals) == (task.name in MODIFIED_LABEL)
        for mine, theirs in zip((task.train, task.dev, task.test), (read.train, read.dev, read.test), strict=True):
            assert theirs.sentences == mine.sentences
            assert np.array_equal(theirs.gold, mine.gold)


@pytest.mark.parametrize("cores", [1, 2])
def test_a_second_build_writes_the_same_bytes_on_any_number_of_cores(
    trees, built, tmp_path, cores, monkeypatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(cores))
    build(COMMAND.read([f"trees={trees}", f"out={tmp_path}", "train=120", "dev=24", "test=24"]))
    for name in (*FILES.values(), "report.md"):
        assert (tmp_path / name).read_bytes() == (built / name).read_bytes()


def test_the_report_has_a_section_for_every_task_and_every_control(built) -> None:
    report = (built / "report.md").read_text()
    for name in TASKS:
        assert f"\n## {name}\n" in report
    for control in ("length-depth correlation after", "target forms in two splits", "bigram log-frequency"):
        assert control in report
    assert "in two splits: 0." in report
    assert Image.open(built / "controls.png").size == (1152, 864)


def test_unbuildable_tasks_are_reported_and_the_others_built(tmp_path, capsys) -> None:
    (tmp_path / "few.mrg").write_text("\n".join(TREES[:600]))
    wish = ["tasks=BShift,CoordInv", "train=120", "dev=24", "test=24"]
    assert COMMAND.run([f"trees={tmp_path / 'few.mrg'}", f"out={tmp_path / 'out'}", *wish]) == 2
    assert "error: too few sentences for CoordInv" in capsys.readouterr().err
    assert (tmp_path / "out" / FILES["BShift"]).exists()
    assert "CoordInv** was not built" in (tmp_path / "out" / "report.md").read_text()


def test_all_that_a_treebank_allows_is_built_and_the_rest_is_named_with_the_reason(tmp_path, capsys) -> None:
    source = tmp_path / "a.conllu"
    source.write_text(tiny_treebank(600).replace("|Gender=Fem", "").replace("|Gender=Masc", ""))
    wish = [f"ud={source}", "train=80", "dev=20", "test=20"]
    assert COMMAND.run([*wish, f"out={tmp_path / 'all'}"]) == 0
    assert "left out: SubjGender: the treebank has no Gender" in capsys.readouterr().out
    assert (tmp_path / "all" / FILES["BShift"]).exists()
    assert COMMAND.run([*wish, f"out={tmp_path / 'none'}", "tasks=SubjGender"]) == 2


@pytest.mark.parametrize("wish", ["BShift", "BShift,CoordInv"])
def test_a_folder_with_a_task_that_is_not_built_again_is_refused(tmp_path, capsys, wish) -> None:
    (tmp_path / "few.mrg").write_text("\n".join(TREES[:600]))
    (old := tmp_path / FILES["CoordInv"]).touch()
    sizes = ["train=120", "dev=24"]
    assert COMMAND.run([f"trees={tmp_path / 'few.mrg'}", f"out={tmp_path}", f"tasks={wish}", *sizes]) == 2
    assert f"has tasks of another build, such as {old.name}; give another folder" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"few.mrg", old.name}


WRONG = {
    "no input": (["out=x"], "trees=PATH, ud=PATH and text=PATH, not none"),
    "two inputs": (["trees=.", "ud=.", "out=x"], "not trees and ud"),
    "labels of no trees": (["ud=.", "out=x", "tags=german/tiger"], "tags= has an effect only with trees="),
    "unknown tag set": (["trees=.", "out=x", "tags=german"], "tags=german: give english/penn or german/tiger"),
    "no sentences": (["trees=.", "out=x", "dev=0"], "dev=0: give a whole number from 1"),
    "missing file": (["trees=nowhere.mrg", "out=x"], r"nowhere\.mrg"),
    "a whole test split of none": (["ud=.", "out=x", "whole_test=true"], "only with ud_test=; give it too"),
    "a size of a whole test split": (["ud=.", "out=x", "ud_test=.", "whole_test=true", "test=9"], "leave test= out"),
    "test of trees": (["trees=.", "out=x", "ud_test=."], "ud_test= has an effect only with ud="),
    "tasks in the folder of the text": (["text=.", "out=x"], "out=x: in text=., so it would be read as text"),
    "bad trees of text": (["text=.", "out=x", "on_bad_tree=skip"], "on_bad_tree= has an effect only with trees="),
}


@pytest.mark.parametrize(("arguments", "named"), WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments_are_named(arguments, named) -> None:
    with pytest.raises(InputError, match=named):
        build(COMMAND.read(arguments))


@pytest.mark.parametrize("source", ["trees", "ud", "text"])
def test_an_unknown_task_lists_the_choices(source, trees, capsys) -> None:
    assert COMMAND.run([f"{source}={trees}", "out=x", "tasks=BShift,Lenght"]) == 2
    assert "Lenght: no such probing task; " in capsys.readouterr().err


def test_tags_decide_the_meaning_of_labels_and_the_available_tasks(trees, tmp_path, capsys) -> None:
    sizes = ["tags=german/tiger", "train=120", "dev=24", "test=24"]
    failures = build(COMMAND.read([f"trees={trees}", f"out={tmp_path}", *sizes]))
    assert "SubjNum: the labels of german/tiger do not support it" in failures
    assert set(from_trees((), GERMAN).usual) >= {task.name for task in read_senteval(tmp_path)} >= {"SentLen", "BShift"}
    assert COMMAND.run([f"trees={trees}", f"out={tmp_path / 'new'}", "tags=german/tiger", "tasks=SubjNum"]) == 2
    assert "error: the labels of german/tiger do not support SubjNum" in capsys.readouterr().err


def named(text: str) -> str:
    """A treebank with a sent_id for each sentence."""
    return "".join(f"# sent_id = s{at}\n{sentence}\n\n" for at, sentence in enumerate(text.strip().split("\n\n")))


def test_a_test_split_that_is_taken_whole_keeps_the_names_of_its_sentences(tmp_path, capsys) -> None:
    (tmp_path / "train.conllu").write_text(tiny_treebank(600))
    test = tmp_path / "test.conllu"
    test.write_text(named(tiny_treebank(150, seed=1)))
    arguments = [f"ud={tmp_path / 'train.conllu'}", f"ud_test={test}", "whole_test=true", "train=80", "dev=20"]
    assert COMMAND.run([*arguments, f"out={tmp_path / 'out'}", "tasks=SentLen,BShift"]) == 0
    texts = {tree.id: " ".join(tree.tokens) for tree in read_conllu(test)}
    for name, change in {"SentLen": str, "BShift": lambda text: " ".join(sorted(text.split()))}.items():
        path = tmp_path / "out" / FILES[name]
        items = read_task(name, path).test
        assert len(items.sentences) > 75
        for sent_id, sentence in zip(read_test_ids(path), items.sentences, strict=True):
            assert change(texts[sent_id]) == change(sentence)
    test.write_text(tiny_treebank(150, seed=1))
    assert COMMAND.run([*arguments, f"out={tmp_path / 'new'}", "tasks=SentLen"]) == 2
    assert "a sentence has no # sent_id" in capsys.readouterr().err
    test.write_text(named(tiny_treebank(150, seed=1)).replace("sent_id = s10\n", "sent_id = s11\n"))
    assert COMMAND.run([*arguments, f"out={tmp_path / 'new'}", "tasks=SentLen"]) == 2
    assert "two sentences have the # sent_id 's11'" in capsys.readouterr().err


def test_dependency_trees_and_text_are_built_by_the_same_command(tmp_path) -> None:
    (data := tmp_path / "data").mkdir()
    (data / "a.conllu").write_text(tiny_treebank(500))
    (data / "a.txt").write_text("\n".join(lines(500)))
    sizes = ["train=60", "dev=12", "test=12"]
    for source, (name, *more) in {"ud": ["SubjGender"], "text": ["FarSwap", "FarSwap.originals"]}.items():
        out, files = tmp_path / source, {"controls.png", "report.md", FILES["SentLen"], f"{name}.txt", *more}
        assert COMMAND.run([f"{source}={data}", f"out={out}", f"tasks=SentLen,{name}", *sizes]) == 0
        assert {path.name for path in out.iterdir()} == files
        assert f"## {name}" in (out / "report.md").read_text()
        assert len(read_task(name, out / f"{name}.txt").classes) >= 2
