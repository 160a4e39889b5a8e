"""Train a sentence encoder, probe it after every epoch, draw the curves, leave a frozen encoder.

python train.py encoder=bilstm_max objective=nmt_enfr
python train.py resume=runs/nmt_enfr/bilstm_max/2026-11-20_12-00-00
"""

import logging
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # errors reach command(), which says them in one line
os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # then a waiting thread leaves its core to whoever else needs it

import hydra
import pytorch_lightning as pl
import torch
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, InstantiationException
from hydra.types import RunMode
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.utilities.exceptions import MisconfigurationException

from common.config_check import mistakes
from common.config_help import help_text
from common.errors import InputError, in_one_line, of_the_disk
from common.files import atomic_write, clear_unfinished
from common.locks import claimed, wait_for
from common.matmul import whole_products
from datamodules.base import ResumableData
from datamodules.word_vectors.store import RunVectors, load_run_vectors, save_run_vectors
from encoders.embedding import WordEmbedding
from encoders.frozen import FrozenEncoder
from encoders.load import read_checkpoint, read_config
from objectives.objective import Objective
from probes.callback import ProbingCallback
from probes.results import read_rows
from probes.suite import Suite
from reports.curves import draw_curves
from studies.plan import is_study
from studies.run import run_study
from training.allowed_classes import only_ours
from training.checkpoints import LAST, AtomicCheckpoints, CheckpointEvery, newest_whole
from training.devices import accelerator, is_first, starts_others, strategy
from training.finite import StopsWhereNotFinite
from training.interrupt import StopsOnInterrupt
from training.run_log import RunLog
from training.tensorboard import add_picture, open_page

CONFIGS = Path(__file__).parent / "configs"
PARTS = ("seed", "cache", "corpus", "datamodule", "objective", "embeddings", "encoder", "probes", "trainer")
RUNNING = ".running"  # in a run's folder while a process works on it


@whole_products()
def train(config: DictConfig, run: Path) -> None:
    """Fit what `config` describes in the folder `run`, or continue what is there."""
    pl.seed_everything(config.seed, workers=True, verbose=False)
    corpus = instantiate(config.corpus)
    cache = Path(config.cache)
    data = instantiate(config.datamodule, corpus=corpus, cache=cache, seed=config.seed)
    suite = build_suite(config, corpus, cache)
    vectors = run_vectors(config, run, data, suite, cache)

    pl.seed_everything(config.seed, workers=True, verbose=False)  # weights depend on the seed alone
    embedding = WordEmbedding(vectors.matrix, freeze=config.embeddings.freeze)
    encoder = instantiate(config.encoder, input_dim=embedding.dim)
    known = {"data": data} if config.objective_name != "untrained" else {}
    module = instantiate(config.objective, encoder=encoder, embedding=embedding, seed=config.seed, **known)
    frozen = FrozenEncoder(encoder, embedding, vectors.vocabulary, oov=vectors.lookup_oov, tokenize=corpus.tokenize)

    probing = ProbingCallback(suite, frozen, run / "probes.csv", config.probes.every_n_epochs)
    trainer = build_trainer(config, run, module, probing, data)
    say(f"{run}: {describe(module, data, suite)}")
    if trainer.is_global_zero and not (run / "tensorboard").exists():
        open_page(run / "tensorboard", [task.name for task in suite.tasks], module.score, OmegaConf.to_yaml(config))
    fit(trainer, module, data, probing, run)
    if trainer.is_global_zero:
        report(config, run, module)


def build_suite(config: DictConfig, corpus: object, cache: Path) -> Suite:
    """The probing tasks of the run with the classifier that reads them, where the run computes."""
    probes = config.probes
    sizes = (probes.train_size, probes.dev_size, probes.test_size)
    tasks = instantiate(probes.source).tasks(corpus, list(probes.tasks), sizes, config.seed, cache)
    device = "cuda" if accelerator(config) != "cpu" and torch.cuda.is_available() else "cpu"
    return Suite("probing", tasks, instantiate(probes.classifier), config.seed, device)


def run_vectors(config: DictConfig, run: Path, data: ResumableData, suite: Suite, cache: Path) -> RunVectors:
    """The rows of word vectors that this run uses: written to its folder once, by the first of its processes, and
    read from there ever after, by all.
    """
    written = run / "vectors" / "matrix.npy"
    if not written.exists() and not (run / "checkpoints").exists():
        source = instantiate(config.embeddings.source)
        store = source.vectors(data.source_sentences, data.fingerprint, cache)
        if not is_first():
            wait_for(written, run / RUNNING)
            return load_run_vectors(run)
        vocabulary = data.vocabulary.extend(word for s in suite.sentences for word in s.split())
        looked_up = store.lookup(vocabulary.words)
        say(looked_up.coverage)
        save_run_vectors(run, vocabulary, looked_up.matrix, store.subwords_bin, store.scale)
    return load_run_vectors(run)


def build_trainer(
    config: DictConfig, run: Path, module: Objective, probing: ProbingCallback, data: ResumableData
) -> pl.Trainer:
    """Lightning's trainer with probing, the run's record, and checkpoints after every epoch."""
    checkpoints = run / "checkpoints"
    # both after probing, so that a checkpointed epoch is a probed one; last after best, whose state it holds
    best = ModelCheckpoint(
        checkpoints,
        "best",
        monitor=module.score,
        mode=module.mode,
        save_on_train_epoch_end=True,
        enable_version_counter=False,
    )
    last = ModelCheckpoint(checkpoints, "last", save_on_train_epoch_end=True, enable_version_counter=False)
    within = CheckpointEvery(config.checkpoint_every_n_steps, checkpoints / LAST)
    record = RunLog(run / "metrics.csv")
    finite = StopsWhereNotFinite(data, run / "not_finite")
    return instantiate(
        config.trainer,
        accelerator=accelerator(config),
        strategy=strategy(config, module),
        default_root_dir=run,
        logger=TensorBoardLogger(run, name="tensorboard", version=""),
        callbacks=[StopsOnInterrupt(), finite, record, probing, within, best, last],
        plugins=[AtomicCheckpoints()],
        _convert_="all",
    )


def fit(trainer: pl.Trainer, module: Objective, data: ResumableData, probing: ProbingCallback, run: Path) -> None:
    """Train from the start or from the last checkpoint; an objective that trains nothing is probed once."""
    if module.trains:
        last = newest_whole(run / "checkpoints", read_checkpoint)
        if last:
            refuse_foreign(last, module)
        try:
            trainer.fit(module, data, ckpt_path=last, weights_only=True)
        except SystemExit:  # how Lightning ends on Ctrl-C
            raise KeyboardInterrupt from None
        except Exception:
            if launcher := trainer.strategy.launcher:  # its processes would wait for this one, half an hour long
                launcher.kill(signal.SIGKILL)
            raise
        if torch.distributed.is_initialized():  # or a thread of it may abort this process while Python ends
            torch.distributed.destroy_process_group()
    elif trainer.is_global_zero:  # alone: only trainer.fit makes processes known to each other
        module.to(trainer.strategy.root_device)
        probing.probe(trainer, epoch=0)
        for name in ("best", "last"):
            state = {"state_dict": module.state_dict(), "epoch": 0, "global_step": 0}
            AtomicCheckpoints().save_checkpoint(state, run / "checkpoints" / f"{name}.ckpt")


def refuse_foreign(path: Path, module: Objective) -> None:
    """Raises InputError when a checkpoint is not one that this run could have written."""
    checkpoint = read_checkpoint(path)
    if "loops" not in checkpoint or checkpoint["state_dict"].keys() != module.state_dict().keys():
        raise InputError(f"{path}: not a checkpoint of this run (other weights, or none of the training state)")


def report(config: DictConfig, run: Path, module: Objective) -> None:
    """Draw the curves, finish the TensorBoard page, print the final scores."""
    title = f"{config.encoder_name} trained on {config.objective_name} ({config.corpus_name})"
    rows = read_rows(run / "probes.csv") if (run / "probes.csv").exists() else []
    final = max((row.epoch for row in rows), default=0)
    add_picture(run / "tensorboard", draw_curves(run, module.score, title), final)
    if rows:
        say(f"\nprobing accuracy after epoch {final} (test, %)")
    for row in rows:
        if row.epoch == final:
            say(f"  {row.task:<10} {row.test_accuracy:6.2f}  [{row.test_low:.1f}, {row.test_high:.1f}]")
    say(f"\ncurves:  {run / 'curves.png'}   (live: make tensorboard)")
    say(f"encoder: from encoders import load_encoder; load_encoder({str(loadable(run))!r}).encode(['A sentence .'])")


def loadable(run: Path) -> Path:
    """What `load_encoder` takes for a run that has ended: its folder, which stands for the best checkpoint, or with
    a warning the last one, where the disk has damaged the best.
    """
    best = run / "checkpoints" / "best.ckpt"
    try:
        read_checkpoint(best)
    except InputError as error:
        logging.getLogger(__name__).warning("%s; the last one stands in for it", error)
        return best.with_name(LAST)
    return run


def describe(module: Objective, data: ResumableData, suite: Suite) -> str:
    weights = sum(p.numel() for p in module.encoder.parameters())
    said = [f"encoder of {weights:,} weights"]
    said += [f"{len(suite.tasks)} probing tasks over {len(suite.sentences):,} sentences"]
    for split, skipped in data.skipped.items():
        counts = [f"{count} {kind.replace('_', '-')}" for kind, count in skipped._asdict().items() if count]
        said += [f"left out of {split}: {' and '.join(counts)}"] if counts else []
    return "; ".join([*said, *data.notes])


def say(text: str) -> None:
    if is_first():
        print(text, flush=True)


@hydra.main(config_path=str(CONFIGS), config_name="train", version_base="1.3")
def start(config: DictConfig) -> None:
    """Begin a new run in the folder that Hydra named."""
    run = Path(HydraConfig.get().runtime.output_dir)
    run = run.relative_to(Path.cwd()) if run.is_relative_to(Path.cwd()) else run
    OmegaConf.resolve(config)
    check(config)
    if HydraConfig.get().mode == RunMode.MULTIRUN and starts_others(config):
        told = "a sweep starts one process for each run; with several GPUs start a sweep, or a study, for each of them"
        raise SystemExit(fail(f"trainer.devices={config.trainer.devices}: {told} (docs/scaling.md)"))
    with explained(run), owned(run):
        if is_first():
            begin(config, run)
        train(config, run)


def begin(config: DictConfig, run: Path) -> None:
    """Write the settings of a run that is ours. Raises InputError where there is one already."""
    if (run / "config.yaml").exists():
        there = f"{run}: a run is already there; continue it with resume={run} or choose another hydra.run.dir="
        raise InputError(there)
    with atomic_write(run / "config.yaml") as file:
        file.write(OmegaConf.to_yaml(config))


def resume(run: Path, overrides: list[str]) -> None:
    """Continue the run in a folder; only `trainer.` settings may change."""
    if not (run / "config.yaml").exists():
        raise InputError(f"{run}: no config.yaml there, so nothing to resume; give the folder of a run")
    foreign = [text for text in overrides if not text.startswith("trainer.")]
    if foreign:
        raise InputError(f"resume= keeps the run's settings; only trainer.* may change, not {' '.join(foreign)}")
    config = read_config(run)
    if lacking := [part for part in PARTS if part not in config]:
        raise InputError(f"{run / 'config.yaml'}: no {', '.join(lacking)} in it; copy the whole run folder")
    merged = OmegaConf.merge(config, OmegaConf.from_dotlist(overrides))
    assert isinstance(merged, DictConfig)
    ours = only_ours(merged, run / "config.yaml")
    check(ours)
    with explained(run), owned(run):
        train(ours, run)


def check(config: DictConfig) -> None:
    """Ends with a line for each setting that cannot be what it is."""
    if statuses := [fail(mistake) for mistake in mistakes(config)]:
        raise SystemExit(statuses[0])


@contextmanager
def owned(run: Path) -> Iterator[None]:
    """The folder of a run, for us alone. Raises InputError while another process has it."""
    with claimed(run, RUNNING) if is_first() else nullcontext(True) as mine:
        if not mine:
            raise InputError(f"{run}: another process works on this run; if none does, delete {run / RUNNING}")
        if is_first():  # the others write nothing before all train
            for folder in (run, run / "checkpoints", run / "vectors", run / "not_finite"):
                clear_unfinished(folder)
        yield


@contextmanager
def explained(run: Path) -> Iterator[None]:
    """Ends in one line what the user can mend; here, because Hydra would print a line of its own."""
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)  # here, for a launcher's processes too
    warnings.filterwarnings("ignore", module="pytorch_lightning")
    try:
        yield
    except (InputError, InstantiationException, MisconfigurationException) as error:
        raise SystemExit(fail(in_one_line(error))) from None
    except OSError as error:
        said = f"{of_the_disk(error, run)}; nothing written before is lost"
        again = f"python train.py resume={run}" if (run / "config.yaml").exists() else "the same command again"
        raise SystemExit(fail(f"{said}. Make room there, then: {again}")) from None
    except KeyboardInterrupt:
        say(f"\nstopped; nothing is lost. Continue with: python train.py resume={run}")
        raise SystemExit(130) from None


def command(arguments: list[str]) -> None:
    """The command line: help, resume or a new run; what the user can mend is said in one line."""
    try:
        if {"-h", "--help"} & set(arguments):
            say(help_text(CONFIGS))
        elif study := next(iter(studies_in(arguments)), None):
            sys.exit(run_study(CONFIGS, study, arguments))
        elif resumed := [text for text in arguments if text.startswith("resume=") and text != "resume=null"]:
            resume(Path(resumed[0].removeprefix("resume=")), [text for text in arguments if text not in resumed])
        else:
            start()
    except InputError as error:
        sys.exit(fail(str(error)))
    except (HydraException, OmegaConfBaseException) as error:
        sys.exit(fail(in_one_line(error)))
    except OSError as error:  # Hydra could not make the run's folder
        sys.exit(fail(f"{of_the_disk(error, Path.cwd())}; choose another hydra.run.dir="))


def studies_in(arguments: list[str]) -> list[str]:
    """The studies that the command line names: files of configs/experiment/ that stand for many runs."""
    names = [text.removeprefix("experiment=") for text in arguments if text.startswith("experiment=")]
    return [name for name in names if is_study(CONFIGS / "experiment" / f"{name}.yaml")]


def fail(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    command(sys.argv[1:])
