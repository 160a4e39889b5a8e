"""The text of `python train.py --help`, read from the configuration files themselves."""

from pathlib import Path

GROUPS = {
    "encoder": "what turns a sentence into a vector",
    "objective": "what the encoder is trained to predict",
    "corpus": "what it is trained on",
    "embeddings": "the word vectors below it",
    "suite": "the tasks that score its vectors: one or several, suite=[probing,downstream]",
    "probes": "where the probing tasks come from, and the schedule and classifier of all suites",
    "trainer": "how long and on what",
    "schedule": "the learning rate: objective.optimizer.lr times what",
    "experiment": "a published run: encoder, objective, training (add corpus= embeddings= probes=)",
    "study": "a published table or figure: many runs, then its reports (scale= data= study_dir= dry_run=true)",
}

WIDEST = 36  # columns for a setting with its default

INTRODUCTION = """\
Pretrain a sentence encoder and watch, epoch by epoch, what it learns.

  python train.py encoder=bilstm_max objective=nmt_enfr        the demo: minutes on two cores
  python train.py objective=nmt_ende corpus=multi30k corpus.root=DIR probes=senteval probes.root=DIR
  python train.py resume=RUN                                   continue a run that was stopped
  python train.py -m encoder=bilstm_last,bilstm_max objective=nmt_enfr,autoencoder    a grid of runs
  python train.py study=conneau2018/table2 scale=demo          a study: many runs, then its tables
"""

EVALUATION = """\
Score frozen encoders on suites of tasks, next to baselines and published numbers.

  python evaluate.py model=runs/nmt_enfr/bilstm_max/2026-11-21_10-00-00
  python evaluate.py model=[bov,untrained/bilstm_max,majority,length,nb-uni-tfidf,nb-bi-tfidf,RUN]
  python evaluate.py model=hf:bert-base-uncased layers=all pooling=mean probes=senteval probes.root=DIR
  python evaluate.py model=[bov,RUN] suite=[probing,downstream] downstream.root=DIR protocol=senteval
  python evaluate.py model=[lm:PATH,ngram,unigram] suite=coherence coherence.paths=[DIR]
  python evaluate.py model=RUN epochs=all suite=discoeval           every epoch that a run kept
  python evaluate.py write_sentences=all.txt                        then encode them elsewhere, and
  python evaluate.py model=vectors:all.npy sentences=all.txt
  python evaluate.py model=call:my_package.my_module:encode control=true mdl=true

model= is a run folder or checkpoint; bov; untrained/ENCODER; hf:NAME_OR_PATH; vectors:FILE.npy; call:MODULE:FUNCTION, a
function sentences -> (N, D), an array, a tensor or lists; or a baseline: majority, length, nb-uni-tfidf, nb-bi-tfidf
(suite=downstream, suite=discoeval: majority). Of suite=coherence, which needs the probability of texts: lm:PATH, a
causal language model on disk; ngram and unigram, counted in corpus=; length; call:MODULE:FUNCTION, a function of
(context, continuation) pairs -> (tokens, offsets, log2 p). Scores are cached.

Settings (key=value) and their defaults:
"""

COMMON_SETTINGS = """\
Common settings (key=value, any key of the files in configs/):
  corpus.size=N  corpus.root=DIR  embeddings.dim=N  probes.tasks=[SentLen,WC]  probes.train_size=N
  trainer.max_epochs=N  trainer.devices=N  seed=N  hydra.run.dir=DIR  resume=RUN
  init=RUN  early_stopping.patience=N  logger=[tensorboard,csv,wandb,mlflow]
  checkpoints.keep=every  checkpoints.steps=[1,2,4,8]  probes.steps=[1,2,4,8]

A run is written to runs/<objective>/<encoder>/<time>: config.yaml, checkpoints/{best,last}.ckpt, metrics.csv,
probes.csv, answers.csv, curves.png, vectors/, tensorboard/. Look at it with: make tensorboard"""


def help_text(configs: Path) -> str:
    """Introduction, groups with the meaning of each choice, and common settings."""
    groups = [_group(configs / name, meaning) for name, meaning in GROUPS.items()]
    return "\n".join([INTRODUCTION, *groups, COMMON_SETTINGS])


def evaluate_help(configs: Path) -> str:
    """The text of `python evaluate.py --help`: its settings, with the comments of configs/evaluate.yaml."""
    settings = (configs / "evaluate.yaml").read_text(encoding="utf-8").split("\nmodel:")[1].split("\nhydra:")[0]
    groups = [_group(configs / name, GROUPS[name]) for name in ("suite", "probes", "corpus", "embeddings")]
    return "\n".join([EVALUATION, *_settings(f"model:{settings}"), "", *groups])


def _settings(text: str) -> list[str]:
    """The lines of a configuration as key=value, with their comments: `root:` below `toy:` is `toy.root=`."""
    above = ""
    lines: list[tuple[str, str]] = []  # setting, meaning
    for line in filter(None, text.splitlines()):
        name, _, rest = line.partition(":")
        value, _, meaning = rest.partition("#")
        if not value.strip():
            above = f"{name}."
            continue
        whole = f"{above}{name.strip()}" if name.startswith(" ") else name
        lines.append((f"{whole}={value.strip()}", meaning.strip()))
    wide = min(max([24, *(len(setting) for setting, _ in lines)]), WIDEST)
    return [f"  {setting:<{wide}} {meaning}".rstrip() for setting, meaning in lines]


def _group(folder: Path, meaning: str) -> str:
    paths = sorted(folder.rglob("*.yaml"))
    choices = [(path.relative_to(folder).with_suffix("").as_posix(), description(path)) for path in paths]
    wide = max(16, max(len(name) for name, _ in choices))
    lines = [f"  {name:<{wide}} {text}" for name, text in choices if "not a choice" not in text]
    if folder.name == "probes":
        lines += _classifier(folder / "classifier.yaml")
    if folder.name == "suite":
        lines += [line for path in paths for line in _settings(_own_settings(path))]
    return "\n".join([f"{folder.name}=  {meaning}", *lines, ""])


def _classifier(path: Path) -> list[str]:
    """The settings of the classifier, one line each."""
    text = path.read_text(encoding="utf-8").partition("_target_")[2]
    return _settings("probes.classifier:\n" + text.partition("\n")[2])


def _own_settings(suite: Path) -> str:
    """The part of a suite's YAML that the user sets: everything after the node `suites:`."""
    text = suite.read_text(encoding="utf-8").partition("suites:\n")[2]
    return text.partition("\n\n")[2]


def description(path: Path) -> str:
    """The first comment of a configuration file that is not an instruction to Hydra."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") and not line.startswith("# @package"):
            return line.lstrip("# ")
    return ""
