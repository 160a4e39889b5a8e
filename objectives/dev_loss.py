"""The loss of an objective on its dev examples when the sentence vectors are changed before it reads them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import torch
from pytorch_lightning.utilities import move_data_to_device
from torch import Tensor
from torch.utils.data import DataLoader

from datamodules.base import ResumableData
from encoder_lab.compute.devices import evaluation_mode
from encoder_lab.errors import InputError
from encoder_lab.model import Examined, VectorChange
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import key_of
from objectives.multitask import Multitask
from objectives.objective import READS_STATES_REASON, Objective

BATCH_SIZE = 128  # examples, by length
REMEDY = "leave suite=use out, or measure use.on=downstream"


class OnlyVector(NamedTuple):
    """The encoding of sentences with changed vectors: an objective may read the vectors, but not the word states."""

    vector: Tensor  # (B, D)

    @property
    def states(self) -> Tensor:
        raise InputError(f"suite=use: the objective cannot be measured: {READS_STATES_REASON}; {REMEDY}")


class DevLoss:
    """The dev examples of an objective. Calling it with a number of examples encodes them with the present weights."""

    def __init__(self, module: Objective, data: ResumableData, settings: Mapping[str, Any]) -> None:
        """One process reads all batches, even if several processes train. `settings`: of the objective."""
        modules = dict(module.parts.items()) if isinstance(module, Multitask) else {"": module}
        loaders = data.val_dataloader()
        self.module, self.data, self.settings = module, data, settings
        pairs = zip(modules.values(), loaders if isinstance(loaders, list) else [loaders], strict=True)
        self._parts: dict[str, tuple[Any, DataLoader]] = dict(zip(modules, pairs, strict=True))

    @property
    def parts(self) -> Sequence[str]:
        """The names of the parts of objective=multitask; "" alone for another objective."""
        return tuple(self._parts)

    def fingerprint(self) -> str:
        """A hash of the weights, the settings (which weigh losses), the code and the text."""
        digest = sha256()
        for name, weight in self.module.state_dict().items():
            digest.update(name.encode() + weight.detach().float().cpu().numpy().tobytes())
        code = [code_of(DevLoss), *(code_of(type(part)) for part, _ in self._parts.values())]
        return key_of(digest.hexdigest(), self.settings, code, self.data.fingerprint)

    def __call__(self, examples: int) -> "DevVectors":
        """At most `examples` of each part, spread over all lengths."""
        parts = {name: (part, _batches(loader, examples)) for name, (part, loader) in self._parts.items()}
        return DevVectors(self.module, parts)


class DevVectors:
    """The dev examples of each part, and the vectors of their sentences, which are encoded once."""

    def __init__(self, module: Objective, parts: dict[str, tuple[Objective, list[Any]]]) -> None:
        self._module, self._parts = module, parts
        self._vectors: dict[str, list[list[Sequence[Tensor]]]] = {}  # by part, batch and call of `encode`

    def examine(self, part: str, change: VectorChange | None = None, decode: bool = False) -> Examined:
        """The counts with changed vectors; `decode`: also counts that need decoded texts. Raises InputError."""
        module, batches = self._parts[part]
        with evaluation_mode(self._module), torch.no_grad():  # with the encoder, which the parts of several lend
            if part not in self._vectors:
                self._vectors[part] = [_recorded_vectors(module, batch) for batch in batches]
            counts = []
            for batch, vectors in zip(batches, self._vectors[part], strict=True):
                changed = (OnlyVector(torch.cat(list(map(change, sides) if change else sides))) for sides in vectors)
                with _replaced_encode(module, lambda _, changed=changed: next(changed)):
                    counts.append(module.examine(move_data_to_device(batch, module.device), decode))
        counted = {name: np.concatenate([count[name].double().cpu().numpy() for count in counts]) for name in counts[0]}
        return Examined(counted, module.scores_of, module.score)


def _batches(loader: DataLoader, examples: int) -> list[Any]:
    """Small batches of every n-th example of a loader, so that there are at most `examples`."""
    rows = np.concatenate([[], *loader.sampler]).astype(np.int64)
    if not len(rows):
        raise InputError(f"suite=use: the objective has no dev example; {REMEDY}")
    subset = rows[:: -(-len(rows) // examples)]
    return [loader.dataset.collate(subset[start : start + BATCH_SIZE]) for start in range(0, len(subset), BATCH_SIZE)]  # type: ignore[attr-defined]


def _recorded_vectors(module: Objective, batch: Any) -> list[Sequence[Tensor]]:
    """The vectors that an objective reads from B examples, per call of `encode`; of several sentences each (B, D)."""
    encode, calls = module.encode, []

    def recorded(sentences: Any) -> OnlyVector:
        calls.append(encode(sentences).vector)
        return OnlyVector(calls[-1])

    with _replaced_encode(module, recorded):
        counts = module.examine(move_data_to_device(batch, module.device), False)
    if not calls:
        raise InputError(f"suite=use: {type(module).__name__} does not read vectors by `self.encode`; {REMEDY}")
    return [vectors.split(len(next(iter(counts.values())))) for vectors in calls]


@contextmanager
def _replaced_encode(module: Objective, encode: Callable[..., OnlyVector]) -> Iterator[None]:
    """Replaces the module's method `encode` inside this context."""
    module.encode = encode  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        del module.encode
