"""The examples run, small, and print what they promise; published weights become a function of sentences."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

import report
from encoders import load_encoder
from probes.results import read_rows
from tests import commands
from tests.clone import finish
from tests.conftest import ROOT, TINY
from tests.pages import Command, blocks
from tests.test_transformers import BERT, tiny

EXAMPLES = ROOT / "examples"
SMALL = [
    "probes.tasks=[SentLen,SubjNum]", "probes.train_size=60", "probes.dev_size=40", "probes.test_size=40",
    "probes.classifier.widths=[0]", "probes.classifier.l2=[0.01]", "corpus.size=300",
]  # fmt: skip
SICK_HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
WORDS = ["<s>", "</s>", "the", "dog", "sleeps"]


def run(name: str, *arguments: str) -> None:
    """What `python examples/NAME.py` does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")


@pytest.fixture(scope="module")
def transformer(tmp_path_factory) -> Path:
    """A sentence-transformers folder with two layers of random weights."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    folder = tmp_path_factory.mktemp("tiny")
    (folder / "bert").mkdir()
    words = Transformer(str(tiny(folder / "bert", "Bert", **BERT)))
    SentenceTransformer(modules=[words, Pooling(16, "mean")], device="cpu").save(str(folder / "model"))
    return folder / "model"


def test_a_function_a_sentence_transformer_and_all_its_layers_are_probed(transformer, tmp_path, capsys) -> None:
    run("probe_your_own_model", str(transformer), *SMALL, f"cache={tmp_path}")
    first, *rows = capsys.readouterr().out.splitlines()
    assert re.findall(r"\w+$|SentLen", first) == ["SentLen", "SubjNum"]
    names = ["surface", "letters", "its vectors", "layer 0", "layer 1", "layer 2"]
    assert [name for name, row in zip(names, rows, strict=True) if name in row] == names
    for row in rows:
        assert len(re.findall(r"\d\d?\.\d \[\d+, \d+\] [+-]\d+", row)) == 2, row


def test_fine_tuning_on_sick_shows_which_probes_move(transformer, tmp_path, capsys) -> None:
    lines = [f"{i}\ta dog {i} runs\ta cat {i}\t3\t{label}" for i, label in enumerate(["NEUTRAL", "ENTAILMENT"] * 16)]
    for name in ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"):
        (tmp_path / name).write_text("\n".join([SICK_HEADER, *lines, ""]))
    out = tmp_path / "out"
    run(
        "probe_while_finetuning", str(transformer), str(tmp_path), f"out={out}", "epochs=2", *SMALL, f"cache={tmp_path}"
    )
    assert {(row.epoch, row.step) for row in read_rows(out / "probes.csv")} == {(0, 0), (1, 2), (2, 4)}
    printed = capsys.readouterr().out.splitlines()
    for task in ("SentLen", "SubjNum"):
        (row,) = [line for line in printed if line.startswith(task)]
        assert len(re.findall(r"\[[+\d.-]+, [+\d.-]+\]", row)) == 3


def test_mteb_runs_on_a_frozen_encoder() -> None:
    from datasets import Dataset
    from mteb.abstasks.sts import AbsTaskSTS
    from mteb.abstasks.task_metadata import TaskMetadata

    pairs = [("the dog runs", "the dog sees a cat"), ("a cat", "a cat ."), ("the river", "child"), ("dog", "the dog")]
    gold = [3.0, 5.0, 0.0, 4.0]

    class LocalPairs(AbsTaskSTS):
        metadata = TaskMetadata(
            dataset={"path": "local/pairs", "revision": "1"}, name="LocalPairs", description="made here", type="STS",
            category="t2t", eval_langs=["eng-Latn"], main_score="cosine_spearman", reference=None,
        )  # fmt: skip

        def load_data(self, *_: object, **__: object) -> None:
            columns = {"sentence1": [a for a, _ in pairs], "sentence2": [b for _, b in pairs], "score": gold}
            self.dataset, self.data_loaded = {"test": Dataset.from_dict(columns)}, True

    golden = str(ROOT / "tests" / "golden_run")
    example = runpy.run_path(str(EXAMPLES / "mteb_on_a_run.py"))
    scores = example["main"](golden, [LocalPairs()])
    u, v = (torch.from_numpy(load_encoder(golden).encode([pair[k] for pair in pairs])) for k in (0, 1))
    expected = spearmanr(torch.cosine_similarity(u, v).numpy(), np.array(gold)).statistic
    assert scores == {"LocalPairs": pytest.approx(expected)}
    with pytest.raises(TypeError, match="precision"):
        example["RunForMTEB"](golden).encode([], precision="int8")


def test_the_code_of_the_page_gives_the_vectors_of_the_weights(tmp_path) -> None:
    codes = {block.names or n: block.text for n, block in enumerate(blocks(ROOT / "docs" / "published_encoders.md"))}
    python = [text for text in codes.values() if "import" in text]
    assert len(python) == 2
    for name, text in zip(("convert.py", "infersent.py"), python, strict=True):
        (tmp_path / name).write_text(text)
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(4, 3, bidirectional=True)
    torch.save({f"enc_lstm.{name}": weight for name, weight in lstm.state_dict().items()}, tmp_path / "infersent1.pkl")
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32)
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, vectors.tolist(), strict=True)]
    (tmp_path / "glove.840B.300d.txt").write_text("".join(lines))
    sentences = ["the dog sleeps", "unknown dog", ""]
    use = f"import numpy, infersent; numpy.save('out.npy', infersent.encode({sentences!r}))"
    for program, *arguments in (["convert.py", "infersent1.pkl", "infersent1.safetensors"], ["-c", use]):
        finish(tmp_path, Command([program], arguments))
    for encoded, rows in zip(np.load(tmp_path / "out.npy"), ([2, 3, 4], [3], []), strict=True):
        with torch.inference_mode():
            expected = lstm(torch.from_numpy(vectors[[0, *rows, 1]]))[0].amax(0)
        np.testing.assert_allclose(encoded, expected, atol=1e-6)


def test_the_example_runs_and_leaves_both_pictures(lab, tmp_path, monkeypatch, capsys) -> None:
    def run(command: list[str], **_: bool) -> None:
        if command[1] == "report.py":  # in this process, as forks do not draw
            assert report.main(command[2:]) == 0
            return
        commands.succeed(*command[1:], f"cache={lab.cache}")

    monkeypatch.setattr(subprocess, "run", run)
    smaller = [*TINY, "checkpoints.steps=[2]", "probes.steps=[2]", "trainer.max_epochs=1", "probes.tasks=[SentLen]"]
    monkeypatch.setattr(sys, "argv", ["watch", str(tmp_path / "run"), *smaller])
    runpy.run_path(str(ROOT / "examples" / "watch_an_encoder_learn.py"))
    assert "epoch 0: cosine" in capsys.readouterr().out
    for picture in ("probing.png", "discoeval.png"):
        assert (tmp_path / "run" / picture).stat().st_size > 10_000
