"""Every study again: one commit, a stop between, pages at the end."""

import json
import os
import signal
import time

import pytest

from encoder_lab.studies.results import COMMAND, HOURS_FILE, StudyEntry
from tests import commands
from tests.conftest import TINY

STUDY = """\
# Study: words alone (Table 0)
axes:
  objective: {{untrained: objective=untrained}}
  encoder: {{bov: encoder=bov, bilstm_last: encoder=bilstm_last}}
scales:
  demo:
    every: {settings}
reports:
  every:
    - table {{runs}} epoch=last out={{study}}/table.md
    - curves {{runs}} out={{study}}/curves.png
"""


@pytest.fixture
def arguments(lab, tmp_path) -> list[str]:
    """The arguments for a study of two cells."""
    settings = [text for text in TINY if not text.startswith(("encoder.", "objective."))]
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "words.yaml").write_text(STUDY.format(settings=" ".join([*settings, f"cache={lab.cache}"])))
    return [f"configs={tmp_path}", f"runs={tmp_path}/runs", f"out={tmp_path}/pages", "commit=abc1234"]


def finish(*arguments: str) -> int:
    return COMMAND.run(arguments)


def test_a_killed_run_of_all_studies_goes_on_and_writes_pages_of_one_commit(arguments, tmp_path, capsys) -> None:
    runs, page = tmp_path / "runs/words/demo", tmp_path / "pages/words_demo.md"
    assert finish(*arguments, "dry_run=true") == 0
    assert "words scale=demo: 2 of 2 cells to do, no hours known" in capsys.readouterr().out
    killed = commands.start("-m", "encoder_lab.studies.results", *arguments, forking=True)
    while killed.poll() is None and not (runs / "untrained/bov/done").exists():
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    first = (runs / "untrained/bov/probes.csv").stat().st_mtime_ns
    assert not page.exists()
    assert finish(*arguments[:-1], "commit=def5678") == 2
    assert "begun by commit abc1234, this is def5678" in capsys.readouterr().err
    commands.succeed("-m", "encoder_lab.studies.results", *arguments, forking=True)
    assert (runs / "untrained/bov/probes.csv").stat().st_mtime_ns == first
    text = page.read_text()
    assert text.startswith("# words alone (Table 0)\n\nCommit abc1234, 2 runs, ")
    assert "BiLSTM-last" in text
    assert (page.parent / "words_demo_curves.png").stat().st_size > 0
    assert json.loads((page.parent / HOURS_FILE).read_text())["words_demo"] >= 0


@pytest.mark.parametrize(
    ("wrong", "message"), [("studies=[word]", "studies=word: there are words"), ("scales=[huge]", "scales")]
)
def test_what_does_not_exist_is_refused(arguments, wrong, message, capsys) -> None:
    assert finish(*arguments, wrong) == 2
    assert message in capsys.readouterr().err


def test_the_hours_of_a_control_task_count_once(tmp_path) -> None:
    (tmp_path / "metrics.csv").write_text("epoch,seconds\n1,900\n")
    controls = [f"control,WC control per {unit},1800" for unit in ("word", "sentence")]
    rows = ["suite,task,seconds", "probing,WC,900", "selectivity,WC,1800", *controls]
    (tmp_path / "probes.csv").write_text("\n".join([*rows, ""]))
    assert StudyEntry(None, "", tmp_path, "").hours() == 1.5
