"""Penn-style trees from raw text, through the Stanza parser if it is installed.

python -m datamodules.trees.parse IN.txt OUT.mrg      one sentence per line in, one tree per line out
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from common.errors import InputError, of_the_disk
from common.files import atomic_write
from common.text_files import count_lines, read_lines

TOGETHER = 256  # sentences that the parser sees at once
PROCESSORS = "tokenize,pos,constituency"


def parse_file(source: Path, target: Path, parser: Callable[[str], Any]) -> int:
    """Write a tree for each sentence that is not blank; returns their number. `target` is whole or not there."""
    trees = 0
    with atomic_write(target) as file, tqdm(total=count_lines(source), desc="parsing", disable=None) as bar:
        for first, sentences in _portions(source):
            parsed = parser("\n\n".join(sentences)).sentences  # a blank line ends a sentence, nothing else does
            if len(parsed) != len(sentences):
                raise InputError(
                    f"{source}:{first}: the parser made {len(parsed)} of the {len(sentences)} sentences from here on; "
                    "look for lines without words"
                )
            file.writelines(" ".join(str(sentence.constituency).split()) + "\n" for sentence in parsed)
            trees += len(parsed)
            bar.update(len(parsed))
    return trees


def _portions(source: Path) -> Iterator[tuple[int, list[str]]]:
    """Sentences by the hundreds, with the line of the first."""
    held: list[str] = []
    first = 1
    for number, line in read_lines(source):
        if len(held) == TOGETHER:
            yield first, held
            held = []
        if line.strip():
            first = first if held else number
            held.append(" ".join(line.split()))
    if held:
        yield first, held


def stanza_parser() -> Callable[[str], Any]:
    """English, raw text in. Raises InputError if the library or its model is not here."""
    try:
        from stanza import Pipeline
    except ImportError as error:
        raise InputError(f"the parser is not installed ({error}): pip install stanza") from None
    try:
        return Pipeline("en", processors=PROCESSORS, tokenize_no_ssplit=True, download_method=None, verbose=False)
    except Exception as error:  # it has no class of its own for a model that is missing
        why = " ".join(str(error).split())[:200]
        remedy = f"python -c \"import stanza; stanza.download('en', processors='{PROCESSORS}')\""
        raise InputError(f"stanza did not start ({why}); get its model: {remedy}") from None


def main(arguments: list[str] | None = None) -> None:
    """The command line; what the user can mend is said in one line."""
    reader = argparse.ArgumentParser(
        prog="python -m datamodules.trees.parse", description="Raw text to Penn-style trees."
    )
    reader.add_argument("source", type=Path, help="text, one sentence per line; may end in .gz")
    reader.add_argument("target", type=Path, help="gets one tree per line")
    given = reader.parse_args(arguments)
    try:
        if not given.source.is_file():
            raise InputError(f"{given.source}: no such file")
        print(f"{parse_file(given.source, given.target, stanza_parser())} trees in {given.target}")
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:
        print(f"error: {of_the_disk(error, given.target)}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
