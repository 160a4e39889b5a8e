"""Reads the settings in a run folder as plain data. The file may be damaged or come from an untrusted source."""

import re
from pathlib import Path

import yaml
from omegaconf import DictConfig, OmegaConf

from common.errors import InputError, in_one_line
from common.moved_names import with_new_names

MOST_BYTES = 1 << 20
MOST_REFERENCES = 20  # ${...}; each can repeat the content of others, so nested ones could fill the memory
HALF = re.compile(r"\\(u|U0000)d[89a-f]", re.I)  # half of a surrogate pair; not a valid character


def read_settings(path: Path) -> DictConfig:
    """The settings with every ${reference} resolved. Raises InputError naming the file, and the line if known."""
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"{path}: more than {MOST_BYTES} bytes; not the settings of a run")
    data = path.read_bytes()
    try:
        _check_plain(data.decode("utf-8"))
        config = OmegaConf.load(path)
        OmegaConf.resolve(config)
        if isinstance(config, DictConfig):
            config = OmegaConf.create(with_new_names(OmegaConf.to_container(config)))
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


def _refused(path: Path, before: bytes, why: str) -> InputError:
    line = before.count(b"\n") + 1
    return InputError(f"{path}:{line}: {why}; fix the line, or copy the whole run folder again")
