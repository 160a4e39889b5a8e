"""Letters, marks and capitals of any script."""

import unicodedata

QUOTES_AND_BRACKETS = frozenset("\"'`´‘’‚‛“”„‟«»‹›「」『』〈〉《》()[]{}（）【】")


def is_word(text: str) -> bool:
    """Whether a token has letters alone, with their vowel signs and accents."""
    return text.isalpha() or (
        text[:1].isalpha() and all(letter.isalpha() or unicodedata.category(letter)[0] == "M" for letter in text)
    )


def letter_count(text: str) -> int:
    """The number of letters; a letter that stands for a syllable or a word counts as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def has_letters(text: str) -> bool:
    """Whether a token has a letter or a digit; otherwise it is punctuation or a symbol."""
    return any(letter.isalnum() for letter in text)


def is_mark(text: str) -> bool:
    """Whether a token is a quotation mark or a bracket."""
    return bool(text) and QUOTES_AND_BRACKETS.issuperset(text)


def capitalise(word: str, dotted: bool) -> str:
    """The word with a capital first letter."""
    return ("İ" if dotted and word[:1] == "i" else word[:1].upper()) + word[1:]


def uncapitalise(word: str, dotted: bool) -> str:
    """The word with a small first letter."""
    return ({"I": "ı", "İ": "i"}.get(word[:1], word[:1].lower()) if dotted else word[:1].lower()) + word[1:]
