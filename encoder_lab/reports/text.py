"""Text of reports: columns, and names escaped for a format, as a run folder may be somebody else's."""

import html
import re
from collections.abc import Sequence

from encoder_lab.errors import printable, shortened

LATEX_ESCAPES = {letter: f"\\{letter}" for letter in "&%$#_{}"}
LATEX_ESCAPES |= {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
MARKDOWN_SIGNS = re.compile(r"[\\`*\[\]|]|~~|\b_+|_+\b")  # an underscore within a word means nothing
FORMULA_STARTS = ("=", "+", "-", "@")  # where a spreadsheet begins a formula
MAX_NAME_CHARACTERS, MAX_TITLE_CHARACTERS = 100, 120  # characters of a name in a report, and of a title in a figure


def for_latex(text: str) -> str:
    """The text escaped for LaTeX: no command is left."""
    return "".join(LATEX_ESCAPES.get(letter, letter) for letter in printable(text))


def for_markdown(text: str) -> str:
    """The text escaped for Markdown: no HTML, link, picture or table column is left."""
    return MARKDOWN_SIGNS.sub(lambda sign: "".join(map("\\{}".format, sign[0])), html.escape(printable(text), False))


def for_csv(text: str) -> str:
    """The text escaped for a spreadsheet: no formula is left."""
    text = printable(text)
    return f"'{text}" if text.lstrip().startswith(FORMULA_STARTS) else text


def for_terminal(text: str) -> str:
    """The text without the sequences that move the cursor, change colours or set titles."""
    return "\n".join(map(printable, text.split("\n")))


def for_figure(text: str) -> str:
    """A title of a length that fits. figure.py turns off the mathematics of matplotlib for all texts."""
    return shortened(printable(text), MAX_TITLE_CHARACTERS)


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """A line for each row; the first `left` columns are aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    signs = ["<" if index < left else ">" for index in range(len(widths))]
    return ["  ".join(map("{:{}{}}".format, row, signs, widths)).rstrip() for row in rows]
