"""Train fastText vectors on text files, for embeddings=file.

python -m datamodules.word_vectors.train news.txt books.txt.gz --out vectors.bin
"""

import argparse
import sys
from pathlib import Path

from common.errors import InputError, of_the_disk
from common.files import workshop
from common.processes import parallel_map
from common.text_files import read_lines
from datamodules.text.tokenize import tokenize
from datamodules.word_vectors.skipgram import train_bin


def main(arguments: list[str]) -> int:
    """Train and write a `.bin`; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m datamodules.word_vectors.train", description=__doc__)
    parser.add_argument("text", nargs="+", type=Path, help="one sentence per line, plain or .gz")
    parser.add_argument("--out", type=Path, required=True, help="the .bin file to write")
    parser.add_argument("--raw", action="store_true", help="tokenise the text first (Moses, English)")
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--bucket", type=int, default=50_000, help="rows for character n-grams (default 50000)")
    parser.add_argument("--threads", type=int, default=1, help="one gives the same vectors every time (default)")
    options = parser.parse_args(arguments)
    settings = {
        "dim": options.dim,
        "epoch": options.epochs,
        "lr": 0.1,  # as in configs/embeddings/train.yaml, and so the sampling:
        "t": 0.001,  # fastText's own are for billions of words
        "bucket": options.bucket,
        "thread": options.threads,
    }
    try:
        if options.out.suffix != ".bin":
            raise InputError(f"--out {options.out}: name it .bin, by which embeddings=file tells its format")
        with workshop(options.out.parent) as work:
            joined, made = work / "text", work / "vectors.bin"
            with joined.open("w", encoding="utf-8") as file:
                for path in options.text:
                    lines = (line for _, line in read_lines(path))
                    file.writelines(f"{line}\n" for line in (parallel_map(tokenize, lines) if options.raw else lines))
            train_bin(joined, made, {**settings, "minn": 3, "maxn": 6})
            made.replace(options.out)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {of_the_disk(error, options.out)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
