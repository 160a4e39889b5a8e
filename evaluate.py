"""Score frozen encoders on a suite of tasks, beside baselines and published numbers.

python evaluate.py model=runs/nmt_enfr/bilstm_max/2026-11-21_10-00-00 suite=probing
python evaluate.py model=[bov,majority,nb-uni-tfidf,RUN] probes=senteval probes.root=DIR protocol=senteval
python evaluate.py model=[bov,RUN] suite=downstream downstream.root=DIR
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # errors reach command(), which says them in one line
os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # then a waiting thread leaves its core to whoever else needs it

import hydra
import torch
from hydra.errors import HydraException, InstantiationException
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from common.config_check import mistakes
from common.config_help import evaluate_help
from common.csv_files import upsert_csv
from common.devices import device_for
from common.errors import InputError, in_one_line, of_the_disk
from common.files import atomic_write
from common.matmul import whole_products
from datamodules.corpus import Corpus
from datamodules.word_vectors.store import FromFile
from encoders.hugging_face import pretrained
from encoders.model_sources import FORMS, Named, called, initialised, precomputed, trained
from probes.classifiers.classifier import Grid
from probes.downstream.evaluation import DownstreamEvaluation
from probes.downstream.files import SOURCE, read_downstream
from probes.downstream.suite import sentences_of
from probes.evaluation import Evaluated, Evaluation, Model
from probes.probing.baselines import BASELINES
from probes.probing.data import FromCorpus
from probes.results import write_rows
from probes.suite import Suite
from reports.published import published
from reports.runs import models_of, read_run
from reports.table import probing_table
from reports.terminal import comparisons, descriptions, plain, second_measures, selectivities

ROOT = Path(__file__).parent
CONFIGS = ROOT / "configs"
SUITES = ("probing", "downstream")


class Scores(NamedTuple):
    """What was found out about one model; `key` is short for the model, the tasks and the settings."""

    key: str
    main: list[Evaluated]
    control: Sequence[Evaluated] = ()
    mdl: Sequence[dict[str, str | float]] = ()


class Done(NamedTuple):
    """The scores of one model and the folder that holds them."""

    title: str
    folder: Path
    scores: Scores


ScoredSuite = tuple[list[str], Callable[[Model], Scores]]


@whole_products()
def evaluate(config: DictConfig) -> list[Done]:
    """Score every model of the configuration; files as they come, tables at the end."""
    if config.suite not in SUITES:
        raise InputError(f"suite={config.suite}: there are {', '.join(SUITES)}")
    device_for(config.device)  # what is wrong with these two is said now, not after the scores
    beside(config)
    if config.protocol:  # also in what is kept beside the scores
        config.probes.classifier.protocol = config.protocol
    cache = None if str(config.cache) in ("off", "False", "None") else Path(config.cache)
    with tempfile.TemporaryDirectory() as nowhere:
        work = cache or Path(nowhere)
        corpus = instantiate(config.corpus)
        probed = config.suite == "probing"
        sentences, score = probing(config, corpus, work, cache) if probed else downstream(config, cache)
        if config.write_sentences:
            with atomic_write(Path(config.write_sentences)) as file:
                file.writelines(f"{sentence}\n" for sentence in sentences)
            print(f"{config.write_sentences}: {len(sentences):,} sentences, one per line")
            return []
        if OmegaConf.is_missing(config, "model") or not config.model:
            raise InputError(f"model= is missing; give {FORMS}")
        models = [(n, m) for n in several(config.model) for m in models_named(n, config, corpus, sentences, work)]
        return [write(name, model, score(model), config) for name, model in models]


def probing(config: DictConfig, corpus: Corpus, work: Path, cache: Path | None) -> ScoredSuite:
    """The sentences of the probing tasks, and what scores a model on them."""
    suite = build_suite(config, corpus, work)

    def score(model: Model) -> Scores:
        run = Evaluation(model, suite, cache)
        main = run.run(suite.tasks, "probing")
        control = run.controls() if config.control else []
        return Scores(run.key, main, control, run.descriptions() if config.mdl and model.encode else [])

    return suite.sentences, score


def downstream(config: DictConfig, cache: Path | None) -> ScoredSuite:
    """The sentences of the downstream tasks on this machine, and what scores a model on them."""
    if config.control or config.mdl:
        raise InputError("control= and mdl= are about probing tasks; leave them out with suite=downstream")
    if config.downstream.root is None:
        raise InputError(f"downstream.root= is missing: the folder of the tasks; get them with {SOURCE}")
    folds, wanted = config.downstream.kfold, config.downstream.tasks
    if not isinstance(folds, int) or folds < 2:
        raise InputError(f"downstream.kfold={folds}: give the number of folds, 2 or more")
    grid = logistic(config)
    tasks, missing = read_downstream(Path(config.downstream.root), None if wanted is None else several(wanted))
    for name, path in missing.items():
        print(f"{name}: skipped, no {path}; get it with {SOURCE}", file=sys.stderr)
    if not tasks:
        raise InputError(f"{config.downstream.root}: none of the tasks is there")

    def score(model: Model) -> Scores:
        run = DownstreamEvaluation(model, tasks, grid, folds, config.seed, cache, config.device)
        return Scores(run.key, run.run())

    return sentences_of(tasks), score


def build_suite(config: DictConfig, corpus: Corpus, cache: Path) -> Suite:
    """The tasks and the classifiers that read them."""
    probes = config.probes
    sizes = (probes.train_size, probes.dev_size, probes.test_size)
    tasks = instantiate(probes.source).tasks(corpus, list(probes.tasks), sizes, config.seed, cache)
    if not tasks:
        raise InputError("no probing tasks; give probes=corpus, trees or senteval, and leave probes.tasks=[] out")
    return Suite("probing", tasks, classifiers(config), config.seed, config.device)


def classifiers(config: DictConfig) -> Grid:
    """The grid of `probes.classifier`."""
    return instantiate(config.probes.classifier, _convert_="all")


def logistic(config: DictConfig) -> Grid:
    """The same for downstream tasks, which have no hidden layer."""
    grid = classifiers(config)
    if not grid.is_logistic and (tuple(grid.widths), tuple(grid.dropouts)) != (Grid.widths, Grid.dropouts):
        no_layer = "downstream tasks are read by logistic regression"
        raise InputError(f"probes.classifier: {no_layer}; leave widths= and dropouts= out with suite=downstream")
    return grid.logistic()


def several(setting: object) -> list[str]:
    """The names in a setting that is a list or one name."""
    return [str(name) for name in setting] if isinstance(setting, ListConfig) else [str(setting)]


def models_named(name: str, config: DictConfig, corpus: Corpus, sentences: list[str], work: Path) -> list[Model]:
    """What a name of `model=` stands for; all layers of a transformer are a model each."""
    kind, colon, rest = name.partition(":")
    if name in BASELINES:
        if config.suite == "downstream" and name != "majority":
            raise InputError(f"model={name}: a baseline of the probing tasks; suite=downstream has majority alone")
        return [Model("baseline", name, None, "baseline")]
    found: list[Named]
    if name == "bov" or name.startswith("untrained/"):
        found = [untrained(name.removeprefix("untrained/"), config, corpus, sentences, work)]
    elif colon and kind == "hf":
        found = pretrained(rest, config.layers, config.pooling, config.device, work)
    elif colon and kind == "vectors":
        found = [precomputed(Path(rest), config.sentences and Path(config.sentences))]
    elif colon and kind == "call":
        found = [called(rest)]
    elif Path(name).exists():
        source = instantiate(config.embeddings.source)
        more = source.vectors(list, "", work) if isinstance(source, FromFile) else None
        one = trained(Path(name), config.device, more)
        found = [one._replace(settings={**one.settings, "embeddings": config.embeddings}) if more else one]
    else:
        raise InputError(f"model={name}: no such run folder; give {FORMS}")
    return [Model(*one) for one in found]


def untrained(encoder: str, config: DictConfig, corpus: Corpus, sentences: list[str], work: Path) -> Named:
    """bov, or an encoder with the weights that its seed gives it."""
    path = CONFIGS / "encoder" / f"{encoder}.yaml"
    if not path.exists():
        there = ", ".join(sorted(p.stem for p in path.parent.glob("*.yaml")))
        raise InputError(f"model=untrained/{encoder}: no such encoder; there are {there}")
    source = instantiate(config.embeddings.source)
    store = source.vectors(lambda: corpus.sentences("train"), corpus.fingerprint(), work)
    torch.manual_seed(config.seed)
    settings = OmegaConf.load(path)
    made = instantiate(settings, input_dim=store.matrix.shape[1])
    objective = "bov" if encoder == "bov" else "untrained"
    one = initialised(encoder, objective, made, OmegaConf.to_yaml(settings), sentences, store, config.device)
    text = {} if isinstance(source, FromFile) else {"corpus": config.corpus}  # that word vectors were trained on
    return one._replace(settings={"embeddings": config.embeddings, **text})


def write(name: str, model: Model, scores: Scores, config: DictConfig) -> Done:
    """Put the scores of one model into a folder that report.py reads: one for each model and set of tasks."""
    title = ", ".join(filter(None, [model.encoder, model.objective]))
    folder = Path(config.out) / config.suite / f"{re.sub(r'[^a-zA-Z0-9_.-]+', '-', title)}-{scores.key}"
    names = {"encoder_name": model.encoder, "objective_name": model.objective, "corpus_name": None, "model": name}
    kept = {key: config[key] for key in ("suite", "seed")}
    if config.suite == "probing":
        kept["probes"] = config.probes
        kept |= {"corpus": config.corpus} if get_class(config.probes.source._target_) is FromCorpus else {}
    else:
        kept |= {"downstream": config.downstream, "probes": {"classifier": config.probes.classifier}}
    with atomic_write(folder / "config.yaml") as file:
        file.write(OmegaConf.to_yaml({**names, **kept, **model.settings}, resolve=False))
    write_rows(folder / "probes.csv", [e.row for e in (*scores.main, *scores.control)])
    if scores.mdl:
        upsert_csv(folder / "mdl.csv", scores.mdl, ("task",))
    details = [{"task": e.row.task, "measure": m, "score": v} for e in scores.main for m, v in e.details.items()]
    if details:
        upsert_csv(folder / "details.csv", details, ("task", "measure"))
    return Done(title, folder, scores)


def beside(config: DictConfig) -> list[str] | None:
    """The published table asked for; None leaves the choice to the table. Raises InputError for one there is not."""
    if config.published == "paper":
        return None
    if config.published:
        published(config.published)
    return [config.published] if config.published else []


def show(done: Sequence[Done], config: DictConfig) -> None:
    """Print the scores beside the published ones, and what was asked for besides."""
    models = models_of(read_run(d.folder) for d in done)
    by = "logreg" if classifiers(config).is_logistic else "mlp"
    print(plain(probing_table(models, config.suite, "last", by, beside(config))))
    for d in done:
        if measures := second_measures(d.title, d.scores.main):
            print(measures)
        if d.scores.control:
            print(selectivities(d.title, d.scores.main, d.scores.control))
        if d.scores.mdl:
            print(descriptions(d.title, d.scores.mdl))
        elif config.mdl:
            print(f"{d.title}: no description length, as it has no vectors\n")
    if len(done) > 1:
        print(comparisons([(d.title, d.scores.main) for d in done]))
    print("\n".join(f"{d.folder}/probes.csv" for d in done))


@hydra.main(config_path=str(CONFIGS), config_name="evaluate", version_base="1.3")
def start(config: DictConfig) -> None:
    if statuses := [fail(mistake) for mistake in mistakes(config)]:
        raise SystemExit(statuses[0])
    try:
        if done := evaluate(config):
            show(done, config)
    except (InputError, InstantiationException, OmegaConfBaseException) as error:
        raise SystemExit(fail(in_one_line(error))) from None
    except OSError as error:
        raise SystemExit(
            fail(f"{of_the_disk(error, Path(config.out))}; make room, then the same command again")
        ) from None
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
        sys.exit(fail(in_one_line(error)))


def fail(message: str) -> int:
    print("error:", message, file=sys.stderr)
    return 2


if __name__ == "__main__":
    command(sys.argv[1:])
