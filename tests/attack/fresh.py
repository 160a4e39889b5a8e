"""Fresh cases of every attack for some time, counted by category; each failure is kept as a case of the test suite."""

import json
import logging
import os
import random
import tempfile
import time
import traceback
import warnings
from collections import Counter
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.attack import faults, processes
from tests.attack.attack import CASES, Attack
from tests.attack.every import ATTACKS
from tests.attack.preload import preload

PORTION = 25  # cases that are drawn at once


class Tried:
    """What was tried and what failed, by category."""

    def __init__(self) -> None:
        self.cases, self.failures = Counter[str](), Counter[str]()
        self._met: set[str] = set()

    def check(self, attack: Attack, case: Any) -> None:
        """Try a case; keep it if it fails in a way that no case of this time has."""
        case = json.loads(json.dumps(case))
        self.cases[attack.category] += 1
        try:
            with tempfile.TemporaryDirectory() as folder:
                attack.check(case, Path(folder))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.failures[attack.category] += 1
            last = traceback.extract_tb(error.__traceback__)[-1]
            if (how := f"{attack.category} {type(error).__name__} {last.filename}:{last.lineno}") not in self._met:
                self._met.add(how)
                where = _keep(attack, case) if attack in ATTACKS else case  # the test suite tries no whole commands
                print(f"FAILED {attack.category}: {type(error).__name__}: {str(error)[:600]}\n  {where}", flush=True)

    def check_fresh_cases(self, attack: Attack, number: int, seconds: float) -> None:
        """Fresh cases until the time is over."""
        until = time.monotonic() + seconds
        choice = random.Random(f"{number} {attack.category}")
        while time.monotonic() < until:
            for case in _drawn(attack, choice.getrandbits(64)):
                if time.monotonic() < until:
                    self.check(attack, case)


def _drawn(attack: Attack, number: int) -> list[Any]:
    """Some cases, without the simplest, which always comes first."""
    cases: list[Any] = []

    @seed(number)
    @settings(
        max_examples=PORTION,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(attack.cases)
    def draw(case: Any) -> None:
        cases.append(case)

    draw()
    return cases[1:]


def _keep(attack: Attack, case: Any) -> Path:
    """Write a case for tests/test_attack.py."""
    text = json.dumps({"category": attack.category, "case": case}, indent=1) + "\n"
    path = CASES / f"{attack.category.replace(' ', '_')}-{sha256(text.encode()).hexdigest()[:8]}.json"
    path.write_text(text, encoding="utf-8")
    return path


def work(arguments: SimpleNamespace) -> int:
    """Every category has the same time. The exit status is 1 if something failed."""
    os.environ["LD_PRELOAD"] = preload()  # before the fork server begins
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    number = random.SystemRandom().getrandbits(32) if arguments.seed is None else arguments.seed
    every = (*faults.ATTACKS, *processes.ATTACKS, *ATTACKS)
    attacks = [attack for attack in every if arguments.only in (None, attack.category)]
    tried = Tried()
    for attack in attacks:
        tried.check_fresh_cases(attack, number, arguments.seconds / len(attacks))
        counts = f"{tried.cases[attack.category]:,} | {tried.failures[attack.category]:,}"
        print(f"| {attack.category} | {counts} |", flush=True)
    print(f"| all, seed {number} | {tried.cases.total():,} | {tried.failures.total():,} |")
    return 1 if tried.failures else 0
