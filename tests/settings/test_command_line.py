"""Settings are key=value; what is wrong with them is one line that says what to write."""

import errno
import json
import re
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf.errors import ConfigKeyError
from torch import OutOfMemoryError
from yaml import YAMLError

from encoder_lab import progress
from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import (
    BOOLEAN,
    COUNTS,
    FILE,
    FOLDER,
    INTEGER,
    NAMES,
    Command,
    Setting,
    asks_for_help,
    list_of,
    one_line_errors,
    one_of,
)
from tests.conftest import ROOT

COMMAND = Command(
    "python bake.py FLOUR... out=FILE",
    "Bake bread.",
    [
        Setting("out", "the loaf", FILE, required=True),
        Setting("minutes", "how long", INTEGER, 40),
        Setting("heat", "of the oven", one_of("low", "medium", "high"), "high"),
        Setting("with_salt", "salted", BOOLEAN, False),
        Setting("seeds", "on top", NAMES),
        Setting("weights", "of each loaf", COUNTS, [500, 750]),
        Setting("shapes", "of each loaf", list_of(one_of("long", "round"))),
    ],
    meaning="bags of flour",
)


@pytest.mark.parametrize(("arguments", "message"), [
    (["a", "out=x", "minuts=3"], "minuts=3: no such setting; did you mean minutes=? There are out=, minutes=, "),
    (["a", "out=x", "minutes=-1"], "minutes=-1: give a whole number"),
    (["a", "out=x", "heat=cold"], "heat=cold: give low, medium or high"),
    (["a", "out=x", "with_salt=yes"], "with_salt=yes: give true or false"),
    (["a", "out=x", "weights=500,0"], "weights=500,0: give a whole number from 1, or several with commas between"),
    (["a", "out=x", "shapes=[square]"], "shapes=[square]: give long or round, or several with commas between them"),
    (["a", "out="], "out=: give a file, or leave it out"),
    (["a", "out=x", "out=y"], "out=y: out= is given twice; give it once"),
    (["a"], "out= is missing: the loaf; see --help"),
    (["out=x"], "FLOUR... is missing: bags of flour; see --help"),
    (["a", "--out", "x"], "--out: settings are written key=value; write out=x"),
    (["a", "--minutes=3"], "--minutes=3: settings are written key=value; write minutes=3"),
    (["a", "--with-salt", "b"], "--with-salt: settings are written key=value; write with_salt=true"),
    (["a", "--out"], "--out: settings are written key=value; write out=FILE"),
    (["a", "--ouf=x"], "--ouf=x: no such setting; did you mean out=? There are out=, "),
])  # fmt: skip
def test_a_mistake_is_answered_with_what_to_write(arguments, message) -> None:
    with pytest.raises(InputError) as raised:
        COMMAND.read(arguments)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("salted", [[], ["with_salt=false"]])
def test_a_setting_is_refused_without_the_one_that_it_needs(salted) -> None:
    command = COMMAND._replace(settings=[*COMMAND.settings, Setting("grains", "how many", INTEGER, needs="with_salt")])
    assert command.read(["a", "out=x", "with_salt=true", "grains=3"]).grains == 3
    with pytest.raises(InputError, match="grains= has an effect only with with_salt=; give it too, or leave it out"):
        command.read(["a", "out=x", "grains=3", *salted])


@pytest.mark.parametrize(("words", "missing", "too_many"), [
    ("", None, ["a"]), ("IN.txt OUT.mrg", ["a"], ["a", "b", "c"]), ("[NAME]", None, ["a", "b"]),
    ("RUN... out=DIR [answers=DIR]", [], None), ("[RUN...]", None, None), ("DIR DIR... | all=DIR", ["a"], None),
])  # fmt: skip
def test_the_usage_says_how_many_arguments_have_no_key(words, missing, too_many) -> None:
    command = Command(f"python -m bake {words}", "Bake.")
    for arguments, message in ((missing, "is missing"), (too_many, "one argument too many")):
        if arguments is not None:
            with pytest.raises(InputError, match=message):
                command.read(arguments)
    fewest = 0 if missing is None else len(missing) + 1
    most = 9 if too_many is None else len(too_many) - 1
    assert all(len(command.read(["a"] * count).positional) == count for count in range(fewest, most + 1))


@pytest.mark.parametrize("name", ["two.npy", __file__])
def test_the_name_of_a_file_is_no_folder(name) -> None:
    with pytest.raises(InputError, match=f"^shelf={name}: give a folder"):
        COMMAND._replace(settings=[Setting("shelf", "where it cools", FOLDER)]).read(["a", f"shelf={name}"])


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "minutes": st.integers(0, 1000),
            "heat": st.sampled_from(["low", "medium", "high"]),
            "with_salt": st.booleans(),
            "seeds": st.lists(st.sampled_from(["poppy", "sesame"]), min_size=1, unique=True),
            "weights": st.lists(st.integers(1, 1000), min_size=1),
            "shapes": st.lists(st.sampled_from(["long", "round"]), min_size=1),
        },
    ),
    st.booleans(),
    st.randoms(),
)
def test_settings_are_read_back_as_they_were_written_in_any_order(settings, brackets, order) -> None:
    lists = {key: ",".join(map(str, value)) for key, value in settings.items() if isinstance(value, list)}
    texts = {key: f"[{text}]" if brackets else text for key, text in lists.items()}
    written = [f"{key}={texts.get(key, value)}" for key, value in settings.items()]
    arguments = ["rye", "out=loaf", *written]
    order.shuffle(arguments)  # type: ignore[attr-defined]
    defaults = {"minutes": 40, "heat": "high", "with_salt": False, "seeds": None, "weights": [500, 750], "shapes": None}
    assert vars(COMMAND.read(arguments)) == {"positional": ["rye"], "out": Path("loaf"), **defaults, **settings}


def test_a_file_with_an_equals_sign_in_its_name_is_a_file(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flour=rye").touch()
    assert COMMAND.read(["flour=rye", "runs/lr=1/a", "out=x"]).positional == ["flour=rye", "runs/lr=1/a"]


def test_help_names_every_setting_with_its_default(capsys) -> None:
    assert COMMAND._replace(work=lambda _: 1 // 0).run(["a", "-h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["Bake bread.", "", "  python bake.py FLOUR... out=FILE [key=value ...]"]
    assert [line.split()[0] for line in lines[4:]] == [
        *("FLOUR...", "out=FILE", "minutes=N", "heat=low|medium|high", "with_salt=true|false", "seeds=NAME,..."),
        *("weights=N,...", "shapes=long|round,..."),
    ]
    assert lines[5].endswith("the loaf (needed)")
    assert lines[8].endswith("salted (default: false)")
    assert lines[10].endswith("of each loaf (default: 500,750)")


def test_a_long_list_of_choices_leaves_the_meanings_their_width() -> None:
    shapes = Setting("shape", "of the loaf", one_of(*(f"shape_{number}" for number in range(20))))
    lines = Command("python bake.py", "Bake.", [Setting("out", "the loaf", FILE), shapes]).help.splitlines()
    assert [lines[4], lines[6]] == ["  out=FILE  the loaf", "            of the loaf"]


@pytest.mark.parametrize(("error", "status", "message"), [
    (InputError("flour: mouldy"), 2, "error: flour: mouldy\n"),
    (ConfigKeyError("no key flour"), 2, "error: no key flour\n"),
    (YAMLError("own.yaml, line 3"), 2, "error: own.yaml, line 3\n"),
    (OSError(errno.ENOSPC, "No space left on device"), 2, "error: loaf: No space left on device; bake less\n"),
    (OSError(errno.ENOSPC, "Full", "loaf.tmp"), 2, "error: loaf.tmp: Full; bake less\n"),
    (Exception("I/O: no room (os error 28)"), 2, "error: loaf: No space left on device; bake less\n"),
    (Exception("I/O (os error 24)"), 2, "error: loaf: Too many open files; check this path\n"),
    (OSError(errno.ESTALE, "Stale file handle"), 2, "error: loaf: Stale file handle; check this path\n"),
    (MemoryError("Unable to allocate 9 GiB"), 2, "error: loaf: memory is full: Unable to allocate 9 GiB; bake less\n"),
    (OutOfMemoryError("CUDA out of memory."), 2, "error: loaf: memory is full: CUDA out of memory; bake less\n"),
    (RuntimeError("can't allocate memory"), 2, "error: loaf: memory is full: can't allocate memory; bake less\n"),
    (KeyboardInterrupt(), 130, "\nstopped; the dough is there\n"),
])  # fmt: skip
def test_what_a_user_can_fix_is_one_line_and_a_status(error, status, message, capsys, monkeypatch) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)  # Ctrl-C goes on to end the tests
    with pytest.raises(SystemExit) as ended, one_line_errors("loaf", "bake less", "stopped; the dough is there"):
        raise error
    assert (ended.value.code, capsys.readouterr().err) == (status, message)


def test_a_second_ctrl_c_does_not_disturb_the_end() -> None:
    code = """
import atexit, os, signal
from encoder_lab.settings.command_line import one_line_errors
atexit.register(os.kill, os.getpid(), signal.SIGINT)
with one_line_errors("loaf"):
    raise KeyboardInterrupt
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "\nstopped\n")


def test_a_name_that_is_not_utf8_is_refused_before_work_begins(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py", "corpus.root=caf\udce9.txt"])
    with pytest.raises(SystemExit) as ended, one_line_errors("loaf"):
        pytest.fail("work began")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(
        r"error: corpus.root=caf\udce9.txt: not UTF-8; rename it, or set the locale"
    )


def test_a_warning_is_one_line_and_printed_once(capsys) -> None:
    with one_line_errors("out"):
        for _ in range(3):
            with warnings.catch_warnings():  # Python would show the next one again
                warnings.warn("3 sentences are empty", stacklevel=1)
    assert capsys.readouterr().err == "warning: 3 sentences are empty\n"


@pytest.mark.parametrize("error", [ValueError("a bug"), OSError(errno.EBADF, "a bug")])
def test_a_bug_is_no_mistake_of_the_user(error) -> None:
    with pytest.raises(type(error), match="a bug"), one_line_errors("loaf"):
        raise error


HEAVY = ("torch", "pytorch_lightning", "hydra", "omegaconf", "transformers", "matplotlib", "sklearn", "scipy")
HELP = {
    "evaluate.py": ["-h"],
    "evaluate.py, after Hydra": ["model=bov", "epochs=all"],
    "report.py table": ["table", "--help"],
    "report.py, unknown report": ["tabel"],
    "report.py, unknown setting": ["table", "runs", "epoc=last"],
    "train.py, unknown choice": ["encoder=bilstm_mx"],
    "benchmarks/fair.py, unknown setting": ["round=5"],
}
HELPED = ("train.py", "report.py", "encoders.encode", "probes.probing.build", "datamodules.download", "tests.attack")
HELPED += ("datamodules.trees.parse", "datamodules.word_vectors.train", "datamodules.demo", "benchmarks.table")
HELP |= {name: ["--help"] for name in HELPED}
IN_A_PROCESS = """
import contextlib, io, json, os, runpy, sys

def answer(name, arguments):
    sys.argv[1:] = arguments
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            (runpy.run_path if name.endswith(".py") else runpy.run_module)(name, run_name="__main__")
        except SystemExit as ended:
            status = ended.code or 0
    return [status, out.getvalue(), err.getvalue(), [module for module in {heavy} if module in sys.modules]]

import encoder_lab.settings.command_line  # which is light, and read once for all
for name, arguments in json.loads(sys.stdin.read()).items():
    if not os.fork():
        print(json.dumps([name, answer(name.split()[0].rstrip(","), arguments)]), flush=True)
        os._exit(0)
    os.wait()
"""


@cache
def answers() -> dict[str, tuple[int, str, str, list[str]]]:
    """Status, output, errors and heavy imports of each command, in a fork of a process that has imported nothing."""
    command = [sys.executable, "-c", IN_A_PROCESS.replace("{heavy}", str(HEAVY))]
    done = subprocess.run(command, cwd=ROOT, input=json.dumps(HELP), capture_output=True, text=True, check=True)
    return dict(map(json.loads, done.stdout.splitlines()))


@pytest.mark.parametrize("name", HELP)
def test_help_and_mistakes_are_answered_before_anything_heavy_is_imported(name) -> None:
    status, out, err, loaded = answers()[name]
    asked = asks_for_help(HELP[name])
    assert (loaded, status) == (["hydra", "omegaconf"] * ("after Hydra" in name), 0 if asked else 2), err
    assert out if asked else re.search("did you mean|leave out epochs=", err)


def test_long_work_of_a_command_prints_lines(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "_run_names", [])
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.0)

    def work(_: object) -> None:
        assert list(progress.Progress("ab", "baking", unit=" loaves")) == ["a", "b"]

    assert COMMAND._replace(work=work).run(["a", "out=x"]) == 0
    assert "baking: 1 of 2 loaves, 0 s" in capsys.readouterr().err
