"""CoNLL-U files are read whole, in pieces, and broken ones are refused by file and line."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.trees import conllu
from datamodules.trees.conllu import (
    DependencyTree,
    Dependent,
    conllu_files,
    conllu_text,
    parse_portion,
    read_conllu,
    read_portions,
)
from datamodules.trees.gum import COMMAND, conllu_sentences
from encoder_lab.errors import InputError
from tests.fuzzing import any_damage_is_read_or_refused

FRENCH = """\
# sent_id = 1
# text = Il vient du lac.
1\tIl\til\tPRON\t_\tNumber=Sing|Person=3\t2\tnsubj\t_\t_
2\tvient\tvenir\tVERB\t_\tTense=Pres\t0\troot\t_\t_
2.1\tvient\tvenir\tVERB\t_\t_\t_\t_\t0:root\tCopyOf=2
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tlac\tlac\tNOUN\t_\t_\t2\tobl:arg\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""
SHORT = "1\tOui\toui\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
DATA = Path(__file__).parents[4] / "shared" / "data" / "ud"
TREES = {text: parse_portion(conllu.Portion(Path("a"), 1, text.encode())) for text in (FRENCH, SHORT)}
DOCS = {"id": "GUM_a", "sentences": ["Hi .", "Dogs bark ."]}
TOKENS = {
    "lemma": ["hi", ".", "dog", "bark", "."],
    "upos": ["INTJ", "PUNCT", "NOUN", "VERB", "PUNCT"],
    "xpos": ["UH", ".", "NNS", "VBP", "."],
    "feats": ["", "", "Number=Plur", "Tense=Pres", ""],
    "head": [0, 1, 4, 0, 4],
    "deprel": ["root", "punct", "nsubj", "root", "punct"],
}


def written(folder: Path, text: str, name: str = "a.conllu") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if not name.endswith(".gz") else gzip.compress(text.encode()))
    return path


def test_tokens_are_those_of_the_surface_and_words_know_their_token(tmp_path) -> None:
    [tree] = read_conllu(written(tmp_path, FRENCH))
    assert tree.tokens == ["Il", "vient", "du", "lac", "."]
    assert [(word.form, word.token) for word in tree.words] == [
        *[("Il", 0), ("vient", 1), ("de", 2), ("le", 2), ("lac", 3), (".", 4)]
    ]
    assert tree.root() == 1
    assert [place for place, word in enumerate(tree.words) if word.head == 1] == [0, 4, 5]
    assert tree.levels() == [2, 1, 3, 3, 2, 2]
    assert [word.feature("Number") for word in tree.words[:2]] == ["Sing", ""]
    assert (tree.words[4].relation, tree.words[4].universal_relation) == ("obl:arg", "obl")


@pytest.mark.parametrize("text", [
    SHORT.replace("\n", "\r\n"),
    "\ufeff" + SHORT,
    SHORT.rstrip("\n"),
    "\n\n# a comment alone\n\n" + SHORT + "\n\n",
    SHORT.replace("\n\n", "\n# a comment at the end\n \n"),
])  # fmt: skip
def test_line_ends_marks_and_blank_lines_do_not_matter(tmp_path, text) -> None:
    expected = DependencyTree(["Oui"], [Dependent("Oui", "INTJ", "", -1, "root", 0)])
    assert list(read_conllu(written(tmp_path, text))) == [expected]


def test_a_sentence_has_the_name_of_its_comment(tmp_path) -> None:
    text = f"# newdoc id = d\n# sent_id = s-1\n# text = a\n{SHORT}{SHORT}# sent_id = s-2\n{SHORT}"
    result = list(read_conllu(written(tmp_path, text)))
    assert [tree.id for tree in result] == ["s-1", "", "s-2"]
    assert list(read_conllu(written(tmp_path, "".join(map(conllu_text, result))))) == result


@given(st.lists(st.sampled_from([FRENCH, SHORT]), min_size=1, max_size=12), st.integers(1, 400))
def test_pieces_of_any_size_give_the_same_sentences(tmp_path_factory, sentences, block) -> None:
    path = written(tmp_path_factory.mktemp("pieces"), "".join(sentences))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conllu, "BLOCK_BYTES", block)
        pieces = list(read_portions(path))
    assert b"".join(piece.text for piece in pieces) == path.read_bytes()
    lines = path.read_bytes().split(b"\n")
    assert all(piece.text.split(b"\n")[0] == lines[piece.line - 1] for piece in pieces)
    assert [tree for piece in pieces for tree in parse_portion(piece)] == [
        tree for text in sentences for tree in TREES[text]
    ]


def row(change: dict[int, str], line: str = SHORT) -> str:
    return "\t".join(change.get(at, column) for at, column in enumerate(line.strip().split("\t"))) + "\n\n"


BROKEN = {
    "nine columns": (SHORT.replace("\t_\n", "\n"), "9 columns"),
    "spaces in place of tabs": (SHORT.replace("\t", " "), "1 columns"),
    "no form": (row({1: ""}), "no form"),
    "a word left out": (row({0: "2"}), "word 2 where 1 is expected"),
    "no number": (row({0: "one"}), "'one' is not the number"),
    "a number in other digits": (row({0: "١"}), "is not the number of a word"),
    "no head": (row({6: "_"}), "'_' is not the number of a head"),
    "a head too far": (row({6: "7"}), "depends on word 7, but there are 1"),
    "no root": (row({6: "1"}), "0 roots"),
    "two roots": (SHORT.strip() + "\n" + row({0: "2"}), "2 roots"),
    "features without values": (row({5: "Case"}), "features 'Case'"),
    "a token that ends too late": ("1-2\tdu" + "\t_" * 8 + "\n" + SHORT, "token ends with word 2"),
    "a token that ends before": ("1-0\tdu" + "\t_" * 8 + "\n" + SHORT, "'1-0' is not the number"),
    "empty nodes alone": ("1.1\tx" + "\t_" * 8 + "\n\n", "no words"),
    "a text that is withheld": (row({1: "_"}).strip() + "\n2\t_\t_\tX\t_\t_\t1\tdep\t_\t_\n\n", "withheld"),
    "a cycle": (
        SHORT.strip() + "\n2\ta\t_\tX\t_\t_\t3\tdep\t_\t_\n3\tb\t_\tX\t_\t_\t2\tdep\t_\t_\n\n",
        "the heads form a cycle",
    ),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_sentence_is_refused_with_file_and_line(tmp_path, text, message) -> None:
    path = written(tmp_path, FRENCH + text)
    with pytest.raises(InputError, match=rf"a\.conllu:1[2-4]: .*{message}"):
        list(read_conllu(path))


def test_bytes_that_are_no_text_are_refused_with_file_and_line(tmp_path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(FRENCH.encode() + b"1\t\xff\xfe")
    with pytest.raises(InputError, match=r"a\.conllu:12: not valid UTF-8"):
        list(read_conllu(path))


def test_files_without_sentences_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="empty"):
        list(read_conllu(written(tmp_path, "")))
    with pytest.raises(InputError, match="no such file"):
        list(read_conllu(tmp_path / "b.conllu"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="no files there that end in"):
        conllu_files(tmp_path / "folder")
    cut = tmp_path / "cut.conllu.gz"
    cut.write_bytes(gzip.compress(FRENCH.encode())[:-9])
    with pytest.raises(InputError, match=r"cut\.conllu\.gz:1: .*damaged"):
        list(read_conllu(cut))


@pytest.mark.parametrize("spelt", [str.lower, str.title])
@pytest.mark.parametrize("other", ["not-to-release/source", "not-to-release/x_y-ud-train", "x_y-all", "old/all"])
def test_only_the_official_files_of_a_treebank_are_taken_from_a_folder(other, spelt, tmp_path, caplog) -> None:
    def add(name: str) -> Path:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(f"# {name}\n{SHORT}")
        return tmp_path / name

    extra = add(f"UD_A/{other}.conllu")
    names = [spelt(f"x_y-ud-{split}") for split in ("dev", "train")]
    official = [add(f"{folder}/{name}.conllu") for folder in ("UD_A", "UD_B") for name in names]
    assert conllu_files(tmp_path) == official
    assert f"{extra}: no train, dev or test file" in caplog.text
    shutil.copytree(tmp_path / "UD_A", tmp_path / "UD_A" / "a copy")
    assert conllu_files(tmp_path) == official


def test_a_file_without_blank_lines_does_not_fill_the_memory(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(conllu, "BLOCK_BYTES", 100)
    monkeypatch.setattr(conllu, "MAX_SENTENCE", 1000)
    with pytest.raises(InputError, match="no blank line within 1,000 bytes"):
        list(read_conllu(written(tmp_path, SHORT.strip("\n") * 100)))


def test_corrupted_bytes_are_read_or_refused(tmp_path) -> None:
    path = written(tmp_path, FRENCH + SHORT)

    def read() -> None:
        for tree in read_conllu(path):
            assert min(tree.levels()) == 1
            assert max(word.token for word in tree.words) < len(tree.tokens)

    any_damage_is_read_or_refused(read, path)


@pytest.mark.skipif(not DATA.exists(), reason="no treebanks here")
def test_a_real_treebank_has_the_published_counts() -> None:
    trees = list(read_conllu(DATA / "fr_sequoia" / "fr_sequoia-ud-dev.conllu.gz"))
    assert (len(trees), sum(len(t.tokens) for t in trees), sum(len(t.words) for t in trees)) == (412, 9717, 9999)


def gum(folder: Path, tokens: Any = TOKENS) -> Path:
    (folder / "dev.docs.jsonl").write_text(json.dumps(DOCS))
    (folder / "dev.coref.jsonl").write_text(json.dumps({"id": "GUM_a", "tokens": tokens}))
    return folder


def test_heads_are_counted_within_the_sentence(tmp_path) -> None:
    out = tmp_path / "gum.conllu"
    packed = gzip.compress((gum(tmp_path) / "dev.coref.jsonl").read_bytes())
    (tmp_path / "dev.coref.jsonl.gz").write_bytes(packed)  # and is read once
    assert COMMAND.run([str(tmp_path), str(out)]) == 0
    hi, bark = read_conllu(out)
    assert hi.tokens == ["Hi", "."]
    words = [("Dogs", "NOUN", "Number=Plur", 1, "nsubj", 0), ("bark", "VERB", "Tense=Pres", -1, "root", 1)]
    words += [(".", "PUNCT", "", 1, "punct", 2)]
    assert bark == DependencyTree(["Dogs", "bark", "."], [Dependent(*word) for word in words], id=bark.id)


@pytest.mark.parametrize("tokens", [None, {}, TOKENS | {"head": [0]}, TOKENS | {"head": ["a"] * 5}])
def test_tokens_that_do_not_fit_are_named(tmp_path, tokens) -> None:
    with pytest.raises(InputError, match=r"dev\.coref\.jsonl:1: tokens without sentences"):
        list(conllu_sentences(gum(tmp_path, tokens)))


def test_a_folder_without_gum_is_named(tmp_path) -> None:
    with pytest.raises(InputError, match=r"no files there that end in \.docs\.jsonl"):
        list(conllu_sentences(tmp_path))
