"""Odd settings of schedules; settings of a run with an odd part, and what the command that continues it may change."""

import json
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from encoder_lab.settings.build import build
from encoder_lab.settings.check import mistakes
from encoder_lab.settings.run_settings import as_yaml
from encoder_lab.studies.compose import CONFIGS
from encoder_lab.training.run_folder import settings_to_resume
from encoder_lab.training.schedules import StepSchedule
from tests.attack.arguments import VALUES
from tests.attack.attack import GONE, Attack, corrupt, refused
from tests.attack.choices import COMPOSED, composed

SCHEDULES = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((CONFIGS / "schedule").glob("*.yaml"))}
PARTS = [*VALUES, GONE]
MAY = ["trainer.max_epochs=3", "+trainer.max_steps=20", "corpus.root=/nowhere", "cache=elsewhere", "allow=[a.b]"]
ODD = ["trainer.max_steps=-5", "trainer.max_epochs=", "trainer.callbacks=[{_target_: os.getcwd}]", "trainer={a: 1}"]
ODD += ["trainer.strategy=ddp_spawn", "trainer.max_time=[", "trainer.a.b.c=1", "corpus.root={a: {b: 1}}", "cache="]
ODD += [
    "trainer.devices=[[1]", "trainer.devices=[]]", "trainer.precision={a", "corpus.root={a: *b}", "cache={a: 1",
    "trainer.a=" + "{a: " * 2000,
]  # fmt: skip
OTHER = ["seed=3", "encoder.dim=5", "probes=none", "+a.b=1", "trainer", "=", "", "model", "objective.optimizer.lr=1"]


def of_schedule(case: Any, _: Path) -> None:
    """It is refused in one line, or gives a part of the rate at every step."""
    name, which, odd = case
    described = dict(SCHEDULES[name])
    setting = [key for key in described if not key.startswith("_")][which % (len(described) - 1)]
    described[setting] = VALUES[odd]
    messages = mistakes("train", {"schedule": described})
    assert all("\n" not in text and text.startswith(f"schedule.{setting}") for text in messages), messages
    schedule = None if messages else build(described)
    if isinstance(schedule, StepSchedule):
        steps = schedule.steps or 9
        factors = [schedule.factor(step, steps) for step in (*range(1, 12), steps - 1, steps, steps + 1) if step > 0]
        assert all(0 <= factor <= 1 for factor in factors), described


def resumed(case: Any, folder: Path) -> None:
    """One line, or the settings of a run."""
    number, steps, odd, changes = case
    written = json.loads(composed(number)[0])
    if steps and not changes:  # else two mistakes are two lines
        corrupt(written, steps, PARTS[odd])
    (folder / "config.yaml").write_text(as_yaml(written), encoding="utf-8")
    assert refused(lambda: settings_to_resume(folder, changes)) or not set(changes) & set(OTHER)


_number = st.integers(0, 60)
_schedule = st.sampled_from([name for name in SCHEDULES if len(SCHEDULES[name]) > 1])
_training = st.sampled_from([n for n, text in enumerate(COMPOSED) if text.startswith("train")])
_steps, _part = st.lists(_number, max_size=4), st.integers(0, len(PARTS) - 1)
_changes = st.lists(st.sampled_from([*MAY, *ODD, *OTHER]), max_size=1)
ATTACKS = [
    Attack("schedule", st.tuples(_schedule, _number, st.integers(0, len(VALUES) - 1)), of_schedule),
    Attack("settings of a run", st.tuples(_training, _steps, _part, _changes), resumed),
]
