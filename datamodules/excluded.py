"""Sentences that training leaves out, because tasks probe with them (Conneau et al. 2018, section 3.2)."""

from collections.abc import Iterable
from pathlib import Path
from unicodedata import category

from encoder_lab.errors import InputError
from encoder_lab.storage.content import key_of
from encoder_lab.storage.files import refuse_special

LEFT_OUT_FILE = "left_out.txt"  # in the folders of a text and of a run: the letters of what was met, a line each
SYLLABIC_CODE_POINTS = (*range(0x900, 0x1AB0), *range(0x1B00, 0x1DC0), *range(0xA800, 0xAC00), *range(0x11000, 0x12000))
VOWEL_SIGNS = {chr(n) for n in SYLLABIC_CODE_POINTS if category(chr(n)) in ("Mn", "Mc")}  # of Devanagari, Thai, ...


class Excluded:
    """A set of sentences, compared by their letters and digits: two tokenisations of a sentence are the same."""

    def __init__(self, sentences: Iterable[str] = ()) -> None:
        self._letters = frozenset(map(letters_of, sentences)) - {""}
        self.matched: set[str] = set()  # the letters of those that were looked up and are in it

    def __contains__(self, sentence: str) -> bool:
        key = letters_of(sentence) if self._letters else ""
        if key in self._letters:
            self.matched.add(key)
        return key in self._letters

    @property
    def key(self) -> list[str]:
        """Its part of the keys of caches; empty without sentences."""
        return [key_of(*sorted(self._letters))] if self._letters else []


def read_left_out(run: Path) -> Excluded:
    """The training sentences that a run left out. Raises InputError where its file is damaged."""
    path = run / LEFT_OUT_FILE
    refuse_special(path)
    try:
        return Excluded(path.read_text(encoding="utf-8").splitlines() if path.exists() else ())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: damaged ({error}); copy the whole run folder again") from None


def left_out_lines(matched: Iterable[str]) -> str:
    """The content of LEFT_OUT_FILE."""
    return "".join(f"{letters}\n" for letters in sorted(matched))


def letters_of(sentence: str) -> str:
    """The letters, vowel signs and digits of a sentence, in one case, without spaces."""
    return "".join([c for c in sentence.casefold() if c.isalnum() or c in VOWEL_SIGNS])
