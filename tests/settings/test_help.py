"""The help of train.py: the settings of chosen files, as their declarations have them."""

from encoder_lab.settings.check import program_parameters
from encoder_lab.settings.config_help import evaluate_help, train_help


def test_help_of_choices_lists_their_settings_with_value_and_meaning() -> None:
    lines = train_help(["encoder=bilstm_last", "objective=autoencoder", "--help"]).splitlines()
    settings = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert {"encoder.pooling=last", "datamodule.target=same", "objective.optimizer.lr=0.001"} <= settings.keys()
    assert "sentence vector" in settings["encoder.dim=512"]
    assert ".txt" in next(line for line in train_help(["corpus=text"]).splitlines() if "root" in line)
    assert not any(name in text for text in settings for name in (".input_dim", ".embedding=", ".cache"))


def test_settings_of_the_programs_and_of_suites_have_the_meaning_that_they_declare() -> None:
    for text, program, seed in ((train_help(), "train", "1"), (evaluate_help(), "evaluate", "null")):
        declared = program_parameters(program, {}) or {}
        assert f"seed={seed} " in text
        assert declared["seed"].description in text
        assert declared["cache"].description in text
        assert "_target_" not in text
    assert "coherence.items=200" in text
    assert "probes.classifier.l2=[1e-05,0.0001,0.001,0.01]" in text


def test_help_shows_the_parts_of_the_user_and_a_line_for_each_paper(tmp_path) -> None:
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "mine.yaml").write_text("# My own encoder\n_target_: my_package.mine.Mine\n")
    for name in ("first", "paper/second", "third"):  # the folder of a paper is between two experiments without one
        path = tmp_path / "experiment" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# An experiment\n")
    text = train_help([f"--config-dir={tmp_path}", "--help"])
    assert any(line.split() == ["mine", "My", "own", "encoder"] for line in text.splitlines())
    assert text.count("conneau2017/") == 1
    assert all(line in map(str.strip, text.splitlines()) for line in ("/ 2: first, third", "paper/ 1: second"))
