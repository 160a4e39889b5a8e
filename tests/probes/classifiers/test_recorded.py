"""Steps that are recorded on a GPU; what a GPU alone can tell is in `make gpu`."""

from unittest.mock import MagicMock

import pytest
import torch

from probes.classifiers.recorded import WARM_UP_CALLS, StepGraphs


@pytest.fixture
def graph(monkeypatch) -> MagicMock:
    """What stands for a graph of the GPU."""
    graph = MagicMock()
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: graph)
    for name in ("Stream", "stream", "current_stream"):
        monkeypatch.setattr(torch.cuda, name, MagicMock())
    return graph


def test_a_step_is_recorded_after_a_few_plain_calls_and_replayed(graph) -> None:
    calls, recorded = [], StepGraphs()
    for _ in range(WARM_UP_CALLS + 3):
        recorded(lambda *tensors: calls.append(tensors), torch.ones(2))
    assert (len(calls), graph.capture_begin.call_count, graph.replay.call_count) == (WARM_UP_CALLS + 1, 1, 3)


def test_an_error_ends_the_recording_of_its_step(graph) -> None:
    recorded = StepGraphs()
    for _ in range(WARM_UP_CALLS):
        recorded(lambda _: None, torch.ones(2))
    with pytest.raises(torch.OutOfMemoryError):
        recorded(MagicMock(side_effect=torch.OutOfMemoryError), torch.ones(2))
    graph.capture_end.assert_called_once()
