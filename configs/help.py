"""The text of `python train.py --help`, read from the configuration files themselves."""

from pathlib import Path

GROUPS = {
    "encoder": "what turns a sentence into a vector",
    "objective": "what the encoder is trained to predict",
    "corpus": "what it is trained on",
    "embeddings": "the word vectors below it",
    "probes": "what is read out of its vectors after every epoch",
    "trainer": "how long and on what",
}

INTRODUCTION = """\
Pretrain a sentence encoder and watch, epoch by epoch, what it learns.

  python train.py encoder=bilstm_max objective=nmt_enfr        the demo: minutes on two cores
  python train.py objective=nmt_ende corpus=multi30k corpus.root=DIR probes=senteval probes.root=DIR
  python train.py resume=RUN                                   continue a run that was stopped
  python train.py -m encoder=bilstm_last,bilstm_max objective=nmt_enfr,autoencoder    a grid of runs
"""

KNOBS = """\
Knobs that everybody turns (key=value, any key of the files in configs/):
  corpus.size=N  corpus.root=DIR  embeddings.dim=N  probes.tasks=[SentLen,WC]  probes.train_size=N
  trainer.max_epochs=N  trainer.devices=N  seed=N  hydra.run.dir=DIR  resume=RUN

A run lands in runs/<objective>/<encoder>/<time>: config.yaml, checkpoints/{best,last}.ckpt, metrics.csv,
probes.csv, curves.png, vectors/, tensorboard/. Look at it with: make tensorboard"""


def help_text(configs: Path) -> str:
    """Introduction, groups with the meaning of each choice, and knobs."""
    groups = [_group(configs / name, meaning) for name, meaning in GROUPS.items()]
    return "\n".join([INTRODUCTION, *groups, KNOBS])


def _group(folder: Path, meaning: str) -> str:
    choices = [(path.stem, description(path)) for path in sorted(folder.glob("*.yaml"))]
    lines = [f"  {name:<16} {text}" for name, text in choices if "not a choice" not in text]
    return "\n".join([f"{folder.name}=  {meaning}", *lines, ""])


def description(path: Path) -> str:
    """The first comment of a configuration file that is not an instruction to Hydra."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") and not line.startswith("# @package"):
            return line.lstrip("# ")
    return ""
