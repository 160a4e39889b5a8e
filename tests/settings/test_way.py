"""Where settings are declared and chosen, and how far those of a command go: deeper functions take values."""

import ast
import re
import sys
from functools import cache
from importlib.util import spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest
from hydra._internal.utils import get_args_parser

from encoder_lab.errors import InputError
from encoder_lab.settings.arguments import options_first, refuse_unknown_choices, refuse_wrong_arguments
from encoder_lab.settings.declared import file_of
from encoder_lab.settings.known import choices_in
from encoder_lab.settings.model_setting import encoder_file
from tests.packages import PACKAGES, ROOT

SETTINGS = {"RunSettings", "EvaluationSettings", "Probes", "Embeddings", "Trainer", "Checkpoints", "EarlyStopping"}
CONFIGS = ROOT / "configs"


SETTINGS |= {"DictConfig", "ClassSettings", "SuiteSettings"}
OTHER = {"train": ("evaluate.py", "encoder_lab/evaluation"), "evaluate": ("train.py", "encoder_lab/training")}
MOST_FILES = 8


@cache
def takes_settings(file: Path) -> bool:
    """Whether a function of the file has a parameter that is the settings of a program, or a group of them."""
    functions = (f for f in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(f, ast.FunctionDef))
    hints = (argument.annotation for node in functions for argument in [*node.args.args, *node.args.kwonlyargs])
    return any(SETTINGS & set(re.findall(r"(?<![.\w])\w+", ast.unparse(hint))) for hint in hints if hint)


@pytest.mark.parametrize("program", OTHER)
def test_settings_pass_through_few_files(program) -> None:
    folders = {*(ROOT / package for package in PACKAGES), ROOT / "encoder_lab"}
    files = [ROOT / f"{program}.py", *(file for folder in folders for file in folder.rglob("*.py"))]
    others = tuple(str(ROOT / name) for name in OTHER[program])
    taking = [
        str(file.relative_to(ROOT)) for file in files if not str(file).startswith(others) and takes_settings(file)
    ]
    assert f"{program}.py" in taking
    assert len(taking) <= MOST_FILES, taking


def test_a_module_that_an_editable_installation_maps_is_read_in_its_folder(tmp_path, monkeypatch) -> None:
    (tmp_path / "part.py").write_text("raise ImportError")
    init = tmp_path / "__init__.py"
    init.write_text("raise ImportError")

    def find_spec(name, *_):
        folders = [str(tmp_path)]
        return spec_from_file_location(name, init, submodule_search_locations=folders) if name == "mapped" else None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, SimpleNamespace(find_spec=find_spec)])
    assert [file_of(name) for name in ("mapped", "mapped.part", "mapped.none")] == [init, tmp_path / "part.py", None]
    monkeypatch.syspath_prepend(tmp_path)  # a folder with an __init__.py, which is no module without a name
    assert [file_of(name) for name in ("sys", "nowhere.at_all", "")] == [None, None, None]


@pytest.mark.parametrize("arguments", [
    ["encoder=bov", "experiment=conneau2018/bilstm_max_nli", "probes=none"],
    ["suite=[probing,downstream]"],
    ["suite=[]"],
    ["-m", "encoder=bov,bilstm_max"],
    ["encoder.dim=3", "+corpus@parts.nli.corpus=sick", "hydra/launcher=joblib"],
])  # fmt: skip
def test_choices_of_our_files_and_what_is_left_to_hydra_pass(arguments) -> None:
    refuse_unknown_choices(arguments)


@pytest.mark.parametrize(("argument", "message"), [
    ("encoder=bilstm_mx", "encoder=bilstm_mx: no such choice; did you mean bilstm_max"),
    ("suite=[probing,toys]", r"suite=toys: no such choice.*; a YAML file of your own needs --config-dir=FOLDER$"),
    ("schedule=null", "schedule=null: no such choice; there are constant"),  # which Hydra cannot read
    ("objective=seq2seq", "objective=seq2seq: no such choice; did you mean seq2tree"),
])  # fmt: skip
def test_an_unknown_choice_is_refused_with_the_closest_one(argument, message) -> None:
    with pytest.raises(InputError, match=f"^{message.replace('[', chr(92) + '[')}"):
        refuse_unknown_choices([argument])


def test_an_unknown_choice_is_refused_with_those_of_the_user_too(tmp_path) -> None:
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "gated.yaml").write_text("_target_: mine.Encoder\n")
    folder = f"--config-dir={tmp_path}"
    refuse_unknown_choices([folder, "encoder=gated"])
    with pytest.raises(InputError, match=r"no such choice; did you mean gated.*bov.*transformer"):
        refuse_unknown_choices([folder, "encoder=gate"])
    with pytest.raises(InputError, match=r"no such choice; there are .*bov.*transformer.*gated"):
        refuse_wrong_arguments("train", [folder, "encoder=xyz"])


def test_an_unknown_choice_is_answered_with_the_file_that_the_folder_of_the_user_lacks(tmp_path) -> None:
    arguments = ["corpus=mine", "--config-dir", str(tmp_path / "typo")]
    with pytest.raises(InputError, match=f"; there is no {tmp_path}/typo/corpus/mine.yaml$"):
        refuse_unknown_choices(arguments)
    with pytest.raises(InputError, match=f"^model=untrained/bovv: .*mean bov.* no {tmp_path}/encoder/bovv.yaml$"):
        encoder_file("bovv", [tmp_path])


@pytest.mark.parametrize("arguments", [
    ["-m", "seed=1,2", "~x"],
    ["seed=1,2", "-m", "~x"],
    ["seed=1,2", "--config-dir=a", "~x", "-m"],
    ["seed=1,2", "-cd", "runs/lr=0.1", "~x"],
    ["hydra/launcher=joblib", "-m", "seed=1,2", "--cfg", "job", "~x"],
])  # fmt: skip
def test_options_of_hydra_may_stand_anywhere_among_the_settings(arguments) -> None:
    ordered = options_first(arguments)
    read = get_args_parser().parse_args(ordered)
    assert read.overrides == [text for text in ordered if text in read.overrides]
    assert set(read.overrides) >= {"seed=1,2", "~x"}
    assert "runs/lr=0.1" not in read.overrides
    assert "job" not in read.overrides


def test_a_file_of_the_users_own_with_the_name_of_ours_is_refused_as_ours_is_read(tmp_path) -> None:
    path = tmp_path / "encoder" / "bov.yaml"
    path.parent.mkdir()
    path.write_bytes((CONFIGS / "encoder" / "bov.yaml").read_bytes())
    arguments = ["--config-dir", str(tmp_path), "encoder=bov"]
    refuse_wrong_arguments("train", arguments)
    path.write_text("_target_: mine.Encoder\n")
    with pytest.raises(InputError, match=r"bov\.yaml: this project has a file of that name, which is read in its pl"):
        refuse_wrong_arguments("train", arguments)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_file_of_settings_that_is_not_utf_8_is_named_with_its_line(tmp_path, encoding) -> None:
    (tmp_path / "mine.yaml").write_bytes("labels: {encoder: é}\n".encode(encoding))
    with pytest.raises(InputError, match=r"mine\.yaml:1: not valid UTF-8; convert the file"):
        refuse_wrong_arguments("train", [f"--config-dir={tmp_path}"])
    assert list(choices_in(tmp_path)) == ["mine"]  # in help


@pytest.mark.parametrize(("data", "message"), {
    b"": r": has no settings, so it has no effect; write some, or delete it",
    b"---\n# @package _global_\r\n\n": r": has no settings",
    b"\xef\xbb\xbf# @package _global_\nseed: 2\n": ":1: a byte order mark hides this line from Hydra; save the file as",
}.items())  # fmt: skip
def test_an_experiment_that_would_have_no_effect_is_refused(tmp_path, data, message) -> None:
    path = tmp_path / "experiment" / "mine.yaml"
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"mine\.yaml{message}"):
        refuse_wrong_arguments("train", [f"--config-dir={tmp_path}", "experiment=mine"])
