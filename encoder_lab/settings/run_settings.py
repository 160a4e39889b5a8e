"""The settings in a run folder, as plain data. The file may be damaged or come from an untrusted source."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from encoder_lab.errors import InputError, in_one_line

CLASS_KEY = "_target_"
MAX_BYTES = 1 << 20
# where a run was computed, and what it displayed
INCIDENTAL_OF_TRAINER = {
    f"trainer.{name}"
    for name in ("accelerator", "strategy", "log_every_n_steps", "enable_model_summary", "enable_progress_bar")
}
SURROGATE_ESCAPE = re.compile(r"\\(u|U0000)d[89a-f]", re.I)  # half of a surrogate pair; not a valid character


def earlier_runs(settings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The runs that a run began from by `init=`, in order."""
    runs = settings.get("begun_from")
    return [run for run in runs if isinstance(run, Mapping)] if isinstance(runs, Sequence) else []


def objective_of(settings: Mapping[str, Any]) -> str:
    """What the encoder of a run was trained for; after another run, both: "autoencoder → nli"."""
    earlier = (str(run.get("objective")) for run in earlier_runs(settings))
    return " → ".join([*earlier, str(settings.get("objective_name", "?"))])


def trained_in_bfloat16(settings: Mapping[str, Any]) -> bool:
    """Whether a run trains with products in bfloat16; its probing then encodes so too."""
    trainer = settings.get("trainer")
    return isinstance(trainer, Mapping) and trainer.get("precision") in ("bf16", "bf16-mixed")


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a run folder. Raises InputError naming the file, and the line if known."""
    from encoder_lab.storage.files import refuse_special  # brings locks, which --help does not need

    refuse_special(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; not the settings of a run") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"{path}: more than {MAX_BYTES} bytes; not the settings of a run")
    try:
        settings = yaml.load(text := data.decode("utf-8"), PlainLoader)
        if SURROGATE_ESCAPE.search(text):
            raise ValueError("half of a surrogate pair")
        if computed := [str(leaf) for _, leaf in leaves(settings) if "${" in str(leaf)]:
            raise ValueError(f"{computed[0][:40]!r} would be computed; write the value itself")
    except UnicodeDecodeError as error:
        raise _line_error(path, data[: error.start], "not valid UTF-8") from None
    except yaml.reader.ReaderError as error:
        raise _line_error(path, data.decode("utf-8")[: error.position].encode(), f"not YAML ({error.reason})") from None
    except yaml.MarkedYAMLError as error:
        preceding = b"\n" * (error.problem_mark.line if error.problem_mark else 0)
        raise _line_error(path, preceding, f"not YAML ({error.problem})") from None
    except Exception as error:  # numbers, dates and nested lists fail in many ways
        raise InputError(f"{path}: not the settings of a run ({in_one_line(error)})") from None
    if not isinstance(settings, dict):
        raise InputError(f"{path}: not the settings of a run, but a list or a text")
    return settings


class PlainLoader(yaml.SafeLoader):
    """Reads numbers as Hydra does (1e-3 is one), and no dates; refuses aliases and a key that stands twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise ValueError("a YAML alias")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        if invalid := [key for key in keys if not isinstance(key, str) or keys.count(key) > 1]:
            raise ValueError(f"{str(invalid[0])[:40]!r} stands twice, or is no name")
        return super().construct_mapping(node, deep=True)


PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def as_yaml(settings: Mapping[str, Any]) -> str:
    """Plain settings as a config.yaml has them."""
    return yaml.dump(dict(settings), Dumper=_Dumper, sort_keys=False, allow_unicode=True)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


for form in (PlainLoader, _Dumper):  # a text that looks like such a number is in quotes
    form.add_implicit_resolver(
        "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d[\d_]*)(\.[\d_]*)?[eE][-+]?\d+$"), list("-+0123456789")
    )


def dotted_items(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting and every group of settings with its dotted name; groups come before what is in them."""
    for key, value in settings.items():
        yield f"{prefix}{key}", value
        if isinstance(value, dict):
            yield from dotted_items(value, f"{prefix}{key}.")


def leaves(settings: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each value in nested dicts and lists, with its dotted name."""
    if isinstance(settings, dict | list | tuple):
        for key, value in settings.items() if isinstance(settings, dict) else enumerate(settings):
            yield from leaves(value, f"{name}.{key}".lstrip("."))
    else:
        yield name, settings


def _line_error(path: Path, preceding: bytes, reason: str) -> InputError:
    line = preceding.count(b"\n") + 1
    return InputError(f"{path}:{line}: {reason}; fix the line, or copy the whole run folder again")
