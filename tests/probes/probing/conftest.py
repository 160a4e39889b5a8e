"""The tests build tasks of the same trees again and again."""

from collections.abc import Iterator
from functools import wraps
from unittest.mock import patch

import pytest

from datamodules.trees.penn import Bracketed
from probes.probing.build import analysis
from probes.probing.build.tags import TagSet


@pytest.fixture(scope="session", autouse=True)
def trees_analysed_once() -> Iterator[None]:
    """A tree with the same text is parsed and analysed once for each set of labels."""
    analyses, made = analysis._analyse_text, dict[tuple[str, str], list[analysis.Analysis] | None]()

    @wraps(analyses)
    def once(text: Bracketed, tags: TagSet) -> list[analysis.Analysis] | None:
        if (key := (text.text, tags.name)) not in made:
            made[key] = analyses(text, tags)
        return made[key]

    with patch.object(analysis, "_analyse_text", once):
        yield
