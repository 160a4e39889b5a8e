"""Trains fastText vectors reproducibly: the same text gives the same vectors.

fastText 0.9.3 initialises a tenth of its input matrix per thread. With fewer than ten threads the other rows contain
uninitialised memory. We therefore give words their initial vectors in a file. The n-gram rows start at zero, because
training runs in a separate process with zeroed memory.
"""

import ctypes
import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from datamodules.word_vectors.fasttext_file import MAX_WORD_BYTES, check_bin
from encoder_lab.errors import InputError
from encoder_lab.progress import SECONDS_PER_LINE, Progress

ZEROED_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": "65536",  # bytes; the kernel zeroes larger blocks
    "MALLOC_PERTURB_": "255",  # malloc fills smaller blocks with the complement of this value
}

PR_SET_PDEATHSIG = 1  # of prctl(2)


def train_bin(text: Path, out: Path, settings: Mapping[str, float]) -> None:
    """Train skip-gram vectors with subwords (Bojanowski et al. 2017) on a file of sentences. Raises InputError."""
    first = text.with_suffix(".first.vec")
    _write_first_vectors(text, first, int(settings["dim"]))
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), *filter(None, sys.path)])  # fasttext may lie where only this process looks
    environment = {**os.environ, **ZEROED_MEMORY, "PYTHONPATH": paths}
    arguments = [str(text), str(first), str(out), json.dumps(settings), str(os.getpid())]
    command = [sys.executable, "-m", "datamodules.word_vectors.skipgram", *arguments]
    title = f"training word vectors, {settings['epoch']} passes"
    failed, reason = _run_with_progress(command, environment, title)
    if failed:
        raise InputError(f"fastText could not train word vectors ({reason}); try embeddings=file, or lower dim")
    try:
        check_bin(out)  # fastText does not check its writes
    except InputError:
        raise OSError(errno.ENOSPC, "no room for the word vectors", str(out)) from None
    with out.open("rb") as file:
        os.fsync(file.fileno())


def _run_with_progress(command: Sequence[str], environment: Mapping[str, str], title: str) -> tuple[int, str]:
    """Run fastText, which reports no progress; its exit status, and the last line of its errors."""
    errors, quiet = "", subprocess.DEVNULL
    with (
        subprocess.Popen(command, env=environment, stdout=quiet, stderr=subprocess.PIPE, text=True) as process,
        Progress(total=1, desc=title, unit=" models", leave=False) as bar,
    ):
        try:
            while process.returncode is None:
                try:
                    errors = process.communicate(timeout=SECONDS_PER_LINE)[1]
                except subprocess.TimeoutExpired:
                    bar.refresh()
        except BaseException:
            process.kill()
            raise
    return process.returncode, (errors.strip() or "stopped").splitlines()[-1]


def _write_first_vectors(text: Path, out: Path, dim: int) -> None:
    """Write initial vectors, uniform in (-1/dim, 1/dim) as in fastText, one row per word of the text."""
    with text.open(encoding="utf-8") as file:
        words = sorted({word for line in file for word in line.split()})
    for word in words:
        if "\0" in word or len(word.encode()) > MAX_WORD_BYTES:
            problem = f"a NUL character, or more than {MAX_WORD_BYTES:,} bytes"
            raise InputError(f"fastText cannot read the word {word[:20]!r}: it has {problem}; take it out of the text")
    rows = np.random.default_rng(0).uniform(-1 / dim, 1 / dim, (len(words), dim))
    with out.open("w", encoding="utf-8") as file:
        file.write(f"{len(words)} {dim}\n")
        for word, row in zip(words, rows, strict=True):
            file.write(f"{word} {' '.join(f'{x:.5g}' for x in row)}\n")


def _main(text: str, first: str, out: str, settings: str, parent: str) -> None:
    _end_with_parent(int(parent))
    import fasttext

    model = fasttext.train_unsupervised(
        text, model="skipgram", minCount=1, pretrainedVectors=first, verbose=0, **json.loads(settings)
    )
    model.save_model(out)


def _end_with_parent(parent: int) -> None:
    """End this process when the parent is killed (Linux); fastText loops forever if its text is deleted."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent has already ended
            os._exit(1)


if __name__ == "__main__":
    _main(*sys.argv[1:])
