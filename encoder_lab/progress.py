"""Progress of long work, a bar in a terminal, elsewhere a line every half minute; and what a run will take."""

import os
import sys
from threading import RLock
from typing import Any, NamedTuple

from tqdm import tqdm

SECONDS_PER_LINE = 30.0
# a process that is killed while it holds the lock that tqdm shares with forked processes would stop the others
os.register_at_fork(after_in_child=lambda: tqdm.set_lock(RLock()))
_run_names: list[str] = []  # in a process that prints lines


def print_progress_lines(run: str = "") -> None:
    """From now on this process prints lines where no terminal shows a bar, with the name of the run before each."""
    _run_names[:] = [run]


class Progress(tqdm):
    """A bar of tqdm in a terminal; elsewhere nothing, or after `print_progress_lines` a line every half minute."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self.lines = bool(_run_names) and settings.get("disable") is None and not sys.stderr.isatty()
        settings.setdefault("disable", None)
        if self.lines:
            settings |= {"disable": False, "mininterval": SECONDS_PER_LINE, "delay": SECONDS_PER_LINE, "miniters": 1}
            type(self).monitor_interval = 0  # no thread
        super().__init__(*arguments, **settings)

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        if not self.lines:
            super().display(msg, pos)
        elif msg is None and not self.disable:
            state = self.format_dict
            total, rate = self.total, state["rate"] or (self.n - self.initial) / max(state["elapsed"], 1e-9)
            count = f"{self.n:,} of {total:,.0f}" if total else f"{self.n:,}"
            remaining = f", {duration((total - self.n) / rate)} left" if total and rate else ""
            name = f"{_run_names[0]}: " if _run_names and _run_names[0] else ""
            work = f"{name}{self.desc.removesuffix(': ')}: {count} {self.unit.strip()}"
            print(f"{work}, {duration(state['elapsed'])}{remaining}", file=sys.stderr, flush=True)

    def clear(self, nolock: bool = False) -> None:
        if not self.lines:
            super().clear(nolock)

    def close(self) -> None:
        if not self.lines:
            super().close()
        elif not self.disable:
            self.disable = True
            self._decr_instances(self)  # type: ignore[attr-defined]


def duration(seconds: float) -> str:
    """A time for a person: 8 s, 3 min 20 s, 2 h 5 min."""
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    units = (total // 60, "min", total % 60, "s") if total < 3600 else (total // 3600, "h", total % 3600 // 60, "min")
    return "{} {} {} {}".format(*units)


class MeasuredStep(NamedTuple):
    """A training run of known size."""

    batch: int  # sentences of a step
    seconds: float  # of a step
    checkpoint: int  # bytes, with the numbers of Adam
    text: int  # bytes of an example in the cache

    def hours(self, steps: int) -> float:
        return steps * self.seconds / 3600

    def steps(self, examples: int) -> int:
        return -(-examples // self.batch)

    def disk(self, examples: int) -> int:
        """Bytes of checkpoints (best, last and the one before) and of cached text, without word vectors."""
        return 3 * self.checkpoint + examples * self.text
