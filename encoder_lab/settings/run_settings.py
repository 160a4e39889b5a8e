"""Reads the settings in a run folder as plain data. The file may be damaged or come from an untrusted source.

Older evaluations have references to other settings in them, `${..root}`. These alone are
resolved; `${oc.env:HOME}` and all else that computes a value is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf

from encoder_lab.errors import InputError, in_one_line
from encoder_lab.storage.files import refuse_special

MOST_BYTES = 1 << 20
MOST_REFERENCES = 20  # ${...}; each can repeat the content of others, so nested ones could fill the memory
REFERENCE = re.compile(r"\$\{[\w.]+\}")  # to another setting
HALF = re.compile(r"\\(u|U0000)d[89a-f]", re.I)  # half of a surrogate pair; not a valid character


def objective_of(settings: Mapping[str, Any]) -> str:
    """What the encoder of a run was trained for; after another run, both: "autoencoder → nli"."""
    before = settings.get("begun_from")
    chain = (
        [str(one.get("objective")) for one in before if isinstance(one, Mapping)]
        if isinstance(before, Sequence)
        else []
    )
    return " → ".join([*chain, str(settings.get("objective_name", "?"))])


def trained_in_bfloat16(settings: Mapping[str, Any]) -> bool:
    """Whether a run trains with products in bfloat16; its probing then encodes so too."""
    trainer = settings.get("trainer")
    return isinstance(trainer, Mapping) and trainer.get("precision") in ("bf16", "bf16-mixed")


def read_settings(path: Path) -> DictConfig:
    """The settings with every ${reference} resolved. Raises InputError naming the file, and the line if known."""
    refuse_special(path)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; not the settings of a run") from None
    if len(data) > MOST_BYTES:
        raise InputError(f"{path}: more than {MOST_BYTES} bytes; not the settings of a run")
    try:
        _check_plain(data.decode("utf-8"))
        config = OmegaConf.load(path)
        _refuse_computed(config, REFERENCE)
        OmegaConf.resolve(config)
        _refuse_computed(config)  # also a value that was put together of two
    except UnicodeDecodeError as error:
        raise _refused(path, data[: error.start], "not valid UTF-8") from None
    except yaml.reader.ReaderError as error:
        raise _refused(path, data.decode("utf-8")[: error.position].encode(), f"not YAML ({error.reason})") from None
    except yaml.MarkedYAMLError as error:
        before = b"\n" * (error.problem_mark.line if error.problem_mark else 0)
        raise _refused(path, before, f"not YAML ({error.problem})") from None
    except Exception as error:  # resolving fails in many ways
        raise InputError(f"{path}: not the settings of a run ({in_one_line(error)})") from None
    if not isinstance(config, DictConfig):
        raise InputError(f"{path}: not the settings of a run, but a list")
    return config


def _check_plain(text: str) -> None:
    """Raises ValueError for what no run writes: YAML aliases, many references, invalid characters."""
    if "*" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
        raise ValueError("a YAML alias")
    if text.count("${") > MOST_REFERENCES:
        raise ValueError(f"more than {MOST_REFERENCES} references")
    if HALF.search(text):
        raise ValueError("half of a surrogate pair")


def _refuse_computed(config: Any, allowed: re.Pattern[str] = re.compile("(?!)")) -> None:
    """Raises ValueError for a text that OmegaConf would replace at its use, except what is allowed."""
    for value in _texts(OmegaConf.to_container(config, resolve=False)):
        if "${" in allowed.sub("", value):
            raise ValueError(f"{value[:40]!r} would be computed; write the value itself")


def _texts(settings: Any) -> Iterator[str]:
    """Every value that is a text."""
    inside = settings.values() if isinstance(settings, dict) else settings if isinstance(settings, list) else ()
    for value in inside:
        yield from (value,) if isinstance(value, str) else _texts(value)


def _refused(path: Path, before: bytes, why: str) -> InputError:
    line = before.count(b"\n") + 1
    return InputError(f"{path}:{line}: {why}; fix the line, or copy the whole run folder again")
