"""The command line of every program: settings as key=value, help and errors in one line. Imports fast modules only."""

import io
import os
import re
import signal
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

from encoder_lab import errors
from encoder_lab.errors import InputError, printable, shortened
from encoder_lab.settings.quoting import command_line_value, split_names, unquoted

HELP_WIDTH, NAME_WIDTH = 120, 44  # columns; a longer name stands on a line of its own
MAX_DIGITS = 15
FILE_ENDINGS = (".npy", ".parquet", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".conllu", ".onnx", ".pt", ".zip", ".gz")
USER_ERROR, INTERRUPTED, READER_ENDED = 2, 130, 141  # exit statuses
LIBRARY_ERRORS = {  # exceptions of libraries for mistakes of the user: module and class
    "hydra.errors": "HydraException",
    "mlflow.exceptions": "MlflowException",  # also where its server does not answer
    "omegaconf.errors": "OmegaConfBaseException",
    "pytorch_lightning.utilities.exceptions": "MisconfigurationException",
    "wandb.errors": "Error",
    "yaml": "YAMLError",  # of a file in --config-dir
}
CHECK_PATH = "check this path"
FIX_DISK = "fix this, then run the same command again"


def fail(message: str) -> int:
    """Print an error in one line; returns the exit status of errors that the user can fix."""
    print(f"error: {shortened(printable(message), errors.MAX_MESSAGE_CHARACTERS)}", file=sys.stderr)
    return USER_ERROR


def exit_with(messages: Iterable[str]) -> None:
    """Print the errors, each in one line, and end the program; does nothing where there are none."""
    if statuses := list(map(fail, messages)):
        raise SystemExit(statuses[0])


@cache  # Python forgets what it has shown where any library has used `catch_warnings`
def print_warning(message: str) -> None:
    """Print a warning, each once, without the line of our code that Python adds."""
    print(f"warning: {message}", file=sys.stderr)


@contextmanager
def one_line_errors(
    path: Path | str, remedy: str | Callable[[], str] = FIX_DISK, stopped: str = "stopped"
) -> Iterator[None]:
    """Ends the program with one line for what a user can fix; `path` is named if the disk is full."""
    replace_unprintable()
    warnings.showwarning = lambda message, *_, **__: print_warning(str(message))
    try:
        for argument in sys.argv:
            argument.encode()  # a name that is not UTF-8 would fail late, in a library
        yield
        sys.stdout.flush()  # at Python's end nobody would answer that its reader has ended
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # another Ctrl-C would print a traceback at Python's end
        if stopped:
            print(f"\n{stopped}", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except _user_errors() as error:  # before OSError: one of Hydra's is both
        from encoder_lab.settings.known import message_with_advice

        raise SystemExit(fail(message_with_advice(error))) from None
    except BrokenPipeError:  # the reader has ended, as head does
        silence_output()
        raise SystemExit(READER_ENDED) from None
    except Exception as error:
        if isinstance(error, ValueError) and str(error).startswith("embedded null"):
            raise SystemExit(fail(f"{error}: a path has a character that no path can have; {CHECK_PATH}")) from None
        if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
            text = error.object.encode(errors="backslashreplace").decode()
            raise SystemExit(fail(f"{text}: not UTF-8; rename it, or set the locale, as LC_ALL=C.UTF-8")) from None
        cause = error if isinstance(error, OSError) else errors.disk_error_in(error)
        if errors.memory_is_full(error):
            line, advice = f"{path}: memory is full: {errors.first_line(error)}", remedy
        elif cause:
            line = errors.disk_error_line(cause, path)
            advice = remedy if cause.errno in errors.WRITE_ERRNOS else CHECK_PATH
        else:
            raise
        raise SystemExit(fail(f"{line}; {advice if isinstance(advice, str) else advice()}")) from None


def _user_errors() -> tuple[type[Exception], ...]:
    """InputError and the exceptions of loaded libraries; a library that is not loaded cannot have raised one."""
    loaded = ((sys.modules[module], name) for module, name in LIBRARY_ERRORS.items() if module in sys.modules)
    return (InputError, *(getattr(module, name) for module, name in loaded))


def replace_unprintable() -> None:
    """Make every text printable: `?` for what the terminal cannot show, and no output where it is closed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:  # closed: its number must not become that of a file of ours
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
        elif mode == "w" and isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def silence_output() -> None:
    """From now on nothing is printed: the reader of the output has ended."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Whether -h or --help is among the arguments."""
    return bool({"-h", "--help"} & set(arguments))


def show_help(text: str) -> None:
    with one_line_errors("standard output"):
        print(text)


class ValueType(NamedTuple):
    """The type of a setting's value."""

    metavar: str  # in help: FILE
    expected: str  # in errors: a file
    parse: Callable[[str], Any]  # raises ValueError or KeyError


def _integer(text: str, least: int = 0) -> int:
    if not text.isdecimal() or len(text) > MAX_DIGITS or int(text) < least:
        raise ValueError
    return int(text)


def list_of(single: ValueType) -> ValueType:
    """A list of values of a type: `a,b` or `[a,b]`."""
    expected = f"{single.expected}, or several with commas between them"
    return ValueType(f"{single.metavar},...", expected, lambda text: list(map(single.parse, split_names(text))))


def _folder(text: str) -> Path:
    if (path := FILE.parse(text)).is_file() or (path.suffix in FILE_ENDINGS and not path.exists()):
        raise ValueError
    return path


TEXT = ValueType("TEXT", "a text", unquoted)
FILE = ValueType("FILE", "a file", lambda text: Path(unquoted(text)))
FOLDER = ValueType("DIR", "a folder", _folder)
INTEGER = ValueType("N", "a whole number", _integer)
COUNT = ValueType("N", "a whole number from 1", partial(_integer, least=1))
BOOLEAN = ValueType("true|false", "true or false", lambda text: {"true": True, "false": False}[text.lower()])
PATH = ValueType("PATH", "a file or folder", lambda text: Path(unquoted(text)))  # that exists
PATHS = list_of(PATH)
NAMES = list_of(ValueType("NAME", "a name", str))._replace(parse=lambda text: list(dict.fromkeys(split_names(text))))
COUNTS = list_of(COUNT)


def one_of(*choices: str) -> ValueType:
    """One of some words."""
    expected = f"{', '.join(choices[:-1])} or {choices[-1]}"
    return ValueType("|".join(choices), expected, dict(zip(choices, choices, strict=True)).__getitem__)


class Setting(NamedTuple):
    """One key=value of a command."""

    key: str
    meaning: str
    type: ValueType = TEXT
    default: Any = None
    required: bool = False
    needs: str = ""  # the key of the setting, or `positional`, without which it has no effect


class Command(NamedTuple):
    """What a command does and its arguments: files or folders by position, then settings. --help is made of it."""

    usage: str  # python report.py table [RUN...]: positional arguments have capitals, brackets if they may be left out
    purpose: str | None  # the docstring of its module
    settings: Sequence[Setting] = ()
    work: Callable[[SimpleNamespace], int | None] | None = None  # with the settings by their keys; the exit status
    meaning: str = ""  # of the positional arguments
    absent: str = ""  # the error for a positional argument that does not exist, before slow imports
    endings: Mapping[str, Sequence[str]] = MappingProxyType({})  # that `out` may have, by `format`; "" without it
    writes: Callable[[SimpleNamespace], Path | str] = lambda options: getattr(options, "out", None) or "standard output"
    remedy: str = FIX_DISK
    stopped: str = "stopped"

    @property
    def positional(self) -> str:
        """The positional arguments: RUN..., or nothing."""
        return " ".join(re.findall(r"(?<= )\[?([A-Z][^] =]*)\]?(?= |$)", self.usage))

    def read(self, arguments: Sequence[str]) -> SimpleNamespace:
        """The settings by their keys, and `positional`, the arguments without a key. Raises InputError."""
        types = {setting.key: setting.type for setting in self.settings}
        values: dict[str, Any] = {}
        positional: list[str] = []
        for index, text in enumerate(arguments):
            key, equals, value = text.partition("=")
            if text.startswith("-"):
                raise InputError(self._advice_for_option(text, arguments[index + 1 :]))
            if not equals or not re.fullmatch(r"[a-z_]+", key) or (key not in types and Path(text).exists()):
                positional.append(text)
                continue
            if key not in types:
                raise InputError(f"{text}: {unknown_name_message('setting', f'{key}=', [f'{k}=' for k in types])}")
            if key in values:
                raise InputError(f"{text}: {key}= is given twice; give it once")
            if not value:
                raise InputError(f"{text}: give {types[key].expected}, or leave it out")
            try:
                values[key] = types[key].parse(value)
            except (ValueError, KeyError):
                raise InputError(f"{text}: give {types[key].expected}") from None
            paths = {PATH: [values[key]], PATHS: values[key]}.get(types[key], ())
            if nowhere := [path for path in paths if not path.exists()]:
                raise InputError(f"{nowhere[0]}: no such file or folder ({key}=)")
        if missing := [setting for setting in self.settings if setting.required and setting.key not in values]:
            raise InputError(f"{missing[0].key}= is missing: {missing[0].meaning}; see --help")
        present = {**values, self.positional: positional}
        for setting in self.settings:
            if setting.key in values and setting.needs and not present.get(setting.needs):
                needed = f"{setting.needs}{'=' * (setting.needs in types)}"
                raise InputError(f"{setting.key}= has an effect only with {needed}; give it too, or leave it out")
        words = self.positional.split()
        if len(positional) < len(words) and f" [{words[0]}]" not in self.usage:
            raise InputError(f"{self.positional} is missing: {self.meaning}; see --help")
        if not self.positional.endswith("...") and (extra := positional[len(words) :]):
            raise InputError(f"{extra[0]}: one argument too many; settings are written key=value, see --help")
        if self.absent and (absent := [text for text in positional if not Path(text).exists()]):
            raise InputError(f"{absent[0]}: {self.absent}")
        options = {**{setting.key: setting.default for setting in self.settings}, **values}
        form, out = options.get("format", ""), values.get("out")
        if out and out.is_file() and any(out.samefile(text) for text in positional if Path(text).exists()):
            raise InputError(f"out={out}: this command reads that file; choose another name")
        if self.endings and "out" in values and values["out"].suffix not in (possible := self.endings[form]):
            other = f", or another format= than {form}" if form else ""
            raise InputError(f"out={values['out']}: give a name that ends in {' or '.join(possible)}{other}")
        return SimpleNamespace(positional=positional, **options)

    def _advice_for_option(self, text: str, following: Sequence[str]) -> str:
        name, _, value = text.lstrip("-").partition("=")
        key = name.replace("-", "_")
        types = {setting.key: setting.type for setting in self.settings}
        if key not in types:
            keys = [f"{name}=" for name in types]
            return f"{text}: {unknown_name_message('setting', f'{key}=', keys)}; settings are written key=value"
        value = value or ("true" if types[key] is BOOLEAN else next(iter(following), types[key].metavar))
        return f"{text}: settings are written key=value; write {key}={value}"

    @property
    def help(self) -> str:
        keys = [f"{setting.key}={setting.type.metavar}" for setting in self.settings]
        rows = [(self.positional, self.meaning)] if self.positional else []
        rows += [(key, _meaning_with_default(setting)) for key, setting in zip(keys, self.settings, strict=True)]
        indent = " " * (4 + max((len(name) for name, _ in rows if len(name) <= NAME_WIDTH), default=0))
        filled = [textwrap.fill(text, HELP_WIDTH, initial_indent=indent, subsequent_indent=indent) for _, text in rows]
        lines = [
            f"  {name}\n{text}" if len(name) > NAME_WIDTH else f"  {name}".ljust(len(indent)) + text[len(indent) :]
            for (name, _), text in zip(rows, filled, strict=True)
        ]
        usage = f"  {self.usage}{' [key=value ...]' * bool(keys)}"
        return "\n".join([str(self.purpose).strip(), "", usage, "", *lines])

    def read_or_end(self, arguments: Sequence[str]) -> SimpleNamespace:
        """The settings; ends after help or a mistake. Long work then prints lines where no terminal shows a bar."""
        if asks_for_help(arguments):
            show_help(self.help)
            raise SystemExit(0)
        with one_line_errors("", self.remedy, self.stopped):
            options = self.read(arguments)
        from encoder_lab.progress import print_progress_lines

        print_progress_lines()
        return options

    def run(self, arguments: Sequence[str]) -> int:
        """Prints help, or does the work with the arguments; returns the exit status."""
        assert self.work
        try:
            options = self.read_or_end(arguments)
            with one_line_errors(output := self.writes(options), self.remedy, self.stopped):
                if sys.__stdout__ is None and output == "standard output":
                    raise InputError("standard output is closed, and the result goes there; add > FILE")
                return self.work(options) or 0
        except SystemExit as ended:
            return int(ended.code or 0)


def _meaning_with_default(setting: Setting) -> str:
    if setting.required:
        return f"{setting.meaning} (needed)"
    default = "" if setting.default is None else command_line_value(setting.default).strip("[]")
    return f"{setting.meaning} (default: {default})" if default else setting.meaning


def unknown_name_message(noun: str, name: str, choices: Sequence[str]) -> str:
    """The message for a name that does not exist: the closest one, and all of them."""
    spelt = {choice.casefold(): choice for choice in reversed(choices)}
    close = get_close_matches(name.casefold(), spelt, 1)
    guess = f"did you mean {spelt[close[0]]}? There" if close else "there"
    return f"no such {noun}; {guess} are {', '.join(choices) or 'none'}"
