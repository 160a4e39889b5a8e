"""python -m encoders.encode RUN in=FILES out=DIR: nothing twice, nothing lost, also after kills."""

import os
import re
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest
from pyarrow import parquet
from tqdm import tqdm

from encoder_lab.errors import InputError
from encoders import encode, load_encoder
from encoders.bulk import Job, plan_shards
from tests import commands

GOLDEN = str(commands.ROOT / "tests" / "golden_run")
WORDS = ("the", "dog", "runs", "a", "cat", "no-such", ".")


@pytest.fixture
def texts(tmp_path) -> list[str]:
    """The lines of two files in the folder texts/."""
    random = np.random.default_rng(1)
    lines = [" ".join(random.choice(WORDS, size)) for size in random.integers(0, 9, 700)]
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("".join(f"{line}\n" for line in lines[:450]))
    (folder / "b.txt").write_text("".join(f"{line}\n" for line in lines[450:]))
    return lines


def command(folder: Path, *more: str) -> list[str]:
    return [GOLDEN, f"in={folder / 'texts'}", f"out={folder / 'out'}", *more]


def shards(folder: Path, form: str) -> list[Path]:
    return sorted((folder / "out").glob(f"*.{form}"))


def vectors(folder: Path, form: str) -> np.ndarray:
    """All vectors; asserts that the rows are those that the names say, each once."""
    matrices, row = [], 0
    for path in shards(folder, form):
        first, last = map(int, path.stem.split("-"))
        if form == "npy":
            matrices.append(np.load(path))
        else:
            table = parquet.read_table(path)
            assert table["row"].to_pylist() == list(range(first, last + 1))
            matrices.append(np.stack(table["vector"].to_numpy()))
        assert (first, len(matrices[-1])) == (row, last + 1 - first)
        row = last + 1
    return np.concatenate(matrices)


def wait_for_the_end(processes: list[psutil.Process]) -> None:
    """Wait until none of the processes runs; one that nobody waits for may stay as a zombie."""
    deadline = time.monotonic() + 30
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                assert time.monotonic() < deadline, f"{process} goes on without its parent"
                time.sleep(0.01)


@pytest.mark.filterwarnings("ignore:.*empty")
@pytest.mark.parametrize(("form", "processes"), [("parquet", 2), ("npy", 1)])
def test_shards_together_are_the_vectors_of_all_rows(tmp_path, texts, capfd, form, processes) -> None:
    asked = command(tmp_path, "rows=100", f"format={form}", f"processes={processes}")
    assert encode.COMMAND.run(asked) == 0
    np.testing.assert_allclose(vectors(tmp_path, form), load_encoder(GOLDEN).encode(texts), atol=1e-6)
    assert form == "npy" or parquet.read_table(tmp_path / "out").num_rows == 700  # the folder, as pandas reads it
    assert len(shards(tmp_path, form)) == 8  # none has rows of two files
    err = capfd.readouterr().err
    assert "700 sentences in 8 shards, 700 of them encoded now" in err
    assert "empty sentence(s) got the zero vector" in err
    cut, changed, *_ = shards(tmp_path, form)
    cut.write_bytes(cut.read_bytes()[:-1])
    changed.write_bytes(changed.read_bytes().replace(b"\0", b"\1", 1))
    assert encode.COMMAND.run(asked) == 0
    assert f"2 shards cut off or changed, made again: {cut.name}\n" in (err := capfd.readouterr().err)
    assert "700 sentences in 8 shards, 200 of them encoded now" in err
    np.testing.assert_allclose(vectors(tmp_path, form), load_encoder(GOLDEN).encode(texts), atol=1e-6)
    assert encode.COMMAND.run([*asked, "ray=127.0.0.1:1"]) == 0  # nothing is missing, so that no cluster is needed


@pytest.mark.usefixtures("texts")
def test_the_first_progress_counts_a_shard_of_each_process(tmp_path, monkeypatch, capfd) -> None:
    """They end together: a rate of the first one alone would be too low by the number of processes."""
    monkeypatch.setattr("tqdm.tqdm", lambda **how: tqdm(**how | {"mininterval": 0}))
    assert encode.COMMAND.run(command(tmp_path, "rows=100", "processes=2")) == 0
    assert re.findall(r"(\d+)[.\d]*/700", capfd.readouterr().err)[:3] == ["0", "200", "400"]


@pytest.mark.filterwarnings("ignore:.*empty")
@pytest.mark.parametrize("killed", ["all processes", "the first process", "a worker"])
def test_after_kills_the_same_command_makes_what_is_missing(tmp_path, texts, killed) -> None:
    arguments = ["-m", "encoders.encode", *command(tmp_path, "rows=20", "processes=2")]
    made: dict[Path, int] = {}
    for number in (1, 9):
        running = commands.start(*arguments)
        while len(shards(tmp_path, "parquet")) < len(made) + number and running.poll() is None:
            time.sleep(0.002)
        workers = psutil.Process(running.pid).children() if running.poll() is None else []
        if killed == "a worker" and workers:
            workers[0].kill()
            status, message = running.wait(), running.communicate()[1]
            assert status in (0, 2)
            assert status == 0 or "a process was killed" in message
        elif running.poll() is None:
            (os.killpg if killed == "all processes" else os.kill)(running.pid, signal.SIGKILL)
            running.wait()
        wait_for_the_end(workers)  # of what they were making
        assert {path: path.stat().st_ino for path in made} == made  # none was made again
        made = {path: path.stat().st_ino for path in shards(tmp_path, "parquet")}
    assert commands.finish(*arguments).returncode == 0
    assert {path: path.stat().st_ino for path in made}.items() >= made.items()
    np.testing.assert_allclose(vectors(tmp_path, "parquet"), load_encoder(GOLDEN).encode(texts), atol=1e-6)
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.endswith(".making")]


@pytest.mark.usefixtures("texts")
def test_a_folder_continues_only_with_the_same_files_and_settings(tmp_path, capfd) -> None:
    assert encode.COMMAND.run(command(tmp_path, "rows=300")) == 0
    for change, key in (("raw=true", "raw"), ("rows=100", "rows"), ("format=npy", "format")):
        assert encode.COMMAND.run(command(tmp_path, *["rows=300"] * (key != "rows"), change)) == 2
        assert f"begun with other {key}; give out= a new folder" in capfd.readouterr().err
    with (tmp_path / "texts" / "b.txt").open("a") as file:
        file.write("the dog\n")
    assert encode.COMMAND.run(command(tmp_path, "rows=300")) == 2
    assert "begun with other files" in capfd.readouterr().err


@pytest.fixture
def job(tmp_path) -> Job:
    """Of a copy of the run and the text a.txt."""
    run = shutil.copytree(GOLDEN, tmp_path / "run")
    (tmp_path / "a.txt").write_text("the dog\n")
    return Job(str(run / "checkpoints" / "best.ckpt"), tmp_path / "out", "text", "npy", False, 10)


@pytest.mark.parametrize(("place", "key"), [
    ("run/checkpoints/best.ckpt", "weights"),
    ("run/vectors/matrix.npy", "weights"),
    ("run/config.yaml", "settings of the run"),
    ("a.txt", "files"),
])  # fmt: skip
def test_what_decides_the_vectors_is_part_of_the_plan(tmp_path, job, place, key) -> None:
    """By content: size and times of the file stay."""
    shards = plan_shards(job, [tmp_path / "a.txt"], Path(job.run))
    shards[0].path(job).touch()
    assert plan_shards(job, [tmp_path / "a.txt"], Path(job.run)) == shards
    state = (changed := tmp_path / place).stat()
    changed.write_bytes(changed.read_bytes()[:-1] + b" ")
    os.utime(changed, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(InputError, match=f"begun with other {key}"):
        plan_shards(job, [tmp_path / "a.txt"], Path(job.run))


def test_a_plan_without_shards_is_made_again(tmp_path, job) -> None:
    plan_shards(job, [tmp_path / "a.txt"], Path(job.run))
    (tmp_path / "a.txt").write_text("the dog\nthe cat\n")
    (shard,) = plan_shards(job, [tmp_path / "a.txt"], Path(job.run))
    assert shard.rows == 2


def test_the_machine_that_trained_is_no_part_of_the_plan(tmp_path, job) -> None:
    shards = plan_shards(job, [tmp_path / "a.txt"], Path(job.run))
    shards[0].path(job).touch()
    with (tmp_path / "run" / "config.yaml").open("a") as file:
        file.write("made_with:\n  threads: 99\n")
    assert plan_shards(job, [tmp_path / "a.txt"], Path(job.run)) == shards


def test_shards_of_other_code_are_another_plan(tmp_path, job) -> None:
    """Here of another tokeniser."""
    plan_shards(job, [tmp_path / "a.txt"], Path(job.run))[0].path(job).touch()
    config = tmp_path / "run" / "config.yaml"
    config.write_text(config.read_text().replace("datamodules.corpus.Corpus", "datamodules.corpora.on_disk.OnDisk"))
    with pytest.raises(InputError, match="begun with other settings of the run, code"):
        plan_shards(job, [tmp_path / "a.txt"], Path(job.run))


def test_a_folder_is_read_with_all_folders_in_it_but_hidden_ones(tmp_path) -> None:
    for name in ("b.txt", "a/c.txt", "a/.hidden.txt", ".git/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("the dog\n")
    expected = [tmp_path / "a" / "c.txt", tmp_path / "b.txt"]
    for pattern in ("", "/*", "/**", "/**/*.txt"):
        assert sorted(encode.input_files([f"{tmp_path}{pattern}"])) == expected


def test_shards_within_the_folder_that_is_read_are_no_text_and_a_link_upwards_is_refused(tmp_path) -> None:
    (tmp_path / "a.txt").write_text("the dog\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "0-9.parquet").write_text("")
    for name in (tmp_path, tmp_path / "*"):
        assert encode.input_files([str(name)], tmp_path / "out") == [tmp_path / "a.txt"]
    for link in ("first", "second"):
        (tmp_path / link).symlink_to(tmp_path)
    with pytest.raises(InputError, match="first: a link to a folder that it is in"):
        encode.input_files([str(tmp_path)])


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(("arguments", "message"), [
    (["in={texts}"], "out= is missing"),
    (["out=x"], "out= has an effect only with in=; give it too"),
    (["in=nowhere*", "out={out}"], "in=nowhere*: no such file"),
    (["in={texts}/a.txt,{texts}", "out={out}"], "a file is in it twice"),
    (["in={texts}/empty", "out={out}"], "in=: no file has a row"),
    (["in={texts}", "out={out}", "column=words"], "column=words: no file of in= has columns"),
    (["in={texts}/../a.csv", "out={out}"], "a.csv: has columns; write its sentences into a file that ends in .txt or"),
    (["in={texts}", "out={texts}"], "has other files in it; give out= a new folder"),
    (["in={texts}", "out={out}", "ray=127.0.0.1:1"], "ray=127.0.0.1:1: no cluster there"),
])  # fmt: skip
def test_a_mistake_is_one_line(tmp_path, capfd, arguments, message) -> None:
    (tmp_path / "texts" / "empty").touch()
    (tmp_path / "a.csv").write_text("the dog,1\n")
    filled = [part.format(texts=tmp_path / "texts", out=tmp_path / "out") for part in arguments]
    assert encode.COMMAND.run([GOLDEN, *filled]) == 2
    assert message in capfd.readouterr().err.splitlines()[-1]


def test_memory_does_not_grow_with_the_rows(tmp_path) -> None:
    """A process that has made 2 shards makes 12 with about that peak."""
    code = "import sys, resource; from encoders import encode\n"
    for count in (2, 12):
        (texts := tmp_path / str(count) / "texts").mkdir(parents=True)
        (texts / "a.txt").write_text("".join(f"the dog {number}{' ' * 2000}\n" for number in range(count << 9)))
        code += f"encode.COMMAND.run({command(texts.parent, 'rows=512', 'processes=1')})\n"
        code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    (script := tmp_path / "twice.py").write_text(code)
    few, many = map(int, commands.finish(str(script)).stdout.split())
    assert many - few < 8 << 10  # KB; the texts of ten shards take 10 MB


@pytest.mark.filterwarnings("ignore:.*empty")
def test_a_cluster_of_two_workers_loses_one_and_no_row(tmp_path, texts) -> None:
    """The worker is killed when the first shard is there; 13 others are made afterwards."""
    running = commands.start("-m", "encoders.encode", *command(tmp_path, "rows=50", "ray=local", "processes=2"))
    workers: list[psutil.Process] = []
    while not workers and running.poll() is None:
        time.sleep(0.02)
        if shards(tmp_path, "parquet"):
            children = psutil.Process(running.pid).children(recursive=True)
            workers = [child for child in children if "ShardWorker" in "".join(child.cmdline()[:1])]
    for worker in workers[:1]:
        worker.kill()
    status, message = running.wait(600), running.communicate()[1]
    assert (status, len(workers)) == (0, 2), message
    np.testing.assert_allclose(vectors(tmp_path, "parquet"), load_encoder(GOLDEN).encode(texts), atol=1e-6)
