"""Parse raw text into Penn-style trees, through the Stanza parser (an optional package)."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from datamodules.arrays import chunks
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from encoder_lab.settings.command_line import Command
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.text_files import count_lines, read_lines

BATCH_SENTENCES = 256  # per call of the parser
PROCESSORS = "tokenize,pos,constituency"


def parse_file(source: Path, target: Path, parser: Callable[[str], Any]) -> int:
    """Write a tree for each sentence that is not blank; returns their number. `target` is written atomically."""
    trees = 0
    with atomic_write(target) as file, Progress(total=count_lines(source), desc="parsing", unit=" sentences") as bar:
        numbered = ((number, " ".join(line.split())) for number, line in read_lines(source) if line.strip())
        for batch in chunks(numbered, BATCH_SENTENCES):
            parsed = parser("\n\n".join(sentence for _, sentence in batch)).sentences  # a blank line ends a sentence
            if len(parsed) != len(batch):
                problem = f"the parser made {len(parsed)} of the {len(batch)} sentences from here on"
                raise InputError(f"{source}:{batch[0][0]}: {problem}; look for lines without words")
            file.writelines(" ".join(str(sentence.constituency).split()) + "\n" for sentence in parsed)
            trees += len(parsed)
            bar.update(len(parsed))
    return trees


def stanza_parser() -> Callable[[str], Any]:
    """A parser of raw English text. Raises InputError if the library or its model is not installed."""
    try:
        from stanza import Pipeline
    except ImportError as error:
        raise InputError(f"the parser is not installed ({error}): pip install stanza") from None
    try:
        return Pipeline("en", processors=PROCESSORS, tokenize_no_ssplit=True, download_method=None, verbose=False)
    except Exception as error:  # Stanza has no specific error for a missing model
        reason = " ".join(str(error).split())[:200]
        remedy = f"python -c \"import stanza; stanza.download('en', processors='{PROCESSORS}')\""
        raise InputError(f"stanza did not start ({reason}); get its model: {remedy}") from None


def run_parse(options: SimpleNamespace) -> None:
    source, target = map(Path, options.positional)
    if not source.is_file():
        raise InputError(f"{source}: no such file")
    if target.exists() and source.samefile(target):
        raise InputError(f"{target}: its text would be lost; give another file for the trees")
    print(f"{parse_file(source, target, stanza_parser())} trees in {target}")


COMMAND = Command(
    "python -m datamodules.trees.parse IN.txt OUT.mrg",
    __doc__,
    work=run_parse,
    meaning="text, one sentence per line, plain or .gz; and the file that gets one tree per line",
    writes=lambda options: options.positional[1],
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
