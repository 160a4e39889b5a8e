"""A run is continued only with classes of this project."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from encoder_lab.errors import InputError
from encoder_lab.settings.run_settings import leaves
from encoder_lab.studies.compose import resolved_settings
from encoder_lab.training.allowed_classes import refuse_foreign_classes
from tests.settings.test_config_check import CONFIGS, composed
from train import main

HERE = Path("config.yaml")


def shipped() -> set[tuple[str, str]]:
    """The place and the name of each class in our configuration files."""
    result = set()
    for path in CONFIGS.rglob("*.yaml"):
        text = path.read_text()
        group = "" if "@package _global_" in text else f"{path.relative_to(CONFIGS).parts[0]}."
        settings = OmegaConf.to_container(OmegaConf.create(text))
        result |= {(f"{group}{name}", str(value)) for name, value in leaves(settings) if name.endswith("_target_")}
    return result


def test_all_classes_in_our_configuration_files_are_allowed_in_their_place() -> None:
    for place, target in shipped():
        config = OmegaConf.create({})
        OmegaConf.update(config, place, target)
        refuse_foreign_classes(resolved_settings(config), HERE)


@pytest.fixture(scope="module")
def run_settings() -> str:
    config = composed()
    OmegaConf.resolve(config)
    return OmegaConf.to_yaml(config)


PLACES = ["corpus", "datamodule", "objective", "objective.optimizer", "objective.settings.nli.datamodule", "encoder"]
PLACES += [
    "encoder.dim", "embeddings.source", "probes.source", "probes.classifier", "trainer", "trainer.strategy", "seed",
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_settings_that_would_run_code_are_refused_in_one_line(run_settings, place, tmp_path, capsys) -> None:
    made, config = tmp_path / "made", OmegaConf.create(run_settings)
    OmegaConf.update(config, place, {"_target_": "os.mkdir", "path": str(made)}, merge=False, force_add=True)
    OmegaConf.save(config, tmp_path / "config.yaml")
    with pytest.raises(SystemExit, match="2"):
        main([f"resume={tmp_path}"])
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert message.startswith(f"error: {tmp_path / 'config.yaml'}: {place}._target_ is os.mkdir; ")
    assert not made.exists()


OTHERS = ["os.system", "pytorch_lightning.callbacks.ModelCheckpoint", "torch.load", "torch.optim.Optimizer.__init__"]
OTHERS += [
    "torch.optim.lr_scheduler.LambdaLR", "datamodules.arrays.ArrayFile", "datamodules.nothing.Here", "probes", "",
]  # fmt: skip
OTHERS += ["encoder_lab.storage.files.shutil.rmtree", "encodersx.bilstm.BiLSTM"]


@pytest.mark.parametrize("target", OTHERS)
def test_a_class_that_no_setting_needs_is_refused(target) -> None:
    config = {"trainer": {"callbacks": [{"_target_": target}]}}
    with pytest.raises(InputError, match=r"trainer\.callbacks\.0\._target_ is"):
        refuse_foreign_classes(config, HERE)


@pytest.mark.parametrize("hidden", ["${oc.create:{_target_: os.getcwd}}", "\\${oc.create:{_target_: x}}", "${size}"])
def test_a_class_that_hides_in_a_text_is_refused(hidden) -> None:
    with pytest.raises(InputError, match=r"config\.yaml: .*"):
        refuse_foreign_classes({"size": hidden}, HERE)
