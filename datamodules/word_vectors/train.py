"""Train fastText vectors on text files, for embeddings=file."""

import sys
from pathlib import Path
from types import SimpleNamespace

from encoder_lab.settings.command_line import BOOLEAN, COUNT, FILE, Command, Setting


def run_train(options: SimpleNamespace) -> None:
    """Read the text files, train on all of them, write the model. Raises InputError."""
    from datamodules.text.tokenize import tokenize
    from datamodules.word_vectors.store import Trained
    from encoder_lab.compute.processes import parallel_map
    from encoder_lab.storage.text_files import read_lines, without_copies

    lines = (line for path in without_copies(map(Path, options.positional)) for _, line in read_lines(path))
    # as configs/embeddings/train.yaml: the learning rate and sampling of fastText are for billions of words
    training = Trained(options.dim, options.epochs, 0, 0.1, 0.001, options.bucket, 3, 6, options.threads)
    training.write(parallel_map(tokenize, lines) if options.raw else lines, options.out)


COMMAND = Command(
    "python -m datamodules.word_vectors.train TEXT...",
    __doc__,
    [
        Setting("out", "the .bin file to write", FILE, required=True),
        Setting("raw", "tokenise the text first (Moses, English)", BOOLEAN, False),
        Setting("dim", "size of the vectors", COUNT, 300),
        Setting("epochs", "passes over the text", COUNT, 5),
        Setting("bucket", "rows for character n-grams", COUNT, 50_000),
        Setting("threads", "1 gives the same vectors every time", COUNT, 1),
    ],
    run_train,
    "text files, one sentence per line, plain or .gz",
    endings={"": (".bin",)},  # by which embeddings=file knows the format
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
