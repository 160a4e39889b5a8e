"""Discourse trees in each format: .dis, .rs3 and JSON lines."""

import gzip
import json
import shutil
import tracemalloc
from html import escape
from pathlib import Path

import pytest
import sacremoses  # noqa: F401  # before memory is counted

from encoder_lab.errors import InputError
from probes.discoeval.build.dis import read_dis
from probes.discoeval.build.rs3 import read_rs3
from probes.discoeval.build.trees import read_json_tree, read_trees
from probes.discoeval.items import SPLITS
from tests.fuzzing import any_damage_is_read_or_refused

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
JSON = {"edus": ["The index rose ( again )", "and was up ,", "according to Eurostat ."]}
JSON |= {"tree": ["NS", "attribution-negative", ["NN", "list", 1, 2], 3]}
SAME = {".dis": DIS, ".rs3": RS3, ".rst.jsonl": json.dumps(JSON) + "\n"}
DATA = Path(__file__).parents[3].parent / "shared" / "data"


def tree_folders(folder: Path, ending: str) -> Path:
    for split in SPLITS:
        (folder / split).mkdir(parents=True)
        for i in range(10):
            (folder / split / f"{split.removeprefix('train')}d{i}{ending}").write_text(SAME[ending])
    return folder


@pytest.mark.parametrize("ending", SAME)
def test_trees_of_each_format_give_the_same_nodes(ending, tmp_path) -> None:
    nodes = read_trees([tree_folders(tmp_path / "trees", ending)])
    assert {split: len(split_nodes) for split, split_nodes in nodes.items()} == {"train": 20, "dev": 20, "test": 20}
    first, second, third = JSON["edus"]
    assert nodes["test"][:2] == [("NS-Attribution", [first, second], [third]), ("NN-Joint", [first], [second])]


@pytest.mark.parametrize("folders", [("TRAINING", "TEST"), ("train", "test")])  # they choose the splits: no note
def test_more_than_two_nuclei_branch_to_the_right(folders, tmp_path, caplog) -> None:
    children = "".join(f"(Nucleus (leaf {i}) (rel2par Sequence) (text _!e{i}!_))" for i in range(1, 5))
    for split in folders:
        (tmp_path / split).mkdir()
        for i in range(20):
            (tmp_path / split / f"{split}{i:02}.dis").write_text(f"(Root (span 1 4) {children})")
    nodes = read_trees([tmp_path])
    assert caplog.messages == []
    assert {split: len(split_nodes) for split, split_nodes in nodes.items()} == {"train": 54, "dev": 6, "test": 60}
    edus = ["e1", "e2", "e3", "e4"]
    assert nodes["test"][:3] == [("NN-Temporal", edus[i : i + 1], edus[i + 1 :]) for i in range(3)]


@pytest.mark.parametrize("at", ["!_)", "(leaf 2)", "(rel2par span)"])
def test_remarks_behind_a_field_of_dis_are_passed_over(at, tmp_path) -> None:
    (tmp_path / "a.dis").write_text(DIS)
    (tmp_path / "b.dis").write_text(DIS.replace(at, f"{at}//TT_ERR"))
    assert read_dis(tmp_path / "b.dis") == read_dis(tmp_path / "a.dis")


@pytest.mark.parametrize("name", ["utf-8", "ISO-8859-1", "windows-1252", "UTF-16", "cp1251", "us-ascii"])
def test_rs3_is_read_in_its_declared_encoding_and_as_utf8_where_it_is_that(name, tmp_path) -> None:
    word = {"cp1251": "дом", "us-ascii": "cafe"}.get(name, "café")
    text = f'<?xml version="1.0" encoding="{name}"?>\n' + RS3.replace("index", word)
    for data in (text.encode(name), text.encode()):
        if name != "UTF-16" or data == text.encode(name):
            (tmp_path / "a.rs3").write_bytes(data)
            assert read_rs3(tmp_path / "a.rs3")[0].left[0] == f"The {word} rose ( again )"


def test_rs3_that_says_latin_1_has_the_quotes_of_windows(tmp_path) -> None:
    declaration = '<?xml version="1.0" encoding="ISO-8859-1"?>'
    (tmp_path / "a.rs3").write_bytes((declaration + RS3.replace("index", "“café”")).encode("cp1252"))
    assert read_rs3(tmp_path / "a.rs3")[0].left[0] == "The “ café ” rose ( again )"


@pytest.mark.parametrize(("data", "message"), [
    (RS3.replace("index", "café").encode().decode("cp1252").encode(), r":4: 'Ã©' for 'é': UTF-8 that was read"),
    (RS3.replace("index", "„").encode().decode("latin-1").encode(), r":4: 'â.*' for '„': UTF-8 that was read"),
    (b'<?xml version="1.0" encoding="latin-99"?>' + RS3.encode(), "no encoding is called 'latin-99'"),
    (b'<?xml version="1.0" encoding="rot13"?>' + RS3.encode() + b"\xe9", "no encoding is called 'rot13'"),
    (b'<?xml version="1.0" encoding="us-ascii"?>' + RS3.encode() + b"\xe9", "not us-ascii, as it says"),
    (RS3.encode() + b"\xe9", "not utf-8"),
])  # fmt: skip
def test_rs3_of_a_wrong_encoding_is_refused(data, message, tmp_path) -> None:
    (tmp_path / "a.rs3").write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_rs3(tmp_path / "a.rs3")


@pytest.mark.parametrize(("ending", "old", "new", "message"), [
    (".dis", "( Satellite", "( Satelite", ":7: a node must have a text or two subtrees"),
    (".dis", "( Nucleus (span", "( Satellite (span", ":7: a node must have a nucleus"),
    (".dis", ")\n)", ")", r"expected \), found the end"),
    (".rs3", 'parent="11" relname="att', 'parent="12" relname="att', "segment 3 has the parent '12', which is not"),
    (".rs3", "</rst>", "", "not valid XML"),
    (".rs3", "<rst>", "<!DOCTYPE x><rst>", "a document type"),
    (".rs3", 'id="11" type="span"', 'id="11" type="span" parent="10"', "below themselves"),
    (".rst.jsonl", '"NS"', '"SS"', r":1: .*neither an EDU's number nor"),
    (".rst.jsonl", "2]", "9]", ":1: '9' is neither"),
    (".rst.jsonl", ", 3]", ", 2]", ":1: the leaves of the tree"),
    (".rst.jsonl", '"edus": [', '"edus": [3, ', ":1: no list of edus"),
])  # fmt: skip
def test_a_broken_tree_is_refused_in_one_line(ending, old, new, message, tmp_path) -> None:
    folder = tree_folders(tmp_path / "trees", ending)
    path = folder / "train" / f"d0{ending}"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=message) as refused:
        read_trees([folder])
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_files_in_any_order_give_the_same_nodes(tmp_path) -> None:
    test = tree_folders(tmp_path, ".dis") / "test"
    files = sorted((tmp_path / "train").iterdir())
    files[0].write_text(DIS.replace("rose", "fell"))  # all others are equal
    assert read_trees([*reversed(files), test]) == read_trees([test, *files])


def test_trees_that_are_there_twice_are_read_once(tmp_path, caplog) -> None:
    nodes = read_trees([folder := tree_folders(tmp_path / "trees", ".rst.jsonl")])
    path = folder / "train" / "d0.rst.jsonl"
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    shutil.copytree(folder / "train", folder / "copy" / "train")
    assert read_trees([folder, path, folder / "train"]) == nodes
    assert f"{path}.gz: left out, as {path} is there too; left out in all: 12 copies" in caplog.text


@pytest.mark.parametrize("ending", SAME)
def test_any_tree_is_read_or_refused_in_one_line(ending, tmp_path) -> None:
    path = tmp_path / f"train{ending}"
    path.write_text(SAME[ending])
    any_damage_is_read_or_refused(lambda: read_trees([path]), path)


@pytest.mark.parametrize(("text", "message"), [
    ("( Root ( Nucleus " * 5000, r"train\.dis"),
    ("( Root ( text " + "_! " * 300_000 + ") )", r"train\.dis:1: expected \), found the end"),
])  # fmt: skip
def test_a_tree_that_is_too_deep_or_texts_without_an_end_are_refused_at_once(text, message, tmp_path) -> None:
    path = tmp_path / "train.dis"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_trees([path])


COUNT = 2_000
REST = "".join(f'<segment id="{i}" parent="1" relname="e">x</segment>' for i in range(2, COUNT))
WIDE = {
    ".rs3": f'<rst><body><segment id="1">x</segment>{REST}</body></rst>',
    ".dis": "(Root (span 1 2) " + "(Nucleus (leaf 1) (rel2par List) (text _!x!_)) " * COUNT + ")",
}


@pytest.mark.parametrize("ending", WIDE)
def test_a_tree_that_is_too_wide_is_refused_in_little_memory(ending, tmp_path, monkeypatch) -> None:
    """The whole tree takes 18 MB."""
    monkeypatch.setattr("probes.discoeval.build.subtrees.MAX_EDUS", 100_000)
    path = tmp_path / f"train{ending}"
    path.write_text(WIDE[ending])
    tracemalloc.start()
    with pytest.raises(InputError, match=rf"train\{ending}: a tree that is too deep or too wide"):
        read_trees([path])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


@pytest.mark.parametrize(("module", "most", "ending", "message"), [
    *(("build.subtrees", 5, ending, "too deep or too wide") for ending in SAME),  # of a document
    ("rst_files", 50, ".dis", r"d9\.dis: more than 49 EDUs"),  # of all together, as the reader of their nodes takes
])  # fmt: skip
def test_there_may_be_only_so_many_edus(module, most, ending, message, tmp_path, monkeypatch) -> None:
    folder = tree_folders(tmp_path / "trees", ending)
    monkeypatch.setattr(f"probes.discoeval.{module}.MAX_EDUS", most)
    assert read_trees([folder])
    monkeypatch.setattr(f"probes.discoeval.{module}.MAX_EDUS", most - 1)
    with pytest.raises(InputError, match=message):
        read_trees([folder])


@pytest.mark.skipif(not DATA.exists(), reason="the folder with real data is not there")
def test_gums_source_trees_as_rs3_give_the_binary_trees_of_its_authors(tmp_path) -> None:
    several = ("joint-list", "same-unit", "joint-sequence", "joint-other", "joint-disjunction", "adversative-contrast")
    names = "".join(f'<rel name="{name}" type="multinuc" />' for name in (*several, "restatement-repetition"))
    for i, line in enumerate(gzip.decompress((DATA / "gum/dev.rst.jsonl.gz").read_bytes()).decode().splitlines()[:10]):
        record = json.loads(line)
        nodes = [
            f'<segment id="{id}" {_hangs(parent, relation)}>{escape(edu)}</segment>'
            for (id, parent, relation), edu in zip(record["rs4_segments"], record["edus"], strict=True)
        ]
        nodes += [f'<group id="{id}" type="{t}" {_hangs(p, r)} />' for id, t, p, r in record["rs4_groups"]]
        header = f"<header><relations>{names}</relations></header>"
        (tmp_path / f"d{i}.rs3").write_text(f"<rst>{header}<body>{' '.join(nodes)}</body></rst>")
        trees = read_rs3(tmp_path / f"d{i}.rs3"), read_json_tree("d", record)
        ours, theirs = ([(node.label, len(node.left), len(node.right)) for node in tree] for tree in trees)
        assert ours == theirs


def _hangs(parent: int, relation: str) -> str:
    return f'parent="{parent}" relname="{relation}"' if parent else ""
