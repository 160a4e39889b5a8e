"""Tasks of several languages at equal sizes, and splits of equal classes: errors say what is possible."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from probes.classification import Classification
from probes.probing.build.pool import Sizes
from probes.probing.build.sampling import plan_classes
from probes.probing.equal import COMMAND, MIN_CLASS_SENTENCES, common_classes, equalise
from probes.probing.published_files import read_task, write_task
from probes.task import single

few = st.integers(0, 400)
counts = st.tuples(few, few, few)
asked = st.integers(2, 2000)


def task(name: str, counts: dict[str, tuple[int, int, int]]) -> Classification:
    """So many sentences of each class in train, dev and test, class after class."""
    parts = []
    for part in range(3):
        rows = [(f"{label} {part} {n}", at) for at, label in enumerate(counts) for n in range(counts[label][part])]
        parts.append(single([s for s, _ in rows], np.array([at for _, at in rows], dtype=np.int64)))
    return Classification(name, list(counts), *parts)


ENGLISH = task("Tense", {"Fut": (25, 5, 5), "Past": (40, 9, 8), "Pres": (50, 7, 9)})
TURKISH = task("Tense", {"Past": (30, 8, 9), "Pres": (70, 9, 9)})
FRENCH = task("Tense", {"Imp": (30, 8, 8), "Pres": (30, 8, 8)})


def test_classes_are_those_that_all_have_and_sizes_those_of_the_smallest() -> None:
    made, _ = equalise("Tense", {"en": ENGLISH, "tr": TURKISH}, {"en": [], "tr": []})
    for equal_task in made.values():
        assert list(equal_task.classes) == ["Past", "Pres"]
        assert [np.bincount(part.gold).tolist() for part in equal_task.parts] == [[30, 30], [7, 7], [8, 8]]
    assert made["en"].train.sentences[:3] == ["Past 0 0", "Pres 0 0", "Past 0 1"]
    assert made["en"].train.sentences[-1] == "Pres 0 29"


def test_trees_of_each_depth_keep_their_lengths() -> None:
    many, few = (task("TreeDepth", dict.fromkeys("56", counts)) for counts in ((60, 5, 9), (20, 5, 9)))
    made, _ = equalise("TreeDepth", {"en": many, "hu": few}, {"en": [], "hu": []})
    assert made["en"].train.sentences == [f"{depth} 0 {n}" for n in range(0, 60, 3) for depth in "56"]


def test_a_language_with_other_classes_is_left_out() -> None:
    assert list(common_classes("Tense", {"fr": FRENCH, "en": ENGLISH, "tr": TURKISH})) == ["en", "tr"]
    with pytest.raises(InputError, match="no two languages have two classes in common"):
        common_classes("Tense", {"fr": FRENCH, "tr": TURKISH})


def test_target_words_are_those_of_each_language() -> None:
    first, second = task("WC", {"cat": (40, 4, 4), "dog": (40, 4, 4)}), task("WC", dict.fromkeys("xyz", (40, 4, 4)))
    assert common_classes("WC", {"en": first, "tr": second}) == {"en": ["cat", "dog"], "tr": ["x", "y"]}


COUNT = 60  # test sentences of each class in Italian and Finnish
ITALIAN, FINNISH = (task(name, dict.fromkeys(["Past", "Pres"], (30, 5, COUNT))) for name in ("Tense", "Tense"))


def test_parallel_test_sentences_are_those_that_all_have_in_one_order() -> None:
    names = [f"n{at:03}" for at in range(2 * COUNT)]
    ids = {"it": names, "fi": [*names[:40:-1], *["other"] * 41]}
    made, shared = equalise("Tense", {"it": ITALIAN, "fi": FINNISH}, ids)
    assert shared == names[41:]
    for language, old in {"it": ITALIAN, "fi": FINNISH}.items():
        at = [ids[language].index(name) for name in shared]
        assert made[language].test.sentences == [old.test.sentences[place] for place in at]
        assert made[language].test.gold.tolist() == old.test.gold[at].tolist()
        assert [np.bincount(part.gold).tolist() for part in made[language].parts[:2]] == [[30, 30], [5, 5]]


def test_a_parallel_sentence_without_a_common_class_is_not_among_the_tests() -> None:
    names = [f"n{at:03}" for at in range(3 * COUNT)]
    three = task("Tense", dict.fromkeys(["Imp", "Past", "Pres"], (30, 5, COUNT)))
    made, shared = equalise("Tense", {"es": three, "fi": FINNISH}, {"es": names, "fi": names[30:150]})
    assert shared == names[60:150]
    assert np.bincount(made["es"].test.gold).tolist() == [60, 30]


NAMES = [f"n{at:03}" for at in range(2 * COUNT)]
FEW = {
    "few in all": ("Tense", [*NAMES[:30], *[f"m{at}" for at in range(90)]], "30 test sentences are in all of it, fi"),
    "one class": ("Tense", [*NAMES[:COUNT], *[""] * COUNT], "the 60 test sentences .* one class in it"),
    "no names": ("Tense", [], "the test sentences of fi have no sent_id, those of it have"),
    "words": ("WC", NAMES, "words of each language"),
}


@pytest.mark.parametrize(("name", "ids", "message"), FEW.values(), ids=FEW.keys())
def test_parallel_tests_that_cannot_be_made_say_why(name, ids, message) -> None:
    with pytest.raises(InputError, match=message):
        equalise(name, {"it": ITALIAN, "fi": FINNISH}, {"it": NAMES, "fi": ids})


def test_the_command_writes_what_several_folders_have(tmp_path, capsys) -> None:
    few = (MIN_CLASS_SENTENCES - 1, 5, 5)
    english = replace(ENGLISH, originals=["It was ."])
    for language, own in {"en": [english], "fr": [FRENCH], "tr": [TURKISH]}.items():
        more = [task("Mood", {"Ind": few, "Imp": few})] if language != "fr" else [task("Case", {"A": few, "B": few})]
        for some in [*own, *more]:
            write_task(some, tmp_path / language / ("past_present.txt" if some.name == "Tense" else f"{some.name}.txt"))
    folders = [str(tmp_path / language) for language in ("en", "fr", "tr")]
    assert COMMAND.run([*folders, f"out={tmp_path / 'equal'}"]) == 0
    printed = capsys.readouterr()
    assert "| Tense | 2 | 60 | 14 | 16 | 50.0 | en, tr |" in printed.out
    assert "Mood: left out, a class has 19/5/5 sentences; it needs 20 to train" in printed.err
    assert "Case: left out, only fr has it" in printed.err
    written = sorted(path.relative_to(tmp_path / "equal").as_posix() for path in tmp_path.glob("equal/*/*"))
    assert written == ["en/Tense.originals", "en/Tense.txt", "tr/Tense.txt"]
    assert read_task("Tense", tmp_path / "equal" / "en" / "Tense.txt").originals == ["It was ."]
    assert len(read_task("Tense", tmp_path / "equal" / "tr" / "Tense.txt").train.sentences) == 60


@pytest.mark.parametrize(("out", "old"), [("equal", "equal/en/Mood.txt"), (".", "en/Tense.txt")])
def test_a_folder_with_a_task_that_would_stay_or_is_read_is_refused(tmp_path, capsys, out, old) -> None:
    for language in ("en", "tr"):
        write_task(TURKISH, tmp_path / language / "Tense.txt")
    write_task(TURKISH, tmp_path / "equal" / "en" / "Mood.txt")
    assert COMMAND.run([str(tmp_path / "en"), str(tmp_path / "tr"), f"out={tmp_path / out}"]) == 2
    assert f"{old}: is a task of another build, or one to read" in capsys.readouterr().err
    assert not list(tmp_path.glob("equal/*/Tense.txt"))


def test_folders_without_a_common_task_are_refused(tmp_path, capsys) -> None:
    write_task(TURKISH, tmp_path / "tr" / "Tense.txt")
    (tmp_path / "en").mkdir()
    assert COMMAND.run([str(tmp_path / "tr"), str(tmp_path / "en"), f"out={tmp_path / 'equal'}"]) == 2
    assert "no task that another of the folders has too" in capsys.readouterr().err
    assert COMMAND.run([str(tmp_path / "tr"), str(tmp_path / "nowhere"), "out=x"]) == 2
    assert "nowhere: no such file or folder" in capsys.readouterr().err


@given(counts, counts, st.builds(Sizes, asked, asked, asked))
def test_who_asks_for_what_an_error_calls_possible_gets_it(first, second, sizes) -> None:
    splits = [{"a": ["a"] * a, "b": ["b"] * b} for a, b in zip(first, second, strict=True)]
    try:
        plan_classes("Tense", splits, sizes)
    except InputError as error:
        possible = {part: int(most) for most, part in re.findall(r"(\d+) (train|dev|test) sentences", str(error))}
        assume(possible)
        assert plan_classes("Tense", splits, sizes._replace(**possible))[1][0] > 0


def test_a_test_split_that_is_asked_to_be_too_large_is_named() -> None:
    splits = [{"Plur": ["we"] * a, "Sing": ["I"] * b} for a, b in ((63, 236), (36, 115), (35, 98))]
    with pytest.raises(InputError, match="the splits shrink equally: ask for at most 351 test sentences"):
        plan_classes("SubjNum", splits, Sizes(301, 300, 500))
