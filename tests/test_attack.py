"""Fifty cases of every attack, the same each time, and all that ever failed; `make attack` tries fresh ones."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from encoder_lab.studies.compose import checked_settings
from tests.attack import faults
from tests.attack.attack import CASES, Attack
from tests.attack.every import ATTACKS

NIGHTLY = settings.get_current_profile_name() == "nightly"  # other cases each time
CASES_OF_EACH = 400 if NIGHTLY else 50
KEPT = sorted(CASES.glob("*.json"))


def tried(attack: Attack, case: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        attack.check(case, Path(folder))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.category)
def test_an_attack_does_no_harm(attack) -> None:
    @settings(
        max_examples=CASES_OF_EACH,
        derandomize=not NIGHTLY,
        phases=[Phase.explicit, Phase.generate],
        report_multiple_bugs=False,
    )
    @given(attack.cases)
    def check(case: Any) -> None:
        tried(attack, json.loads(json.dumps(case)))  # as it would be kept

    check()


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_once_failed_does_no_harm(path) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    (attack,) = (attack for attack in ATTACKS if attack.category == record["category"])
    tried(attack, record["case"])


@pytest.mark.parametrize("name", ["evaluate", "sentences", "train"])
def test_a_command_in_which_calls_fail_is_accepted_without_them(name, tmp_path) -> None:
    program, *arguments = faults.COMMANDS[name].format(tmp_path).split()
    assert checked_settings(program.removesuffix(".py"), arguments)
