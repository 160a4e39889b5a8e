"""Sentences from standard input to vectors on standard output.

python -m encoders.encode RUN < sentences.txt > vectors.npy
"""

import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from types import SimpleNamespace

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import TRUTH, Command, Setting, run

HELD = 1 << 15  # lines at a time, as many as encode() sorts by length; a line is encoded once per such part
PURPOSE = """\
Turn sentences, one per line of standard input, into vectors on standard output.

The output is a NumPy matrix (N, D) of float32, row i for line i; an empty line gets zeros.
Words are separated by spaces, as in the training text of the run; raw=true tokenises first.

  python -m encoders.encode runs/nmt_enfr/bilstm_max/TIME < sentences.txt > vectors.npy
  python -c "import numpy; print(numpy.load('vectors.npy').shape)\""""
COMMAND = Command(
    "python -m encoders.encode RUN",
    PURPOSE,
    [Setting("raw", "tokenise as the run's corpus was", TRUTH, False)],
    "RUN",
    "a run folder (its best checkpoint) or one of its .ckpt files",
    least=1,
    most=1,
    absent="no such run folder or checkpoint",
)


def main(arguments: list[str]) -> int:
    """Encode one sentence per line; the exit status."""

    def work(given: SimpleNamespace) -> None:
        if sys.stdout.isatty():
            raise InputError("vectors are binary: send them to a file with > vectors.npy")
        encode(given.given[0], not given.raw)

    return run(COMMAND, arguments, work, lambda _: "standard output")


def encode(run: str, tokenized: bool) -> None:
    """Standard input to standard output, through a temporary file, so that memory stays bounded."""
    import numpy as np

    from datamodules.arrays import ArrayFile, chunks
    from encoder_lab.storage.scratch import scratch
    from encoders.frozen import Coverage
    from encoders.load import load_encoder

    encoder, read, lines = load_encoder(run), Coverage(), 0
    with scratch() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said below, in one line
        path = folder / "vectors.npy"
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
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # stop without an error if the reader stops
    sys.exit(main(sys.argv[1:]))
