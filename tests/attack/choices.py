"""Settings of odd kinds and sizes, given to every setting that there is."""

import json
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hypothesis import strategies as st
from omegaconf import OmegaConf

from encoder_lab.settings.check import mistakes
from encoder_lab.studies.compose import CONFIGS
from encoder_lab.training.allowed_classes import ALLOWED_CLASSES, refuse_foreign_classes
from tests.attack.attack import Attack, refused

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 10**12, 10**30, 0.5, -0.5, 1e308, float("inf"), float("nan"), "", "abc",
]  # fmt: skip
ODD += [
    "1e3", "a\0b", "x" * 5000, "../..", "/dev/zero", "${seed}", [], [1], ["a"], [None], [[]], {}, {"a": 1},
    [{"a": 1}],
]  # fmt: skip
ODD += [{"_target_": "os.getcwd"}, {"_target_": "datamodules.demo.Demo"}]
COMPOSED = ["train", *(f"train objective={n}" for n in ("nli", "discourse", "multitask", "seq2tree", "untrained"))]
COMPOSED += ["train encoder=gated_convnet embeddings=file probes=trees", "train corpus=text probes=senteval"]
COMPOSED += ["evaluate model=bov", *(f"evaluate model=bov suite=[{name}]" for name in ("discoeval", "coherence"))]
COMPOSED += ["evaluate model=bov suite=downstream", "train schedule=linear suite=[discoeval,coherence,downstream]"]
COMPOSED += ["train schedule=plateau"]  # new ones come last: kept cases have numbers
NAMES = ["objective_name=o", "encoder_name=e", "corpus_name=c"]


@cache
def composed(number: int) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """The settings of one command, resolved, as JSON; and the name and value of each single one."""
    program, *overrides = COMPOSED[number].split()
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        config = compose(program, [*overrides, *(NAMES if program == "train" else [])])
    plain = OmegaConf.to_container(config, resolve=True)
    return json.dumps(plain), tuple(_leaves(plain))


def _leaves(settings: Any, above: str = "") -> Any:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        elif not key.startswith("_"):
            yield f"{above}{key}", value


def checked(case: Any, _: Path) -> None:
    """No value is of another type than ours; what is accepted can be used as ours is."""
    number, which, odd = case
    text, leaves = composed(number)
    name, value = leaves[which % len(leaves)]
    settings, new = json.loads(text), ODD[odd]
    if new == "${seed}":  # as it is resolved
        new = settings["seed"]
    *groups, last = name.split(".")
    reduce(getitem, groups, settings)[last] = new
    messages = mistakes(COMPOSED[number].split()[0], settings)
    assert all("\n" not in message and len(message) < 1000 for message in messages)
    named = [message for message in messages if message.startswith(f"{name}=") or message.startswith(f"{name}.")]
    harmful = isinstance(new, dict) or new in (float("inf"), 10**30, "a\0b") or new != new or new == "x" * 5000
    harmful = harmful or (isinstance(value, int | float) and not isinstance(new, int | float | None))
    several = isinstance(value, list) and value and name not in ("probes.tasks", "logger")  # one name alone will do
    harmful = harmful or (several and not isinstance(new, list | None))
    of_copy = ".settings." in name  # of objective=multitask; a number is as good as true there
    harmful = harmful or (isinstance(value, bool) and not of_copy and not isinstance(new, bool | None))
    assert named or not harmful, f"{name}={new!r} was accepted in place of {value!r}"


def placed(case: Any, folder: Path) -> None:
    """A class of ours in the wrong place of a run's settings is refused."""
    place, other = case
    settings = json.loads(composed(0)[0])
    target = reduce(getitem, other.split("."), settings)["_target_"]
    reduce(getitem, place.split("."), settings)["_target_"] = target
    message = refused(lambda: refuse_foreign_classes(settings, folder / "config.yaml"))
    assert message is None if place == other else f"{place}._target_ is {target}" in str(message)


_targets = [*ALLOWED_CLASSES, "objective.optimizer", "trainer", "probes.source"]
_setting = st.tuples(st.integers(0, len(COMPOSED) - 1), st.integers(0, 200), st.integers(0, len(ODD) - 1))
ATTACKS = [
    Attack("setting", _setting, checked),
    Attack("class", st.tuples(st.sampled_from(_targets), st.sampled_from(_targets)), placed),
]
