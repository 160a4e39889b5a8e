"""What `model=` and a choice of a YAML file can be, as far as it can be checked before slow imports."""

import re
from collections.abc import Sequence
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import unknown_name_message
from encoder_lab.settings.known import CONFIGS, choices_in, config_folders
from encoder_lab.settings.quoting import requested_names

BASELINES = ("majority", "length", "nb-uni-tfidf", "nb-bi-tfidf")
UNTRAINED_ENCODERS = ("bov", "borep", "esn")
MODEL_NAMES = (*UNTRAINED_ENCODERS, "ngram", "unigram", *BASELINES)
MODEL_FORMS = (
    f"a run folder or checkpoint, {', '.join(UNTRAINED_ENCODERS)}, untrained/ENCODER, hf:NAME_OR_PATH, "
    "vectors:FILE.npy, call:MODULE:FUNCTION, for suite=coherence lm:PATH, ngram, unigram, "
    f"or a baseline: {', '.join(BASELINES)}"
)
NAME_OR_PATH = re.compile(r"[\w./-]+")  # a name with a colon is another form
HF_FILES = ("config.json", "modules.json")
HYDRA_SYNTAX = re.compile(r"['\"\\$(]")  # quotes and functions, which Hydra reads


def refuse_missing_models(arguments: Sequence[str]) -> None:
    """Raises InputError if `model=` is missing, or a name in it is neither a model nor a path."""
    if not any(text.startswith(("model=", "write_sentences=", "-")) for text in arguments):
        raise InputError("model= is missing: what to score, as model=RUN or model=[bov,majority]; see --help")
    plain = (text for text in arguments if not HYDRA_SYNTAX.search(text))
    for name in filter(NAME_OR_PATH.fullmatch, requested_names("model", plain)):
        encoder = name.removeprefix("untrained/")
        if encoder != name:
            encoder_file(encoder, config_folders(arguments))
        elif name not in MODEL_NAMES:
            refuse_other_path(name)


def refuse_other_path(name: str) -> None:
    """Raises InputError for a path that is neither a run nor a checkpoint, with what to write for such a file."""
    path = Path(name)
    if not path.exists():
        raise InputError(f"model={name}: no such run folder or checkpoint; give {MODEL_FORMS}")
    meant = ""
    if path.suffix == ".npy":
        meant = f"a matrix of vectors: model=vectors:{name} sentences=FILE, the text file with a line for each row"
    elif path.is_dir() and not (path / "config.yaml").exists() and any((path / file).exists() for file in HF_FILES):
        meant = f"a model of Hugging Face: model=hf:{name}, or model=lm:{name} to score texts"
    elif path.is_file() and {".vec", ".txt", ".bin"}.intersection(path.suffixes):
        meant = f"word vectors: model=bov embeddings=file embeddings.path={name}"
    elif path.is_file() and path.suffix in (".pkl", ".pickle", ".pt", ".pth"):
        meant = "a pickle, which is not opened: docs/published_encoders.md says how a published encoder is used"
    elif path.is_file() and path.suffix != ".ckpt":
        meant = f"neither a run folder nor a checkpoint (.ckpt) in one; give {MODEL_FORMS}"
    if meant:
        raise InputError(f"model={name}: {meant}")


def encoder_file(encoder: str, folders: Sequence[Path]) -> Path:
    """The settings of an untrained encoder: a file of ours, or in the folders of `--config-dir`. Raises InputError."""
    refuse_unknown_choice(f"model=untrained/{encoder}", "encoder", encoder, folders)
    paths = (folder / "encoder" / f"{encoder}.yaml" for folder in (*folders, CONFIGS))
    return next(path for path in paths if path.exists())


def refuse_unknown_choice(setting: str, group: str, choice: str, folders: Sequence[Path]) -> None:
    """Raises InputError for a choice that is neither among ours nor in the `folders` of `--config-dir`."""
    choices = [name for folder in (CONFIGS, *folders) for name in choices_in(folder / group)]
    if choice not in choices:
        files = " or ".join(f"{folder / group / choice}.yaml" for folder in folders)
        own = f"there is no {files}" if files else "a YAML file of your own needs --config-dir=FOLDER"
        raise InputError(f"{setting}: {unknown_name_message('choice', choice, choices)}; {own}")
