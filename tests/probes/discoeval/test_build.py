"""python -m probes.discoeval.build: documents and annotations in, published files and a report out."""

import gzip
import json
import random
import tracemalloc
from html import escape
from pathlib import Path

import pytest
from hypothesis import given, settings

from common.errors import InputError
from probes.discoeval.build.__main__ import build, command, parse
from probes.discoeval.build.documents import DocumentSource, Part, PlainDocument, read_documents
from probes.discoeval.build.pdtb import read_relations
from probes.discoeval.build.rs3 import read_rs3
from probes.discoeval.build.tasks import build_task
from probes.discoeval.build.trees import read_json_tree, read_trees
from probes.discoeval.controls import controls
from probes.discoeval.data import read_discoeval
from probes.discoeval.items import SPLITS
from tests.fuzzing import corrupted, read_or_refused_by_line, refusal

SIZES = {"train": 40, "dev": 10, "test": 10}
SUBJECTS = ["le chat", "la fermière", "un vieux pêcheur", "l' enfant", "cette maîtresse d' école"]
VERBS = ["regarde", "achète", "préfère", "dessine", "oublie", "retrouve"]
OBJECTS = ["une pomme", "le château", "trois œufs", "son frère", "la forêt", "un gâteau"]


def french_documents(count: int = 60) -> list[dict]:
    """Short French stories in three sections, no sentence twice."""
    draw = random.Random(5)

    def sentence(i: int) -> str:
        words = [
            draw.choice(SUBJECTS),
            draw.choice(VERBS),
            draw.choice(OBJECTS),
            f"n{i}",
            *["vraiment"] * draw.randrange(3),
        ]
        return f"{' '.join(words).capitalize()} ."

    number = iter(range(10**6))
    return [
        {"id": f"d{i}", "title": None, "sections": [
            {"level": 1, "title": t, "paragraphs": [[sentence(next(number)) for _ in range(7)] for _ in range(2)]}
            for t in ("Début", "Milieu", "Fin")
        ]}
        for i in range(count)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def french(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("french") / "contes.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(d) for d in french_documents()).encode()))
    return path


@pytest.fixture(scope="module")
def built(french: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built")
    sizes = [f"{split}={size}" for split, size in SIZES.items()]
    assert command([f"documents={french}", f"out={out}", "language=fr", *sizes]) == 0
    return out


def where(french: Path) -> dict[str, tuple[str, int, int]]:
    """Document, section and place of each sentence."""
    documents = read_documents(DocumentSource(french, "fr"), SIZES)
    return {
        sentence: (text.id, section, place)
        for split in SPLITS
        for text in documents[split]
        for section, part in enumerate(text.parts)
        for place, sentence in enumerate(part.sentences)
    }


def test_documents_in_french_give_four_tasks_of_the_wanted_size(built: Path) -> None:
    tasks, missing = read_discoeval(built)
    assert [task.name for task in tasks] == ["SPcontes", "BSOcontes", "DCcontes", "SSPcontes"]
    assert set(missing) == {"PDTB-E", "PDTB-I", "RST"}
    assert [len(t.train.gold) for t in tasks] == [40, 80, 40, 40]
    assert [len(t.test.gold) for t in tasks] == [10, 20, 10, 10]
    assert "œufs" in " ".join(tasks[0].sentences)


def test_the_label_of_sp_is_the_true_place_of_the_first_sentence(built: Path, french: Path) -> None:
    at = where(french)
    (task,) = read_discoeval(built, ["SP"])[0]
    for *texts, label in zip(*task.train.texts, task.train.gold, strict=True):
        places = [at[text][2] for text in texts]
        assert len({at[text][:2] for text in texts}) == 1
        assert sorted(places) == list(range(min(places), min(places) + 5))
        assert places[0] - min(places) == label
        assert places[1:] == sorted(places[1:])


def test_bso_pairs_are_neighbours_in_their_true_order(built: Path, french: Path) -> None:
    at = where(french)
    (task,) = read_discoeval(built, ["BSO"])[0]
    for first, second, label in zip(*task.dev.texts, task.dev.gold, strict=True):
        assert at[second][2] - at[first][2] == (1 if label else -1)


def test_an_incoherent_window_has_one_sentence_of_another_document(built: Path, french: Path) -> None:
    at = where(french)
    (task,) = read_discoeval(built, ["DC"])[0]
    replaced = []
    for *texts, label in zip(*task.train.texts, task.train.gold, strict=True):
        documents = [at[text][0] for text in texts]
        odd = [i for i, document in enumerate(documents) if documents.count(document) == 1]
        assert len(odd) == (label == 0)
        replaced += odd
    assert sorted(set(replaced)) == [1, 2, 3, 4]
    assert max(replaced.count(place) for place in range(1, 5)) == 5


def test_ssp_tells_the_opening_section_from_the_middle_and_lengths_do_not(built: Path, french: Path) -> None:
    at = where(french)
    (task,) = read_discoeval(built, ["SSP"])[0]
    lengths: list[list[int]] = [[], []]
    for text, label in zip(*task.train.texts, task.train.gold, strict=True):
        assert at[text][1] == (0 if label else 1)
        lengths[label].append(len(text.split()))
    assert sorted(lengths[0]) == sorted(lengths[1])


def test_an_abstract_is_taken_for_the_opening() -> None:
    def part(title: str) -> Part:
        return Part(title, [f"One {title} sentence {i} ." for i in range(4)])

    texts = [PlainDocument("a", [part("front"), part("Abstract"), part("middle"), part("end")])]
    rows = build_task("SSP", dict.fromkeys(SPLITS, texts), {"train": 8, "dev": 0, "test": 0}, 0)["train"]
    assert {text[0].split()[1] for label, text in rows if label == "1"} == {"Abstract"}
    assert {text[0].split()[1] for label, text in rows if label == "0"} == {"middle"}


def test_no_sentence_is_in_two_splits_and_the_report_says_so(built: Path) -> None:
    for task in read_discoeval(built)[0]:
        parts = [set(part.sentences) for part in (task.train, task.dev, task.test)]
        assert len(set.union(*parts)) == sum(map(len, parts))
        assert controls(task)["sentences in two splits"] == 0
    report = (built / "report.md").read_text()
    assert "| SPcontes | 40 | 10 | 10 | 5 |" in report
    assert "| BSOcontes | 50.0 |" in report


def test_the_seed_alone_decides(french: Path, built: Path, tmp_path: Path) -> None:
    sizes = [f"{split}={size}" for split, size in SIZES.items()]
    for seed in (0, 1):
        build(parse([f"documents={french}", f"out={tmp_path / str(seed)}", "language=fr", f"seed={seed}", *sizes]))
    files = [path.relative_to(built) for path in built.rglob("*.txt")]
    assert files
    assert all((built / file).read_bytes() == (tmp_path / "0" / file).read_bytes() for file in files)
    assert all((built / file).read_bytes() != (tmp_path / "1" / file).read_bytes() for file in files)


def test_published_splits_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    documents = [{**d, "split": ("test", "dev", "train")[i % 3]} for i, d in enumerate(french_documents(9))]
    path.write_text("\n".join(map(json.dumps, documents)))
    found = read_documents(DocumentSource(path, "fr"), SIZES)
    assert {text.id for text in found["test"]} == {"d0", "d3", "d6"}
    path.write_text("\n".join(map(json.dumps, [*documents, {**documents[0], "id": "x", "split": None}])))
    with pytest.raises(InputError, match="'x' says no split, unlike those before it"):
        read_documents(DocumentSource(path, "fr"), SIZES)


def test_stories_without_sections_give_all_but_ssp(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "stories.jsonl"
    stories = [
        {"id": d["id"], "sentences": [s for p in d["sections"][0]["paragraphs"] for s in p], "paragraphs": [7, 7]}
        for d in french_documents(40)
    ]
    path.write_text("\n".join(map(json.dumps, stories)))
    arguments = [f"documents={path}", f"out={tmp_path / 'out'}", "train=20", "dev=4", "test=4"]
    assert command(arguments) == 0  # SSP was not asked for by name
    assert capsys.readouterr().err.startswith("SSP was not built: 0 train, 0 dev, 0 test items")
    assert [task.group for task in read_discoeval(tmp_path / "out")[0]] == ["SP", "BSO", "DC"]
    stories[3]["paragraphs"] = [7, 6]
    path.write_text("\n".join(map(json.dumps, stories)))
    assert command(arguments) == 2
    assert "stories.jsonl:4: paragraphs must be numbers of sentences with the sum 14" in capsys.readouterr().err


WRONG = {
    "out= is missing": ["documents=."],
    "give documents=, pdtb= or rst=": ["out=x"],
    "train=many: give a whole number": ["out=x", "documents=.", "train=many"],
    "no such file or folder (pdtb=)": ["out=x", "pdtb=nowhere.tsv"],
    "raw= has an effect only with pdtb=": ["out=x", "documents=.", "raw=."],
    "colour=red: no such setting": ["colour=red"],
    "pdtb=: give a file or folder": ["out=x", "pdtb="],
    "one argument too many": ["out=x", "documents=.", "more"],
    "domain=two words: name the documents with letters": ["out=x", "documents=.", "domain=two words"],
    "tokenized=maybe: give true or false": ["out=x", "documents=.", "tokenized=maybe"],
}


@pytest.mark.parametrize("said", WRONG)
def test_wrong_arguments_end_in_one_line(said: str, capsys: pytest.CaptureFixture) -> None:
    assert command(WRONG[said]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


HEADER = "doc\ttype\tsense\tsense2\tconn\tconn_toks\targ1_toks\targ2_toks\targ1\targ2\tdir\n"


def tables(folder: Path) -> str:
    """Relations with two frequent senses, a rare one and another type; one has two senses."""
    for split, times in (("train", 12), ("dev", 2), ("test", 2)):
        rows = []
        for i in range(times):
            rows.append(f"d\tExplicit\tContingency.Cause.Reason\t\tso\t\t\t\tit {split} {i} <*> rains\twe {split}\t1<2")
            rows.append(f"d\tExplicit\tComparison.Contrast\t\tbut\t\t\t\tyou {split} {i}\tme {split}\t1<2")
            rows.append(f"d\tImplicit\tExpansion.Conjunction\t\tand\t\t\t\tnow {split} {i}\tthen {split}\t1<2")
            rows.append(
                f"d\tImplicit\tTemporal.Asynchronous.Precedence\tContingency.Cause\tso\t\t\t\tx{split}{i}\t{split}\t1<2"
            )
            rows.append(f"d\tNoRel\tNoRel\t\t\t\t\t\tz {i}\tz\t")
        rows.append(f"d\tExplicit\tExpansion.Exception\t\tbut\t\t\t\tonly {split}\tonce\t1<2")
        (folder / f"{split}.gdtb.tsv").write_text(HEADER + "\n".join(rows) + "\n")
    return ",".join(str(folder / f"{split}.gdtb.tsv") for split in SPLITS)


def test_tables_of_relations_become_both_pdtb_tasks(tmp_path: Path) -> None:
    assert command([f"pdtb={tables(tmp_path)}", f"out={tmp_path / 'out'}"]) == 0
    explicit, implicit = read_discoeval(tmp_path / "out")[0]
    assert explicit.classes == ["Comparison.Contrast", "Contingency.Cause"]
    assert implicit.classes == ["Contingency.Cause", "Expansion.Conjunction", "Temporal.Asynchronous"]
    assert [column[0] for column in explicit.train.texts] == ["it train 0 rains", "we train"]
    assert len(explicit.test.gold) == 4
    assert controls(implicit)["ceiling"] == pytest.approx(100 * 4 / 6)


def test_a_task_that_annotations_ask_for_is_built_or_nothing_is(
    tmp_path: Path, french: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "train.gdtb.tsv").write_text(HEADER + "d\tExplicit\tComparison.Contrast\t\tbut\t\t\t\ta\tb\t1<2\n")
    more = [f"documents={french}", "language=fr", *(f"{split}={size}" for split, size in SIZES.items())]
    assert command([*more, f"pdtb={tmp_path / 'train.gdtb.tsv'}", f"out={tmp_path / 'out'}"]) == 2
    assert "error: PDTB-E was not built: " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def pipes(folder: Path, version: int) -> str:
    """The same relations as PDTB 2 or PDTB 3 has them, in sections 2 (train), 15 (dev), 20 (test) and 0 (unused)."""
    raw = "It rained hard. We did not go home."
    for section in ("02", "15", "20", "00"):
        lines = []
        for kind, sense in (("Explicit", "Contingency.Cause.Reason"), ("Implicit", "Expansion.List"), ("EntRel", "")):
            fields = [""] * (48 if version == 2 else 34)
            fields[0] = kind
            if version == 2:
                fields[1], fields[11], fields[24], fields[34] = section, sense, "It rained hard", "We did not go home"
            else:
                fields[8], fields[14], fields[20] = sense, "0..2;3..14", "16..34"
            lines += ["|".join(fields)] * 10
        (folder / "gold" / section).mkdir(parents=True)
        (folder / "gold" / section / f"wsj_{section}03{'.pipe' if version == 2 else ''}").write_text("\n".join(lines))
        (folder / "raw" / section).mkdir(parents=True)
        (folder / "raw" / section / f"wsj_{section}03").write_text(raw)
    return str(folder / "gold")


@pytest.mark.parametrize("version", [2, 3])
def test_pipe_files_of_both_versions_give_the_same_relations(version: int, tmp_path: Path) -> None:
    found = read_relations([Path(pipes(tmp_path, version))], tmp_path / "raw")
    wanted = ("Contingency.Cause", "It rained hard", "We did not go home")
    assert {split: len(rows) for split, rows in found["Explicit"].items()} == {"train": 10, "dev": 10, "test": 10}
    assert found["Explicit"]["test"][0] == wanted
    assert found["Implicit"]["dev"][0] == ("Expansion.List", *wanted[1:])
    if version == 3:
        with pytest.raises(InputError, match=r"wsj_0003|wsj_0203: PDTB 3 has places instead of texts"):
            read_relations([tmp_path / "gold"], None)


@pytest.mark.parametrize("version", [0, 2, 3])
def test_any_file_of_relations_is_read_or_its_first_bad_line_named(version: int, tmp_path: Path) -> None:
    source = Path(tables(tmp_path).split(",")[0] if version == 0 else pipes(tmp_path, version))
    path = source if version == 0 else next(source.rglob("wsj_0203*"))
    original = path.read_bytes()

    @settings(max_examples=50)
    @given(corrupted(original))
    def check(content: bytes) -> None:
        read_or_refused_by_line(lambda: read_relations([path], tmp_path / "raw"), path, content, r"empty$")

    check()


DIS = """( Root (span 1 3)
  ( Nucleus (span 1 2) (rel2par span)
    ( Nucleus (leaf 1) (rel2par List) (text _!The index rose ( again )!_) )
    ( Nucleus (leaf 2) (rel2par List) (text _!and was up,!_) )
  )
  ( Satellite (leaf 3) (rel2par attribution-e) (text _!according to Eurostat.<P>!_) )
)
"""
RS3 = """<rst>
 <header><relations><rel name="List" type="multinuc" /><rel name="attribution" type="rst" /></relations></header>
 <body>
  <segment id="1" parent="10" relname="List">The index rose ( again )</segment>
  <segment id="2" parent="10" relname="List">and was up,</segment>
  <segment id="3" parent="11" relname="attribution">according to Eurostat.</segment>
  <group id="10" type="multinuc" parent="11" relname="span" />
  <group id="11" type="span" />
 </body>
</rst>
"""
JSON = {
    "edus": ["The index rose ( again )", "and was up ,", "according to Eurostat ."],
    "tree": ["NS", "attribution-negative", ["NN", "list", 1, 2], 3],
}
SAME = {".dis": DIS, ".rs3": RS3, ".rst.jsonl": json.dumps(JSON) + "\n"}


def tree_folders(folder: Path, ending: str) -> Path:
    for split in SPLITS:
        (folder / split).mkdir(parents=True)
        for i in range(10):
            (folder / split / f"d{i}{ending}").write_text(SAME[ending])
    return folder


@pytest.mark.parametrize("ending", SAME)
def test_trees_of_each_format_give_the_same_nodes(ending: str, tmp_path: Path) -> None:
    nodes = read_trees([tree_folders(tmp_path / "trees", ending)])
    assert {split: len(found) for split, found in nodes.items()} == {"train": 20, "dev": 20, "test": 20}
    first, second, third = JSON["edus"]
    assert nodes["test"][:2] == [
        ("NS-Attribution", [first, second], [third]),
        ("NN-Joint", [first], [second]),
    ]


def test_more_than_two_nuclei_branch_to_the_right(tmp_path: Path) -> None:
    children = "".join(f"(Nucleus (leaf {i}) (rel2par Sequence) (text _!e{i}!_))" for i in range(1, 5))
    for split in ("TRAINING", "TEST"):
        (tmp_path / split).mkdir()
        for i in range(20):
            (tmp_path / split / f"d{i:02}.dis").write_text(f"(Root (span 1 4) {children})")
    nodes = read_trees([tmp_path])
    assert {split: len(found) for split, found in nodes.items()} == {"train": 54, "dev": 6, "test": 60}
    assert nodes["test"][:3] == [
        ("NN-Temporal", ["e1"], ["e2", "e3", "e4"]),
        ("NN-Temporal", ["e2"], ["e3", "e4"]),
        ("NN-Temporal", ["e3"], ["e4"]),
    ]


BROKEN_TREES = [
    (".dis", "( Satellite", "( Satelite", ":7: a node must have a text or two subtrees"),
    (".dis", ")\n)", ")", r"expected \), found the end"),
    (".rs3", 'parent="11" relname="att', 'parent="12" relname="att', "segment 3 has the parent '12', which is not"),
    (".rs3", "</rst>", "", "not valid XML"),
    (".rs3", "<rst>", "<!DOCTYPE x><rst>", "a document type"),
    (".rs3", 'id="11" type="span"', 'id="11" type="span" parent="10"', "below themselves"),
    (".rst.jsonl", '"NS"', '"SS"', r":1: .*neither an EDU's number nor"),
    (".rst.jsonl", "2]", "9]", ":1: '9' is neither"),
    (".rst.jsonl", ", 3]", ", 2]", ":1: the leaves of the tree"),
    (".rst.jsonl", '"edus": [', '"edus": [3, ', ":1: no list of edus"),
]


@pytest.mark.parametrize(("ending", "old", "new", "said"), BROKEN_TREES)
def test_a_broken_tree_is_refused_in_one_line(ending: str, old: str, new: str, said: str, tmp_path: Path) -> None:
    folder = tree_folders(tmp_path / "trees", ending)
    path = folder / "train" / f"d0{ending}"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=said) as refused:
        read_trees([folder])
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ending", SAME)
def test_any_tree_is_read_or_refused_in_one_line(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"train{ending}"

    @settings(max_examples=80)
    @given(corrupted(SAME[ending].encode()))
    def check(content: bytes) -> None:
        path.write_bytes(content)
        refusal(lambda: read_trees([path]), path)

    check()


def test_a_tree_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.dis"
    path.write_text("( Root ( Nucleus " * 5000)
    with pytest.raises(InputError, match=r"train\.dis"):
        read_trees([path])


COUNT = 5_000
REST = "".join(f'<segment id="{i}" parent="1" relname="e">x</segment>' for i in range(2, COUNT))
WIDE = {
    ".rs3": f'<rst><body><segment id="1">x</segment>{REST}</body></rst>',
    ".dis": "(Root (span 1 2) " + "(Nucleus (leaf 1) (rel2par List) (text _!x!_)) " * COUNT + ")",
}


@pytest.mark.parametrize("ending", WIDE)
def test_a_tree_that_is_too_wide_is_refused_in_little_memory(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"train{ending}"
    path.write_text(WIDE[ending])
    tracemalloc.start()
    with pytest.raises(InputError, match=rf"train\{ending}: a tree that is too deep or too wide"):
        read_trees([path])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20


@pytest.mark.parametrize("ending", SAME)
def test_a_document_may_have_only_so_many_edus_in_its_nodes(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree_folders(tmp_path / "trees", ending)
    monkeypatch.setattr("probes.discoeval.build.subtrees.MOST_EDUS", 5)
    assert read_trees([folder])
    monkeypatch.setattr("probes.discoeval.build.subtrees.MOST_EDUS", 4)
    with pytest.raises(InputError, match="too deep or too wide"):
        read_trees([folder])


def test_documents_together_may_have_only_what_the_reader_of_their_nodes_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree_folders(tmp_path / "trees", ".dis")
    monkeypatch.setattr("probes.discoeval.rst_files.MOST_EDUS", 50)
    assert read_trees([folder])
    monkeypatch.setattr("probes.discoeval.rst_files.MOST_EDUS", 49)
    with pytest.raises(InputError, match=r"d9\.dis: more than 49 EDUs"):
        read_trees([folder])


def test_many_texts_without_an_end_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "train.dis"
    path.write_text("( Root ( text " + "_! " * 300_000 + ") )")
    with pytest.raises(InputError, match=r"train\.dis:1: expected \), found the end"):
        read_trees([path])


def test_the_language_decides_the_tokens(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    story = {"id": "a", "sentences": ["L'enfant regarde l'araignée."] * 3}
    path.write_text("\n".join(json.dumps({**story, "id": i}) for i in "abc"))
    (text,) = read_documents(DocumentSource(path, "fr"), SIZES)["train"]
    assert text.parts[0].sentences[0] == "L' enfant regarde l' araignée ."


DATA = Path(__file__).parents[3].parent / "shared" / "data"


@pytest.mark.skipif(not DATA.exists(), reason="the folder with real data is not there")
def test_gum_gives_all_seven_groups_with_its_official_splits(tmp_path: Path) -> None:
    parts = [
        ",".join(str(DATA / "gum" / f"{split}.{kind}.gz") for split in SPLITS) for kind in ("gdtb.tsv", "rst.jsonl")
    ]
    few = tmp_path / "train.rst.jsonl"  # each node of a tree has all texts below it: the 177 trees take long
    few.write_bytes(b"".join(gzip.decompress((DATA / "gum/train.rst.jsonl.gz").read_bytes()).splitlines(True)[:50]))
    parts[1] = parts[1].replace(str(DATA / "gum/train.rst.jsonl.gz"), str(few))
    documents = [f"documents={DATA / 'documents/gum.jsonl.gz'}", "tokenized=true", "train=300", "dev=60", "test=60"]
    assert command([*documents, f"pdtb={parts[0]}", f"rst={parts[1]}", f"out={tmp_path / 'out'}"]) == 0
    tasks, missing = read_discoeval(tmp_path / "out")
    assert not missing
    assert [task.name for task in tasks] == ["SPgum", "BSOgum", "DCgum", "SSPgum", "PDTB-E", "PDTB-I", "RST"]
    assert [len(task.test.gold) for task in tasks] == [60, 120, 60, 60, 924, 565, 3488]


@pytest.mark.skipif(not DATA.exists(), reason="the folder with real data is not there")
def test_french_stories_give_the_tasks_that_need_no_sections(tmp_path: Path) -> None:
    stories = DATA / "stories" / "asp_fr.jsonl.gz"
    assert command([f"documents={stories}", f"out={tmp_path}", "language=fr", "train=200", "dev=40", "test=40"]) == 0
    tasks, _ = read_discoeval(tmp_path)
    assert [task.name for task in tasks] == ["SPasp_fr", "BSOasp_fr", "DCasp_fr"]
    assert [len(task.train.gold) for task in tasks] == [200, 400, 200]


@pytest.mark.skipif(not DATA.exists(), reason="the folder with real data is not there")
def test_gums_source_trees_as_rs3_give_the_binary_trees_of_its_authors(tmp_path: Path) -> None:
    several = ("joint-list", "same-unit", "joint-sequence", "joint-other", "joint-disjunction", "adversative-contrast")
    names = "".join(f'<rel name="{name}" type="multinuc" />' for name in (*several, "restatement-repetition"))
    for i, line in enumerate(gzip.decompress((DATA / "gum/dev.rst.jsonl.gz").read_bytes()).decode().splitlines()[:10]):
        record = json.loads(line)
        nodes = [
            f'<segment id="{id}" {_hangs(parent, relation)}>{escape(edu)}</segment>'
            for (id, parent, relation), edu in zip(record["rs4_segments"], record["edus"], strict=True)
        ]
        nodes += [
            f'<group id="{id}" type="{k}" {_hangs(p, relation)} />' for id, k, p, relation in record["rs4_groups"]
        ]
        header = f"<header><relations>{names}</relations></header>"
        (tmp_path / f"d{i}.rs3").write_text(f"<rst>{header}<body>{' '.join(nodes)}</body></rst>")
        ours = read_rs3(tmp_path / f"d{i}.rs3")
        theirs = read_json_tree("d", record)
        assert [(n.label, len(n.left), len(n.right)) for n in ours] == [
            (n.label, len(n.left), len(n.right)) for n in theirs
        ]


def _hangs(parent: int, relation: str) -> str:
    return f'parent="{parent}" relname="{relation}"' if parent else ""
