"""Several datamodules as one, for several objectives on one encoder."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from torch.utils.data import DataLoader, Sampler

from datamodules.base import CachedData, ResumableData
from datamodules.batches import PartBatch
from datamodules.corpus import Corpus, exclude_sentences
from datamodules.samplers import LengthBatches, batch_loader
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.errors import InputError
from encoder_lab.settings.build import build
from encoder_lab.storage.content import key_of


class Draws(Sampler[tuple[int, np.ndarray]]):
    """Draws, for each step of an epoch, a part (by weight) and its next batch.

    The result is a function of (seed, epoch, step) alone. Each part has its own order of batches and its own epochs:
    no batch of a part repeats before all its batches were drawn.
    """

    def __init__(self, parts: Sequence[LengthBatches], weights: Sequence[float], seed: int) -> None:
        self.parts, self.seed = parts, seed
        self.weights = np.asarray(weights, dtype=np.float64) / np.sum(weights)
        self.steps = sum(len(part) for part in parts)
        self.epoch = self.start = 0

    def __len__(self) -> int:
        return self.steps

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[tuple[int, np.ndarray]]:
        start, self.start = self.start, 0
        draws = self._draw(self.epoch)
        skips = sum((self._count(self._draw(epoch)) for epoch in range(self.epoch)), self._count(draws[:start]))
        streams = [_batches_from(part, skip) for part, skip in zip(self.parts, skips.tolist(), strict=True)]
        for part in draws[start:].tolist():
            yield part, next(streams[part])

    def _draw(self, epoch: int) -> np.ndarray:
        return np.random.default_rng([self.seed, epoch]).choice(len(self.parts), self.steps, p=self.weights)

    def _count(self, draws: np.ndarray) -> np.ndarray:
        return np.bincount(draws, minlength=len(self.parts))


def _batches_from(batches: LengthBatches, skip: int) -> Iterator[np.ndarray]:
    """The batches of one part over all its epochs, without the first `skip`."""
    batches.start = skip % len(batches)
    for epoch in count(skip // len(batches)):
        batches.set_epoch(epoch)
        yield from batches


class Mixture(ResumableData):
    """The data of several objectives over one vocabulary; training batches are drawn by `weights`, equal if null.

    An epoch has as many batches as all parts together. A part may have its own corpus (`settings.<part>.corpus`).
    """

    def __init__(
        self,
        corpus: Corpus,
        cache: Path,
        seed: int,
        parts: Annotated[Sequence[str], "objectives by name, such as [nmt_enfr,nli]"],
        settings: Annotated[Mapping[str, Any], "those of each objective"],
        weights: Annotated[Sequence[float] | None, "how often each part is drawn, as [2, 1, 1]; null: equally"] = None,
    ) -> None:
        super().__init__(batch_size=0, seed=seed)  # each part has its own
        names = list(parts)
        unknown = [name for name in names if name not in settings]
        if unknown or not names or len(set(names)) < len(names):
            raise InputError(f"objective.parts={names}: name some of {', '.join(settings)}, each once")
        self.weights = [1.0] * len(names) if weights is None else list(weights)
        if len(self.weights) != len(names) or min(self.weights) <= 0:
            raise InputError(f"datamodule.weights={self.weights}: one number above zero for each of {names}")
        self.parts: dict[str, CachedData] = {}
        for name in names:
            corpus_settings = settings[name].get("corpus")
            text = exclude_sentences(build(corpus_settings), corpus.excluded) if corpus_settings else corpus
            self.parts[name] = build(settings[name]["datamodule"], corpus=text, cache=cache, seed=seed)
        if lower := [name for name, part in self.parts.items() if part.lowercase]:
            problem = f"settings.{lower[0]}.datamodule.lowercase=true: the parts share one encoder; leave it out"
            raise InputError(f"objective.parts={names}: {problem}")
        self.vocabulary = self._shared_vocabulary()
        self.contents = {f"{n} {file}": c for n, part in self.parts.items() for file, c in part.contents.items()}
        self.fingerprint = key_of(*(part.fingerprint for part in self.parts.values()))
        self.left_out = frozenset().union(*(part.left_out for part in self.parts.values()))
        self.skipped = {f"{name} {s}": n for name, part in self.parts.items() for s, n in part.skipped.items()}
        self.notes = [f"{name}, {note}" for name, part in self.parts.items() for note in part.notes]

    def _shared_vocabulary(self) -> Vocabulary:
        first, *rest = self.parts.values()
        vocabulary = first.vocabulary
        for part in rest:
            vocabulary = vocabulary.extend(part.vocabulary.words)
        for part in self.parts.values():
            part.use_vocabulary(vocabulary)
        return vocabulary

    def source_sentences(self) -> Iterator[str]:
        """The training sentences of all parts."""
        for part in self.parts.values():
            yield from part.source_sentences()

    def readable_lines(self, batch: PartBatch) -> list[str]:
        """The sentences of a batch, as the datamodule of its part writes them."""
        return list(self.parts.values())[batch.part].readable_lines(batch.batch)

    def train_dataloader(self) -> DataLoader:
        loaders = [self._with_trainer(part).train_dataloader() for part in self.parts.values()]
        collate = [part.dataset.collate for part in loaders]
        draws = Draws([part.sampler for part in loaders], self.weights, self.seed)
        draws.start, self._batches_done = self._batches_done, 0
        return batch_loader(lambda draw: PartBatch(draw[0], collate[draw[0]](draw[1])), draws)  # type: ignore[arg-type]

    def val_dataloader(self) -> list[DataLoader]:
        return [self._with_trainer(part).val_dataloader() for part in self.parts.values()]

    def _with_trainer(self, part: CachedData) -> CachedData:
        part.trainer = self.trainer  # so that the part knows rank and world size
        return part
