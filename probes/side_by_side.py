"""Small tasks are scored side by side, one on each core: their products are too short for several cores."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from encoder_lab.progress import Progress
from probes.classifiers.blocks import on_all_cores
from probes.task import Task

Result = TypeVar("Result")


def score_each(
    tasks: Sequence[Task], score: Callable[[Task], Result], small: Callable[[Task], bool], device: str, title: str
) -> list[Result]:
    """The result of `score` for each task, in order; `small` tasks at the same time where `device` is the CPU."""
    alone = [place for place, task in enumerate(tasks) if not small(task)]
    others = [place for place in range(len(tasks)) if place not in set(alone)]
    others.sort(key=lambda place: tasks[place].reader == "logreg")  # the longest of a suite, such as WC, starts first
    with Progress(total=len(tasks), desc=title, leave=False, unit=" tasks") as bar:

        def scored(place: int) -> Result:
            result = score(tasks[place])
            bar.update()
            return result

        if len(others) < 2:
            return [scored(place) for place in range(len(tasks))]
        results = dict(zip(others, on_all_cores(scored, others, device), strict=True))
        results |= {place: scored(place) for place in alone}
    return [results[place] for place in range(len(tasks))]
