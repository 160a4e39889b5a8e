"""Small tasks are scored at the same time as others; nobody sees it in the scores."""

import pytest

from probes import side_by_side
from probes.share import score_together
from probes.side_by_side import score_each
from tests.probes.test_share import Counts, tasks, what_was_found


@pytest.mark.parametrize("small", [(), (0,), (1, 3), (0, 1, 2, 3)])
def test_results_come_in_the_order_of_the_tasks(small: tuple[int, ...]) -> None:
    made = tasks(4)
    names = score_each(made, lambda task: task.name, lambda task: made.index(task) in small, "cpu", "")
    assert names == [task.name for task in made]


def test_tasks_side_by_side_score_as_they_do_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    together = score_together(tasks(4), Counts(), 1, 2, 1, "cpu")
    monkeypatch.setattr(side_by_side, "SMALL", 0)
    alone = score_together(tasks(4), Counts(), 1, 2, 1, "cpu")
    assert [what_was_found(row) for row in together] == [what_was_found(row) for row in alone]
