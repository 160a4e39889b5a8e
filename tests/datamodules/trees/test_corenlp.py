"""Trees of CoreNLP's output files are those of a bracketed file."""

import gzip
import json
from pathlib import Path

import pytest

from datamodules.trees.penn import read_trees
from encoder_lab.errors import InputError

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
def test_its_output_has_the_trees_of_a_bracketed_file(tmp_path: Path, ending: str, text: str) -> None:
    (tmp_path / f"a.txt.{ending}").write_text(text)
    (tmp_path / f"b.txt.{ending}.gz").write_bytes(gzip.compress(text.encode()))
    assert [*map(str, read_trees(tmp_path))] == TREES * 2


@pytest.mark.parametrize("ending", ["out", "xml", "json"])
def test_an_output_without_parses_is_refused_by_its_name(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.txt.{ending}"
    path.write_text("no trees here\n")
    with pytest.raises(InputError, match=rf"a\.txt\.{ending}: no tree"):
        list(read_trees(path))
