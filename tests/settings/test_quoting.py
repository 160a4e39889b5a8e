"""A value is quoted by one rule, which Hydra and our own commands read in the same way."""

import io
import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from hypothesis import example, given
from hypothesis import strategies as st
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from encoder_lab.settings.command_line import PATHS, TEXT, replace_unprintable
from encoder_lab.settings.known import message_with_advice
from encoder_lab.settings.quoting import for_shell, quoted, split_names, unquoted
from encoder_lab.settings.run_settings import PlainLoader, as_yaml
from tests.asked import composed
from tests.conftest import ROOT

PARSER = OverridesParser.create()
LETTERS = st.sampled_from("ab1é句= ()[]{}#'\"&~,\\/.-+*?|@:;!`%<>") | st.characters(categories=["L", "N", "P", "S"])
PATH_TEXT = st.text(LETTERS, min_size=1, max_size=12).filter(lambda text: "${" not in text)
PATHS_WITH_SIGNS = ["lr=0.1,seed=2", "my run (1)", "it's", "v[1]", "x#1", "a&b", "a~b", "é", "a,b"]


@given(PATH_TEXT)
@example("null")
@example("1e3")
@example("-1")
@example("-inf")
@example("ends with \\")
@example("a\\'b")
def test_hydra_our_commands_and_the_shell_read_a_quoted_value_alike(text) -> None:
    (override,) = PARSER.parse_overrides([f"key={quoted(text)}"])
    assert override.value() == unquoted(quoted(text)) == TEXT.parse(quoted(text)) == text
    assert PATHS.parse(f"[{quoted(text)},b]") == [Path(text), Path("b")]
    printed = subprocess.run(["sh", "-c", f"printf %s {for_shell('key', text)}"], capture_output=True, text=True).stdout
    assert printed == f"key={quoted(text)}"


@given(st.recursive(PATH_TEXT | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False), st.lists))
@example("1e3")
def test_settings_in_a_file_are_read_as_they_were(value) -> None:
    assert yaml.load(as_yaml({"key": value}), PlainLoader) == {"key": value}


def test_what_is_not_wholly_in_quotes_is_a_value_as_it_is() -> None:
    assert [unquoted(text) for text in ("it's", "'a", "'a'b'", "v[1]")] == ["it's", "'a", "'a'b'", "v[1]"]
    assert split_names("v[1], 'a,b' ,c") == ["v[1]", "a,b", "c"]


def answer(program: str, *overrides: str) -> str:
    """What is said of a command of Hydra; empty where it is right."""
    try:
        composed(program, *overrides)
    except HydraException as error:
        return message_with_advice(error)
    return ""


@pytest.mark.parametrize(("path", "key"), zip(PATHS_WITH_SIGNS, cycle(["cache", "model", "+trainer.profiler"])))
def test_a_value_that_hydra_cannot_read_is_answered_with_its_quotes(key, path) -> None:
    program = "evaluate" if key == "model" else "train"
    wrong, right = f"{key}={path}", f"{key}={quoted(path)}"
    several = f"add -m for a run of each, or give a list as {key}=[a,b]; " if path == "a,b" else ""
    quotes = f"a value with signs in it is written in quotes: {for_shell(key, path)}"
    assert (answer(program, wrong), answer(program, right)) == (f"{wrong}: {several}{quotes}", "")


def test_a_number_with_commas_is_answered_with_the_number() -> None:
    advice = "add -m for a run of each, or write a number without commas"
    assert answer("train", "corpus.size=1,200,000") == f"corpus.size=1,200,000: {advice}: corpus.size=1200000"


@pytest.mark.parametrize("path", ["a${b}", "a${b:c}", "a${b", "a${now:}"])
def test_a_name_that_stands_for_another_setting_is_refused_with_the_remedy(path) -> None:
    with pytest.raises((HydraException, OmegaConfBaseException)) as refused:
        OmegaConf.to_container(composed("train", f"cache='{path}'"), resolve=True)
    assert message_with_advice(refused.value).endswith("stands for another setting: rename what has it in its name")


@pytest.mark.parametrize(("argument", "message"), [
    ("objective.head=mlp", "no such setting; these have: objective=nli"),
    ("corpus.held_out=10", "corpus=parallel, corpus=text, corpus=trees, corpus=wikipedia"),
    ("probes.tasks=[a=b]", "not a list or a group; in it, quote each text that is more than a name: ['a=b','c d']"),
    ("corpus.root=~/text", f"no shell has replaced this ~; write corpus.root={Path.home()}/text"),
    ("foo", "foo: settings are written key=value; see --help"),
    ("protocol=modern", "nothing reads such a setting; did you mean probes.classifier.protocol=?"),
])  # fmt: skip
def test_no_hint_of_hydra_leads_into_a_refusal(argument, message) -> None:
    assert answer("train", argument).endswith(message)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_text_is_printed_in_every_encoding(encoding, monkeypatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    replace_unprintable()
    print("±0.5 句 \udce9", flush=True)
    assert written.getvalue().startswith("±0.5 ".encode(encoding, "replace"))


@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-", "show=200 | head -1", "show=1 | true"])
def test_a_command_works_where_nobody_reads_its_output(closed) -> None:
    command = f"exec {sys.executable} -m datamodules.demo {closed}"
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, env=buffered)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["-m datamodules.demo", "-m encoders.encode tests/golden_run", "report.py table"])
def test_a_command_without_an_output_for_its_result_is_refused(command) -> None:
    done = subprocess.run(["sh", "-c", f"{sys.executable} {command} >&-"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "error: standard output is closed, and the result goes there; add > FILE\n",
    )
