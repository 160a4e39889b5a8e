"""The help of train.py: the settings of chosen files, as their declarations have them."""

from pathlib import Path

from encoder_lab.settings.config_help import help_text
from tests.settings.test_config_check import CONFIGS


def test_help_of_choices_lists_their_settings_with_value_and_meaning() -> None:
    lines = help_text(CONFIGS, ["encoder=bilstm_last", "objective=autoencoder", "--help"]).splitlines()
    shown = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert {"encoder.pooling=last", "datamodule.target=same", "objective.optimizer.lr=0.001"} <= shown.keys()
    assert "sentence vector" in shown["encoder.dim=512"]
    assert not any(name in text for text in shown for name in (".input_dim", ".embedding=", ".cache"))


def test_help_shows_the_parts_of_the_user_and_a_line_for_each_paper(tmp_path: Path) -> None:
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "mine.yaml").write_text("# My own encoder\n_target_: my_package.mine.Mine\n")
    text = help_text(CONFIGS, [f"--config-dir={tmp_path}", "--help"])
    assert any(line.split() == ["mine", "My", "own", "encoder"] for line in text.splitlines())
    assert text.count("conneau2017/") == 1
