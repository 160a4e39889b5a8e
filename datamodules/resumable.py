"""What every datamodule shares: its place among processes, and where in the epoch a killed run stopped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytorch_lightning as pl
from torch.utils.data import DataLoader

from datamodules.batches import Sentences
from datamodules.errors import InputError
from datamodules.loading import LengthBatches, loader
from datamodules.vocabulary import Vocabulary


class ResumableData(pl.LightningDataModule):
    """A datamodule whose epochs continue, after a kill, with the batches that were not yet seen.

    The count of finished batches travels in the checkpoint; the order itself is a function of (seed, epoch) and,
    since all processes share a batch, of their number.
    """

    vocabulary: Vocabulary  # of what encoders read
    fingerprint: str  # changes whenever the text may
    skipped: Mapping[str, Any]  # by split: counts of the examples that training does not see
    notes: Sequence[str] = ()  # what else people should know of it, before training begins

    def __init__(self, batch_size: int, seed: int, batch_tokens: int | None = None) -> None:
        super().__init__()
        self.batch_size, self.seed, self.batch_tokens = batch_size, seed, batch_tokens
        self._done = 0

    def source_sentences(self) -> Iterator[str]:
        """The tokenised training sentences that an encoder reads."""
        raise NotImplementedError

    def in_words(self, batch: Any) -> list[str]:
        """The sentences of a training batch for people, each behind the name of its field and a tab."""
        return [
            f"{field}\t{self.sentence(field, row[:length])}"
            for field, part in batch._asdict().items()
            if isinstance(part, Sentences)
            for row, length in zip(part.ids.tolist(), part.lengths.tolist(), strict=True)
        ]

    def sentence(self, field: str, ids: list[int]) -> str:
        """The text of a sentence in this field of a batch."""
        return " ".join(self.vocabulary.words[i] for i in ids)

    def state_dict(self) -> dict[str, Any]:
        assert self.trainer is not None
        ready = self.trainer.fit_loop.epoch_loop.batch_progress.current.ready
        return {"batches_done": ready % int(self.trainer.num_training_batches), "processes": self.world}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Raises InputError within an epoch of another number of processes."""
        self._done = state_dict["batches_done"]
        before = state_dict.get("processes", self.world)  # checkpoints of earlier versions do not say
        if self._done and before != self.world:
            said = f"the run stopped within an epoch that it began with {before}, and now there are {self.world}"
            told = f"resume with {before}, or with another number once an epoch has ended"
            raise InputError(f"processes (trainer.devices on each machine): {said}; {told}")

    def shuffled(self, lengths: Sequence[np.ndarray], collate: Callable[[np.ndarray], NamedTuple]) -> DataLoader:
        """The training batches of this process; `lengths` are the sort keys, the most important first."""
        batches = LengthBatches(lengths, self.batch_size, self.seed, self.rank, self.world, self.batch_tokens)
        batches.start, self._done = self._done, 0
        return loader(collate, batches)

    @property
    def rank(self) -> int:
        return self.trainer.global_rank if self.trainer else 0

    @property
    def world(self) -> int:
        return self.trainer.world_size if self.trainer else 1
