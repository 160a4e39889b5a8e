"""Turn sentences into vectors: lines of standard input into a matrix on standard output, or files into shards.

The output is a NumPy matrix (N, D) of float32, row i for line i; an empty line gets zeros.
Words are separated by spaces, as in the training text of the run; raw=true tokenises first.

  python -m encoders.encode runs/nmt_enfr/bilstm_max/TIME < sentences.txt > vectors.npy
  python -c "import numpy; print(numpy.load('vectors.npy').shape)"

Files of any size are text, JSON lines (.jsonl), both also with .gz and .bz2, Parquet (.parquet) and Arrow (.arrow).
All cores or GPUs are used. A command that was killed continues when it is given again.

  python -m encoders.encode runs/nmt_enfr/bilstm_max/TIME in=texts/ out=vectors/
"""

import math
import os
import shutil
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from glob import glob  # Path.glob takes no absolute pattern
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import BOOLEAN, COUNT, FOLDER, NAMES, Command, Setting, one_of

CHUNK_LINES = 1 << 15  # lines at a time, as many as encode() sorts by length; a line is encoded once per such part
FORMATS = ("parquet", "npy")
LOCK_FILE = ".running"  # the lock in the folder of shards, held while a command works on it
LOCK_TIMEOUT_SECONDS = 10.0  # in which the processes of a killed command end


def run_encode(settings: SimpleNamespace) -> None:
    """Encode standard input or files."""
    if names := vars(settings)["in"]:
        encode_files(settings, input_files(names, settings.out))
        return
    if sys.stdout.isatty():
        raise InputError("vectors are binary: send them to a file with > vectors.npy")
    encode_stdin(settings.positional[0], not settings.raw, settings.allow or ())


COMMAND = Command(
    "python -m encoders.encode RUN",
    __doc__,
    [
        Setting("raw", "tokenise as the run's corpus was", BOOLEAN, False),
        Setting("in", "files, folders, or patterns in quotes; rows are numbered from 0 in this order", NAMES),
        Setting("out", "a folder for the shards; the name of a shard has its first and last row", FOLDER, needs="in"),
        Setting("column", "of Parquet and Arrow, or the key of JSON lines (default: text)", needs="in"),
        Setting("format", "tables of row and vector, or matrices (default: parquet)", one_of(*FORMATS), needs="in"),
        Setting("rows", "of a shard, which must fit into the memory of a process (default: 32768)", COUNT, needs="in"),
        Setting("processes", "by default one for each GPU, or each core", COUNT, needs="in"),
        Setting("ray", "the address of a Ray cluster, or auto; local: Ray on this machine", needs="in"),
        Setting("allow", "packages with your own encoder or corpus", NAMES),
    ],
    run_encode,
    "a run folder (its best checkpoint) or one of its .ckpt files",
    absent="no such run folder or checkpoint",
    stopped="stopped; with in= the same command continues",
)


def input_files(names: list[str], out: Path | None = None) -> list[Path]:
    """The files of `in=`, in its order; those in a folder (also nested) or of a pattern are sorted by name.

    Shards of an earlier command in `out` are none. Raises InputError if there are none.
    """
    from encoder_lab.storage.text_files import visible_files

    shards = out.resolve() if out else None
    files: list[Path] = []
    for name in names:
        paths = [Path(name)] if Path(name).exists() else sorted(map(Path, glob(name, recursive=True)))  # noqa: PTH207
        if not (visible := dict.fromkeys(file for path in paths for file in visible_files(path))):
            raise InputError(f"in={name}: no such file, and no folder or pattern with files")
        files += [file for file in visible if shards not in file.resolve().parents] or visible
    if len({file.resolve() for file in files}) < len(files):
        raise InputError(f"in={','.join(names)}: a file is in it twice")
    return files


def encode_files(settings: SimpleNamespace, files: list[Path]) -> None:
    """Encode the shards that are missing in the folder `out`, with progress; prints what was done."""
    from datamodules.rows import has_columns
    from encoder_lab.storage.files import no_folder_if_refused
    from encoder_lab.storage.locks import locked

    if settings.out is None:
        raise InputError("out= is missing: a folder for the shards; see --help")
    if settings.column and not any(map(has_columns, files)):
        raise InputError(f"column={settings.column}: no file of in= has columns or keys, by their names")
    with locked(settings.out / LOCK_FILE, LOCK_TIMEOUT_SECONDS) as acquired:
        if not acquired:
            raise InputError(f"{settings.out}: another process writes there; wait until it ends")
        with no_folder_if_refused(settings.out, (LOCK_FILE,)):
            _encode_files(settings, files)


def _encode_files(settings: SimpleNamespace, files: list[Path]) -> None:
    from torch.cuda import device_count  # starts nothing on a GPU, so that processes can be forked
    from tqdm import tqdm

    from encoders.bulk import Job, encode_in_processes, missing_shards, plan_shards
    from encoders.frozen import Coverage
    from encoders.load import find_checkpoint

    checkpoint = find_checkpoint(Path(settings.positional[0]))
    gpus, cores = 0 if settings.ray else device_count(), len(os.sched_getaffinity(0))
    processes = settings.processes or gpus or cores
    threads = 0 if processes == 1 or "OMP_NUM_THREADS" in os.environ else max(1, cores // processes)
    column, form, rows = settings.column or "text", settings.format or FORMATS[0], settings.rows or CHUNK_LINES
    allow = tuple(settings.allow or ())
    job = Job(str(checkpoint), settings.out.absolute(), column, form, settings.raw, rows, gpus, threads, allow)
    shards = plan_shards(job, files, checkpoint)
    needed = missing_shards(job, shards)
    if damaged := [shard.path(job).name for shard in needed if shard.path(job).exists()]:
        print(f"{settings.out}: {len(damaged):,} shards cut off or changed, made again: {damaged[0]}", file=sys.stderr)
    total, remaining = (sum(shard.rows for shard in group) for group in (shards, needed))
    coverage, began = Coverage(), time.monotonic()
    pause = 0.5 if sys.stderr.isatty() else 30  # seconds between two lines of progress
    # processes end their first shards at about the same time: after one of them the rate would be too low
    often: dict[str, Any] = {"mininterval": pause, "miniters": processes * rows, "maxinterval": math.inf}
    with tqdm(total=total, initial=total - remaining, unit=" sentences", unit_scale=True, **often) as bar:
        if settings.ray:
            from encoders.on_ray import encode_on_ray

            results = encode_on_ray(job, needed, settings.ray, settings.processes)
        else:
            results = encode_in_processes(job, needed, processes)
        for shard in results:
            coverage = Coverage(*map(sum, zip(coverage, shard, strict=True)))
            bar.update(shard.sentences)
    rate = remaining / (time.monotonic() - began)
    encoded = f"{total:,} sentences in {len(shards):,} shards, {remaining:,} of them encoded now, {rate:,.0f} a second"
    print(f"{encoded}; {coverage.summary}", file=sys.stderr)


def encode_stdin(run: str, tokenized: bool, allow: Sequence[str] = ()) -> None:
    """Encode standard input to standard output, through a temporary file, so that memory stays bounded."""
    import numpy as np

    from datamodules.arrays import ArrayFile, chunks
    from encoder_lab.storage.files import scratch_folder
    from encoders.frozen import Coverage
    from encoders.load import load_encoder

    encoder, coverage, lines = load_encoder(run, allow=allow), Coverage(), 0
    with scratch_folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # reported below, in one line
        path = folder / "vectors.npy"
        with ArrayFile(path, np.float32, (encoder.dim,)) as vectors:
            for sentences in chunks(read_sentences(), CHUNK_LINES):
                vectors.append(encoder.encode(sentences, tokenized))
                lines += len(sentences)
                coverage = Coverage(*map(sum, zip(coverage, encoder.coverage, strict=True)))
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
    print(f"{lines:,} sentences ({coverage.sentences:,} encoded), {coverage.summary}", file=sys.stderr)


def read_sentences() -> Iterator[str]:
    """The lines of standard input; only a newline ends a line."""
    from encoder_lab.storage.text_files import decode_line

    number = 0
    for number, line in enumerate(sys.stdin.buffer, start=1):
        yield decode_line(line, f"standard input:{number}", number == 1)
    if not number:
        raise InputError("standard input is empty; give it one sentence per line")


if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
