"""Each invalid setting gets one line, before anything is built."""

from contextlib import suppress
from itertools import cycle

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from encoder_lab.settings import check
from encoder_lab.settings.arguments import refuse_wrong_arguments
from encoder_lab.settings.build import missing_settings
from encoder_lab.settings.known import known_settings
from encoder_lab.settings.run import RunSettings
from encoder_lab.settings.run_settings import dotted_items
from encoder_lab.studies.compose import resolved_settings
from tests.conftest import ROOT
from tests.packages import ENCODERS, OBJECTIVES

CONFIGS = ROOT / "configs"
WRONG = [
    "seed=abc", "seed=-1", "checkpoints.every_n_steps=abc", "trainer.max_epochs=abc", "trainer.limit_train_batches=0",
    "trainer.limit_val_batches=0", "trainer.limit_val_batches=0.0", "trainer.limit_val_batches=1.5",
    "objective.optimizer.lr=abc", "objective.optimizer.lr=-1", "datamodule.batch_size=-1", "datamodule.batch_size=abc",
    "datamodule.batch_tokens=true", "embeddings.dim=-3", "encoder.dim=1.5", "encoder.layers=0", "encoder.projection=0",
    "encoder.dropout=1.0", "objective.decoder_layers=0", "objective.dropout=-1", "datamodule.codes=0",
    "probes.every_n_epochs=0", "probes.train_size=10000.0", "probes.dev_size=0", "probes.test_size=abc",
    "probes.tasks=3", "probes.tasks=[1]", "probes.classifier.widths=[-1]", "probes.classifier.widths=50",
    "probes.classifier.dropouts=[1.0]",
]  # fmt: skip
OF_SUITES = [
    "discoeval.root=5", "discoeval.tasks=true", "discoeval.analyses=5", "downstream.root=[1]", "downstream.tasks=5",
]  # fmt: skip
OURS = (*ENCODERS, *OBJECTIVES)


def mistakes(config: DictConfig) -> list[str]:
    return check.mistakes("train", resolved_settings(config))


def composed(*overrides: str) -> DictConfig:
    names = ("objective_name=o", "encoder_name=e", "corpus_name=c")  # of the running job, which there is not
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        return compose("train", [*overrides, *names])


@pytest.fixture(scope="module")
def right() -> DictConfig:
    return composed()


@pytest.mark.parametrize("override", WRONG)
def test_an_invalid_value_is_named_with_its_rule(right, override) -> None:
    (message,) = mistakes(OmegaConf.merge(right, OmegaConf.from_dotlist([override])))
    assert message.startswith(f"{override.replace('true', 'True')}: give ")


def test_what_is_refused_before_slow_imports_is_refused_in_the_same_words(right, capsys) -> None:
    refused = 0
    for override in WRONG:
        with suppress(SystemExit):
            refuse_wrong_arguments("train", [override])
        if early := capsys.readouterr().err:
            refused += 1
            (message,) = mistakes(OmegaConf.merge(right, OmegaConf.from_dotlist([override])))
            assert early == f"error: {message}\n".replace("=True", "=true")
    assert refused > len(WRONG) / 2


def test_no_default_is_refused_before_slow_imports() -> None:
    items = [item for file in known_settings("train").files for item in dotted_items(file)]
    values = {f"{name}={value}" for name, value in items}
    single = [text.replace("=None", "=null") for text in values if "{" not in text and "hydra.sweep." not in text]
    refuse_wrong_arguments("train", single)


@pytest.mark.parametrize("override", OF_SUITES)
def test_an_invalid_value_of_a_suite_is_named(override) -> None:
    (message,) = mistakes(composed("suite=[discoeval,downstream]", override))
    assert message.startswith(f"{override.replace('true', 'True')}: give a name")


@pytest.mark.parametrize(("settings", "rule"), [
    ("corpus=trees corpus.on_bad_tree=maybe", "refuse or skip"),
    ("corpus=trees corpus.held_out=4", "5 or more"),
    ("corpus=text corpus.held_out=4", "5 or more, or null"),
    ("corpus=dataset corpus.held_out=2", "3 or more"),
    ("corpus=text corpus.size=0", "a whole number from 1 to 1000000000, or null"),
    ("corpus.size=null", "a whole number from 1 to 1000000000"),
    ("encoder=bilstm_max encoder.pooling=mean", "max, last or end"),
    ("objective=nmt datamodule.target=null", "same, next or a language (of nmt, corpus.target_language=)"),
])  # fmt: skip
def test_what_a_class_does_not_take_is_named_with_what_it_takes(settings, rule) -> None:
    wrong = settings.split()[-1].replace("null", "None")
    assert mistakes(composed(*settings.split())) == [f"{wrong}: give {rule}"]


@pytest.mark.parametrize("name", ["datamodule", "encoder", "probes.classifier", "trainer.max_epochs"])
def test_what_a_run_needs_and_the_command_removes_is_named(name) -> None:
    removed = resolved_settings(composed(f"~{name}"))
    assert check.mistakes_of_command("train", removed, (), []) == [f"{name}: missing; give it"]


@pytest.mark.parametrize("name", ["objective", "objective.optimizer", "suites.probing", "suites", "schedule", "probes"])
@pytest.mark.parametrize("odd", [5, "a", [1], {"a": {}}, {"_target_": [1]}, {"_target_": {}}])
def test_a_part_that_names_no_class_is_refused(right, name, odd) -> None:
    settings = resolved_settings(right)
    group, _, part = name.partition(".")
    settings[group] = {**settings[group], part: odd} if part else odd
    (line, *_) = [*missing_settings(RunSettings, settings), *check.mistakes("train", settings)]
    assert line.startswith(name)


def test_a_suite_without_its_group_of_settings_is_refused(right) -> None:
    suite = {"_target_": "mine.tasks", "settings": "mine"}
    settings = {**resolved_settings(right), "suites": {"own": suite}}
    assert check.mistakes("train", settings)[0].startswith("suites.own.settings=mine: give the name of a group")
    settings["suites"]["own"]["settings"] = "probes"
    assert check.mistakes("train", settings) == []


@pytest.mark.parametrize(("group", "key"), [
    ("objective", "datamodule"), ("encoder", "encoder"), ("experiment", "seed"), ("suite", "suites"),
])  # fmt: skip
def test_a_file_of_the_whole_command_without_its_first_line_is_answered_with_that_line(right, group, key) -> None:
    settings = resolved_settings(right)
    moved = {**settings, group: {key: settings[key]}}
    (line,) = check.mistakes_of_command("train", {k: v for k, v in moved.items() if k != key or k == group}, (), [])
    assert line.startswith(f"{group}.{key}: begin the YAML file of {group}= with # @package _global_; without it ")


def test_a_class_may_take_a_setting_with_the_name_of_one_of_the_whole_command(right) -> None:
    settings = resolved_settings(right)
    settings["corpus"] = {"_target_": "builtins.dict", "labels": {"yes": "entailment"}}
    assert check.mistakes_of_command("train", settings, (), []) == []


def test_a_path_without_brackets_is_not_read_letter_by_letter() -> None:
    (message,) = mistakes(composed("probes=trees", "probes.paths=data/treebank"))
    assert message == "probes.paths=data/treebank: give a list in brackets, as [data/treebank]"


def test_settings_of_the_parts_of_multitask_are_checked_too() -> None:
    wrong = ["parts.nli.datamodule.batch_size=0", "parts.discourse.objective.weights.nsp=-1"]
    assert [message.partition(": ")[0] for message in mistakes(composed("objective=multitask", *wrong))] == wrong


def test_every_size_of_a_model_has_a_rule() -> None:
    names = ([path.stem for path in sorted((CONFIGS / group).glob("*.yaml"))] for group in ("encoder", "objective"))
    encoders, objectives = ([name for name in some if name in OURS and name != "multitask"] for some in names)
    assert len(encoders) <= len(objectives)
    for encoder, objective in zip(cycle(encoders), objectives, strict=False):
        config = composed(f"encoder={encoder}", f"objective={objective}")
        parts = [config.encoder, config.objective, config.datamodule]
        sizes = [(part, key) for part in parts for key, value in part.items() if type(value) is int]
        for part, key in sizes:
            part[key] = 0
        assert len(mistakes(config)) == len(sizes), f"{encoder}, {objective}"


def test_the_command_prints_every_invalid_value_and_starts_nothing(lab, tmp_path) -> None:
    done = lab.finish(*lab.settings(tmp_path / "run"), "seed=abc", "datamodule.batch_size=-1")
    assert done.returncode == 2
    assert [line.split(":")[1].strip() for line in done.stderr.splitlines()] == ["seed=abc", "datamodule.batch_size=-1"]
    assert not (tmp_path / "run" / "config.yaml").exists()


@pytest.mark.parametrize("program", ["train", "evaluate"])
def test_every_setting_of_our_files_is_declared_with_its_meaning(program) -> None:
    for file in known_settings(program).files:
        of_class = {name.rpartition(".")[0] for name, _ in dotted_items(file) if name.endswith("._target_")}
        for name, value in dotted_items(file):
            if isinstance(value, dict) or name.rpartition(".")[0] not in of_class or "._" in name:
                continue
            declared = check.parameter_of(program, file, name.split("."))
            assert declared, name
            assert declared.description or ".optimizer." in name, name
