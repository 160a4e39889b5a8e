"""Parts of a user's own, in a folder outside the clone, as docs/own_parts.md writes them."""

import json
import os
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from omegaconf import OmegaConf
from torch import Tensor, nn

from encoder_lab.errors import InputError
from encoder_lab.storage.reads import read_reads, warn_of_changed_code, write_reads
from encoder_lab.training.allowed_classes import refuse_foreign_classes
from encoder_lab.training.build import own_classes, refuse_broken_encoder
from encoders import encode, load_encoder
from encoders.bilstm import BiLSTM
from encoders.encoder import Encoded, Encoder
from encoders.load import read_config
from encoders.pooling import mean_pool
from probes.results import read_rows
from tests import commands, test_every_encoder
from tests.conftest import ROOT
from tests.pages import blocks
from tests.test_every_encoder import CONFIGS

PAGE = ROOT / "docs" / "own_parts.md"
TRAIN = "encoder=gated objective=contrast corpus=shouted probes=mine suite=[probing,last_word]"
SMALL = """embeddings.dim=10 embeddings.words=5000 embeddings.bucket=100 probes.tasks=[LongWords] corpus.size=200
probes.classifier.widths=[20] probes.classifier.dropouts=[0.0] trainer=smoke trainer.enable_progress_bar=false"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory) -> Path:
    """The package of the page, in a folder of its own."""
    folder = tmp_path_factory.mktemp("outside")
    for block in blocks(PAGE):
        if block.names:
            (folder / block.names).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.names).write_text(block.text, encoding="utf-8")
    return folder


def command(outside: Path, *arguments: str) -> subprocess.CompletedProcess:
    return commands.finish("train.py", *arguments, environment={**os.environ, "PYTHONPATH": str(outside)})


def train(outside: Path, *more: str) -> subprocess.CompletedProcess:
    configs, cache = f"--config-dir={outside}/my_parts/configs", f"cache={outside}/cache"
    return command(outside, configs, *TRAIN.split(), *SMALL.split(), cache, *more)


def test_parts_outside_the_clone_train_resume_and_load_where_their_package_is_allowed(outside, monkeypatch) -> None:
    run = outside / "run"
    done = train(outside, "allow=[my_parts]", f"hydra.run.dir={run}")
    assert done.returncode == 0, done.stderr
    assert {row.task for row in read_rows(run / "probes.csv")} == {"LongWords", "LastWord"}
    refused, resumed = (command(outside, f"resume={run}", *allow) for allow in ([], ["allow=[my_parts]"]))
    assert (refused.returncode, resumed.returncode) == (2, 0)
    assert "allow=[my_parts]" in refused.stderr
    with pytest.raises(InputError, match=r"my_parts\.encoder\.Gated: No module named 'my_parts'; install it"):
        load_encoder(run, allow=["my_parts"])
    monkeypatch.syspath_prepend(outside)
    assert load_encoder(run, allow=["my_parts"]).encode(["A SENTENCE ."]).shape == (1, 32)
    (outside / "text").write_text("A SENTENCE .\n")
    files = f"in={outside / 'text'}", f"out={outside / 'shards'}"
    assert encode.COMMAND.run([str(run), *files, "allow=[my_parts]"]) == 0
    moved = shutil.copytree(run, outside / "moved")
    with pytest.raises(InputError, match="loaded with allow="):
        load_encoder(moved)


def test_code_of_parts_outside_the_clone_that_has_changed_is_said(outside, monkeypatch) -> None:
    run, changed = outside / "later", outside / "changed"
    assert train(outside, "allow=[my_parts]", f"hydra.run.dir={run}").returncode == 0
    recorded = read_reads(run)
    assert {name for name in recorded if name.startswith("code of ")} == {
        f"code of my_parts.{name}" for name in ("encoder.Gated", "objective.Contrast", "corpus.Shouted")
    }
    shutil.copytree(outside / "my_parts", changed / "my_parts")
    for path in changed.rglob("encoder.py"):
        path.write_text(path.read_text() + "\nSCALE = 2.0\n")
    monkeypatch.syspath_prepend(outside)
    load_encoder(run, allow=["my_parts"])
    resumed = command(changed, f"resume={run}", "allow=[my_parts]")
    assert "the code of my_parts.encoder.Gated has changed since the run began" in " ".join(resumed.stderr.split())
    assert resumed.returncode == 0
    (run / "reads.json").write_text(json.dumps({**recorded, "code of my_parts.encoder.Gated": "other"}))
    with pytest.warns(UserWarning, match="the code of my_parts.encoder.Gated has changed"):
        load_encoder(run, allow=["my_parts"])


def test_the_code_of_own_parts_within_other_parts_is_compared_too(outside, monkeypatch) -> None:
    monkeypatch.syspath_prepend(outside)
    part = {"objective": {"_target_": "my_parts.objective.Contrast"}, "corpus": {"_target_": "my_parts.corpus.Shouted"}}
    several = {"_target_": "objectives.multitask.Multitask", "settings": {"mine": part}}
    classes = own_classes({"objective": several, "trainer": {"_target_": "absent.Trainer"}}, ["my_parts", "absent"])
    assert [each.__name__ for each in classes] == ["Shouted", "Contrast", "Multitask"]


def test_other_code_of_an_objective_in_our_folder_is_said(finished_run, tmp_path) -> None:
    classes = own_classes(read_config(finished_run), [])
    recorded = read_reads(finished_run)
    [name] = (name for name in recorded if name.startswith("code of objectives."))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_changed_code(finished_run, classes)
    write_reads(tmp_path, {**recorded, name: "other"})
    with pytest.warns(UserWarning, match=f"the {name} has changed"):
        warn_of_changed_code(tmp_path, classes)


def test_parts_that_are_not_allowed_are_refused_before_the_first_epoch(outside) -> None:
    run = outside / "refused"
    done = train(outside, f"hydra.run.dir={run}")
    assert done.returncode == 2
    assert "is allowed by allow=[my_parts]" in done.stderr
    assert not (run / "config.yaml").exists()
    with pytest.raises(InputError, match="Python finds no absent; install it, or name the folder"):
        refuse_foreign_classes({"encoder": {"_target_": "absent.Encoder"}}, "this command", ["absent"])


def test_an_encoder_with_wrong_vectors_is_refused(outside) -> None:
    path = outside / "my_parts" / "encoder.py"
    text = path.read_text()
    path.write_text(text.replace("mean_pool(states, lengths), states)", "states.mean(1), states)"))
    done = train(outside, "allow=[my_parts]", f"hydra.run.dir={outside}/wrong")
    path.write_text(text)
    assert done.stderr.splitlines()[-1].startswith("error: encoder: padding changes the vector of a sentence")


def test_a_run_that_is_refused_after_its_text_is_read_leaves_no_folder(outside) -> None:
    run, library = outside / "unclear", "pytorch_lightning"
    adds = f"+trainer.callbacks=[{{_target_: {library}.callbacks.GradientAccumulationScheduler, scheduling: {{1: 2}}}}]"
    done = train(outside, f"allow=[my_parts,{library}]", adds, f"hydra.run.dir={run}")
    assert done.stderr.splitlines()[-1].startswith("error: trainer.callbacks: gradients are not accumulated")
    assert not run.exists()


def test_a_frozen_layer_of_an_encoder_stays_in_evaluation_mode() -> None:
    encoder = BiLSTM(6, dim=8, layers=1, projection=5)
    encoder.layer = torch.nn.Dropout().eval()
    refuse_broken_encoder(encoder, 6)
    assert encoder.training
    assert not encoder.layer.training


class Mean(Encoder):
    """The mean of the words; `change` makes another encoder of it."""

    def __init__(self, change: Callable[[Tensor, nn.Linear], Any]) -> None:
        super().__init__()
        self.dim = self.state_dim = 6
        self.used, self.other, self.change = nn.Linear(6, 6), nn.Linear(6, 6), change

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        return Encoded(self.change(mean_pool(embedded, lengths), self.used), embedded)


@pytest.mark.parametrize(("change", "message"), [
    (lambda mean, layer: layer(mean)[:, :2], r"two vectors are \(2, 2\), not \(2, 6\)"),
    (lambda mean, layer: layer(mean).double(), "dtype=torch.float64.*; give finite ones of torch.float32"),
    (lambda mean, layer: layer(mean) / 0, "vectors are tensor.*inf"),
    (lambda mean, layer: layer(mean), "no gradient reaches other.weight, other.bias; use them in forward"),
    (lambda mean, layer: layer(mean).detach(), "no gradient reaches used.weight, used.bias, other.weight"),
])  # fmt: skip
def test_an_encoder_that_cannot_be_right_is_refused(change, message) -> None:
    with pytest.raises(InputError, match=message):
        refuse_broken_encoder(Mean(change), 6, trains=True)


def test_an_encoder_that_returns_a_tensor_is_refused() -> None:
    encoder = BiLSTM(6, dim=8, layers=1, projection=5)
    encoder.forward = lambda embedded, _: embedded.mean(1)  # type: ignore[method-assign, assignment, return-value]
    with pytest.raises(InputError, match="encoder: forward gives Tensor; return Encoded"):
        refuse_broken_encoder(encoder, 6)


LAWS = [
    law
    for name, law in vars(test_every_encoder).items()
    if name.startswith("test_") and any(mark.args[-1] is CONFIGS for mark in getattr(law, "pytestmark", ()))
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_encoder_of_the_page_add_a_part_keeps_every_law_of_an_encoder(law, tmp_path, monkeypatch) -> None:
    text = {block.names: block.text for block in blocks(ROOT / "docs" / "add_a_part.md")}
    (tmp_path / "mine_of_the_page.py").write_text(text["encoders/mine.py"])
    monkeypatch.syspath_prepend(tmp_path)
    settings = OmegaConf.create(text["configs/encoder/mine.yaml"].replace("encoders.mine", "mine_of_the_page"))
    monkeypatch.setitem(CONFIGS, "mine", settings)
    law(name="mine")


@pytest.mark.parametrize(("written", "argument", "said"), [
    ("width: 32", "encoder.widht=5", "encoder.widht: nothing reads such a setting; did you mean encoder.width=?"),
    ("width: 32", "objective.tmperature=1", "did you mean objective.temperature=?"),
    ("width: 32", "corpus.foo=1", "corpus has size"),
    ("", "encoder.width=5", "encoder.width: its YAML file does not name it; write +encoder.width="),
    ("", "seed=2", "gated.yaml, encoder._target_=my_parts.encoder.Gated: it needs width; write it there"),
    ("_target_: my_parts.encoder.Gatde", "seed=2", "encoder.py has no Gatde; did you mean Gated?"),
    ("_target_: my_parts.coder.Gated", "seed=2", "Python finds no my_parts.coder; install it"),
])  # fmt: skip
def test_a_mistake_in_an_own_part_is_answered_before_torch_is_loaded(
    outside, tmp_path, written, argument, said
) -> None:
    copied = shutil.copytree(outside / "my_parts", tmp_path / "my_parts").parent
    path = copied / "my_parts" / "configs" / "encoder" / "gated.yaml"
    kept = [line for line in path.read_text().split("\n") if line.split(":")[0] not in ("  width", f"  {written[:8]}")]
    kept.insert(kept.index("encoder:") + 1, f"  {written}" if written else "  # no width")
    path.write_text("\n".join(kept))
    done = train(copied, "allow=[my_parts]", argument)
    assert (done.returncode, said in done.stderr, "loads" in done.stdout) == (2, True, False), done.stderr
