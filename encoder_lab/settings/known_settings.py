"""Settings that nothing reads are refused: by our YAML files before Hydra is imported, then as Hydra composed them."""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from encoder_lab.errors import InputError

NO_SOURCE = ("experiment", "study")  # groups that change settings and have none of their own
GLOBAL = re.compile(r"^#\s*@package\s+_global_", re.MULTILINE)
PART = re.compile(r"^parts\.\w+\.")  # of objective=multitask: settings of another objective follow
SETTING = re.compile(r"(\+{0,2})([a-z_][\w.]*)=")
OPEN = tuple(f"hydra.{name}." for name in ("launcher", "sweeper", "callbacks", "job.env_set"))  # any setting fits
CLASS = "_target_"
OF_HYDRA = (CLASS, "_partial_", "_recursive_", "_convert_", "_args_")
OURS = {  # arguments of Lightning's trainer that we give, and what the user gives instead
    "trainer.default_root_dir": "hydra.run.dir=",
    "trainer.plugins": "trainer.precision= or trainer.strategy=",
}


class Known(NamedTuple):
    """The dotted names in our YAML files."""

    names: frozenset[str]
    parts: frozenset[str]  # those with a class, which is called with the settings below it
    sections: frozenset[str]  # those that are groups of settings, and no choice of a file


def known_settings(configs: Path, program: str) -> Known:
    """The settings of all choices of a program: train or evaluate."""
    groups = {path.name for path in configs.iterdir() if path.is_dir()}
    names, parts, sections, values = set(groups), set(), set(), set(groups)
    for path in (configs / f"{program}.yaml", *sorted(configs.rglob("*/*.yaml"))):
        group = path.relative_to(configs).parts[0] if path.parent != configs else ""
        text = path.read_text(encoding="utf-8")
        if group not in NO_SOURCE:
            settings = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
            found = dict(_flat(settings if not group or GLOBAL.search(text) else {group: settings}))
            names |= found.keys()
            parts |= {name.removesuffix(f".{CLASS}") for name in found if name.endswith(f".{CLASS}")}
            sections |= {name for name, value in found.items() if isinstance(value, dict)}
            values |= {name for name, value in found.items() if not isinstance(value, dict)}
    return Known(frozenset(names), frozenset(parts), frozenset(sections - values))


def refuse_unknown_settings(configs: Path, program: str, arguments: Sequence[str]) -> None:
    """Raises InputError for a setting that no file of `configs` names. Folders of `--config-dir` are left to Hydra."""
    if any(text.startswith(("--config-dir", "-cd")) for text in arguments):
        return
    settings = {text: found for text in arguments if (found := SETTING.match(text))}
    known = known_settings(configs, program) if settings else Known(frozenset(), frozenset(), frozenset())
    for text, found in settings.items():
        plus, name = found[1], PART.sub("", found[2])
        if name in known.sections and not text[found.end() :].startswith("{"):
            inside = [one for one in sorted(known.names) if re.fullmatch(rf"{re.escape(name)}\.[a-z]\w*", one)]
            raise InputError(f"{text}: a group of settings; give one of them: {', '.join(f'{one}=' for one in inside)}")
        if name in known.names or (name.startswith("hydra.") and not plus) or name.startswith(OPEN):
            continue
        part = next((above for above in _above(name) if above in known.parts), None)
        if not part:
            raise InputError(f"{text}: {no_such_setting(name, known.names)}")
        if not plus:
            more = f"an argument of {part} that its YAML file does not name is written +{text}"
            raise InputError(f"{text}: {no_such_setting(name, known.names)}; {more}")


def refuse_unread_settings(config: Any, program: str) -> None:
    """Raises InputError for a setting that was added to those of the chosen files and that nothing reads.

    `config` is what Hydra composed in this job, with its interpolations. What was added below a part is read if it is
    an argument of the part's class; anywhere else, if another setting refers to it.
    """
    from omegaconf import OmegaConf

    found: Any = OmegaConf.to_container(config, resolve=False)
    for name in OURS.keys() & dict(_flat(found)).keys():
        raise InputError(f"{name}: set by this program; give {OURS[name]}")
    if not _may_add():
        return
    plain = dict(_flat(_without_additions(program)))
    referred = {text for value in dict(_flat(found)).values() for text in re.findall(r"\$\{([\w.]+)\}", str(value))}
    for name, value in _flat(found):
        above = name.rpartition(".")[0]
        if name in plain or (above and above not in plain) or name in referred or _is_argument(found, name):
            continue
        while isinstance(value, dict) and value:
            name, value = next((f"{name}.{key}", inner) for key, inner in value.items())
        raise InputError(f"{name}={value}: {no_such_setting(PART.sub('', name), plain)}")


def no_such_setting(name: str, known: Iterable[str]) -> str:
    """The message for a setting that does not exist, with the closest one: the same last word, or a similar one."""
    above, _, last = name.rpartition(".")
    words: dict[str, list[str]] = {}  # by the last word of a name
    for other in sorted(known):
        if (word := other.rpartition(".")[2]) not in OF_HYDRA:
            words.setdefault(word, []).append(other)
    next_to_it = [word for word, others in words.items() if f"{above}.{word}".lstrip(".") in others]
    ends = sorted((word for word in words if last.endswith(f"_{word}")), key=len)[-1:]
    if not above and (longer := [word for word in words if word.endswith(f"_{last}")]):  # epochs: trainer.max_epochs
        words[last] = [*words.get(last, []), *(other for word in longer for other in words[word])]
    alike = ends or get_close_matches(last, next_to_it, 1) or get_close_matches(last, words, 1, 0.8)
    if close := get_close_matches(name, words.get(last, words[alike[0]] if alike else []), 3, 0):
        return f"nothing reads such a setting; did you mean {' or '.join(f'{other}=' for other in close)}?"
    return "nothing reads such a setting; see --help and the files in configs/"


def _flat(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting and every group of settings with its dotted name; groups come before what is in them."""
    for key, value in settings.items():
        yield f"{above}{key}", value
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")


def _above(name: str) -> Iterator[str]:
    """The dotted names of the groups around a setting, the closest first."""
    while name := name.rpartition(".")[0]:
        yield name


def _may_add() -> bool:
    """Whether this job has anything from which settings can come that the chosen files do not have."""
    from hydra.core.hydra_config import HydraConfig

    job = HydraConfig.get()
    folders = [source for source in job.runtime.config_sources if source.schema == "file"]
    return len(folders) > 1 or bool(job.runtime.choices.get("experiment")) or any("+" in t for t in job.overrides.task)


def _without_additions(program: str) -> dict[str, Any]:
    """What Hydra composes of the files that this job chose, without experiments and without `+` in its arguments."""
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode
    from omegaconf import OmegaConf

    job, hydra = HydraConfig.get(), GlobalHydra.instance().hydra
    assert hydra is not None
    own = {group: choice for group, choice in job.runtime.choices.items() if not group.startswith("hydra/")}
    chosen = {group: choice for group, choice in own.items() if group not in NO_SOURCE}
    settings = [f"{'+' if '@' in group else ''}{group}={_written(choice)}" for group, choice in chosen.items()]
    settings += [text for text in job.overrides.task if text.startswith("suite=")]  # Hydra records no choice of several
    plain: Any = OmegaConf.to_container(hydra.compose_config(program, settings, RunMode.RUN), resolve=False)
    return plain


def _written(choice: Any) -> str:
    return "null" if choice is None else str(choice).replace(" ", "").replace("'", "")


def _is_argument(settings: Mapping[str, Any], name: str) -> bool:
    """Whether a setting is an argument of the class named next to it. A class that cannot be found is not judged."""
    from hydra.utils import get_object

    above, _, last = name.rpartition(".")
    part: Any = settings
    for key in filter(None, above.split(".")):
        part = part[key] if isinstance(part, dict) and key in part else {}
    if not isinstance(part, dict) or CLASS not in part:
        return False
    try:
        wanted = inspect.signature(get_object(part[CLASS])).parameters
    except Exception:  # instantiate says what is wrong with it
        return True
    return last in OF_HYDRA or last in wanted or any(given.kind is given.VAR_KEYWORD for given in wanted.values())
