"""What several reports' tests need."""

import pytest


@pytest.fixture
def plain_layout(monkeypatch) -> None:
    """Figures are drawn, but their parts are not moved until none overlaps: that takes a third of the time."""
    monkeypatch.setattr("matplotlib.layout_engine.do_constrained_layout", lambda *_, **__: None)
