"""Choices are checked against the files of configs/ before anything heavy is imported."""

import pytest

from encoder_lab.errors import InputError
from encoder_lab.settings.arguments import refuse_unknown_choices, refuse_wrong_arguments
from tests.conftest import ROOT

CONFIGS = ROOT / "configs"


@pytest.mark.parametrize("arguments", [
    ["encoder=bov", "experiment=conneau2018/bilstm_max_nli", "probes=none"],
    ["suite=[probing,downstream]"],
    ["suite=[]"],
    ["-m", "encoder=bov,bilstm_max"],
    ["encoder.dim=3", "+corpus@parts.nli.corpus=sick", "hydra/launcher=joblib"],
])  # fmt: skip
def test_choices_of_our_files_and_what_is_left_to_hydra_pass(arguments) -> None:
    refuse_unknown_choices(CONFIGS, arguments)


@pytest.mark.parametrize(("argument", "message"), [
    ("encoder=bilstm_mx", "encoder=bilstm_mx: no such choice; did you mean bilstm_max"),
    ("suite=[probing,toys]", r"suite=toys: no such choice.*; a YAML file of your own needs --config-dir=FOLDER$"),
    ("schedule=null", "schedule=null: no such choice; there are constant"),  # which Hydra cannot read
    ("objective=seq2seq", "objective=seq2seq: no such choice; did you mean seq2tree"),
])  # fmt: skip
def test_an_unknown_choice_is_refused_with_the_closest_one(argument, message) -> None:
    with pytest.raises(InputError, match=f"^{message.replace('[', chr(92) + '[')}"):
        refuse_unknown_choices(CONFIGS, [argument])


def test_a_file_of_the_users_own_with_the_name_of_ours_is_refused_as_ours_is_read(tmp_path) -> None:
    own = tmp_path / "encoder" / "bov.yaml"
    own.parent.mkdir()
    own.write_bytes((CONFIGS / "encoder" / "bov.yaml").read_bytes())
    arguments = ["--config-dir", str(tmp_path), "encoder=bov"]
    refuse_wrong_arguments(CONFIGS, "train", arguments)
    own.write_text("_target_: mine.Encoder\n")
    with pytest.raises(
        InputError, match=r"bov\.yaml: this project has a file of that name, which is read in its place"
    ):
        refuse_wrong_arguments(CONFIGS, "train", arguments)
