import bz2
import json
import re
from pathlib import Path

import numpy as np
import pytest

from encoder_lab.errors import InputError
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.probing import FILES
from probes.probing.controls import CONTROL_UNITS, control_task
from probes.probing.data import FromFiles, FromSentEval, NoTasks
from probes.probing.published_files import own_task_files, read_senteval, write_task
from probes.probing.tasks import tasks
from probes.suites import Context
from probes.vectors import Vectors
from tests.tiny_corpus import TinyCorpus

GOOD = "tr\t10\ta b c d .\ntr\t5\ta b .\nva\t5\tc d .\nte\t10\te , f .\t\n"


def written(folder: Path, text: str) -> Path:
    (folder / "tree_depth.txt").write_text(text, encoding="utf-8")
    return folder


def test_the_published_format_is_read_also_in_a_folder_named_probing_and_what_is_written_reads_back_equal(
    tmp_path,
) -> None:
    (tmp_path / "probing").mkdir()
    written(tmp_path / "probing", GOOD)
    (task,) = read_senteval(tmp_path, ["TreeDepth"])
    assert (task.name, task.classes) == ("TreeDepth", ["10", "5"])  # sorted as text, from training only
    assert task.train.sentences == ["a b c d .", "a b ."]
    assert (task.dev.gold.tolist(), task.test.gold.tolist()) == ([1], [0])
    write_task(task, tmp_path / "again" / "tree_depth.txt")
    (again,) = read_senteval(tmp_path / "again", ["TreeDepth"])
    assert again.classes == task.classes
    assert [s.sentences for s in again.parts] == [s.sentences for s in task.parts]


def test_fields_between_label_and_sentence_are_passed_over(tmp_path, caplog) -> None:
    with caplog.at_level("WARNING", "datamodules"):
        (task,) = read_senteval(
            written(tmp_path, re.sub(r"\t(?=[^\t]*$)", "\tmore\t", GOOD, flags=re.M)), ["TreeDepth"]
        )
    assert task.train.sentences[1] == "a b ."
    assert "what stands between label and sentence is not read" in caplog.text


BROKEN = {
    "unknown split": (GOOD + "xx\t5\ta .\n", ":5"),
    "no sentence": (GOOD + "tr\t5\n", ":5"),
    "tab in a sentence": (GOOD + "te\t5\ta\tb .\n", ":5: 4 columns, the first line of te has 3; no tab may be"),
    "label unseen in training": (GOOD + "te\t7\ta .\n", ":5"),
    "no dev": (GOOD.replace("va", "tr"), "va"),
    "one class": (GOOD.replace("\t5\t", "\t10\t"), "only one label, '10'"),
    "empty": ("", "empty"),
}


@pytest.mark.parametrize(("text", "named"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_names_the_line(tmp_path, text, named) -> None:
    with pytest.raises(InputError, match=f"tree_depth.txt.*{named}"):
        read_senteval(written(tmp_path, text), ["TreeDepth"])


def test_with_some_of_the_files_their_tasks_are_there_and_one_line_names_the_others(tmp_path, capsys) -> None:
    with pytest.raises(InputError, match=r"none of the 1 files; get them from .*SentEval"):
        read_senteval(tmp_path, ["SOMO"])
    tasks = read_senteval(written(tmp_path, GOOD), ["SOMO", "TreeDepth", "WC"])
    assert [task.name for task in tasks] == ["TreeDepth"]
    (message,) = capsys.readouterr().err.splitlines()
    assert "SOMO (odd_man_out.txt), WC (word_content.txt)" in message


@pytest.mark.parametrize("names", ["Depth", ["Depth"], ["TreeDepth", "Depth"]])
def test_the_toolkits_names_are_understood(tmp_path, names) -> None:
    settings = {"train_size": None, "dev_size": None, "test_size": None, "tasks": names}
    source = FromSentEval(str(written(tmp_path, GOOD)))
    (task,) = tasks(Context(Grid(), 1, tmp_path, TinyCorpus()), {**settings, "source": source})
    assert task.name == "TreeDepth"


ROWS = [(split, label) for split in ("train", "validation", "test") for label in ("yes", "no")]
JSON = "".join(json.dumps({"split": s, "label": label, "sentence": f"{s} {label}"}) + "\n" for s, label in ROWS)


def test_own_tasks_are_named_after_their_files_in_either_form(tmp_path) -> None:
    (tmp_path / "mine.jsonl.bz2").write_bytes(bz2.compress(JSON.encode()))
    paths = [str(written(tmp_path, GOOD) / "tree_depth.txt"), str(tmp_path / "mine.jsonl.bz2")]
    depth, mine = FromFiles(paths).tasks(Context(Grid(), 1, tmp_path, TinyCorpus()), [], [None] * 3)
    assert (depth.name, mine.name, mine.classes) == ("TreeDepth", "mine", ["no", "yes"])
    assert mine.dev.sentences == ["validation yes", "validation no"]
    assert mine.dev.gold.tolist() == [1, 0]
    assert FromFiles([str(tmp_path)]).paths.keys() == {"TreeDepth", "mine"}


PAIRS = "split\tlabel\tsentence\tsentence2\n" + "".join(
    f"{split}\t{label}\ta {label} .\tb  {label}\n"
    for split in ("train", "dev", "test")
    for label in ("no", "yes" if split == "dev" else " yes ")
)


def with_more(folder: Path, grid: Grid | None = None) -> list[Classification]:
    settings = {"train_size": None, "dev_size": None, "test_size": None, "tasks": [], "more": [str(folder)]}
    return tasks(Context(grid or Grid(), 1, folder, TinyCorpus()), {**settings, "source": NoTasks()})


@pytest.mark.parametrize(("test_pair", "warned"), [("a\tb", "1 of 2"), ("b\ta", "1 of 2"), ("a\td", "")])
def test_an_own_task_says_how_many_test_items_are_training_items(tmp_path, capsys, test_pair, warned) -> None:
    rows = ["split\tlabel\tsentence\tsentence2", "train\tno\ta\tb", "train\tyes\tc\td", "dev\tyes\ta\tb"]
    (tmp_path / "same.tsv").write_text("\n".join([*rows, "test\tno\te\tf", f"test\tno\t{test_pair}\n"]))
    with_more(tmp_path)
    printed = capsys.readouterr().err
    assert warned in printed  # the features of a pair do not tell which sentence is the first
    assert bool(printed) == bool(warned)


@pytest.mark.parametrize("protocol", ["modern", "senteval"])
def test_pairs_join_the_tasks_of_a_source_and_their_controls_are_of_pairs(tmp_path, protocol) -> None:
    (tmp_path / "same.tsv").write_text(PAIRS)
    (task,) = with_more(tmp_path, Grid((0,), (0.0,), protocol=protocol))
    assert task.train.texts == (["a no .", "a yes ."], ["b no", "b yes"])
    assert [part.gold.tolist() for part in task.parts] == [[0, 1]] * 3
    sentences = sorted(set(task.sentences))
    vectors = Vectors(np.array([[len(text), "yes" in text] for text in sentences]), sentences)
    for read in (task, *(control_task(task, per, 1) for per in CONTROL_UNITS)):
        assert len(read.score(vectors, "cpu").correct) == 2


def test_a_task_keeps_its_name_and_its_reader_on_the_way_through_a_file(tmp_path) -> None:
    for name, file in FILES.items():
        written(tmp_path, GOOD)
        (tmp_path / "tree_depth.txt").rename(tmp_path / file)
        (task,) = with_more(tmp_path)
        assert (task.name, task.reader) == (name, "logreg" if name == "WC" else "mlp")
        (tmp_path / file).unlink()


@pytest.mark.parametrize(("text", "message"), [
    (PAIRS.replace("label", "score", 1), "scores in place of labels; give it as suite=downstream"),
    (PAIRS.replace("split", "score\tsplit", 1), "both label and score; write the file with one of them"),
    (PAIRS.replace("b  no", "", 1), r"more.tsv:2: expected split .*, and sentence2 of a pair"),
    (PAIRS.replace("dev\tyes", "dev\tmaybe"), r"more.tsv:5: label 'maybe' is not among"),
    (PAIRS.replace("dev\t", "train\t"), "no line of split va; train .tr., dev .va. and test .te. have some"),
    (PAIRS.replace("split", "Split", 1), "more.tsv:1: expected tr, .*, or names as split, label and sentence"),
    (PAIRS.replace("b  no", '"he said ""no"""', 1), r"more.tsv:2: '\"he said .* the quotation marks of CSV; write"),
])  # fmt: skip
def test_a_table_that_is_no_task_names_the_line(tmp_path, text, message) -> None:
    (tmp_path / "more.tsv").write_text(text)
    with pytest.raises(InputError, match=message):
        with_more(tmp_path)


def test_quotation_marks_that_a_spreadsheet_adds_are_reported(tmp_path, caplog) -> None:
    for text, reported in (('" a , b "', False), ('"a, b"', True)):
        (tmp_path / "more.tsv").write_text(PAIRS.replace("b  no", text, 1))
        with_more(tmp_path)
        assert ("between quotation marks, which a spreadsheet adds" in caplog.text) == reported


@pytest.mark.parametrize(("old", "new", "note"), [
    ("sentence2", "sentence_2", ": not read are the columns 'sentence_2'"),
    ("train\tno", "train\tno\ta\tb\ntrain\tNO", ": labels that differ in capitals alone are several classes"),
    ("b  no", "b", ""),
])  # fmt: skip
def test_columns_that_are_not_read_and_labels_that_look_alike_are_named(old, new, note, tmp_path, caplog) -> None:
    (tmp_path / "more.tsv").write_text(PAIRS.replace(old, new, 1))
    with_more(tmp_path)
    assert [text.removeprefix(str(tmp_path / "more.tsv")) for text in caplog.messages] == ([note] if note else [])


@pytest.mark.parametrize("label", ["NaN", "null", '["yes"]', '{"yes": 1}'])
def test_a_label_of_json_lines_is_one_text_or_number(tmp_path, label) -> None:
    (tmp_path / "mine.jsonl").write_text(JSON + JSON.splitlines()[0].replace('"yes"', label))
    with pytest.raises(InputError, match=r"mine.jsonl:7: expected split .*, one label"):
        with_more(tmp_path)


@pytest.mark.parametrize(("text", "file"), [
    (JSON.replace('"no"', "0").replace('"yes"', "1") + JSON.splitlines()[0].replace('"yes"', "1.0"), "mine.jsonl"),
    (JSON.replace('"no"', "false") + JSON.splitlines()[0].replace('"yes"', '"false"'), "mine.jsonl"),
    (GOOD + "tr\t5 \ta , b .\n", "mine.txt"),
    (PAIRS.replace("\tno\t", "\tnot  so\t", 1).replace("\tno\t", "\tnot so\t"), "mine.tsv"),
])  # fmt: skip
def test_two_ways_to_write_a_label_are_one_class(tmp_path, text, file) -> None:
    (tmp_path / file).write_text(text)
    (task,) = with_more(tmp_path)
    assert len(task.classes) == 2


def test_a_second_task_of_a_name_is_refused(tmp_path) -> None:
    source = FromSentEval(str(written(tmp_path, GOOD)))
    settings = {"train_size": None, "dev_size": None, "test_size": None, "tasks": ["TreeDepth"], "source": source}
    with pytest.raises(InputError, match="a second task TreeDepth; rename the file"):
        tasks(Context(Grid(), 1, tmp_path, TinyCorpus()), {**settings, "more": [str(tmp_path)]})


def test_a_table_without_a_needed_column_is_refused_at_its_first_line(tmp_path) -> None:
    (tmp_path / "mine.tsv").write_text("split\tlabl\tsentence\ntrain\tyes\ta b .\n")
    with pytest.raises(InputError, match=r"mine.tsv:1: no column label in the header, which has split, labl, sentence"):
        with_more(tmp_path)


def test_a_file_of_another_kind_is_answered_with_the_endings_that_tasks_have(tmp_path) -> None:
    (tmp_path / "mine.csv").write_text("split,label,sentence\n")
    with pytest.raises(InputError, match=r"has columns; write .* ends in .txt or .tsv or .jsonl$"):
        own_task_files([str(tmp_path / "mine.csv")], "probes.more")


@pytest.mark.parametrize(("names", "sizes", "message"), [
    (["other"], [None] * 3, "other: no such task; there are mine"),
    ([], [5, None, None], "train_size=5: the files have their own"),
    ([], [None] * 3, r"mine.jsonl:1: expected split"),
])  # fmt: skip
def test_what_own_files_cannot_be_is_refused(tmp_path, names, sizes, message) -> None:
    (tmp_path / "mine.jsonl").write_text(JSON.replace("train", "all"))
    with pytest.raises(InputError, match=message):
        FromFiles([str(tmp_path / "mine.jsonl")]).tasks(Context(Grid(), 1, tmp_path, TinyCorpus()), names, sizes)
