"""The shards of a job on a cluster of Ray: each worker reads, encodes and writes; a lost one is replaced."""

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from datamodules.rows import read_rows
from encoder_lab.errors import InputError, first_line
from encoders.bulk import Job, Shard, encode_shard, is_complete, load_worker_encoder
from encoders.frozen import Coverage

ROOT = Path(__file__).parents[1]
CONNECT_TIMEOUT_SECONDS = 10.0
OBJECT_STORE_BYTES = 100 << 20  # on this machine; only the names of shards go through it


class ShardWorker:
    """What Ray Data builds in each worker process."""

    def __init__(self, job: Job) -> None:
        self.job = job
        load_worker_encoder(job)

    def __call__(self, row: dict[str, Any]) -> dict[str, int]:
        """Make a shard that is missing; one is there already if its worker was lost afterwards."""
        shard = Shard(Path(row["file"]), int(row["skip"]), int(row["rows"]), int(row["first"]))
        if is_complete(self.job, shard):
            return Coverage(shard.rows)._asdict()
        texts = list(islice(read_rows(shard.file, self.job.column, shard.skip), shard.rows))
        return encode_shard(self.job, (shard, texts))._asdict()


def encode_on_ray(job: Job, shards: Sequence[Shard], address: str, processes: int | None) -> Iterator[Coverage]:
    """Encode shards on the cluster at `address`, on `processes` workers, by default one for each GPU, or each core."""
    if not shards:
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it sends nothing
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "error")
    _refuse_no_cluster(address)
    try:
        import ray
        import ray.data
    except ImportError:
        raise InputError("ray=: needs Ray; pip install 'ray[data]'") from None
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    options: dict[str, Any] = {"runtime_env": {"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}}}
    if address == "local":  # its workers have this process's environment
        options = {"num_cpus": processes, "object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
    try:
        ray.init(address, logging_level=logging.ERROR, log_to_driver=False, **options)
    except (OSError, ValueError) as error:  # ConnectionError is an OSError
        raise _no_cluster_error(address, error) from None
    try:
        yield from _stream_results(ray, job, shards, processes)
    finally:
        ray.shutdown()


def _refuse_no_cluster(address: str) -> None:
    """Raises InputError where nobody listens: Ray itself would try for minutes."""
    if ":" in address:
        host, _, port = address.rpartition("/")[2].rpartition(":")
        try:
            socket.create_connection((host, int(port)), CONNECT_TIMEOUT_SECONDS).close()
        except (OSError, ValueError) as error:
            raise _no_cluster_error(address, error) from None


def _no_cluster_error(address: str, error: Exception) -> InputError:
    return InputError(f"ray={address}: no cluster there ({first_line(error)})")


def _stream_results(ray: Any, job: Job, shards: Sequence[Shard], processes: int | None) -> Iterator[Coverage]:
    resources = ray.cluster_resources()
    unit = "GPU" if resources.get("GPU") else "CPU"
    ray.data.DataContext.get_current().enable_progress_bars = False  # the command has its own
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    rows = [{**shard._asdict(), "file": str(shard.file.resolve())} for shard in shards]
    workers = min(processes or int(resources[unit]), len(rows))
    results = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
        ShardWorker,
        fn_constructor_args=[job],
        compute=ray.data.ActorPoolStrategy(size=workers),
        **{"num_gpus": 1} if unit == "GPU" else {"num_cpus": 1},
    )
    try:
        for row in results.iter_rows():
            yield Coverage(**{name: int(count) for name, count in row.items()})
    except Exception as error:  # of a worker: an InputError of ours is within the errors of Ray
        cause: BaseException | None = error
        while cause is not None and type(cause) is not InputError:
            cause = getattr(cause, "cause", None) or cause.__cause__
        raise (cause or error) from error
