"""Small tasks are scored side by side, one on each core: their products are too short for several cores."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from encoder_lab.progress import Progress
from probes.classifiers.blocks import map_on_cores
from probes.task import Task

Result = TypeVar("Result")


def score_tasks(
    tasks: Sequence[Task], score: Callable[[Task], Result], is_small: Callable[[Task], bool], device: str, title: str
) -> list[Result]:
    """The result of `score` for each task, in order; `small` tasks at the same time where `device` is the CPU."""
    alone = [index for index, task in enumerate(tasks) if not is_small(task)]
    parallel = [index for index in range(len(tasks)) if index not in set(alone)]
    parallel.sort(key=lambda index: tasks[index].reader == "logreg")  # the longest of a suite, such as WC, starts first
    with Progress(total=len(tasks), desc=title, leave=False, unit=" tasks") as bar:

        def score_index(index: int) -> Result:
            result = score(tasks[index])
            bar.update()
            return result

        if len(parallel) < 2:
            return [score_index(index) for index in range(len(tasks))]
        results = dict(zip(parallel, map_on_cores(score_index, parallel, device), strict=True))
        results |= {index: score_index(index) for index in alone}
    return [results[index] for index in range(len(tasks))]
