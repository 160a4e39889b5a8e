"""What each state of a model (an epoch, a layer) leaves on disk, and its similarity (CKA) to other states."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write
from probes.classification import Classification
from probes.evaluation import Evaluation
from probes.geometry.measures import linear_cka
from probes.geometry.subspaces import HALVES, SUBSPACE, probe_subspace
from probes.geometry.tasks import MEASURES, PERCENT, Shape, matrix_of
from probes.probing.controls import CONTROL
from probes.results import Epoch, ProbeRow, read_rows, write_rows
from probes.task import Task
from probes.vectors import sentence_vector

FOLDER, VECTORS, DATA_PREFIX = "geometry", "vectors", "data of "  # the last: of a task's subspace
HASH = "sha256"  # in the metadata of a file
EMPTY_TENSOR = torch.empty(0)
FIRST, BEFORE, LAST = "CKAfirst", "CKAbefore", "CKAlast"
Series = Sequence[tuple[ProbeRow, Path]]  # states in order: a score of each, and its file


def save_state(folder: Path, evaluation: Evaluation, tasks: Sequence[Task], overwrite: bool = True) -> bool:
    """Write the state of the model into the folder of a run or an evaluation. `overwrite`: replace a file that exists.

    A state is the vectors (N, D) of the sentences of the geometry suite, and the subspaces of the classification tasks
    of one sentence, also those that the file already has of the same vectors. Returns whether there is one: it needs a
    task of that suite. The first process writes.
    """
    shape = next((task for task in tasks if isinstance(task, Shape)), None)
    path = state_file(folder, evaluation.model.epoch)
    labelled = [task for task in evaluation.tasks if isinstance(task, Classification) and task.suite != CONTROL]
    subspace_tasks = [task for task in labelled if task.features is sentence_vector]
    if shape is None:
        return False
    saved = read_state(path) if path.exists() else {}
    if (
        saved
        and not overwrite
        and all(torch.equal(saved.get(DATA_PREFIX + t.name, EMPTY_TENSOR), _data_tensor(t)) for t in subspace_tasks)
    ):
        return True
    vectors = evaluation.vectors  # made by all processes together
    if evaluation.share.rank == 0:
        state = {VECTORS: matrix_of(vectors, shape.sentences)}
        for task in subspace_tasks:
            state |= _subspaces(task, vectors.features(task.train, sentence_vector)[:].numpy())
        if torch.equal(saved.get(VECTORS, EMPTY_TENSOR), state[VECTORS]):
            state = saved | state
        write_state(path, state)
    return True


def _subspaces(task: Classification, vectors: np.ndarray) -> dict[str, Tensor]:
    """The subspaces of all training sentences and of two halves of them, which show how certain they are."""
    order = np.random.default_rng(0).permutation(len(vectors))
    parts = {SUBSPACE: order, HALVES[0]: order[::2], HALVES[1]: order[1::2]}
    bases = {f"{part}{task.name}": probe_subspace(vectors[rows], task.train.gold[rows]) for part, rows in parts.items()}
    tensors = {name: torch.from_numpy(np.ascontiguousarray(basis)) for name, basis in bases.items()}
    return {**tensors, DATA_PREFIX + task.name: _data_tensor(task)}


def _data_tensor(task: Classification) -> Tensor:
    return torch.tensor(list(task.data.encode()))


def state_file(folder: Path, epoch: Epoch) -> Path:
    return folder / FOLDER / f"epoch-{epoch}.safetensors"


def write_state(path: Path, state: Mapping[str, Tensor]) -> None:
    """The tensors of a state, with a hash of its name and content."""
    with atomic_write(path, binary=True) as file:
        file.write(save({**state}, {HASH: _hash(path, state)}))


def _hash(path: Path, state: Mapping[str, Tensor]) -> str:
    return sha256(path.name.encode() + save({**state})).hexdigest()


def read_state(path: Path) -> dict[str, Tensor]:
    """The tensors of a state. Raises InputError for a damaged file, or one of another epoch."""
    try:
        with safe_open(path, "pt") as file:
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if (file.metadata() or {}).get(HASH) != _hash(path, state):
                raise ValueError("it has changed")
        return state
    except (SafetensorError, ValueError) as error:
        raise InputError(f"{path}: not the state of an epoch ({error}); delete it") from None


def states_of_run(results: Path) -> Series:
    """The states of the epochs of a probes.csv, in order."""
    shape = next(iter(MEASURES))
    rows = [row for row in read_rows(results) if (row.suite, row.task) == ("geometry", shape)]
    files = ((row, state_file(results.parent, row.epoch)) for row in sorted(rows, key=lambda row: row.epoch))
    return [(row, file) for row, file in files if file.exists()]


def compare_states(results: Path, epoch: Epoch | None = None) -> list[ProbeRow]:
    """Write the similarities of the states of a probes.csv; with `epoch` those that a new state of this epoch adds.

    Returns the rows of the newest state, without its similarity to itself.
    """
    series = [(row, file) for row, file in states_of_run(results) if epoch is None or row.epoch <= epoch]
    rows = similarities(series, 0 if epoch is None else len(series) - 1)
    write_rows(results, [row for state_rows in rows for row in state_rows])
    return [row for row in rows[-1] if row.task != LAST] if rows else []


def similarities(series: Series, since: int = 0) -> list[list[ProbeRow]]:
    """For each state its similarity to the last one; from index `since` on, also to the first and the one before."""
    rows: list[list[ProbeRow]] = []
    for index, (row, file) in enumerate(series):
        references = {LAST: series[-1][1]}
        if index >= since:
            references |= {FIRST: series[0][1], BEFORE: series[max(0, index - 1)][1]}
        vectors = read_state(file)[VECTORS]
        others = {name: read_state(path)[VECTORS] for name, path in references.items()}
        rows.append([_similarity_row(row, name, vectors, other) for name, other in others.items()])
    return rows


def _similarity_row(row: ProbeRow, name: str, first: Tensor, second: Tensor) -> ProbeRow:
    value, low, high = (100.0, 100.0, 100.0) if torch.equal(first, second) else linear_cka(first, second)
    row = replace(row, task=name, classifier=PERCENT, dev_accuracy=value, test_accuracy=value)
    return replace(row, test_low=low, test_high=high, seconds=0.0)
