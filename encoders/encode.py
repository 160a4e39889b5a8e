"""Sentences from standard input to vectors on standard output.

python -m encoders.encode RUN < sentences.txt > vectors.npy
"""

import argparse
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

from datamodules.errors import InputError
from encoders.load import load_encoder

DESCRIPTION = "Turn sentences, one per line of standard input, into vectors on standard output."
EPILOG = """\
The output is a NumPy matrix (N, D) of float32, row i for line i; an empty line gets zeros.
Words are what spaces separate, as in the text the run was trained on; --raw tokenises first.

  python -m encoders.encode runs/nmt_enfr/bilstm_max/TIME < sentences.txt > vectors.npy
  python -c "import numpy; print(numpy.load('vectors.npy').shape)"
"""


def main(arguments: list[str]) -> int:
    """Encode one sentence per line; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m encoders.encode",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", help="a run folder (its best checkpoint) or one of its .ckpt files")
    parser.add_argument("--raw", action="store_true", help="tokenise as the run's corpus was")
    options = parser.parse_args(arguments)
    if sys.stdout.isatty():
        parser.error("vectors are binary: send them to a file with > vectors.npy")
    try:
        encode(options.run, not options.raw)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # a full disk, a closed pipe
        print(f"error: could not write the vectors: {error}", file=sys.stderr)
        return 2
    return 0


def encode(run: str, tokenized: bool) -> None:
    """Standard input to standard output, through a file beside other temporary ones: memory stays flat."""
    encoder = load_encoder(run)
    sentences = read_sentences()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said below, in one line
        path = Path(folder) / "vectors.npy"
        encoder.encode(sentences, tokenized, out=path)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
    read = encoder.coverage
    said = f"{len(sentences):,} sentences ({read.sentences:,} distinct), "
    said += f"{read.unknown:,} of {read.words:,} words without a vector"
    print("; ".join(filter(None, [said, read.warning])), file=sys.stderr)


def read_sentences() -> list[str]:
    """The lines of standard input; only a newline ends a line."""
    sentences = []
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            sentences.append(line.decode("utf-8").rstrip("\r\n"))
        except UnicodeDecodeError:
            raise InputError(f"standard input:{number}: not valid UTF-8; convert the file") from None
    if not sentences:
        raise InputError("standard input is empty; give it one sentence per line")
    return sentences


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
