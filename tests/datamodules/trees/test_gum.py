"""GUM's dependencies become CoNLL-U: token numbers of a document become places in a sentence."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from datamodules.trees.conllu import DependencyTree, Dependent, read_conllu
from datamodules.trees.gum import conllu_sentences, main
from encoder_lab.errors import InputError

DOCS = {"id": "GUM_a", "sentences": ["Hi .", "Dogs bark ."]}
TOKENS = {
    "lemma": ["hi", ".", "dog", "bark", "."],
    "upos": ["INTJ", "PUNCT", "NOUN", "VERB", "PUNCT"],
    "xpos": ["UH", ".", "NNS", "VBP", "."],
    "feats": ["", "", "Number=Plur", "Tense=Pres", ""],
    "head": [0, 1, 4, 0, 4],
    "deprel": ["root", "punct", "nsubj", "root", "punct"],
}


def written(folder: Path, tokens: Any = TOKENS) -> Path:
    (folder / "dev.docs.jsonl").write_text(json.dumps(DOCS))
    (folder / "dev.coref.jsonl").write_text(json.dumps({"id": "GUM_a", "tokens": tokens}))
    return folder


def test_heads_are_counted_within_the_sentence(tmp_path) -> None:
    out = tmp_path / "gum.conllu"
    packed = gzip.compress((written(tmp_path) / "dev.coref.jsonl").read_bytes())
    (tmp_path / "dev.coref.jsonl.gz").write_bytes(packed)  # and is read once
    assert main([str(tmp_path), str(out)]) == 0
    hi, bark = read_conllu(out)
    assert hi.tokens == ["Hi", "."]
    words = [("Dogs", "NOUN", "Number=Plur", 1, "nsubj", 0), ("bark", "VERB", "Tense=Pres", -1, "root", 1)]
    words += [(".", "PUNCT", "", 1, "punct", 2)]
    assert bark == DependencyTree(["Dogs", "bark", "."], [Dependent(*word) for word in words], id=bark.id)


@pytest.mark.parametrize("tokens", [None, {}, TOKENS | {"head": [0]}, TOKENS | {"head": ["a"] * 5}])
def test_tokens_that_do_not_fit_are_named(tmp_path, tokens) -> None:
    with pytest.raises(InputError, match=r"dev\.coref\.jsonl:1: tokens without sentences"):
        list(conllu_sentences(written(tmp_path, tokens)))


def test_a_folder_without_gum_is_named(tmp_path) -> None:
    with pytest.raises(InputError, match=r"no files there that end in \.docs\.jsonl"):
        list(conllu_sentences(tmp_path))
