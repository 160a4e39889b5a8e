"""Small tasks are scored at the same time as others; nobody sees it in the scores."""

from collections.abc import Callable

import pytest

from probes import evaluation
from probes.evaluation import Evaluation, score_tasks
from tests.probes.test_share import Counts, essence_of, tasks


@pytest.mark.parametrize("small", [(), (0,), (1, 3), (0, 1, 2, 3)])
def test_results_come_in_the_order_of_the_tasks(small) -> None:
    made = tasks(4)
    names = score_tasks(made, lambda task: task.name, lambda task: made.index(task) in small, "cpu", "")
    assert names == [task.name for task in made]


def test_logistic_regression_starts_first(monkeypatch) -> None:
    made, started = tasks(4), list[str]()
    monkeypatch.setattr(type(made[1]), "reader", property(lambda task: "logreg" if task is made[1] else "mlp"))
    monkeypatch.setattr(evaluation, "map_on_cores", one_after_another)
    score_tasks(made, lambda task: started.append(task.name), made.__contains__, "cpu", "")
    assert started[0] == made[1].name


def one_after_another(function: Callable[[int], None], jobs: list[int], _device: str) -> list[None]:
    """As `map_on_cores` on one core: it begins with the last."""
    return [function(job) for job in reversed(jobs)][::-1]


def test_tasks_side_by_side_score_as_they_do_one_after_another(monkeypatch) -> None:
    together = Evaluation(Counts().model(), tasks(4)).scores()
    monkeypatch.setattr(evaluation, "SMALL_TASK_BYTES", 0)
    alone = Evaluation(Counts().model(), tasks(4)).scores()
    assert [essence_of(score.row) for score in together] == [essence_of(score.row) for score in alone]
