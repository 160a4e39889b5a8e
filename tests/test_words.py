"""Plain international English: no unusual or literary words in code, messages, comments, configuration and docs.

Each entry of `WORDS` is a word or phrase, or a regular expression, with what to write instead.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packages import PACKAGES, ROOT

FOLDERS = ("benchmarks", "configs", "docs", "examples", "tests", *PACKAGES)
ENDINGS = (".py", ".yaml", ".md", ".toml")
DATA = ("tests/fixtures", "tests/golden_run", "datamodules/demo/verbs.yaml")  # not written for readers
WIDTH = 100  # characters in a line of prose

WORDS = {
    r"mend(s|ed|ing)?": "fix, repair", "anew": "again; made anew: rebuilt", "beside": "next to, in addition to",
    "whose": "with, of which", "told by": "recognised by", "signs? of life": "heartbeat",
    "the same thing written plainly": "the straightforward implementation", "luck": "chance, sampling variance",
    "go(es|ing)? on where": "resume, continue", "whoever": "a user who", "wherever": "where, everywhere",
    "whatever": "any", "whichever": "the one that", "whereof": "of which", "thereof": "of it", "thereby": "so",
    "henceforth": "from now on", "hitherto": "until now", "whence": "from where", "thence": "from there",
    "lest": "so that ... not", "once more": "again", "(for )?ever after": "later", "holds? its peace": "prints nothing",
    "nobody's": "of no process", "forgiv(e|es|en|ing)": "patience", "vouch(es)?": "guarantee", "yardstick": "reference",
    "(about|first|of|by|to) so many": "this many, a number of", "of like lengths?": "of similar length",
    "like lengths": "similar lengths", "for people": "for the user, readable", "remembered": "cached",
    "rounder": "whitened", "spoilt": "corrupted", "for want of": "too few", "at hand": "available",
    "as a rule": "usually", "knobs?": "settings", "(take|has) no more": "is full", "people's scores": "human scores",
    "raced": "successive halving", "entrants?": "candidate", "strays": "split_overlap",
    "whole_products": "fast_exact_matmul", "of_the_disk": "disk_error_line", "written whole": "written atomically",
    "had enough": "stops reading", "is said in one line": "user errors print one line and exit with status 2",
    "as one would write it first": "the straightforward implementation", "keeps its promises": "name the property",
}  # fmt: skip


def _sources() -> Iterator[Path]:
    """All files that are written for readers, except this one."""
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in ENDINGS)
    yield from (path for path in sorted(ROOT.iterdir()) if path.suffix in ENDINGS)


def _is_in(path: Path, places: tuple[str, ...]) -> bool:
    name = path.relative_to(ROOT).as_posix()
    return any(name == place or name.startswith(f"{place}/") for place in places)


def _pattern(*words: str) -> str:
    return rf"(?<![A-Za-z])(?:{'|'.join(words)})(?![A-Za-z])".replace(" ", r"(?:[\s#>*]+|_)")


ANY = re.compile(_pattern(*WORDS))  # without re.I, which is slower than the text in lower case


def _forbidden_words(text: str) -> Iterator[tuple[int, str, str]]:
    """Line number, word and replacement of each forbidden word; a phrase may continue on the next line."""
    if not ANY.search(text.lower()):
        return
    for word, instead in WORDS.items():
        for match in re.finditer(_pattern(word), text, re.I):
            yield text.count("\n", 0, match.start()) + 1, match.group(), instead


def _too_long(text: str) -> Iterator[int]:
    """Numbers of prose lines that are wider than WIDTH. Code blocks, tables and links may be wider."""
    is_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        is_code ^= line.lstrip().startswith("```")
        is_table = line.lstrip().startswith("|")
        is_link = "](" in line or "http" in line
        if len(line) > WIDTH and not (is_code or is_table or is_link):
            yield number


def test_only_plain_words_are_used() -> None:
    files = [path for path in _sources() if not _is_in(path, (*DATA, "tests/test_words.py"))]
    words = [(path, *word) for path in files for word in _forbidden_words(path.read_text(encoding="utf-8"))]
    assert [f"{path.relative_to(ROOT)}:{line}: {word!r}; write: {new}" for path, line, word, new in words] == []


@pytest.mark.parametrize(
    "page",
    [path.relative_to(ROOT).as_posix() for path in _sources() if path.suffix == ".md" and not _is_in(path, DATA)],
)
def test_prose_is_wrapped(page) -> None:
    assert [f"{page}:{line}" for line in _too_long((ROOT / page).read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("text", "line"),
    [("Fine.\nMend it.", 2), ("def test_a_run_whose_end(): ...", 1), ("# it is made\n# anew", 2), ("once\n# more", 1)],
)
def test_a_forbidden_word_is_found_with_its_line(text, line) -> None:
    assert [number for number, *_ in _forbidden_words(text)] == [line]


@pytest.mark.parametrize("text", ["recommend", "besides", "modest", "a beautiful harvest"])
def test_words_that_contain_a_forbidden_word_are_allowed(text) -> None:
    assert not list(_forbidden_words(text))


def test_only_prose_must_be_wrapped() -> None:
    long = "word " * 30
    text = "\n".join(["short", long, f"| {long}|", "```", long, "```", f"[name](target) {long}", long])
    assert list(_too_long(text)) == [2, 8]
