"""The running text of docs/results/coherence_curves.md shares no document with the suites that score its run."""

import re
from pathlib import Path

import pytest

from datamodules.text.sentences import sentence_spans
from encoder_lab.storage.text_files import read_lines
from probes.coherence.build.cloze import build_cloze
from probes.coherence.build.connectives import build_connectives
from probes.coherence.build.order import build_order
from probes.coherence.build.texts import read_texts
from probes.coherence.regions import text_of

DATA = Path(__file__).parents[4] / "shared" / "data"
ENOUGH = 8  # words; shorter sentences, such as "What do you think ?", are in many documents


def words(sentence: str) -> tuple[str, ...]:
    """The words of a sentence, without marks and capitals: the same in any tokenisation."""
    return tuple(re.findall(r"\w+", sentence.lower()))


@pytest.mark.skipif(not DATA.exists(), reason="needs the open data")
def test_no_sentence_of_the_training_text_is_in_a_suite() -> None:
    trained = {words(line) for _, line in read_lines(DATA / "skipthought" / "brown.txt.gz")}
    documents = list(read_texts(DATA / "documents" / "gum.jsonl.gz"))
    drafts = [build_order(documents, seed=0), build_cloze(documents), build_connectives(DATA / "gum")]
    items = [item for draft in drafts for suite in draft.suites for item in suite.items]
    texts = {text_of(text) for item in items for text in item.texts}
    scored = {words(text[start:end]) for text in texts for start, end in sentence_spans(text)}
    long = {sentence for sentence in scored if len(sentence) >= ENOUGH}
    assert len(trained) > 50_000
    assert len(long) > 5_000
    assert not long & trained
