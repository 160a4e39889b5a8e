"""Language codes (ISO 639), and text without spaces between its words."""

import locale
import re
from collections import Counter
from functools import cache
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import log_note_once

# the code of two letters, then those of three that stand for the same language
CODES = Path(__file__).with_suffix(".txt").read_text(encoding="ascii")
SPELLINGS = {spelling: codes[0] for codes in (row.split(":") for row in CODES.split()) for spelling in codes}
# scripts without spaces: their letters, and how many of them a word has on average at most
UNSPACED = {
    "Chinese or Japanese": (re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]"), 4),
    "Thai, Lao, Khmer, Burmese or Tibetan": (re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]"), 8),
}


@cache
def check_language(code: str | None, setting: str = "language") -> None:
    """Raises InputError for an unknown language code. None, no language, is accepted.

    A code of three letters is accepted for a language that has none of two letters.
    """
    if code is None or (code in SPELLINGS and len(code) == 2):
        return
    if isinstance(code, str) and re.fullmatch("[a-z]{3}", code) and code not in SPELLINGS:
        log_note_once(f"language {code}: taken as a code of ISO 639-3; raw text in it is tokenised by general rules")
        return
    first = re.split(r"[-_]", str(code).lower())[0]
    named = (locale.locale_alias.get(first) or first).partition("_")[0]
    suggestion = SPELLINGS.get(named)
    hint = f"did you mean {suggestion}?" if suggestion else "give a code of ISO 639, such as en, fr, de or grc"
    raise InputError(f"{setting}={code}: not the code of a language; {hint}")


def refuse_unspaced(words: Counter[str]) -> None:
    """Raises InputError for the counted words of a text that is mostly in a script without spaces and not segmented."""
    total = sum(len(word) * count for word, count in words.items())
    for scripts, (letter, max_letters) in UNSPACED.items():
        sizes = [(len(letter.findall(word)), count) for word, count in words.items() if not word.isascii()]
        letters, tokens = sum(size * count for size, count in sizes), sum(count for size, count in sizes if size)
        if 2 * letters > total and letters > max_letters * tokens:
            raise InputError(
                f"this text in {scripts} has {letters / tokens:.0f} letters between two spaces; segment it into words "
                "first, with spaces between them, and say tokenized=true where there is that setting"
            )
