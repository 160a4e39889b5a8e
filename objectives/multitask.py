"""Several objectives at once on one encoder (left to future work in Conneau et al. 2018, section 6)."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from torch import Tensor, nn

from datamodules.batches import PartBatch
from datamodules.multitask import Mixture
from encoder_lab.errors import InputError
from encoder_lab.settings.build import build, import_object
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from objectives.objective import MakeOptimizer, Objective


class Multitask(Objective):
    """Each step trains one part, on a batch of its own data. The parts share encoder and word vectors.

    Loss: that of the part. Batch: PartBatch. The scores of a part are logged as `val/<part>/<score>`. The score of the
    part `select` (None: the first) chooses the best checkpoint. `settings` describes the parts as the configuration
    files do; `optimizer` is shared.
    """

    trains_all = False
    no_likelihood = "several objectives share its encoder; train skipthought or discourse alone"

    @classmethod
    def without_use(cls, settings: Mapping[str, Any], /) -> str:
        config = settings["objective"]
        parts = {name: {**settings, "objective": config["settings"][name]["objective"]} for name in config["parts"]}
        reasons = (
            (name, import_object(part["objective"]["_target_"]).without_use(part)) for name, part in parts.items()
        )
        return next((f"the part {name}: {reason}" for name, reason in reasons if reason), "")

    def __init__(
        self,
        encoder: Encoder,
        embedding: WordEmbedding,
        data: Mixture,
        optimizer: MakeOptimizer | None,
        seed: int,
        parts: Annotated[Sequence[str], "objectives by name, such as [nmt_enfr,nli]"],
        settings: Annotated[Mapping[str, Any], "those of each objective"],
        select: Annotated[str | None, "the part with the score that chooses the checkpoint; null: the first"] = None,
    ) -> None:
        super().__init__(encoder, embedding, build(optimizer), seed)  # as settings where nothing built it before
        chosen = select or parts[0]
        if chosen not in parts:
            raise InputError(f"objective.select={chosen}: choose one of the parts, {', '.join(parts)}")
        self._parts: list[Objective] = []
        for name in parts:
            described = {key: value for key, value in settings[name]["objective"].items() if key != "optimizer"}
            arguments = {"encoder": encoder, "embedding": embedding, "data": data.parts[name], "seed": seed}
            part = build(described, optimizer=None, **arguments)
            _share_modules(part, encoder=encoder, embedding=embedding)
            part.log_score = partial(self._log_part, name)
            self._parts.append(part)
        self.parts = nn.ModuleDict(dict(zip(parts, self._parts, strict=True)))
        selecting = self._parts[list(parts).index(chosen)]
        self.score, self.mode = _part_score_name(chosen, selecting.score), selecting.mode

    def _log_part(
        self, part: str, name: str, value: Tensor | float, batch_size: Tensor | int = 1, prog_bar: bool = False
    ) -> None:
        self.log_score(_part_score_name(part, name), value, batch_size, prog_bar)

    def setup(self, stage: str) -> None:
        super().setup(stage)
        for part in self._parts:
            part.trainer = self.trainer

    def training_step(self, batch: PartBatch, batch_idx: int) -> Any:
        return self._parts[batch.part].training_step(batch.batch, batch_idx)

    def on_validation_epoch_start(self) -> None:
        for part in self._parts:
            part.on_validation_epoch_start()

    def validation_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
        self._parts[dataloader_idx].validation_step(batch, batch_idx)

    def on_validation_epoch_end(self) -> None:
        for part in self._parts:
            part.on_validation_epoch_end()


def _part_score_name(part: str, score: str) -> str:
    """Insert the part into the name of a score: val/bleu becomes val/nmt_enfr/bleu."""
    group, name = score.split("/")
    return f"{group}/{part}/{name}"


def _share_modules(part: nn.Module, **modules: nn.Module) -> None:
    """Let a part use shared modules without registering them, so that checkpoints hold them once."""
    for name, module in modules.items():
        del part._modules[name]
        object.__setattr__(part, name, module)
