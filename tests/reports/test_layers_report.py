"""report.py layers: tasks by layers, from evaluations of a Hugging Face model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from encoder_lab.errors import InputError
from encoder_lab.reports.evidence import evidence_of
from encoder_lab.reports.figure import draw_section, render_figure
from encoder_lab.reports.interactive import plotly_figure
from encoder_lab.reports.layers import (
    LayerScores,
    as_text,
    charts_by_layer,
    layer_of,
    layers_of_models,
    published_layers,
)
from encoder_lab.reports.published import published
from encoder_lab.reports.table import TableCell
from probes.results import Answers, read_rows, write_rows
from report import main
from tests.reports.small_runs import finding_of, models, score_row

GROUPS = ("SPgum", "BSOgum", "DCgum", "SSPgum", "PDTB-E", "PDTB-I", "RST")


def layer_evaluation(folder: Path, number: int, suite: str, scores: dict[str, float]) -> Path:
    """The scores of one layer on one suite, as evaluate.py leaves them."""
    folder = folder / suite / f"tiny-layer-{number}"
    folder.mkdir(parents=True)
    names = f"encoder_name: tiny\nobjective_name: layer {number}\nmodel: hf:tiny\nsuite: {suite}\nseed: 1\n"
    (folder / "config.yaml").write_text(names)
    rows = [score_row(task, score, suite, epoch=0, half=3) for task, score in scores.items()]
    write_rows(folder / "probes.csv", rows)
    return folder


def evaluations(folder: Path) -> list[Path]:
    """LayerScores 0, 3 and 10: WC is best at 0, SentLen and SP at 3, the other discourse tasks at 10."""
    folders = []
    for n in (10, 0, 3):
        discourse = dict.fromkeys(GROUPS, 50.0 + n) | {"SPgum": 80.0 - abs(n - 3)}
        folders.append(layer_evaluation(folder, n, "discoeval", discourse))
        folders.append(layer_evaluation(folder, n, "probing", {"WC": 90.0 - n, "SentLen": 80.0 - abs(n - 3)}))
    return folders


def test_layers_of_all_suites_are_one_model_in_the_order_of_their_numbers(tmp_path) -> None:
    (layers,) = layers_of_models(models(*evaluations(tmp_path)), "best", "mlp")
    assert (layers.title, layers.numbers) == ("tiny", [0, 3, 10])
    assert " ".join(layers.cells) == "Probing SP BSO DC SSP PDTB-E PDTB-I RST-DT avg. SentLen WC"
    np.testing.assert_allclose(layers.scores("Probing"), [83.5, 83.5, 76.5])
    np.testing.assert_allclose(layers.scores("avg."), [(77 + 6 * 50) / 7, (80 + 6 * 53) / 7, (73 + 6 * 60) / 7])
    assert layers.best("RST-DT") == [False, False, True]
    assert layers.best("WC") == [True, False, False]


def test_the_mean_over_probing_tasks_is_of_those_that_all_layers_have(tmp_path) -> None:
    scores = {0: {"WC": 90.0, "Tense": 70.0}, 1: {"WC": 80.0, "Tense": 70.0, "SOMO": 50.0}}
    folders = [layer_evaluation(tmp_path, number, "probing", tasks) for number, tasks in scores.items()]
    (layers,) = layers_of_models(models(*folders), "best", "mlp")
    assert layers.scores("Probing").tolist() == [80, 75]


def test_a_task_of_one_name_in_two_suites_is_two_rows_and_a_code_has_no_best_layer(tmp_path) -> None:
    for number in (0, 1):
        folder = layer_evaluation(tmp_path, number, "probing", {"Tense": 80.0 + number, "WC": 60.0})
        more = (("bits", 40.0, "logreg"), ("selectivity", 20.0, "mlp"))
        write_rows(folder / "probes.csv", [score_row("Tense", score, suite, by, epoch=0) for suite, score, by in more])
        layer_evaluation(tmp_path, number, "discoeval", {"SPgum": 50.0})
    reported = models(*sorted(tmp_path.glob("*/*")))
    (layers,) = layers_of_models(reported, "best", "mlp")
    scores = {task: layers.scores(task).tolist() for task in layers.cells}
    assert (scores.pop("SP"), scores.pop("Probing")) == ([50, 50], [70, 70.5])
    assert scores == {"Tense": [80, 81], "WC": [60, 60], "bits Tense": [40, 40], "selectivity Tense": [20, 20]}
    assert (layers.best("bits Tense"), layers.margin("bits Tense")) == ([False, False], "")
    assert charts_by_layer(layers_of_models(reported[::-1], "best", "mlp")).charts[0].rows == list(layers.cells)


def test_layers_of_other_items_have_no_best_one_and_other_protocols_and_folders_are_said(tmp_path, capsys) -> None:
    for number, protocol in enumerate(("modern", "senteval")):
        folder = layer_evaluation(tmp_path, number, "probing", {"Tense": 80.0 + number, "WC": 60.0})
        config = (folder / "config.yaml").read_text().replace("hf:tiny", f"hf:{protocol}/tiny")
        (folder / "config.yaml").write_text(f"{config}probes: {{classifier: {{protocol: {protocol}}}}}\n")
        rows = [replace(row, answers=Answers(row.task, np.ones(4, bool))) for row in read_rows(folder / "probes.csv")]
        rows[0] = replace(rows[0], answers=Answers(f"Tense {number}", np.ones(4, bool)))
        write_rows(folder / "probes.csv", rows)
    (layers,) = layers_of_models(models(*tmp_path.glob("*/*")), "best", "mlp")
    best = {task: sum(layers.best(task)) for task in layers.cells}
    assert best == {"Probing": 0, "Tense": 0, "WC": 2}
    note = "tiny, Probing, Tense: layers are of different test sentences, or by different classifiers"
    assert note in charts_by_layer([layers]).note
    assert main(["layers", str(tmp_path), "published=false", f"out={tmp_path / 'layers.png'}"]) == 0
    printed = capsys.readouterr()
    assert note in printed.out
    assert "protocol=modern (tiny, layer 0), protocol=senteval (tiny, layer 1)" in printed.err
    assert "tiny: layers of hf:modern/tiny and hf:senteval/tiny, which may be two models." in printed.err


def test_the_published_layers_are_those_of_figure_8_with_the_mean_over_groups() -> None:
    elmo, bert = published_layers()
    assert (elmo.numbers, bert.numbers) == (list(range(3)), list(range(12)))
    for row in published("chen2019_figure8"):
        layers = {"ELMo": elmo, "BERT-Base": bert}[row.encoder]
        assert layers.scores(row.task)[layers.numbers.index(int(row.model.split()[1]))] == row.score
    assert bert.scores("avg.")[10] == pytest.approx(np.mean([49.4, 68.0, 60.2, 79.8, 43.7, 40.9, 58.8]))


def test_equal_scores_as_printed_are_both_best_and_a_missing_one_is_left_out() -> None:
    layers = LayerScores("tiny", [0, 1, 2], {"SP": [TableCell(50.01), None, TableCell(49.99)]})
    assert layers.best("SP") == [True, False, True]
    assert LayerScores("tiny", [0, 1], {"SP": [TableCell(70.35), TableCell(70.31)]}).best("SP") == [True, True]
    assert as_text([layers]).splitlines()[2].split() == ["SP", "*50.0", "*50.0"]
    texts = [text.get_text() for text in draw_section(charts_by_layer([layers])).axes[0].texts]
    assert texts == ["50.0", "", "50.0"]  # no columns of chance and intervals, which are not known


def test_controls_are_on_the_scale_of_their_task_with_its_chance_and_interval() -> None:
    cells = {"WC": [TableCell(20, 18, 22, chance=1.5), TableCell(60, 50, 70, chance=1.5)], "Tense": [TableCell(50)] * 2}
    layers = LayerScores("tiny", [0, 1], cells | {"WC control per word": [TableCell(10), TableCell(30)]})
    assert layers.shades("WC").tolist() == [0.2, 1.0]
    assert layers.shades("WC control per word").tolist() == [0.0, 0.4]
    suites = {"bits WC": [TableCell(20), TableCell(30)], "bits Tense": [TableCell(80), TableCell(90)]}
    assert [LayerScores("tiny", [0, 1], suites).shades(task).tolist() for task in suites] == [[0, 1], [0, 1]]
    texts = [text.get_text() for text in draw_section(charts_by_layer([layers])).axes[0].texts]
    assert texts[6:] == ["1.5", "–", "–", "±10.0", "–", "–"]
    assert as_text([layers]).splitlines()[2].split() == ["WC", "20.0", "*60.0", "1.5", "±10.0"]


@pytest.mark.parametrize("count", [1, 3, 25])
def test_the_footer_ends_inside_the_picture(count) -> None:
    scores = LayerScores("tiny", list(range(count)), {"SP": [TableCell(50)] * count})
    figure = draw_section(charts_by_layer([scores]))
    render_figure(figure, "svg")
    footer = figure._supxlabel.get_window_extent()
    assert figure.bbox.x0 <= footer.x0 < footer.x1 <= figure.bbox.x1
    assert footer.y0 >= figure.bbox.y0


def test_a_number_stands_on_the_colour_of_its_place_between_lowest_and_highest() -> None:
    cells = {"SP": [TableCell(20), TableCell(30), TableCell(25)], "BSO": [TableCell(50)] * 3}
    scores = LayerScores("tiny", [0, 1, 2], cells)
    (chart,) = charts_by_layer([scores]).charts
    assert plotly_figure(chart)["layout"]["xaxis"]["type"] == "category"  # a layer that was left out has no place
    pixels = draw_section(charts_by_layer([scores])).axes[0].images[0].to_rgba(chart.shades)
    light = pixels[..., :3].sum(-1)
    assert light[0, 1] < light[0, 2] < light[0, 0]
    assert len(set(light[1])) == 1  # of equal scores none is darker


@pytest.mark.usefixtures("plain_layout")
def test_the_command_prints_a_table_and_writes_the_picture_and_the_page_has_the_layers(tmp_path, capsys) -> None:
    evaluations(tmp_path)
    out = tmp_path / "layers.png"
    assert main(["layers", str(tmp_path), f"out={out}"]) == 0
    printed = capsys.readouterr().out
    assert "SP 77.0 *80.0 73.0 ±3.0" in " ".join(printed.split())
    assert "BERT-Base (Chen et al. 2019, Figure 8)" in printed
    assert str(out) in printed
    assert Image.open(out).width > 1000
    assert main(["html", str(tmp_path), f"out={tmp_path / 'report.html'}"]) == 0
    assert "<h2>by layer</h2>" in (tmp_path / "report.html").read_text()


def test_models_without_layers_are_refused_with_the_command_that_makes_them(tmp_path) -> None:
    folder = layer_evaluation(tmp_path, 0, "probing", {"WC": 90})
    (folder / "config.yaml").write_text((folder / "config.yaml").read_text().replace("layer 0", "NMT"))
    with pytest.raises(InputError, match=r"no scores by layer; make them with: python evaluate.py model=hf:"):
        layers_of_models(models(folder), "best", "mlp")


@pytest.mark.parametrize(("name", "layer"), [("layer 3", (3, "")), ("layer 12, cls", (12, ", cls")), ("NMT", None)])
def test_a_layer_is_recognised_by_its_name(name, layer) -> None:
    assert layer_of(name) == layer


def test_the_claim_about_deeper_layers_reads_our_layers(tmp_path) -> None:
    evidence = evidence_of(models(*evaluations(tmp_path)))
    (comparison,) = finding_of("discourse needs deeper layers than other tasks", evidence).comparisons
    assert comparison.label == "tiny: mean best layer, 9.0 for DiscoEval and 1.5 for probing tasks"
    assert comparison.difference == 7.5
