"""Corrupted files are read to the end, or refused in one line that names the first malformed line."""

import bz2
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from datamodules.text.vocabulary import Vocabulary
from datamodules.word_vectors.formats import read_vectors
from encoder_lab.reports.run_files import read_metrics
from encoder_lab.storage.text_files import count_lines, read_lines
from probes.downstream.data import TASKS, read_downstream
from probes.downstream.scoring import Downstream
from probes.evaluation import read_cached, write_cached
from probes.probing import FILES
from probes.probing.published_files import read_task
from probes.results import Answers, read_rows, write_rows
from tests.fuzzing import any_damage_is_read_or_refused, corrupted, line_of, lines_in, read_or_refused_by_line, refusal
from tests.probes.downstream.small_files import folder_of_tasks
from tests.reports.small_runs import run_of

VECTORS = b"4 3\nthe 0.1 0.2 0.3\ndog -1 2 3.5\nsaw 1e-3 0 0\ncat 4 5 6\n"
PROBING = "".join(
    f"{split}\t{'AB'[i % 2]}\ta sentence of {i} words .\n" for split in ("tr", "va", "te") for i in range(4)
).encode()
BINARY = ("MR", "CR", "SUBJ", "MPQA")
LATIN = (*BINARY, "TREC")
HEADED = ("MRPC", "SICK-E", "SICK-R", "SICK-R-cosine")


@pytest.mark.parametrize("name", ["vectors.vec", "vectors.txt"])
def test_word_vectors(tmp_path, name) -> None:
    path = tmp_path / name
    path.write_bytes(VECTORS if name.endswith(".vec") else VECTORS[4:])

    def read() -> None:
        words = read_vectors(path, tmp_path / "matrix.npy")
        matrix = np.load(tmp_path / "matrix.npy")
        lines = lines_in(path.read_bytes())
        header = len(lines[0].split()) == 2 and not lines[0].startswith(words[0])
        assert len(words) == len(matrix) == len(lines) - header
        assert np.isfinite(matrix).all()

    # a line of another form of file
    any_damage_is_read_or_refused(read, path, at_the_end=r"empty|cut off|; read are |word \d+ is ")


def test_published_probing_files(tmp_path) -> None:
    path = tmp_path / FILES["Tense"]
    path.write_bytes(PROBING)

    def read() -> None:
        task = read_task("Tense", path)
        for split in (task.train, task.dev, task.test):
            assert len(split.sentences) == len(split.gold) > 0
            assert set(split.gold) <= set(range(len(task.classes)))
        sentences = sum(len(split.sentences) for split in (task.train, task.dev, task.test))
        assert sentences == len(lines_in(path.read_bytes()))

    at_the_end = "empty|no line of split|only one label|not among the training labels"
    any_damage_is_read_or_refused(read, path, at_the_end=at_the_end)


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
@pytest.mark.parametrize("parts", [1, 2])
def test_compressed_text(tmp_path, ending, pack, parts) -> None:
    path, lines = tmp_path / f"text{ending}", [f"line {i} of {i * i}" for i in range(40)]
    halves = ("\n".join(lines[:20]) + "\n", "\n".join(lines[20:]) + "\n")
    packed = b"".join(pack(half.encode()) for half in (halves if parts == 2 else ["".join(halves)]))

    def read() -> None:
        assert [text for _, text in read_lines(path)] == lines
        assert count_lines(path) == len(lines)

    @given(st.tuples(st.integers(0, len(packed)), st.integers(0, 40), st.binary(max_size=6)))
    def check(change: tuple[int, int, bytes]) -> None:
        at, gone, new = change
        path.write_bytes(packed[:at] + new + packed[at + gone :])
        message = refusal(read, path)
        assert message is None or line_of(message, path)

    check()


@pytest.fixture(scope="module")
def downstream_files(tmp_path_factory) -> Path:
    return folder_of_tasks(tmp_path_factory.mktemp("tasks"))


def items_of(name: str, path: Path) -> int:
    """How many items a file of a task holds."""
    lines = lines_in(path.read_bytes(), "latin-1" if name in LATIN else "utf-8")
    if name in BINARY:  # other characters end a line, too
        lines = "".join(f"{line}\n" for line in lines).splitlines()
    if name.startswith("STS1"):  # a line of scores for each pair; empty where nobody scored it
        return sum(bool(line.strip()) for line in lines) if ".gs." in path.name else 0
    return sum(bool(line.strip()) or "SICK" not in name for line in lines) - (name in HEADED)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_downstream_files(downstream_files, name) -> None:
    paths = [downstream_files / "downstream" / file for file in TASKS[name].files]
    scored = paths[-1:] if name.endswith("-cosine") else paths  # which reads all parts and scores the last one
    wholes = [path.read_bytes() for path in paths]
    corrupted_file = st.integers(0, len(paths) - 1).flatmap(lambda i: st.tuples(st.just(i), corrupted(wholes[i])))

    def read() -> None:
        (task,), missing = read_downstream(downstream_files, [name])
        assert not missing
        parts = task.parts.values() if isinstance(task, Downstream) else task.parts
        for part in parts:
            assert {len(column) for column in part.texts} == {len(part.gold)} != {0}
            assert np.isfinite(part.gold.astype(float)).all()
        assert sum(len(part.gold) for part in parts) == sum(items_of(name, path) for path in scored)

    @given(corrupted_file)
    @example((len(paths) - 1, b'"\n1\n\x80\n'))  # two malformed lines
    def check(file: tuple[int, bytes]) -> None:
        try:
            read_or_refused_by_line(read, paths[file[0]], file[1], "empty|cut off|scores for the .* pairs")
        finally:
            paths[file[0]].write_bytes(wholes[file[0]])

    check()


@pytest.mark.parametrize(("name", "rows_of"), [("probes.csv", read_rows), ("metrics.csv", read_metrics)])
def test_scores_of_a_run(tmp_path, name, rows_of) -> None:
    path = run_of(tmp_path / "run") / name

    def read() -> None:
        rows = rows_of(path)
        assert len(rows) == max(0, sum(bool(line.strip()) for line in lines_in(path.read_bytes())) - 1)
        assert name == "probes.csv" or len({row["epoch"] for row in rows}) == len(rows)

    any_damage_is_read_or_refused(read, path, at_the_end="empty")


def test_answers_of_a_run(tmp_path) -> None:
    path = run_of(tmp_path / "run") / "probes.csv"
    answers = Answers("t", np.arange(50) % 3 > 0)
    write_rows(path, [replace(row, answers=answers) for row in read_rows(path)])
    any_damage_is_read_or_refused(lambda: read_rows(path), path.with_name("answers.csv"), at_the_end="empty")


def test_words_of_a_run(tmp_path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("dog\ncat\nthe\n.\nchâteau\n")

    def read() -> None:
        assert len(Vocabulary.load(path).words) == 2 + len(lines_in(path.read_bytes()))

    any_damage_is_read_or_refused(read, path, at_the_end="empty")


def test_a_cached_score(tmp_path) -> None:
    score = {"test_accuracy": 61.25, "test_correct": "3:e0", "hyperparameters": {"l2": 0.1, "width": 50}}
    path = tmp_path / "score-1.json"
    write_cached(path, score)

    def read() -> None:
        assert read_cached(path) in (score, None)

    any_damage_is_read_or_refused(read, path)
