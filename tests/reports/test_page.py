"""report.py html: the page needs nothing but itself, and has what the runs allow."""

import html
import re

from encoder_lab.reports.claims import CLAIMS
from encoder_lab.reports.evidence import published_evidence
from encoder_lab.reports.findings import check_claims
from encoder_lab.reports.page import html_page
from encoder_lab.reports.sizes import SIZES
from encoder_lab.reports.training_table import training_table
from report import main
from tests.reports.small_runs import evaluation_of, models, run_of


def test_a_comparison_is_the_same_on_the_page_and_in_the_text() -> None:
    findings = check_claims(CLAIMS, published_evidence())
    page = html.unescape(html_page("", [], findings=findings))
    assert all(str(comparison) in page for finding in findings for comparison in finding.comparisons)


def test_the_page_needs_nothing_but_itself_and_its_points_tell_their_values(tmp_path) -> None:
    out = tmp_path / "page.html"
    assert main(["html", str(run_of(tmp_path / "a")), f"out={out}"]) == 0
    text = out.read_text()
    claims, _, folded = text.partition("<h2>which published findings hold")[2].rpartition("<details>")
    assert "no scores for it" not in claims
    assert f"No scores for {folded.count('<li>')} of {len(CLAIMS)} claims" in folded
    head, _, data = text.partition("</script>")  # Plotly is before it
    assert not re.search(r'(src|href)="(?!#)', re.sub("<script>.*", "", head, flags=re.DOTALL) + data)
    assert "BiLSTM-max, NMT En-Fr\\u003cbr>epoch 3: 53.00 [51.00, 55.00]" in data
    assert text.count("<section") == text.count('<a href="#part')
    assert "1 of 1 models have one seed" in claims


def test_the_menu_of_runs_reaches_each_score_of_the_table_of_training(tmp_path) -> None:
    table = training_table(models(run_of(tmp_path / "a"), run_of(tmp_path / "b", objective="nmt_enfi")), [])
    page = html_page("", [table])
    assert all(f'data-model="BiLSTM-max, NMT {pair}" data-value=' in page for pair in ("En-Fr", "En-Fi"))


def test_the_page_of_models_without_epochs_has_no_section_by_epoch(tmp_path) -> None:
    bov = evaluation_of(tmp_path / "bov", "bov")
    assert main(["html", str(bov), f"out={tmp_path / 'page.html'}"]) == 0
    assert "by epoch" not in (tmp_path / "page.html").read_text()
    assert main(["curves", "overlay=true", str(bov), f"out={tmp_path / 'curves.png'}"]) == 2
    assert main(["html", str(bov), str(run_of(tmp_path / "a")), f"out={tmp_path / 'page.html'}"]) == 0
    assert "probing by epoch: each task" in (tmp_path / "page.html").read_text()


def test_the_page_has_what_the_runs_allow(tmp_path) -> None:
    out = tmp_path / "page.html"
    runs = [str(run_of(tmp_path / str(dim), dim=dim)) for dim in (512, 1024)]
    assert main(["html", *runs[:1], f"out={out}"]) == 0
    assert "by size" not in out.read_text()
    assert main(["html", *runs, f"out={out}"]) == 0
    text = out.read_text()
    assert "by size of the sentence vector" in text
    assert f"{SIZES} 1024: 52.00 [50.00, 54.00]" in text
    assert "probing against downstream" not in text  # nothing downstream was scored
    assert all(html.escape(finding.claim) in text for finding in check_claims(CLAIMS, published_evidence()))
