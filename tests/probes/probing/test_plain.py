"""Tasks of plain text: the order of words, and text of any script."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.classification import Classification
from probes.probing.build.all_tasks import BuiltTasks, build_tasks
from probes.probing.build.plain import TEXT_TASKS, analyse_sentence, from_text
from probes.probing.build.pool import Sizes
from probes.probing.build.word_order import MAX_DISTANCE, MIN_DISTANCE
from probes.probing.build.writing import capitalise, has_letters, is_mark, is_word, letter_count, uncapitalise
from tests.probes.probing.tiny_trees import task_named

SIZES = Sizes(240, 60, 60)
SMALL = [f"{a}{b}" for a in "abcdefgh" for b in ("u", "or", "in", "ess")]
RARE = [f"{word}ma" for word in SMALL]


def lines(count: int, seed: int = 0) -> list[str]:
    """Sentences of small words, some frequent, in any order."""
    random = Random(seed)
    made = []
    for _ in range(count):
        words = [random.choice(SMALL[: random.randint(1, len(SMALL))]) for _ in range(random.randint(4, 20))]
        words += [random.choice(RARE) for _ in range(random.randint(0, 6))]
        random.shuffle(words)
        made.append(" ".join([words[0].capitalize(), *words[1:], random.choice(".?!")]))
    return [*made, *(f"- {line}" for line in made[: count // 4])]


LINES = lines(4000)


@pytest.fixture(scope="module")
def built() -> BuiltTasks:
    return build_tasks(from_text(LINES), SIZES)


def rows(task: Classification) -> list[tuple[int, str, str]]:
    return [
        (split, s, task.classes[label])
        for split, part in enumerate(task.parts)
        for s, label in zip(part.sentences, part.gold, strict=True)
    ]


def test_five_tasks_are_built_and_no_sentence_is_in_two_splits(built) -> None:
    assert ([task.name for task in built.tasks], built.failures) == (list(TEXT_TASKS), {})
    assert built.split_overlap() == 0


def test_each_word_of_a_pair_comes_first_as_often_as_the_other(built) -> None:
    order = task_named(built, "WordOrder")
    held: dict[str, list[set[str]]] = {first: [] for first in order.classes}
    for _, s, first in rows(order):
        held[first].append({word for word in order.classes if s.lower().split().count(word) == 1})
    pairs = {first: set.intersection(*sets) for first, sets in held.items()}  # the words of all sentences of a class
    assert len(pairs) == 2 * built.drafts["WordOrder"].controls["pairs of words"] >= 4
    assert all(len(pair) == 2 and pairs[other] == pair for pair in pairs.values() for other in pair)
    for _, s, first in rows(order):
        assert first == min(pairs[first], key=s.lower().split().index)
    counts = Counter((split, first) for split, _, first in rows(order))
    assert all(len({counts[split, first] for first in order.classes}) == 1 for split in range(3))


def test_swapped_words_stand_apart_and_neither_is_the_first(built) -> None:
    swap = task_named(built, "FarSwap")
    originals = set(LINES)
    distances = set()
    for _, s, label in rows(swap):
        assert (s in originals) == (label == "O")
        if label == "I":
            words = s.split()
            undone = [
                j - i
                for i, j in combinations(range(1 + (words[0] == "-"), len(words) - 1), 2)
                if " ".join([*words[:i], words[j], *words[i + 1 : j], words[i], *words[j + 1 :]]) in originals
            ]
            assert undone
            assert all(MIN_DISTANCE <= distance <= MAX_DISTANCE for distance in undone)
            distances.update(undone)
    assert distances == set(range(MIN_DISTANCE, MAX_DISTANCE + 1))
    assert built.drafts["FarSwap"].controls["sentences in both forms"] == 0


def test_a_text_without_pairs_in_both_orders_has_no_word_order() -> None:
    ordered = [" ".join(sorted(line.lower().rstrip(".?!").split())) + " ." for line in LINES[:800]]
    built = build_tasks(from_text(ordered), Sizes(60, 12, 12), ["WordOrder", "BShift"])
    assert "no two frequent words" in built.failures["WordOrder"]
    assert [task.name for task in built.tasks] == ["BShift"]


def test_tokens_without_letters_are_punctuation_and_quotations_are_marked() -> None:
    analysis = analyse_sentence("« Non » , dit - il ( 3 fois ) .")
    assert analysis is not None
    assert analysis.tags == "MARK WORD MARK PUNCT WORD PUNCT WORD MARK WORD WORD MARK PUNCT"
    assert analyse_sentence("four words only .") is None


def test_words_letters_and_marks_of_any_script_are_told_apart() -> None:
    words = ["straße", "हिन्दी", "kitabı", "言葉", "мама", "é", "e\u0301te"]
    assert [word for word in words if not (is_word(word) and has_letters(word))] == []
    assert [text for text in ("", "don't", "10", "...", "a.", "\u0301") if is_word(text)] == []
    # a character that stands for a syllable counts as two letters
    assert [letter_count(text) for text in ("das", "言葉", "한국", "дом")] == [3, 4, 4, 3]
    # quotation marks and brackets
    assert [is_mark(text) for text in ("„", "''", "»", "(", "-", "", "a")] == [True] * 4 + [False] * 3


def test_turkish_has_two_kinds_of_i() -> None:
    assert [capitalise(word, True) for word in ("iki", "ısı", "su")] == ["İki", "Isı", "Su"]
    assert [uncapitalise(word, True) for word in ("İki", "Isı", "Su")] == ["iki", "ısı", "su"]
    assert (capitalise("iki", False), uncapitalise("Iki", False)) == ("Iki", "iki")


@given(st.text(st.characters(categories=["Lu", "Ll"], max_codepoint=0x24F), min_size=1, max_size=5))
def test_a_word_keeps_all_but_its_first_letter(word) -> None:
    assert capitalise(word, False).endswith(word[1:])
    assert uncapitalise(word, True).endswith(word[1:])


def test_word_content_takes_words_of_a_script_without_capitals() -> None:
    marks = [f"न{chr(0x915 + i)}ि{chr(0x926 + i)}ा" for i in range(12)]
    random = Random(0)
    others = [random.choices(["में", "है", "का"], k=random.randint(4, 20)) for _ in range(900)]
    text = [" ".join([random.choice(marks), *words]) for words in others]
    [content] = build_tasks(from_text(text), Sizes(60, 12, 12), ["WC"]).tasks
    assert set(content.classes) <= set(marks)
