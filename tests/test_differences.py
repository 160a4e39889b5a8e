"""One page has every difference to the papers: studies and protocols link to it, settings do not hide any."""

import re

import pytest

from tests.packages import ROOT

PAGE = "differences.md"
TEXT = (ROOT / "docs" / PAGE).read_text(encoding="utf-8")
PROTOCOLS = ("probing_protocol", "downstream_protocol", "discoeval", "coherence", "studies")
STUDIES = sorted((ROOT / "configs" / "study").rglob("*.yaml"))
OURS = re.compile(r"^\s*(\w+): .*#.*(no number in the paper|\bcode: )", re.MULTILINE)
CHOSEN = sorted({name for path in (ROOT / "configs").rglob("*.yaml") for name, _ in OURS.findall(path.read_text())})


@pytest.mark.parametrize("path", [*STUDIES, *(ROOT / f"docs/{name}.md" for name in PROTOCOLS)], ids=lambda p: p.stem)
def test_every_study_and_every_protocol_links_to_the_page(path) -> None:
    assert PAGE in path.read_text(encoding="utf-8")  # type: ignore[attr-defined]


@pytest.mark.parametrize("setting", CHOSEN)
def test_every_number_that_the_papers_do_not_have_is_on_the_page(setting) -> None:
    assert re.search(rf"`(trainer\.)?{setting}`", TEXT), f"`{setting}` says so in configs/ alone"


def test_every_row_says_what_there_here_why_and_worth() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("|")]
    assert len(rows) > 40
    assert {line.count("|") for line in rows} == {6}
