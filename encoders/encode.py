"""Sentences from standard input to vectors on standard output.

python -m encoders.encode RUN < sentences.txt > vectors.npy
"""

import argparse
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from common.errors import InputError
from datamodules.arrays import ArrayFile, chunks
from encoders.frozen import CHUNK, Coverage
from encoders.load import load_encoder

HELD = CHUNK  # lines at a time, as many as are sorted by length together; a line is encoded once in each such part

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
    encoder, read, lines = load_encoder(run), Coverage(), 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said below, in one line
        path = Path(folder) / "vectors.npy"
        with ArrayFile(path, np.float32, (encoder.dim,)) as vectors:
            for sentences in chunks(read_sentences(), HELD):
                vectors.append(encoder.encode(sentences, tokenized))
                lines += len(sentences)
                read = Coverage(*map(sum, zip(read, encoder.coverage, strict=True)))
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
    said = f"{lines:,} sentences ({read.sentences:,} encoded), "
    said += f"{read.unknown:,} of {read.words:,} words without a vector"
    print("; ".join(filter(None, [said, read.warning])), file=sys.stderr)


def read_sentences() -> Iterator[str]:
    """The lines of standard input; only a newline ends a line."""
    number = 0
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise InputError(f"standard input:{number}: not valid UTF-8; convert the file") from None
    if not number:
        raise InputError("standard input is empty; give it one sentence per line")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
