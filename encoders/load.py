"""Loads a frozen encoder from a run folder. Nothing in the folder is executed."""

import pickle
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from datamodules.corpus import Corpus
from datamodules.word_vectors.run_vectors import load_run_vectors
from datamodules.word_vectors.store import WordVectors
from encoder_lab.compute.devices import device_for
from encoder_lab.errors import IMPORT_REMEDY, InputError, first_line
from encoder_lab.settings.check import mistakes
from encoder_lab.settings.run_settings import leaves, read_settings
from encoder_lab.storage.reads import warn_of_changed_code
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from encoders.example import EXAMPLE_KEY, warn_of_other_vectors
from encoders.frozen import FrozenEncoder

MAX_STEPS = 2**53
FLOAT_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
OWN_CLASSES_MESSAGE = "only the classes in encoders/ are loaded, alone"


class SavedRun(NamedTuple):
    """A run at one of its checkpoints, read and checked."""

    checkpoint: Path
    config: Mapping[str, Any]
    weights: dict[str, Tensor]  # of encoder, word vectors and objective
    epoch: int | float  # epochs done; a part of one within it
    step: int
    example: object = None  # the vectors of an example, when it was saved

    @property
    def folder(self) -> Path:
        return self.checkpoint.parents[1]


def open_run(path: Path, epoch: int | None = None) -> SavedRun:
    """Read a run folder (the best checkpoint, or that of an epoch) or one of its `.ckpt` files. Raises InputError."""
    checkpoint = find_checkpoint(path, epoch)
    config, state = read_config(checkpoint.parents[1]), read_checkpoint(checkpoint)
    return SavedRun(
        checkpoint, config, state["state_dict"], epoch_of(state), state["global_step"], state.get(EXAMPLE_KEY)
    )


def load_encoder(
    path: str | Path | SavedRun,
    device: str | None = None,
    more: WordVectors | None = None,
    allow: Sequence[str] = (),
    epoch: int | None = None,
    raw: bool = False,
    bfloat16: bool = False,
) -> FrozenEncoder:
    """The frozen encoder of a run: its folder (the best checkpoint), one of its `.ckpt` files, or an open run.

    It runs on `device`, by default the GPU if there is one. Needs neither the training corpus nor the objective.
    `more`: the vectors that the run was trained on, for words that are not in the run folder. `allow`: packages with
    your own encoder or corpus; their code is executed. `epoch`: of a run folder, this epoch instead of the best. `raw`:
    sentences are tokenised as the corpus was, unless a call of `encode` says `tokenized=True`. `bfloat16`: products in
    bfloat16 where the machine has them, as in the curves of a run with `trainer.precision=bf16-mixed`. Raises
    InputError if a file is missing, corrupt or from another project, or names a class that is neither an encoder of
    this project nor in such a package.
    """
    run = path if isinstance(path, SavedRun) else open_run(Path(path), epoch)
    settings, config = run.folder / "config.yaml", run.config
    vectors = load_run_vectors(run.folder)
    build = _builder(settings, config, vectors.matrix.shape[1], allow)
    if (shape := _build_on_meta_device(build)) is not None:  # settings could request any amount of memory
        matching_weights(run.checkpoint, shape, "encoder.", run.weights)
    encoder = build()
    embedding = WordEmbedding(vectors.matrix, freeze=config["embeddings"].get("freeze", True))
    in_64_bits = any(weight.dtype == torch.float64 for weight in run.weights.values())  # trainer.precision=64-true
    dtype = torch.float64 if in_64_bits else torch.float32  # also after torch.set_default_dtype
    encoder, embedding = encoder.to(dtype), embedding.to(dtype)
    encoder.load_state_dict(matching_weights(run.checkpoint, encoder, "encoder.", run.weights))
    embedding.load_state_dict(matching_weights(run.checkpoint, embedding, "embedding.", run.weights))
    warn_of_other_vectors(run.checkpoint, encoder, embedding.dim, run.example)
    chosen_device = device_for(device)
    language = str(config["corpus"].get("source_language", "en"))
    target = str(config["corpus"].get("_target_"))
    tokenize = partial(_tokenize, settings, target, language, tuple(allow))
    frozen = encoder.eval().requires_grad_(False).to(chosen_device)
    vectors.lookup_oov.matrix = embedding.table.detach().cpu().float().numpy()  # as trained
    oov = vectors.extend_lookup(more) if more else vectors.lookup_oov
    words = embedding.requires_grad_(False).to(chosen_device)
    lowercase = bool((config.get("datamodule") or {}).get("lowercase"))
    return FrozenEncoder(frozen, words, vectors.vocabulary, oov, tokenize, raw, bfloat16, lowercase)


def read_config(run: Path) -> dict[str, Any]:
    path = run / "config.yaml"
    if not path.is_file():
        raise InputError(f"{path}: missing; a run folder has config.yaml, checkpoints/ and vectors/, copy all of it")
    config = read_settings(path)
    parts = ("encoder", "embeddings", "corpus")
    if not all(isinstance(config.get(part), dict) for part in parts):
        raise InputError(f"{path}: not the settings of a run (no encoder, embeddings, corpus in it)")
    return config


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint of this project as tensors and plain values; refuses pickled code and corrupt files."""
    if not path.is_file():
        raise InputError(f"{path}: no such checkpoint; the run may not have finished an epoch")
    try:
        _verify_checksums(path)
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise InputError(f"{path}: not only tensors and plain values, or damaged; it was not loaded") from None
    except Exception as error:  # a corrupt file fails in many ways
        raise InputError(f"{path}: damaged or cut off ({first_line(error)}); use an earlier one") from None
    state = checkpoint.get("state_dict") if isinstance(checkpoint, dict) else None
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise InputError(f"{path}: not a checkpoint of this project")
    counts = {name: checkpoint.get(name) for name in ("epoch", "global_step")}
    epochs = checkpoint.get("epochs_done", 0)
    tensors = (value for _, value in leaves(checkpoint) if isinstance(value, Tensor))
    problems = [f"a {t.layout}, {t.dtype} tensor on {t.device}" for t in tensors if not _is_dense_cpu_tensor(t)]
    problems += [f"{n} is no count" for n, c in counts.items() if type(c) is not int or not 0 <= c < MAX_STEPS]
    if problems or type(epochs) not in (int, float) or not 0 <= epochs < MAX_STEPS:
        problem = next(iter(problems), "epochs_done is no number of epochs")
        raise InputError(f"{path}: not a checkpoint of this project ({problem})")
    return checkpoint


def _is_dense_cpu_tensor(value: Tensor) -> bool:
    """Whether each number of a tensor is in the file: not of a sparse, quantised, meta or expanded one."""
    plain = type(value) in (Tensor, nn.Parameter) and value.layout == torch.strided and not value.is_quantized
    return plain and value.device.type == "cpu" and value.nbytes <= value.untyped_storage().nbytes()


def interchangeable(tensor: Tensor, other: Tensor) -> bool:
    """Whether one tensor can replace the other: equal shapes, and equal dtypes or both of floating point."""
    same = tensor.dtype == other.dtype or (tensor.dtype in FLOAT_DTYPES and other.dtype in FLOAT_DTYPES)
    return same and tensor.shape == other.shape


def _verify_checksums(path: Path) -> None:
    """Raises BadZipFile if the checksum of an entry is wrong; torch does not check it."""
    with zipfile.ZipFile(path) as archive:
        folders = [entry.filename for entry in archive.infolist() if entry.external_attr]  # which torch does not read
        changed = archive.testzip() or next(iter(folders), None)
    if changed:
        raise zipfile.BadZipFile(f"{changed} has changed")


def find_checkpoint(path: Path, epoch: int | None = None) -> Path:
    """The file itself, or the best checkpoint, or that of an epoch, of the one run there. Raises InputError."""
    if not path.exists():
        raise InputError(f"{path}: no such run folder or checkpoint")
    if path.is_file() and epoch is not None:
        raise InputError(f"{path}: a checkpoint is of one epoch; leave epoch={epoch} out, or give the run folder")
    if path.is_file():
        return path.absolute()
    runs = [path] if (path / "config.yaml").exists() else [p.parent for p in sorted(path.glob("*/config.yaml"))]
    if not runs:
        raise InputError(f"{path}: not a run folder, it has no config.yaml")
    if len(runs) > 1:
        raise InputError(f"{path}: {len(runs)} runs inside; give one of them, the newest is {runs[-1]}")
    folder = runs[0].absolute() / "checkpoints"
    return folder / "best.ckpt" if epoch is None else _checkpoint_of_epoch(folder, epoch)


def _checkpoint_of_epoch(folder: Path, epoch: int) -> Path:
    if (checkpoint := folder / f"epoch-{epoch}.ckpt").exists():
        return checkpoint
    stems = [path.stem for path in intermediate_checkpoints(folder.parent)]
    epochs = [stem.removeprefix("epoch-") for stem in stems if stem.startswith("epoch-")]
    for path in (folder / "best.ckpt", folder / "last.ckpt"):
        if path.exists():
            saved_epoch = epoch_of(read_checkpoint(path))
            if saved_epoch == epoch:
                return path
            epochs.append(f"{saved_epoch} ({path.stem})")
    remedy = "train with checkpoints.keep=every to keep every epoch"
    raise InputError(f"{folder}: no checkpoint of epoch {epoch}; there are {', '.join(epochs) or 'none'}; {remedy}")


def intermediate_checkpoints(run: Path) -> list[Path]:
    """The checkpoints of the epochs and steps that a run keeps: `step-N.ckpt`, then `epoch-N.ckpt`."""
    paths = [path for unit in ("step", "epoch") for path in (run / "checkpoints").glob(f"{unit}-*.ckpt")]
    return sorted(paths, key=lambda path: (path.stem.startswith("epoch"), int(path.stem.partition("-")[2])))


def epoch_of(checkpoint: Mapping[str, Any]) -> int | float:
    """Epochs done when a checkpoint was written; a fraction if it was written within an epoch."""
    return checkpoint.get("epochs_done", int(checkpoint["epoch"]) + (int(checkpoint["global_step"]) > 0))


def encoder_class(path: Path, config: Mapping[str, Any], allow: Sequence[str] = ()) -> type[Encoder]:
    """The class of the encoder of the settings. Classes outside encoders/ and `allow` are not imported: InputError."""
    target = str(config["encoder"].get("_target_"))
    encoder = import_class(("encoders", *allow), target, Encoder)
    if encoder is None:
        if (package := target.partition(".")[0]) in allow:
            raise InputError(f"{path}: encoder._target_ is {target}, which is no encoder there; put it back")
        remedy = f"; a class of your own is loaded with allow=[{package!r}]"
        raise InputError(f"{path}: encoder._target_ is {target}; {OWN_CLASSES_MESSAGE}{remedy}")
    warn_of_changed_code(path.parent, [encoder])
    return encoder


def _builder(path: Path, config: Mapping[str, Any], input_dim: int, allow: Sequence[str]) -> Callable[[], Encoder]:
    encoder = encoder_class(path, config, allow)
    settings = {name: value for name, value in config["encoder"].items() if name != "_target_"}
    if "_target_" in str(settings):
        raise InputError(f"{path}: encoder has a _target_ inside; {OWN_CLASSES_MESSAGE}")
    if errors := mistakes("train", {"encoder": config["encoder"]}):
        raise InputError(f"{path}: {errors[0]}; or copy the whole run folder again")

    def build() -> Encoder:
        try:
            return encoder(input_dim=input_dim, **settings)
        except Exception as error:  # settings that the encoder does not accept
            raise InputError(f"{path}: these encoder settings do not work: {' '.join(str(error).split())}") from None

    return build


def _build_on_meta_device(build: Callable[[], Encoder]) -> Encoder | None:
    """The encoder on the meta device (no memory); None if it cannot be built there, because it computes in __init__."""
    try:
        with torch.device("meta"):
            return build()
    except InputError as error:
        if "meta" in str(error):
            return None
        raise


def import_class(packages: Sequence[str], target: str, base: type | tuple[type, ...]) -> Any:
    """The class with path `target` inside one of `packages`; None if there is none or it is no subclass of `base`.

    Raises InputError where the package, or another that its module imports, cannot be imported.
    """
    module, _, name = target.rpartition(".")
    if not any(f"{module}.".startswith(f"{package}.") for package in packages):
        return None
    try:
        value = vars(import_module(module)).get(name)
    except ImportError as error:
        if error.name and "." in error.name and f"{module}.".startswith(f"{error.name}."):
            return None
        raise InputError(f"{target}: {error}; {IMPORT_REMEDY}") from None
    return value if isinstance(value, type) and issubclass(value, base) else None


def matching_weights(path: Path, module: nn.Module, prefix: str, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a module from a state dict. Raises InputError if names or shapes differ."""
    weights = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
    expected = module.state_dict()
    missing, extra = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if missing or extra:
        raise InputError(f"{path}: does not fit config.yaml of its run; missing {missing}, unexpected {extra}")
    unlike = (name for name in weights if not interchangeable(expected[name], weights[name]))
    errors = [f"{name} {tuple(weights[name].shape)}" for name in unlike]
    if errors:
        raise InputError(f"{path}: does not fit config.yaml of its run; wrong shape or dtype of {', '.join(errors)}")
    return weights


def _tokenize(path: Path, target: str, language: str, allow: Sequence[str], raw: str) -> str:
    """Raw text, tokenised by the corpus class, which is imported at first use; the corpus itself is not needed."""
    corpus = import_class(("datamodules", *allow), target, Corpus)
    if corpus is None:
        raise InputError(f"{path}: corpus._target_ is {target}; only corpora in datamodules/ are loaded")
    return str(corpus.tokenize(raw) if language == "en" else corpus.tokenize(raw, language))
