from pathlib import Path

import pytest

from common.errors import InputError
from probes.probing.published_files import read_senteval, write_task

GOOD = "tr\t10\ta b c d .\ntr\t5\ta b .\nva\t5\tc d .\nte\t10\te , f .\t\n"


def written(folder: Path, text: str) -> Path:
    (folder / "tree_depth.txt").write_text(text, encoding="utf-8")
    return folder


def test_the_published_format_is_read(tmp_path: Path) -> None:
    (task,) = read_senteval(written(tmp_path, GOOD), ["TreeDepth"])
    assert task.classes == ["10", "5"]  # sorted as text, from training only
    assert task.train.sentences == ["a b c d .", "a b ."]
    assert (task.dev.gold.tolist(), task.test.gold.tolist()) == ([1], [0])


def test_fields_between_label_and_sentence_are_passed_over(tmp_path: Path) -> None:
    (task,) = read_senteval(written(tmp_path, GOOD.replace("\ta b .", "\tmore\ta b .")), ["TreeDepth"])
    assert task.train.sentences[1] == "a b ."


def test_the_files_may_lie_in_a_folder_named_probing(tmp_path: Path) -> None:
    (tmp_path / "probing").mkdir()
    written(tmp_path / "probing", GOOD)
    assert read_senteval(tmp_path, ["TreeDepth"])[0].name == "TreeDepth"


BROKEN = {
    "unknown split": (GOOD + "xx\t5\ta .\n", ":5"),
    "no sentence": (GOOD + "tr\t5\n", ":5"),
    "label unseen in training": (GOOD + "te\t7\ta .\n", ":5"),
    "no dev": (GOOD.replace("va", "tr"), "va"),
    "one class": (GOOD.replace("\t5\t", "\t10\t"), "only one label, '10'"),
    "empty": ("", "empty"),
}


@pytest.mark.parametrize(("text", "named"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_names_the_line(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(InputError, match=f"tree_depth.txt.*{named}"):
        read_senteval(written(tmp_path, text), ["TreeDepth"])


def test_a_missing_file_names_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"odd_man_out\.txt.*SentEval"):
        read_senteval(tmp_path, ["SOMO"])


def test_what_is_written_reads_back_equal(tmp_path: Path) -> None:
    (task,) = read_senteval(written(tmp_path, GOOD), ["TreeDepth"])
    write_task(task, tmp_path / "again" / "tree_depth.txt")
    (again,) = read_senteval(tmp_path / "again", ["TreeDepth"])
    assert again.classes == task.classes
    assert [s.sentences for s in again.parts] == [s.sentences for s in task.parts]
