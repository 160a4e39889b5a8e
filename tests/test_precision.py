"""Half-precision products change the loss curve and the probing scores by little."""

from pathlib import Path

import pytest
import torch

from encoder_lab.compute.matmul import multiplies_in_bfloat16
from encoder_lab.storage.csv_files import read_csv
from encoders import load_encoder
from encoders.load import open_run
from encoders.sources import trained_model
from evaluate import evaluate
from objectives.chunked_cross_entropy import cross_entropy_sum
from objectives.layers import Logits
from probes.results import read_rows
from tests.asked import evaluation
from tests.conftest import TINY


def test_a_large_bias_does_not_hide_differences_between_sentences() -> None:
    layer = Logits(4, 3)
    torch.nn.init.constant_(layer.bias, -10.0)
    torch.nn.init.constant_(layer.weight, 0.001)
    with torch.autocast("cpu", torch.bfloat16):
        first, second = layer(torch.tensor([[1.0, 0, 0, 0], [2.0, 0, 0, 0]]))
    assert (second - first).tolist() == pytest.approx([0.001] * 3, rel=0.01)


@pytest.mark.parametrize("training", [True, False])
def test_the_softmax_keeps_its_biases_in_float32(training) -> None:
    bias = torch.tensor([-9.99, -10.01, -10.0])
    hidden, weight, gold = torch.zeros(1, 4), torch.ones(3, 4), torch.tensor([1])
    with torch.autocast("cpu", torch.bfloat16), torch.set_grad_enabled(training):
        total = cross_entropy_sum(hidden, weight, bias, gold)
    assert total.item() == pytest.approx(torch.nn.functional.cross_entropy(bias[None], gold).item(), abs=1e-5)


LEARNS = [  # in forty steps, and length can be read from its vectors
    "corpus.size=160", "objective.optimizer.lr=0.01", "datamodule.batch_size=8", "encoder.dim=32",
    "objective.decoder_hidden=32", "objective.decoder_layers=1", "probes.tasks=[SentLen]", "probes.train_size=240",
    "probes.dev_size=60", "probes.test_size=120", "probes.classifier.widths=[0]", "probes.classifier.l2=[0.001]",
    "probes.every_n_epochs=2",
]  # fmt: skip


@pytest.fixture(scope="module")
def runs(lab, tmp_path_factory) -> tuple[Path, Path]:
    """The same run in float32 and in bfloat16."""
    folder = tmp_path_factory.mktemp("precision")
    for precision in ("32-true", "bf16-mixed"):
        printed = lab.succeed(*lab.settings(folder / precision, *LEARNS, f"trainer.precision={precision}"))
        slow = precision == "bf16-mixed" and not multiplies_in_bfloat16(torch.device("cpu"))
        assert ("no instructions for bfloat16" in printed) == slow
    return folder / "32-true", folder / "bf16-mixed"


def test_bf16_has_nearly_the_loss_curve_and_scores_of_float32(runs) -> None:
    wide, narrow = ([float(row["train/loss"]) for row in read_csv(run / "metrics.csv")] for run in runs)
    drop = wide[0] - wide[-1]
    assert drop > 0.2
    assert narrow == pytest.approx(wide, abs=0.05 * drop)  # 0.005 with products in bf16 in hardware, 0.024 without
    for whole, short in zip(*(read_rows(run / "probes.csv") for run in runs), strict=True):
        overlap = whole.test_low <= short.test_high and short.test_low <= whole.test_high
        assert overlap, f"{whole.task}, epoch {whole.epoch}"
    saved = [torch.load(run / "checkpoints" / "last.ckpt", weights_only=True)["state_dict"] for run in runs]
    assert any(not torch.equal(saved[0][name], saved[1][name]) for name in saved[0])


def test_evaluating_a_run_in_bf16_gives_the_scores_of_its_curve(runs, lab, tmp_path) -> None:
    tasks = [text for text in (*TINY, *LEARNS) if text.startswith(("corpus.", "probes."))]
    last = runs[1] / "checkpoints" / "last.ckpt"
    done = evaluate(evaluation(*tasks, f"model={last}", f"out={tmp_path}", f"cache={lab.cache}"))
    curve = [row.test_accuracy for row in read_rows(runs[1] / "probes.csv") if row.epoch == 2]
    assert [scored.row.test_accuracy for scored in done[0].main] == curve


def test_the_vectors_that_evaluate_scores_are_in_the_precision_of_the_run(runs) -> None:
    for run, narrow in zip(runs, (False, multiplies_in_bfloat16(torch.device("cpu"))), strict=True):
        sentences = (run / "vectors" / "words.txt").read_text(encoding="utf-8").split()[:20]
        encode = trained_model(open_run(run), "cpu").encode
        assert encode is not None
        assert (encode(sentences) != load_encoder(run, "cpu").encode(sentences)).any() == narrow
