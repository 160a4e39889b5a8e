"""Penn bracketings: what is read, what is cleaned away, what is refused."""

import contextlib
import gzip
import json
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.corpora.trees import Trees
from datamodules.trees import penn
from datamodules.trees.penn import Tree, parse_trees, read_trees
from encoder_lab.errors import InputError

RAIN = "(ROOT (S (NP (NN rain)) (VP (VBZ falls)) (. .)))"
LABELS = st.sampled_from(["S", "NP", "VP", "PP"])
ROLES = st.sampled_from(["", "TMP", "LOC-PRD"])
LEAVES = st.builds(lambda word: Tree("NN", None, word), st.sampled_from(["rain", "a-", "1/2", "café", "''"]))
TREES = st.recursive(
    LEAVES, lambda below: st.builds(Tree, LABELS, st.lists(below, min_size=1, max_size=3), role=ROLES), max_leaves=12
).map(lambda tree: Tree("ROOT", [tree]))


def parse_tree(text: str) -> Tree:
    (tree,) = parse_trees(text)
    return tree


@given(TREES)
def test_a_written_tree_reads_back_as_itself(tree) -> None:
    assert parse_tree(tree.bracketed()).bracketed() == tree.bracketed()
    assert str(parse_tree(str(tree))) == str(tree)


@given(TREES, st.text("() ab\n", max_size=40))
def test_any_text_ends_in_trees_or_a_valueerror(tree, junk) -> None:
    for text in (junk, str(tree) + junk, junk + str(tree)):
        with contextlib.suppress(ValueError):
            assert all(parsed.words() for parsed in parse_trees(text))


def test_depth_counts_the_nodes_down_to_the_tag() -> None:
    assert parse_tree(RAIN).depth() == 4  # ROOT, S, NP, NN


def test_the_words_come_from_left_to_right() -> None:
    assert parse_tree(RAIN).words() == ["rain", "falls", "."]


@pytest.mark.parametrize("outer", ["(", "(ROOT ", "(TOP ", "(S1 ", ""])
def test_every_outermost_bracket_becomes_root(outer) -> None:
    assert str(parse_tree(outer + "(S (NP (NN rain)) (VP (VBZ falls)) (. .))" + (")" if outer else ""))) == RAIN


def test_traces_are_removed_with_the_nodes_that_they_leave_empty() -> None:
    text = "((S (NP-SBJ-1 (NN rain)) (VP (VBZ falls) (S (NP (-NONE- *-1)) (ADVP (-NONE- *T*)))) (. .)))"
    assert str(parse_tree(text)) == RAIN


def test_function_labels_move_to_the_role() -> None:
    phrase = parse_tree("(S (NP-LOC-PRD-2 (NN rain)))").children[0].children[0]
    assert (phrase.label, phrase.role) == ("NP", "LOC-PRD")


@pytest.mark.parametrize(
    ("label", "category"), [("NP=2", "NP"), ("PRT|ADVP", "PRT"), ("-LRB-", "-LRB-"), ("PRP$", "PRP$")]
)
def test_a_label_keeps_its_category(label, category) -> None:
    assert parse_tree(f"(S ({label} x))").children[0].children[0].label == category


def test_a_no_break_space_stays_inside_its_word() -> None:
    assert parse_tree("(S (CD 1\u00a01/2))").words() == ["1_1/2"]


def test_very_deep_trees_are_read() -> None:
    deep = 20_000
    assert parse_tree("(S " * deep + "(NN rain)" + ")" * deep).depth() == deep + 2


BROKEN = {
    "(S (NN rain)": "not closed", "(S (NN rain)))": "too many", "(S (NP))": "no word under NP", "()": "no word",
    "(S (NN rain)) there": "'there'", "(S rain falls)": "outside a tag", "rain": "outside a tag",
    "(S (-NONE- *))": "traces", "(S (-NONE- *)) (S (NN rain))": "traces", "(S (NN rain)) (-NONE- *)": "traces",
}  # fmt: skip


@pytest.mark.parametrize(("text", "what"), BROKEN.items())
def test_a_broken_tree_is_refused_with_its_file_and_line(text, what, tmp_path) -> None:
    (tmp_path / "a.mrg").write_text(f"{RAIN}\n\n{text}\n")
    with pytest.raises(InputError, match=what) as caught:
        list(read_trees(tmp_path / "a.mrg"))
    assert "a.mrg:3:" in str(caught.value)


@pytest.mark.parametrize("text", [*BROKEN, "(())", "( () )", "(S1 ())"])
def test_bad_trees_are_skipped_and_counted_on_request(text, tmp_path, caplog) -> None:
    path = tmp_path / "a.mrg"
    path.write_text(f"{RAIN}\n{text}\n{RAIN}\n")
    assert [str(tree) for tree in read_trees(path, "skip")] == [RAIN, RAIN]  # also after a bracket that is not closed
    assert f"{path}: trees left out, as they cannot be read: 1" in caplog.text
    with pytest.raises(InputError, match="on_bad_tree=skip"):
        list(read_trees(path))


def test_a_corpus_of_trees_takes_the_wish(tmp_path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text(f"{RAIN}\n(())\n{RAIN}\n" * 400)
    assert set(Trees(str(path), on_bad_tree="skip").trees("train")) == {RAIN}
    with pytest.raises(InputError, match=r"a\.mrg:2: no word"):
        list(Trees(str(path)).trees("train"))


@pytest.mark.parametrize("inside", [
    "(ID 1350.BOOK.REL,.12)", "(METADATA (AUTHOR Jane Smith) (YEAR 1350))", "(CODE <P_12>)",
    "(CODE (SYM SpeakerA1) (. .))", "(COMMENT {COM:preceding_word_missing})", "(NP-SBJ *con*)", "(NP *T*-1)",
    "(CODE-1 <P_12>)", "(META (LEMMA rain))", "(VERSION (FORMAT dash))",
    "(-DFL- E_S)", "(RM (-DFL- \\[))", "(CP (WNP-1 0) (C 0))",
])  # fmt: skip
def test_ids_codes_and_traces_are_no_words(inside) -> None:
    sentence = "(S (NP (NN rain)) (VP (VBZ falls)) (. .))"
    for text in (f"({sentence} {inside})", f"({inside} {sentence})", f"({sentence[:-1]} {inside}))"):
        assert parse_tree(text).words() == ["rain", "falls", "."]


def test_words_with_their_lemmas_are_refused_with_the_command_that_leaves_the_lemmas_out(tmp_path) -> None:
    (tmp_path / "a.mrg").write_text("( (IP-MAT (NP-SBJ (PRO-N hann-hann)) (VBDI svaf-sofa) (. .-.)))\n")
    with pytest.raises(InputError, match=r"form-lemma, as in IcePaHC; leave the lemmas out: sed") as refused:
        list(read_trees(tmp_path / "a.mrg"))
    command = shlex.split(str(refused.value).partition("out: ")[2].partition(";")[0])
    text = subprocess.run([*command, tmp_path / "a.mrg"], capture_output=True, text=True).stdout
    assert parse_tree(text).words() == ["hann", "svaf", "."]
    assert parse_tree("(S (NP (NN sit-in)) (. .))").words() == ["sit-in", "."]


def test_a_tree_of_codes_alone_is_no_sentence_and_a_number_is_a_word() -> None:
    assert parse_trees("( (CODE <P_1>) (ID X,1) )") == []
    assert parse_tree("(S (NP (CD 0) (UH *smile*)))").words() == ["0", "*smile*"]


BAD_FILES = {
    "empty": (b"", r"a\.mrg"),
    "blank": (b"\n \n", r"a\.mrg"),
    "not UTF-8": (RAIN.encode() + b"\n(S (NN caf\xe9))\n", r"a\.mrg:2"),
    "a bracket that never closes": ((RAIN + "\n(\n" + (RAIN + "\n") * 10).encode(), r"a\.mrg:2.*not closed"),
}


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_file_that_is_not_of_trees_is_refused_before_memory_is_full(content, message, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(penn, "MAX_TREE", 100)
    (tmp_path / "a.mrg").write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(read_trees(tmp_path / "a.mrg"))


@pytest.mark.parametrize("content", [
    f"{RAIN}\n{RAIN}\n", f"{RAIN} {RAIN}\n", "( (S\n\t(NP\t(NN rain))\n    (VP (VBZ falls))\n(. .)) )\n\n" + RAIN,
    f"doc\t0\t{RAIN}\ndoc\t1\t{RAIN}\n",
], ids=["one a line", "two on a line", "over several lines", "tab-separated"])  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_files_of_every_form_give_their_trees(content, packed, tmp_path) -> None:
    path = tmp_path / ("a.mrg.gz" if packed else "a.mrg")
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    assert [str(tree) for tree in read_trees(path)] == [RAIN, RAIN]


def test_a_folder_gives_the_trees_of_its_tree_files(tmp_path) -> None:
    for name in ("b/x.mrg", "a.const.tsv", "README.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"d\t0\t{RAIN}" if name.startswith("a") else RAIN)
    assert len(list(read_trees(tmp_path))) == 2


TREES = ["(ROOT (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))", "(ROOT (NP (NNS Cats) (CC &) (NNS dogs)))"]
PENN = TREES[0].replace(" (VP", "\n    (VP")
TEXT = f"""\
Document: ID=a.txt (2 sentences, 7 tokens)

Sentence #1 (4 tokens):
The dog barks (loudly
Tokens:
[Text=The CharacterOffsetBegin=0 PartOfSpeech=DT]
Constituency parse:
{PENN}

Dependency Parse (enhanced plus plus dependencies):
root(ROOT-0, barks-3)
Sentence #2 (3 tokens):
Cats & dogs
{TREES[1]}

root(ROOT-0, Cats-1)
"""
XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<root><document><sentences>
<sentence id="1"><tokens><token id="1"><word>The</word></token></tokens>
<parse>{PENN}
</parse></sentence>
<sentence id="2"><parse>{TREES[1].replace("&", "&amp;")} </parse><dependencies type="basic"/></sentence>
</sentences></document></root>
"""
PARSES = json.dumps(PENN), json.dumps(TREES[1])
JSON = (
    f'{{"sentences": [{{"parse": {PARSES[0]},\n "binaryParse": "(X (Y no))"}}, {{"index": 1, "parse":{PARSES[1]}}}]}}\n'
)


@pytest.mark.parametrize(("ending", "text"), [("out", TEXT), ("xml", XML), ("json", JSON)])
def test_its_output_has_the_trees_of_a_bracketed_file(tmp_path, ending, text) -> None:
    (tmp_path / f"a.txt.{ending}").write_text(text)
    (tmp_path / f"b.txt.{ending}.gz").write_bytes(gzip.compress(text.encode()))
    assert [*map(str, read_trees(tmp_path))] == TREES * 2


@pytest.mark.parametrize("ending", ["out", "xml", "json"])
def test_an_output_without_parses_is_refused_by_its_name(tmp_path, ending) -> None:
    path = tmp_path / f"a.txt.{ending}"
    path.write_text("no trees here\n")
    with pytest.raises(InputError, match=rf"a\.txt\.{ending}: no tree"):
        list(read_trees(path))
