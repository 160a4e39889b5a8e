"""Every argument of Lightning's trainer works or is refused in one line; so does every environment of a process."""

import inspect
import time
from collections.abc import Iterator
from typing import Any

import pytest
import pytorch_lightning as pl
import torch
from omegaconf import OmegaConf
from pytorch_lightning.utilities import rank_zero_only

from encoder_lab.errors import InputError
from encoder_lab.settings.arguments import RANK_VARIABLES
from encoder_lab.settings.build import frozen_settings
from encoder_lab.settings.check import mistakes
from encoder_lab.settings.command_line import exit_with
from encoder_lab.settings.run import RunSettings, Trainer
from encoder_lab.storage.locks import wait_for_file
from encoder_lab.studies.compose import resolved_settings
from encoder_lab.training.devices import refuse_without_partner
from encoder_lab.training.run_folder import write_new_settings
from tests.attack.attack import refused
from tests.settings.test_config_check import composed
from train import train

# legal values as Lightning declares them, of arguments that work together; that work each alone; that are refused
TOGETHER: dict[str, Any] = {"accelerator": "cpu", "devices": 1, "num_nodes": 1, "logger": [], "callbacks": []}
TOGETHER |= {"min_epochs": 1, "max_steps": 1, "min_steps": 1, "max_time": "00:00:10:00", "limit_train_batches": 1}
TOGETHER |= {"limit_val_batches": 1, "num_sanity_val_steps": 1, "log_every_n_steps": 1, "enable_progress_bar": False}
TOGETHER |= {"enable_model_summary": True, "gradient_clip_val": 1.0, "gradient_clip_algorithm": "value"}
TOGETHER |= {"deterministic": True, "benchmark": False, "inference_mode": False, "profiler": "simple"}
TOGETHER |= {"detect_anomaly": True, "sync_batchnorm": True}
ALONE: dict[str, Any] = {"strategy": "ddp", "precision": "64-true", "fast_dev_run": True, "max_epochs": 0}
REFUSED: dict[str, Any] = {"limit_test_batches": 1, "limit_predict_batches": 1, "overfit_batches": 2, "plugins": []}
REFUSED |= {"val_check_interval": 1, "check_val_every_n_epoch": 2, "enable_checkpointing": False, "barebones": True}
REFUSED |= {"accumulate_grad_batches": 2, "use_distributed_sampler": True, "default_root_dir": "elsewhere"}
REFUSED |= {"reload_dataloaders_every_n_epochs": 1, "enable_autolog_hparams": False, "model_registry": "name"}
REFUSED |= {"precision": "bf16-true"}


@pytest.fixture
def trial(lab, tmp_path) -> Iterator[Any]:
    """What is said of a run of two steps with more settings of the trainer; None where it works."""

    def work(**more: Any) -> str | None:
        small = ["trainer=smoke", "encoder=bov", "objective=nli", "probes=none", "embeddings.dim=4", "corpus.size=160"]
        config = composed(*small, "embeddings.words=500", "embeddings.bucket=100", "logger=[]", f"cache={lab.cache}")
        for name, value in more.items():
            OmegaConf.update(config, f"trainer.{name}", value, force_add=True)

        def run() -> None:
            exit_with(mistakes("train", resolved_settings(config)))
            settings = frozen_settings(RunSettings, resolved_settings(config))
            write_new_settings(settings, tmp_path / "run", sweep=False)
            train(settings, tmp_path / "run")

        (tmp_path / "run").mkdir()
        return refused(run)

    yield work
    torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("settings", [TOGETHER, *({name: value} for name, value in ALONE.items())], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_an_argument_of_the_trainer_works(trial, settings) -> None:
    assert trial(**settings) is None


@pytest.mark.parametrize("settings", [{"callbacks": [5]}, {"logger": [{"a": 1}]}], ids=str)
def test_what_the_user_adds_has_a_class(trial, settings) -> None:
    ((name, (wrong,)),) = settings.items()
    assert trial(**settings).strip() == f"error: trainer.{name}: {wrong} has no class; give it as _target_"


@pytest.mark.parametrize(("settings", "message"), [
    ({"accelerator": "cpu", "precision": "16-mixed"}, "trainer.precision=16-mixed: on a CPU"),
    ({"accelerator": "gpu"}, "trainer.accelerator=gpu: no NVIDIA GPU here; give cpu"),
])  # fmt: skip
def test_a_device_or_precision_that_is_not_here_is_refused(trial, monkeypatch, settings, message) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert trial(**settings).startswith(f"error: {message}")


@pytest.mark.parametrize(("name", "settings", "reason"), [
    ("GradientAccumulationScheduler", {"scheduling": {1: 2}}, "gradients are not accumulated"),
    ("EMAWeightAveraging", {}, "no averages of weights"),
    ("StochasticWeightAveraging", {"swa_lrs": 0.1}, "no averages of weights"),
    ("LearningRateFinder", {}, "no rate is looked for"),
    ("BatchSizeFinder", {}, "no size of batches is looked for"),
])  # fmt: skip
def test_a_callback_that_would_change_what_curves_mean_is_refused(trial, name, settings, reason) -> None:
    message = trial(callbacks=[{"_target_": f"pytorch_lightning.callbacks.{name}", **settings}])
    assert message.startswith(f"error: trainer.callbacks: {reason}")


def test_every_other_argument_of_the_trainer_is_refused() -> None:
    assert {*TOGETHER, *ALONE, *REFUSED} == {*inspect.signature(pl.Trainer).parameters}
    written = resolved_settings(composed("objective=nli"))
    for name, value in REFUSED.items():
        settings = {**written, "trainer": {**written["trainer"], name: value}}
        (message, *_) = mistakes("train", settings)
        assert message.startswith(f"trainer.{name}"), name


@pytest.mark.filterwarnings("ignore")
def test_a_run_of_one_process_works_in_a_shell_of_a_job_with_several_tasks(trial, monkeypatch) -> None:
    for name, value in {"JOB_ID": 77, "NTASKS": 4, "JOB_NAME": "train", "PROCID": 0, "NODELIST": "localhost"}.items():
        monkeypatch.setenv(f"SLURM_{name}", str(value))
    assert trial() is None


@pytest.mark.parametrize("name", RANK_VARIABLES)
def test_a_later_process_without_others_is_refused_at_once(monkeypatch, name) -> None:
    for other in RANK_VARIABLES:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "1")
    monkeypatch.setattr(rank_zero_only, "rank", 1)
    with pytest.raises(InputError, match=f"^{name}=1 says .* unset {name}, or"):
        refuse_without_partner(Trainer(1).single_process, 1)
    refuse_without_partner(Trainer(1, devices=2).single_process, 1)


def test_machines_that_cannot_find_each_other_are_refused_at_once(monkeypatch) -> None:
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    partners = Trainer(1, num_nodes=2).single_process, 2
    with pytest.raises(InputError, match="num_nodes=2: nothing says where the other machines are; start it with"):
        refuse_without_partner(*partners)
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    refuse_without_partner(*partners)


@pytest.mark.filterwarnings("ignore")
def test_processes_that_do_not_meet_end_with_a_line(trial, monkeypatch) -> None:
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    patience = {"_target_": "datetime.timedelta", "seconds": 1}
    strategy = {"_target_": "pytorch_lightning.strategies.DDPStrategy", "timeout": patience}
    message = trial(num_nodes=2, strategy=strategy)
    assert message
    assert message.startswith("error: the processes of the run did not meet")


def test_a_process_that_waits_for_the_first_one_says_so_and_ends(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("encoder_lab.storage.locks.SILENT_SECONDS", 0.0)
    begun = time.monotonic()
    with pytest.raises(InputError, match="start all processes again"):
        wait_for_file(tmp_path / "matrix.npy", tmp_path / "lock", patience=0.3)
    assert time.monotonic() - begun > 0.3
    assert capsys.readouterr().err.count("waits for the first process of the run") == 1
