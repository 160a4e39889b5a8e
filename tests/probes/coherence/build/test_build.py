"""Coherence suites from the command: schemas, contradictions, reports, corrupted sources and open data."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from encoder_lab.errors import InputError
from probes.coherence.build.__main__ import COMMAND
from probes.coherence.build.cloze import build_cloze
from probes.coherence.build.connectives import build_connectives
from probes.coherence.build.order import build_order
from probes.coherence.build.speakers import build_speakers
from probes.coherence.build.texts import read_texts
from probes.coherence.build.winograd import build_winograd, noun_for_pronoun
from probes.coherence.suite_file import read_suite
from tests.fuzzing import any_damage_is_read_or_refused
from tests.probes.coherence.build.test_annotations import DISCO
from tests.probes.coherence.build.test_stories import CLOZE, PERSONA, ROC, written

DATA = Path(__file__).parents[5] / "shared" / "data"
SCHEMA = {"text": "The trophy does not fit into the suitcase because it is too large.", "pronoun": "it", "label": 0}
SCHEMA |= {"pronoun_loc": 50, "options": ["The trophy", "the suitcase"]}


def story_file(folder: Path, count: int) -> Path:
    """Stories of five sentences each."""
    stories = [{"id": n, "sentences": [f"Word{n} a{m}." for m in range(5)]} for n in range(count)]
    return written(folder / "stories.jsonl", "\n".join(map(json.dumps, stories)))


def test_a_schema_has_its_pronoun_replaced(tmp_path) -> None:
    full, partial = build_winograd(written(tmp_path / "wsc.jsonl", json.dumps(SCHEMA))).suites
    before, rest = "The trophy does not fit into the suitcase because", "is too large."
    assert partial.items[0].texts == ((before, "the trophy", rest), (before, "the suitcase", rest))
    assert full.items[0].texts[0] == (f"{before} the trophy {rest}",)


COLLECTION = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE collection SYSTEM "schema.dtd">
<collection>
<schema>
<text>
<txt1>The trophy does not fit into the suitcase because</txt1>
<pron>it</pron>
<txt2>is too  large.</txt2>
</text>
<quote><quote1></quote1><pron>it</pron><quote2>is too large</quote2></quote>
<answers><answer>The trophy</answer><answer>the suitcase</answer></answers>
<correctAnswer> A. </correctAnswer>
<source>(Levesque)</source>
</schema>
</collection>
"""


def test_the_published_collection_gives_the_same_schemas_and_one_that_defines_entities_is_refused(tmp_path) -> None:
    published = build_winograd(written(tmp_path / "wsc.xml", COLLECTION))
    ours = build_winograd(written(tmp_path / "wsc.jsonl", json.dumps(SCHEMA)))
    for suite, expected in zip(published.suites, ours.suites, strict=True):
        assert [item.texts for item in suite.items] == [item.texts for item in expected.items]
        assert suite.items[0].source == "wsc.xml:1"
    path = written(tmp_path / "wsc.xml", COLLECTION.replace('"schema.dtd"', '[<!ENTITY a "b">]'))
    with pytest.raises(InputError, match="entities"):
        build_winograd(path)


@pytest.mark.parametrize(("option", "pronoun", "before", "after", "expected"), [
    ("The man", "he", "The man saw the boy because", "ran", "the man"),
    ("Bill", "his", "John hit Bill on", "nose", "Bill's"),
    ("the boy", "He", "The man saw the boy.", "ran", "The boy"),
    ("Lemons", "they", "The lemons and lemons here, as", "are sour", "lemons"),
    ("My dog", "it", "My dog ate, and", "slept", "my dog"),
])  # fmt: skip
def test_a_noun_takes_the_form_of_its_place(option, pronoun, before, after, expected) -> None:
    assert noun_for_pronoun(option, pronoun, before, after) == expected


def test_contradictions_are_said_by_the_same_or_another_speaker(tmp_path) -> None:
    pairs = ("i am a teacher.", "negative"), ("i help people.", "positive")
    records = [{"sentence1": "i am a nurse.", "sentence2": other, "label": label} for other, label in pairs]
    whole = written(tmp_path / "dnli.json", json.dumps(records))
    lines = written(tmp_path / "dnli.jsonl", "\n".join(map(json.dumps, records)))
    sick = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    table = written(tmp_path / "sick.txt", sick + "1\ti am a nurse.\ti am a teacher.\t3\tCONTRADICTION\n")
    for path in (whole, lines, table):
        (suite,) = build_speakers(path).suites
        assert [item.texts for item in suite.items] == [
            (("i am a nurse. [SEP]", "i am a teacher."), ("i am a nurse.", "i am a teacher."))
        ]


def test_the_command_writes_suites_and_a_report(tmp_path, capsys) -> None:
    source = story_file(tmp_path, 9)
    for out in ("one", "two"):
        assert COMMAND.run(["phenomenon=order", f"source={source}", f"out={tmp_path / out}", "seed=3", "items=4"]) == 0
    assert "2 suites, 8 items" in capsys.readouterr().out
    suite = read_suite(tmp_path / "one" / "shuffle_narration_all.json")
    assert [item.number for item in suite.items] == [1, 2, 3, 4]
    assert all(item.source.startswith("stories.jsonl:") for item in suite.items)
    cells = "| unigram | `(1;%original%) < (1;%shuffled%)` | 50.0 [15.0, 85.0] of 4 items, 4 ties counted half |"
    assert cells in (tmp_path / "one" / "report.md").read_text()
    for name in ("shuffle_narration_all.json", "shuffle_narration_context.json", "report.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(("arguments", "message"), [
    (["order"], "phenomenon= is missing"),
    (["phenomenon=odd", "source=.", "out=x"], "give order, cloze, winograd"),
    (["phenomenon=order", "source=no/such", "out=x"], "no/such: no such file or folder (source=)"),
    (["phenomenon=order", "source={short}", "out=x"], "no item for order (1 texts of fewer than 5 sentences)"),
    (["phenomenon=order", "source=.", "out=x", "items=0"], "items=0: give a whole number from 1"),
    (["phenomenon=winograd", "source=.,.", "out=x"], "reads one source"),
    (["phenomenon=order", "source=.", "out=x", "comma=true"], "only phenomenon=connectives has it"),
    (["phenomenon=cloze", "source=.", "out=x", "separator=true"], "only phenomenon=order has it"),
])  # fmt: skip
def test_wrong_arguments_are_one_line(arguments, message, tmp_path, capsys) -> None:
    short = written(tmp_path / "short.jsonl", json.dumps({"sentences": ["One."]}))
    assert COMMAND.run([argument.format(short=short) for argument in arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_help_names_every_phenomenon(capsys) -> None:
    assert COMMAND.run(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"\n  {name} " in printed for name in COMMAND.settings[0].type.metavar.split("|"))


def test_twins_are_drawn_together(tmp_path) -> None:
    arguments = ["phenomenon=cloze", f"source={story_file(tmp_path, 8)}", f"out={tmp_path / 'cloze'}", "items=5"]
    assert COMMAND.run(arguments) == 0
    suite = read_suite(tmp_path / "cloze" / "story_cloze.json")
    right, wrong = (Counter(item.texts[at][1] for item in suite.items) for at in (0, 1))
    assert right == wrong
    assert len(suite.items) == 4
    assert all("; wrong ending of stories.jsonl:" in item.source for item in suite.items)


@pytest.mark.skipif(not DATA.exists(), reason="needs the open data")
def test_twins_of_winograd_schemas_are_drawn_together(tmp_path) -> None:
    schemas = DATA / "winograd/wsc273.jsonl"
    assert COMMAND.run(["phenomenon=winograd", f"source={schemas}", f"out={tmp_path}", "items=40"]) == 0
    for name, noun in (("full", 0), ("partial", 1)):
        suite = read_suite(tmp_path / f"winograd_{name}.json")
        numbers = {int(item.source.rpartition(":")[2]) for item in suite.items}
        options = [frozenset(json.loads(line)["options"]) for line in schemas.read_text().splitlines()]
        for number in numbers:
            twins = [at for at in (number - 1, number + 1) if options[at - 1 : at] == [options[number - 1]]]
            assert numbers.issuperset(twins)
        assert 38 <= len(suite.items) <= 40
        assert all(item.texts[0][noun] != item.texts[1][noun] for item in suite.items)


def test_a_folder_with_suites_of_another_build_is_refused(tmp_path, capsys) -> None:
    out = tmp_path / "out"
    arguments = [f"source={story_file(tmp_path, 4)}", f"out={out}"]
    assert COMMAND.run(["phenomenon=order", *arguments]) == 0
    assert COMMAND.run(["phenomenon=order", "items=2", *arguments]) == 0  # replaces the same suites
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert COMMAND.run(["phenomenon=cloze", *arguments]) == 2
    assert "has suites of another build, such as shuffle_narration_all.json" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


FORMATS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "cloze.csv": (CLOZE, lambda path: build_cloze(read_texts(path))),
    "roc.csv": (ROC, lambda path: build_order(read_texts(path), 0)),
    "chat.txt": (PERSONA, lambda path: build_order(read_texts(path), 0)),
    "stories.jsonl": (json.dumps({"sections": [{"paragraphs": [["a", "b"]]}]}), lambda path: list(read_texts(path))),
    "turns.jsonl": (json.dumps({"turns": [{"text": "a"}, {"text": "b"}]}), lambda path: list(read_texts(path))),
    "wsc.jsonl": (json.dumps(SCHEMA), build_winograd),
    "wsc.xml": (COLLECTION, build_winograd),
    "disco.txt": ("\n".join(line for _, line, *_ in DISCO[:2]), build_connectives),
    "dnli.json": (json.dumps([{"sentence1": "a", "sentence2": "b", "label": "negative"}]), build_speakers),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_corrupted_source_is_read_or_refused_in_one_line(tmp_path, name) -> None:
    whole, read = FORMATS[name]
    path = written(tmp_path / name, whole)
    any_damage_is_read_or_refused(lambda: read(path), path)


@pytest.mark.skipif(not DATA.exists(), reason="needs the open data")
@pytest.mark.parametrize(("phenomenon", "source", "suites", "items"), [
    ("winograd", "winograd/wsc273.jsonl", 2, 546),
    ("remention", "gum", 1, 1021),
    ("connectives", "gum", 21, 505),
    ("cloze", "stories/aesop_for_children.jsonl.gz", 1, 236),
    ("order", "dialogue/taskmaster4_coffee.jsonl.gz", 2, 816),
    ("speakers", "senteval_downstream/data/downstream/SICK/SICK_trial.txt", 1, 74),
])  # fmt: skip
def test_open_data_give_suites_that_are_read_again(tmp_path, phenomenon, source, suites, items) -> None:
    assert COMMAND.run([f"phenomenon={phenomenon}", f"source={DATA / source}", f"out={tmp_path}"]) == 0
    written_suites = [read_suite(path) for path in tmp_path.glob("*.json")]
    assert (len(written_suites), sum(len(suite.items) for suite in written_suites)) == (suites, items)
    assert all(item.source for suite in written_suites for item in suite.items)
