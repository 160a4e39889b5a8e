"""A setting that nothing reads is refused, with any name and any sign before it."""

import re
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest
from hydra.core.hydra_config import HydraConfig
from hydra.errors import ConfigCompositionException
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from encoder_lab.errors import InputError
from encoder_lab.settings import arguments as of_command
from encoder_lab.settings.check import mistakes_of_command
from encoder_lab.settings.known import known_settings
from encoder_lab.settings.quoting import home_mistake
from encoder_lab.storage.csv_files import read_csv
from encoder_lab.studies.compose import referenced_names, resolved_settings
from tests import commands
from tests.asked import composed
from tests.conftest import ROOT

CONFIGS = ROOT / "configs"
KNOWN = known_settings("train")
GROUPS = sorted(path.name for path in CONFIGS.iterdir() if path.is_dir() and path.name != "study")
HOMES = {"~/c d": "'/h/c d'", "~": "/h", "~root/c": f"{Path('~root').expanduser()}/c"}
NAMES = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=12)


def refused(*arguments: str) -> str:
    """What is said of the settings of train.py, before or after Hydra composed them."""
    try:
        of_command.refuse_wrong_arguments("train", arguments)
        judge(*arguments)
    except (InputError, ConfigCompositionException) as error:
        return str(error)
    pytest.fail(f"{arguments} are not refused")


@cache
def judge(*arguments: str, program: str = "train") -> None:
    """The check of the composed settings, as a job of Hydra does it."""
    config = composed(program, *arguments)
    HydraConfig.instance().set_config(config)
    job = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    if wrong := mistakes_of_command(program, resolved_settings(job), referenced_names(job), arguments):
        raise InputError("; ".join(wrong))


@pytest.mark.parametrize(("argument", "expected"), [
    ("lr=0.5", " or objective.optimizer.lr=?"),
    ("+initial=RUN", "did you mean init="),
    ("out=runs/mine", "did you mean hydra.run.dir=?"),
    ("+probes.early=3", "see --help"),
    ("probes.task=[WC]", "did you mean probes.tasks="),
    ("coherence.path=[x]", "did you mean coherence.paths="),  # other groups have path
    ("corpus.path=x", "did you mean corpus.root=?"),
    ("corpus.language=de", "did you mean corpus.source_language= or corpus.target_language=?"),
    ("encoder.hidden_size=3", "did you mean encoder.dim=?"),  # not corpus.size=
    ("corpus.train=x", "such a setting; see --help and"),  # a group, as trainer, is no setting of another
    ("encodr.dim=3", "did you mean encoder.dim= or "),
    ("checkpoint_every_n_steps=3", "did you mean checkpoints.every_n_steps="),
    ("early_stopping=3", "give one of them: early_stopping.patience="),
    ("probes.classifier=3", "a group of settings"),
    ("trainer.max_epoch=3", "did you mean trainer.max_epochs=?"),
    ("trainer.limit_test_batches=3", "an argument of trainer that its YAML file does not name; write +trainer.l"),
    ("objective.optimizer.weight_decay=0.1", "does not name; write +objective.optimizer.weight_decay=0.1"),
    ("+trainer.max_epoch=3", "did you mean trainer.max_epochs=?"),
    ("+encoder.kernel=3", "see --help"),  # of another encoder
    ("+probes.paths=[x]", "see --help"),  # of another source
    ("+objective.foo._target_=os.system", "nothing reads such a setting"),
    ("+trainer.plugins=[]", "set by this program; give trainer.precision= or trainer.strategy="),
    ("+hydra.foo=1", "see --help"),
    ("+suites.probing.foo=1", "see --help"),
    ("hydra.sweep.dir=x", "only a sweep reads it; add -m"),
    *((name, "settings are written key=value, without dashes") for name in ("--corpus.size", "--seed=3", "--epochs")),
    ("hydra/launcher=joblib", "only a sweep reads it; add -m"),
    ("~encoder", "it needs a value; give encoder= instead"),
    *((name, "it needs a value") for name in ("~encoder.pooling", "~logger", "~embeddings.dim")),  # of others, too
])  # fmt: skip
def test_a_setting_without_a_reader_is_answered_with_what_was_meant(argument, expected) -> None:
    message = refused(argument)
    assert message.startswith(argument.lstrip("+").partition("=")[0]) or message.startswith(argument)
    assert expected in message


def test_the_folder_of_one_run_is_refused_in_a_sweep() -> None:
    assert refused("-m", "seed=1,2", "hydra.run.dir=x") == "hydra.run.dir=x: a sweep has hydra.sweep.dir="


@pytest.mark.parametrize(("argument", "expected"), [
    ("hydra.run.dir=x", "evaluate.py has out="), ("~probes.classifier", "it needs a value; give probes.classifier="),
    ("config_folders=[x]", "nothing reads such a setting"),  # which evaluate.py itself sets
])  # fmt: skip
def test_an_evaluation_refuses_what_it_does_not_read(argument, expected) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'{argument}: {expected}')}"):
        of_command.refuse_wrong_arguments("evaluate", ["model=bov", argument])


@settings(max_examples=10)  # each is compared with hundreds of names
@given(group=st.sampled_from([*GROUPS, ""]), name=NAMES, plus=st.sampled_from(["", "+", "++"]))
def test_random_keys_are_refused(group, name, plus) -> None:
    key = f"{group}.{name}".lstrip(".")
    if key in KNOWN.names or group == "trainer":  # Lightning's trainer has many arguments
        return
    assert key in refused(f"{plus}{key}=1")


PARTS = "objective=multitask objective.parts=[nmt_enfr]"
TWO = "objective=multitask objective.parts=[nmt_enfr,nli]"
FILES = "corpus=parallel corpus.dev_source=a corpus.dev_target=b corpus.test_source=c corpus.test_target=d"
WITHOUT_EFFECT = {  # arguments of a program, the last of which has no effect: what is said of it
    f"train {PARTS} parts.nli.objective.hidden=200": "nli is not in objective.parts; give objective.parts=[nmt_enfr,",
    f"train {PARTS} parts.nli.objective.hidden=100": "nli is not in objective.parts",  # as it is without it
    f"train {PARTS} +corpus@parts.nli.corpus=snli": "nli is not in objective.parts",
    f"train {PARTS} datamodule.parts=[nli]": "the objective says which parts; give objective.parts=",
    f"train {TWO} parts.nli.objective.optimizer.lr=1": "the parts share one optimiser; give objective.optimizer.lr=",
    f"train {TWO} +parts.nli.encoder.dim=3": "all parts share it; give encoder.dim=",
    f"train {TWO} +embeddings@parts.nli.embeddings=file": "all parts share it; give embeddings",
    f"train {TWO} +parts.nli.corpus.size=9": "the part has no corpus of its own; give +corpus@parts.nli.corpus=",
    f"train {TWO} +parts.nli.seed=3": "all parts share it; give seed=",
    "train objective=nli +parts.nli.objective.hidden=3": "only objective=multitask has parts",
    "train objective=nli objective.head=linear objective.dropout=0.3": "give objective.head=nonlinear",
    "train objective=discourse objective.losses=[nsp] datamodule.levels=3": "the loss nl reads it",
    "train objective=discourse objective.losses=[nl,spp] datamodule.bag_words=9": "the loss nsp or sdt reads it",
    "train objective=discourse objective.losses=[nl] datamodule.paragraph_positions=9": "the loss spp reads it",
    "train encoder=bigru_mean encoder.dropout=0.1": "give encoder.layers=2",
    "train encoder=bilstm_att objective.attention=false": "choose another encoder=",
    "train suite=geometry probes.train_size=50": "give suite=[probing,geometry], or leave it out",
    "train suite=[discoeval,geometry] +probes.own={}": "give suite=[probing,discoeval,geometry]",
    "train suite=[probing,downstream,use] use.on=downstream use.examples=5": "only use.on=objective has dev examples",
    "train suite=[probing,use,downstream] use.on=downstream": "no suite before it has this name; write",
    "train suite=coherence coherence.paths=[x] coherence.items=5": "have their own items",
    "evaluate model=bov suite=downstream probes.tasks=[WC]": "give suite=[probing,downstream]",
    "evaluate model=bov probes.every_n_epochs=2": "it is about training; give epochs=",
    "evaluate model=bov probes.steps=[1]": "it is about training",
    "evaluate model=[bov,majority] layers=all": "only a Hugging Face model has it; give model=hf:NAME_OR_PATH, or",
    "evaluate model=bov pooling=cls": "only a Hugging Face model has it",
    "evaluate model=[majority,length] sentences=a": "only a file of vectors has it; give model=vectors:FILE.npy, or",
    "evaluate model=[majority,nb-uni-tfidf] embeddings.dim=8": "give model=bov or a run, or leave it out",
    "evaluate model=[hf:a,vectors:b,length] embeddings=file": "no model here reads word vectors",
    "evaluate model=[RUN,majority] embeddings.dim=8": "a run has its own word vectors; give embeddings=file for more",
    "evaluate model=bov embeddings.freeze=false": "it is about training",
    "train probes.classifier.widths=[0] probes.classifier.dropouts=[0.1]": "[0] has no hidden layer; give other",
    "train trainer.gradient_clip_val=null +trainer.gradient_clip_algorithm=value": "nothing is clipped; give trainer.g",
    f"train {FILES} corpus.held_out=5": "dev and test have files of their own; leave it out",
    "train objective=autoencoder corpus=dataset corpus.label=x": "it is for inference; give objective=nli, or",
    "train objective=nli corpus=dataset corpus.target_language=fr": "it is for translation; give objective=nmt, or",
    "train init=RUN embeddings=file embeddings.path=x embeddings.scale=2": "new ones get their scale; leave it out",
    "train corpus.source_language=de": "nmt_enfr is the name of another pair of languages; give objective=nmt",
    f"train {TWO} parts.nmt_enfr.datamodule.target=de": "nmt_enfr is the name of another pair",
    "train init=RUN embeddings.epochs=8": "the words of init= have vectors; give embeddings=file for more",
    "evaluate model=bov protocol=modern probes.classifier.protocol=senteval": "protocol=modern replaces it",
    "train logger=[] trainer.log_every_n_steps=5": "no logger gets these points; give logger=[csv], or leave it out",
    "train suite=coherence probes.classifier.widths=[9]": "no suite here has a classifier; give suite=[probing], or",
    "evaluate model=ngram suite=coherence protocol=senteval": "no suite here has a classifier",
    "evaluate model=bov suite=geometry probes=senteval": "only suite=probing reads it",
    "evaluate model=RUN suite=downstream corpus.size=9": "no suite or model here reads it; leave it out",
    "evaluate model=hf:a probes=trees probes.paths=[x] corpus=snli": "no suite or model here reads it",
    "evaluate model=bov embeddings=file suite=discoeval corpus.size=9": "no suite or model here reads it",
    "evaluate model=RUN eos=true": "it is about the surprisal of texts; give suite=coherence, or leave it out",
    "evaluate model=[ngram,length] suite=coherence bos=false": "no model here has it; give model=lm:PATH, or",
    "evaluate write_sentences=x out=y": "write_sentences= writes the sentences of tasks and stops; leave it out",
    "evaluate write_sentences=x probes.classifier.l2=[1]": "write_sentences= writes the sentences of tasks",
    "evaluate suite=geometry model=[bov,majority]": "suite=geometry cannot score majority; it scores a run, bov",
    "evaluate suite=[probing,use] model=[RUN,bov]": "suite=use cannot score bov; it scores a run",
    "evaluate suite=coherence model=hf:a": "suite=coherence cannot score hf; it scores a run, ngram",
    "train objective=discourse objective.losses=[nsp] objective.weights.nl=2": "add its loss to objective.losses",
    "train objective=discourse objective.losses=[nsp] objective.weights={nsp:2,nl:2}": "add its loss to",
    "train objective=nli encoder=bilstm_att": "this objective has no decoder that attends; give encoder=bilstm_last",
}


@pytest.mark.parametrize(("text", "message"), [
    ("parts: {nli: {objective: {hidden: 200}}}", "parts.nli.objective.hidden=200: nli is not in objective.parts"),
    ("probes: {early: 3}", "probes.early=3: nothing reads such a setting"),
    ("parts: {nli: {corpus: {_target_: datamodules.demo.Demo}}}", "nli is not in objective.parts"),
    ("parts: {nmt_enfr: {objective: {optimizer: {lr: 1}}}}", "share one optimiser; give objective.optimizer.lr="),
    ("parts: {nli: {objective: {hidden: 100}}, nmt_enfr: {objective: {dropout: 0.5}}}", ""),
])  # fmt: skip
def test_a_setting_that_nothing_reads_is_refused_in_a_file_of_the_user_too(tmp_path, text, message) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "own.yaml").write_text(f"# @package _global_\n{text}\n")
    arguments = *PARTS.split(), "experiment=own", f"hydra.searchpath=[file://{tmp_path}]"
    with pytest.raises(InputError, match=re.escape(message)) if message else nullcontext():
        judge(*arguments)


@pytest.mark.parametrize("command", WITHOUT_EFFECT)
def test_a_setting_without_effect_next_to_the_others_is_refused_alone(command) -> None:
    program, *others, idle = command.split()
    judge(*others, program=program)
    name = idle.partition("=")[0].lstrip("+").rpartition("@")[2]
    with pytest.raises(InputError, match=rf"^{re.escape(name)}[.=:].*{re.escape(WITHOUT_EFFECT[command])}"):
        judge(*others, idle, program=program)


def test_arguments_of_classes_and_references_are_read() -> None:
    judge("+trainer.detect_anomaly=true", "+trainer.callbacks=[]", "experiment=conneau2018/gated_convnet_nli")
    judge("objective=multitask", "+corpus@parts.nli.corpus=snli", "parts.nli.objective.hidden=7")
    judge(*TWO.split(), "+parts.nli.corpus=null", "parts.nli.objective={hidden:7}")
    judge("objective=discourse", "objective.losses=[nsp,sdt]", "objective.weights={nsp:2}")
    judge("objective=multitask", "objective.optimizer.lr=1", "parts.nli.datamodule.max_words=7")
    linear = "probes.classifier.widths=[0]", "probes.classifier.dropouts=[0.0]"
    judge("suite=discoeval", *linear, "probes.steps=[1]")
    judge("model=[RUN,majority]", "embeddings=file", "embeddings.path=x", program="evaluate")
    judge("model=[majority,untrained/bilstm_max]", "embeddings.dim=8", program="evaluate")
    judge("model=[length,ngram]", "suite=coherence", "corpus.size=9", program="evaluate")
    judge("model=hf:a", "probes=text", "probes.paths=[x]", "corpus.source_language=de", program="evaluate")
    judge("write_sentences=x", "corpus.size=9", "protocol=senteval", "probes.tasks=[WC]", program="evaluate")
    judge("objective=nmt", "corpus=dataset", "corpus.target=x", "corpus.target_language=fr")
    judge(*TWO.split(), "corpus=dataset", "corpus.premise=x", "corpus.target=y", "corpus.target_language=fr")
    judge("init=RUN", "embeddings.freeze=false", "embeddings.dim=8")
    judge("init=RUN", "embeddings=file", "embeddings.path=x")
    judge("suite=[]", "probes.train_size=50")
    judge("objective=multitask", "objective.parts=[autoencoder]", "corpus.source_language=fi")
    judge("+objective.optimizer.momentum=1", "~objective.optimizer.momentum")
    judge("+mine=5", "trainer.max_epochs=${mine}")


@pytest.mark.parametrize(("path", "meant"), HOMES.items())
@pytest.mark.parametrize("name", ["hydra.run.dir", "cache"])
def test_a_home_that_no_shell_replaced_is_refused_before_hydra_makes_a_folder(monkeypatch, name, path, meant) -> None:
    monkeypatch.setenv("HOME", "/h")
    with pytest.raises(InputError) as refusal:
        of_command.refuse_wrong_arguments("train", [f"{name}='{path}'"])
    assert refusal.match(rf"^{name}={path}: no shell has replaced this ~; write .*{name}={meant}")
    assert home_mistake(name, "a~b") == ""


def test_a_home_in_a_yaml_file_is_refused() -> None:
    with pytest.raises(InputError, match=r"^cache=~/c: no shell has replaced"):
        judge("cache='~/c'")


@pytest.mark.parametrize("choice", ["corpus", "files", "senteval", "text", "trees", "ud"])
def test_every_source_of_tasks_can_be_probed_at_steps(choice) -> None:
    judge(f"probes={choice}", "probes.steps=[1]")


@pytest.mark.parametrize(("line", "base"), [
    ("import torch", "torch.optim.SGD"), ("import torch.optim", "torch.optim.SGD"),
    ("from torch import optim", "optim.SGD"), ("from torch.optim import SGD", "SGD"),
])  # fmt: skip
def test_an_own_class_takes_the_settings_of_its_base(tmp_path, monkeypatch, line, base) -> None:
    name = f"own_{tmp_path.name}"  # declarations are cached by module
    (tmp_path / f"{name}.py").write_text(f"{line}\n\n\nclass Mine({base}):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    judge(f"objective.optimizer._target_={name}.Mine", "+objective.optimizer.momentum=0.9")
    with pytest.raises(InputError, match=r"momentun=0.9: nothing reads such a setting"):
        judge(f"objective.optimizer._target_={name}.Mine", "+objective.optimizer.momentun=0.9")
    (tmp_path / f"{name}_wrong.py").write_text("class Mine(")
    with pytest.raises(SyntaxError, match=f"{name}_wrong.py"):
        judge(f"objective.optimizer._target_={name}_wrong.Mine")


def test_callbacks_and_loggers_of_the_user_are_added_to_ours(lab, tmp_path) -> None:
    run = tmp_path / "run"
    rates = "{_target_: pytorch_lightning.callbacks.LearningRateMonitor}"
    table = f"{{_target_: pytorch_lightning.loggers.CSVLogger, save_dir: {run}}}"
    added = [f"+trainer.callbacks=[{rates}]", f"+trainer.logger=[{table}]", "allow=[pytorch_lightning]"]
    commands.succeed("train.py", *lab.settings(run, "logger=[tensorboard]", *added))
    assert len(read_csv(run / "metrics.csv")) == 2
    assert list((run / "tensorboard").glob("events*"))
    (written,) = run.glob("lightning_logs/*/metrics.csv")
    assert any(row["lr-Adam"] for row in read_csv(written))
