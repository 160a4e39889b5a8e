"""Any number of sentences from files to shards of vectors: on all cores or GPUs of a machine, or of a cluster of Ray.

A shard is written atomically, its name says its rows, and a hidden file next to it has its hash, so that a command that
was killed continues with the shards that are missing or damaged. Only the shards that are being made are in memory.
"""

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from functools import cache, partial
from itertools import groupby, islice
from multiprocessing import current_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from datamodules.corpus import Corpus
from datamodules.rows import count_rows, read_rows
from encoder_lab.compute.processes import parallel_map
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import cache_digests_in, content_of, contents_of, key_of
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.made_with import without_made_with
from encoder_lab.storage.text_files import parse_json

if TYPE_CHECKING:
    from encoders.frozen import Coverage, FrozenEncoder

PLAN = ".plan.json"  # what the shards are made of; hidden, so that the folder is a table for pandas
DIGESTS = ".digests"  # of large files, so that a second command need not read them again
SHARED_SETTINGS = ("column", "format", "raw", "rows")  # settings of a job that all its shards have in common
RESUME = "the same command continues with the shards that are missing"


class Job(NamedTuple):
    """One encoding job: the run, its settings, and the output folder."""

    run: str
    out: Path
    column: str
    format: str
    raw: bool
    rows: int  # of a shard, at most
    gpus: int = 0  # of this machine, which the processes share
    threads: int = 0  # of a process; 0: as many as PyTorch chooses
    allow: tuple[str, ...] = ()  # packages with the user's own encoder or corpus


class Shard(NamedTuple):
    """Rows `skip` to `skip + rows` of a file."""

    file: Path
    skip: int
    rows: int
    first: int  # the number of its first row in all files together

    def path(self, job: Job) -> Path:
        return job.out / f"{self.first:012}-{self.first + self.rows - 1:012}.{job.format}"

    def hash_path(self, job: Job) -> Path:
        return job.out / f".{self.path(job).name}.sha256"


def plan_shards(job: Job, files: Sequence[Path], checkpoint: Path) -> list[Shard]:
    """All shards of a job. Raises InputError if the folder has shards of other files, settings, weights or code."""
    cache_digests_in(job.out / DIGESTS)
    contents = parallel_map(content_of, files, chunk=1)
    hashed = Progress(zip(files, contents, strict=True), total=len(files), desc="reading", unit=" files", leave=False)
    expected = {
        **_encoder_state(checkpoint, job.allow),
        "files": [[str(path.resolve()), content] for path, content in hashed],
        **{key: getattr(job, key) for key in SHARED_SETTINGS},
    }
    path, has_files = job.out / PLAN, any(job.out.glob("[!.]*"))
    if path.exists() and has_files:
        counts = _read_row_counts(path, expected)
    else:  # a plan without shards binds nobody
        if has_files:
            raise InputError(f"{job.out}: has other files in it; give out= a new folder")
        rows = parallel_map(count_rows, files, chunk=1)
        counts = list(Progress(rows, total=len(files), desc="counting rows", unit=" files", leave=False))
        if not any(counts):
            raise InputError(f"in=: no file has a row; {files[0]} is empty")
        with atomic_write(path) as file:
            json.dump({**expected, "counts": counts}, file, indent=1)
    starts = [sum(counts[:index]) for index in range(len(files))]
    return [
        Shard(file, skip, min(job.rows, count - skip), start + skip)
        for file, count, start in zip(files, counts, starts, strict=True)
        for skip in range(0, count, job.rows)
    ]


def _encoder_state(checkpoint: Path, allow: Sequence[str]) -> dict[str, str]:
    """What decides the vectors of a run's encoder: its weights and word vectors, its settings, and the code."""
    from encoders.load import encoder_class, import_class, read_config  # imports torch, as the workers do

    run = checkpoint.parents[1]
    vectors = (path for path in run.glob("vectors/*") if path.is_file())
    config = read_config(run)
    encoder = encoder_class(run / "config.yaml", config, allow)
    corpus = import_class(("datamodules", *allow), str(config["corpus"].get("_target_")), Corpus)  # which tokenises
    return {
        "weights": key_of(content_of(checkpoint), contents_of(vectors, run)),
        "settings of the run": key_of(without_made_with((run / "config.yaml").read_bytes()).decode()),
        "code": key_of(code_of(encode_shard), code_of(encoder), corpus and code_of(corpus)),
    }


def _read_row_counts(path: Path, expected: dict[str, Any]) -> list[int]:
    try:
        written = parse_json(path.read_text(encoding="utf-8"))
        differ = [key for key in expected if expected[key] != written[key]]
        counts = [int(count) for count in written["counts"]]
    except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
        raise InputError(f"{path}: damaged ({error}); give out= a new folder") from None
    if differ:
        raise InputError(f"{path.parent}: begun with other {', '.join(differ)}; give out= a new folder")
    return counts


def missing_shards(job: Job, shards: Sequence[Shard]) -> list[Shard]:
    """The shards that are absent, cut off or changed."""
    complete = parallel_map(partial(is_complete, job), shards, chunk=16)
    checked = Progress(complete, total=len(shards), desc="checking", unit=" shards", leave=False)
    return [shard for shard, is_there in zip(shards, checked, strict=True) if not is_there]


def is_complete(job: Job, shard: Shard) -> bool:
    """Whether the file of a shard has the bytes that were written."""
    path, written = shard.path(job), shard.hash_path(job)
    return path.is_file() and written.is_file() and content_of(path).encode() == written.read_bytes()


def encode_in_processes(job: Job, shards: Iterable[Shard], processes: int) -> Iterator["Coverage"]:
    """Encode shards in processes of this machine; this one reads the files."""
    try:
        start = "spawn" if job.gpus else "fork"
        yield from parallel_map(partial(encode_shard, job), _shards_with_texts(job, shards), 1, processes, start)
    except BrokenExecutor:
        raise InputError(f"{job.out}: a process was killed, perhaps because the memory was full; {RESUME}") from None


def _shards_with_texts(job: Job, shards: Iterable[Shard]) -> Iterator[tuple[Shard, list[str]]]:
    for file, group in groupby(shards, lambda shard: shard.file):
        first, *rest = group
        texts, row = read_rows(file, job.column, first.skip), first.skip
        for shard in (first, *rest):
            yield shard, list(islice(texts, shard.skip - row, shard.skip - row + shard.rows))
            row = shard.skip + shard.rows


@cache
def load_worker_encoder(job: Job) -> "FrozenEncoder":
    """The encoder of one worker process, on its share of the GPUs and cores."""
    import torch

    from encoders.load import load_encoder

    if job.threads:
        torch.set_num_threads(job.threads)
    worker = current_process().name.rpartition("-")[2]  # a number from 1
    device = f"cuda:{int(worker) % job.gpus}" if job.gpus and worker.isdecimal() else None
    return load_encoder(job.run, device, allow=job.allow)


def encode_shard(job: Job, item: tuple[Shard, list[str]]) -> "Coverage":
    """Write the vectors of a shard of texts: a matrix, or a table with the columns row (int64) and vector (D float32).

    Of what it returns, `sentences` are all rows.
    """
    import numpy as np

    (shard, texts), encoder = item, load_worker_encoder(job)
    if len(texts) != shard.rows:
        raise InputError(f"{shard.file}: has other rows than when they were counted; give out= a new folder")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command prints the counts
        vectors = encoder.encode(texts, not job.raw, show_progress_bar=False)
    with atomic_write(shard.path(job), binary=True) as file:
        if job.format == "npy":
            np.save(file, vectors)
        else:
            import pyarrow
            from pyarrow.parquet import write_table

            rows = pyarrow.array(np.arange(shard.first, shard.first + shard.rows))
            column = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), encoder.dim)
            write_table(pyarrow.table({"row": rows, "vector": column}), file, compression="none", use_dictionary=False)
        file.flush()
        shard.hash_path(job).write_text(content_of(Path(file.name)), encoding="ascii")
    return encoder.coverage._replace(sentences=shard.rows)
