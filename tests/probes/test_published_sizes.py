"""Published data of a wrong size says so."""

import numpy as np
import pytest

from probes.classifiers.grid import Grid
from probes.discoeval.data import PUBLISHED_SIZES
from probes.discoeval.tasks import DiscoEvalSettings
from probes.discoeval.tasks import tasks as discourse_tasks
from probes.probing.data import FromSentEval
from probes.suites import Context
from probes.task import single, warn_of_wrong_sizes
from tests.probes.discoeval.small_files import small_files
from tests.tiny_corpus import TinyCorpus


@pytest.mark.parametrize(
    ("items", "published", "wrong"), [(8, 9, True), (9, 10, False), (10, 10, False), (12, 10, True)]
)
def test_a_size_within_a_tenth_is_the_published_one(items, published, wrong, capsys) -> None:
    part = single(["a"] * items, np.zeros(items, np.int64))
    warn_of_wrong_sizes({"MR": [part], "own": [part]}, {"MR": published})
    lines = [f"warning: MR: {items} items, but {published} are published; its scores are not those of the task"]
    assert capsys.readouterr().err.splitlines() == lines * wrong


def test_a_part_of_a_published_probing_file_says_so(tmp_path, capsys) -> None:
    lines = [f"{part}\t{label}\ta b .\n" for part in ("tr", "va", "te") for label in (0, 1)]
    (tmp_path / "sentence_length.txt").write_text("".join(lines))
    FromSentEval(str(tmp_path)).tasks(Context(Grid(), 1, tmp_path, TinyCorpus()), ["SentLen"], (None, None, None))
    assert "SentLen: 6 items, but 120,000 are published" in capsys.readouterr().err


def test_a_part_of_the_published_discourse_data_says_so(tmp_path, capsys) -> None:
    settings = DiscoEvalSettings(str(small_files(tmp_path / "data")))
    tasks = discourse_tasks(Context(Grid(), 1, tmp_path, TinyCorpus()), settings)
    lines = capsys.readouterr().err.splitlines()
    assert sum("are published" in line for line in lines) == len(tasks) == len(PUBLISHED_SIZES)
