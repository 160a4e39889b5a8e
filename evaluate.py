"""Score frozen encoders on a suite of tasks, beside baselines and published numbers.

python evaluate.py model=runs/nmt_enfr/bilstm_max/2026-11-21_10-00-00 suite=probing
python evaluate.py model=[bov,majority,nb-uni-tfidf,RUN] probes=senteval probes.root=DIR protocol=senteval
"""

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # errors reach command(), which says them in one line

import hydra
import torch
from hydra.errors import HydraException, InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from configs.help import evaluate_help
from datamodules.corpus import Corpus
from datamodules.errors import InputError
from datamodules.files import atomic_write, upsert_csv
from encoders.named import FORMS, Named, called, precomputed, random, trained
from encoders.pretrained import pretrained
from probes.baselines import BASELINES
from probes.evaluation import Evaluated, Evaluation, Model
from probes.report.runs import models_of, read_run
from probes.report.table import probing_table
from probes.report.terminal import comparisons, descriptions, plain, selectivities
from probes.results import write_rows
from probes.suite import Suite

ROOT = Path(__file__).parent
CONFIGS = ROOT / "configs"


class Done(NamedTuple):
    """What was found out about one model."""

    title: str
    folder: Path
    probing: list[Evaluated]
    control: list[Evaluated]
    mdl: list[dict[str, str | float]]


def evaluate(config: DictConfig) -> list[Done]:
    """Score every model of the configuration; files as they come, tables at the end."""
    if config.suite != "probing":
        raise InputError(f"suite={config.suite}: there is suite=probing")
    cache = None if str(config.cache) in ("off", "False", "None") else Path(config.cache)
    with tempfile.TemporaryDirectory() as nowhere:
        work = cache or Path(nowhere)
        corpus = instantiate(config.corpus)
        suite = build_suite(config, corpus, work)
        if config.write_sentences:
            with atomic_write(Path(config.write_sentences)) as file:
                file.writelines(f"{sentence}\n" for sentence in suite.sentences)
            print(f"{config.write_sentences}: {len(suite.sentences):,} sentences, one per line")
            return []
        if OmegaConf.is_missing(config, "model"):
            raise InputError(f"model= is missing; give {FORMS}")
        names = list(config.model) if isinstance(config.model, ListConfig) else [config.model]
        models = [(str(name), m) for name in names for m in models_named(str(name), config, corpus, suite, work)]
        return [score(name, model, suite, config, cache) for name, model in models]


def build_suite(config: DictConfig, corpus: Corpus, cache: Path) -> Suite:
    """The tasks and the classifiers that read them."""
    probes = config.probes
    sizes = (probes.train_size, probes.dev_size, probes.test_size)
    tasks = instantiate(probes.source).tasks(corpus, list(probes.tasks), sizes, config.seed, cache)
    grid = instantiate(probes.classifier, _convert_="all")
    return Suite("probing", tasks, replace(grid, protocol=config.protocol) if config.protocol else grid, config.seed)


def models_named(name: str, config: DictConfig, corpus: Corpus, suite: Suite, work: Path) -> list[Model]:
    """What a name of `model=` stands for; all layers of a transformer are a model each."""
    kind, colon, rest = name.partition(":")
    if name in BASELINES:
        return [Model("baseline", name, None, "baseline")]
    found: list[Named]
    if name == "bov" or name.startswith("untrained/"):
        found = [untrained(name.removeprefix("untrained/"), config, corpus, suite, work)]
    elif colon and kind == "hf":
        found = pretrained(rest, config.layers, config.pooling, config.device, work)
    elif colon and kind == "vectors":
        found = [precomputed(Path(rest), config.sentences and Path(config.sentences))]
    elif colon and kind == "call":
        found = [called(rest)]
    elif Path(name).exists():
        found = [trained(Path(name), config.device)]
    else:
        raise InputError(f"model={name}: no such run folder; give {FORMS}")
    return [Model(*one) for one in found]


def untrained(encoder: str, config: DictConfig, corpus: Corpus, suite: Suite, work: Path) -> Named:
    """bov, or an encoder with the weights that its seed gives it."""
    path = CONFIGS / "encoder" / f"{encoder}.yaml"
    if not path.exists():
        there = ", ".join(sorted(p.stem for p in path.parent.glob("*.yaml")))
        raise InputError(f"model=untrained/{encoder}: no such encoder; there are {there}")
    source = instantiate(config.embeddings.source)
    store = source.vectors(lambda: corpus.sentences("train"), corpus.fingerprint(), work)
    torch.manual_seed(config.seed)
    made = instantiate(OmegaConf.load(path), input_dim=store.matrix.shape[1])
    return random(encoder, "bov" if encoder == "bov" else "untrained", made, suite.sentences, store)


def score(name: str, model: Model, suite: Suite, config: DictConfig, cache: Path | None) -> Done:
    """One model on the suite, in a folder that report.py reads: one for each model and set of tasks."""
    run = Evaluation(model, suite, cache)
    probing = run.run(suite.tasks, "probing")
    extra = model.encode is not None
    control = run.controls() if config.control and extra else []
    mdl = run.descriptions() if config.mdl and extra else []
    title = ", ".join(filter(None, [model.encoder, model.objective]))
    folder = Path(config.out) / config.suite / f"{re.sub(r'[^a-zA-Z0-9_.-]+', '-', title)}-{run.key}"
    names = {"encoder_name": model.encoder, "objective_name": model.objective, "corpus_name": None, "model": name}
    kept = {key: config[key] for key in ("suite", "seed", "probes", "protocol")}
    with atomic_write(folder / "config.yaml") as file:
        file.write(OmegaConf.to_yaml({**names, **kept}, resolve=False))
    write_rows(folder / "probes.csv", [e.row for e in (*probing, *control)])
    if mdl:
        upsert_csv(folder / "mdl.csv", mdl, ("task",))
    return Done(title, folder, probing, control, mdl)


def show(done: Sequence[Done], config: DictConfig) -> None:
    """Print the scores beside the published ones, and what was asked for besides."""
    models = models_of(read_run(d.folder) for d in done)
    beside = [config.published] if config.published else []
    print(plain(probing_table(models, config.suite, epoch="last", beside=beside)))
    for d in done:
        if d.control:
            print(selectivities(d.title, d.probing, d.control))
        if d.mdl:
            print(descriptions(d.title, d.mdl))
    if len(done) > 1:
        print(comparisons([(d.title, d.probing) for d in done]))
    print("\n".join(f"{d.folder}/probes.csv" for d in done))


@hydra.main(config_path=str(CONFIGS), config_name="evaluate", version_base="1.3")
def start(config: DictConfig) -> None:
    try:
        if done := evaluate(config):
            show(done, config)
    except (InputError, InstantiationException, OmegaConfBaseException) as error:
        raise SystemExit(fail(error)) from None
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from the scores that are there", file=sys.stderr)
        raise SystemExit(130) from None


def command(arguments: list[str]) -> None:
    """The command line; what the user can mend is said in one line."""
    if {"-h", "--help"} & set(arguments):
        print(evaluate_help(CONFIGS))
        return
    try:
        start()
    except (HydraException, OmegaConfBaseException) as error:
        sys.exit(fail(error))


def fail(error: Exception) -> int:
    """Say what was wrong; Hydra wraps what a part's constructor says."""
    said = error.__cause__ if isinstance(error.__cause__, InputError) else error
    print("error:", " ".join(str(said).split()), file=sys.stderr)
    return 2


if __name__ == "__main__":
    command(sys.argv[1:])
