"""Discourse losses: predict the place of a sentence in its document (Chen et al. 2019, section 4)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor, nn

from datamodules.batches import InDocument
from datamodules.discourse import SentencesInDocuments
from datamodules.text.sentences import WORD_PATTERN
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.errors import InputError
from encoder_lab.settings.types import Fraction, NotNegative, Width
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from encoders.load import SavedRun, matching_weights
from objectives.chunked_cross_entropy import CHUNK_BYTES
from objectives.layers import LOSSES, LossTerm, feedforward
from objectives.likelihood import SentenceTokens, decoder_file, pad_ids
from objectives.metrics import perplexity
from objectives.objective import MakeOptimizer, Objective

NEXT_HEAD = "nsp_next"  # the head that predicts the words of the next sentence
WORDS_FILE = "words.txt"
DECODER_FILES = {WORDS_FILE: "source.bag.txt"}  # file in a run folder: file of the cache


class Discourse(Objective):
    """Predict neighbours (nsp), positions (spp), nesting level (nl), titles (sdt), or any combination.

    Loss: the weighted sum of the chosen losses. Each is the sum of one or two means over the sentences that have the
    target. Batch: InDocument. Score: the loss on dev. Each loss is also logged, with its accuracy in percent or, of
    words, exp(loss) as its perplexity; one without a target in a split has no score there. The training loss of an
    epoch is the mean over batches, by their sentences, of what was minimised: a loss is 0 where a batch has no target.
    """

    data: SentencesInDocuments

    @classmethod
    def without_likelihood(cls, settings: Mapping[str, Any], /) -> str:
        losses = settings["objective"].get("losses", ["nsp"])
        return "" if "nsp" in losses else "of the discourse losses only nsp predicts words"

    def likelihood(self) -> "NextWords":
        return NextWords(self.heads[NEXT_HEAD], Vocabulary.load(self.data.folder / DECODER_FILES[WORDS_FILE]))

    def likelihood_files(self) -> dict[str, Path]:
        return {name: self.data.folder / source for name, source in DECODER_FILES.items() if NEXT_HEAD in self.heads}

    @classmethod
    def saved_likelihood(cls, saved: SavedRun, ends: bool = False) -> "NextWords":
        if ends:
            raise InputError("eos=true: the words that the nsp loss predicts have no mark that ends a sentence")
        words = Vocabulary.load(decoder_file(saved, WORDS_FILE))
        prefix = f"heads.{NEXT_HEAD}."
        try:
            hidden, width = saved.weights[f"{prefix}0.weight"].shape
        except (KeyError, ValueError):
            raise InputError(f"{saved.checkpoint}: no weights of the nsp loss in it; copy the whole run") from None
        with torch.device("meta"):  # the weights come from the checkpoint
            head = feedforward(width, hidden, len(words), 0.0)
        head.load_state_dict(matching_weights(saved.checkpoint, head, prefix, saved.weights), assign=True)
        return NextWords(head, words)

    def __init__(
        self,
        encoder: Encoder,
        embedding: WordEmbedding,
        data: SentencesInDocuments,
        optimizer: MakeOptimizer | None,
        seed: int,
        losses: Annotated[Sequence[str], "any combination (Chen et al. 2019, sections 4.1 to 4.4)"] = ("nsp",),
        weights: Annotated[Mapping[str, NotNegative] | None, "of each loss"] = None,
        hidden: Annotated[Width, "units of the two hidden layers of every head, as in the authors' code"] = 300,
        dropout: Annotated[Fraction, "after each hidden layer"] = 0.0,
    ) -> None:
        super().__init__(encoder, embedding, optimizer, seed)
        self.data = data
        chosen = list(losses)
        if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(LOSSES):
            raise InputError(f"objective.losses={chosen}: name some of {', '.join(LOSSES)}, each once")
        self.weights = dict(weights or {})
        for name, weight in self.weights.items():
            if name not in LOSSES or (name not in chosen and weight != 1):
                problem = f"no such loss among objective.losses={chosen}"
                raise InputError(f"objective.weights.{name}={weight}: {problem}; add it there, or leave the weight out")
        if not any(self.weights.get(name, 1) for name in chosen):
            raise InputError(f"objective.weights={self.weights}: no loss would train; give one a weight above zero")
        possible = [name for name in LOSSES if data.has_targets(name)]
        if without := [name for name in chosen if name not in possible]:
            problem = f"no training sentence has a target of {' or '.join(without)}"
            raise InputError(f"objective.losses={chosen}: {problem}; choose among {', '.join(possible)}")
        self.targets = {f"{name}_{part}": target for name in chosen for part, target in LOSSES[name].items()}
        sizes = {name: target.classes(data) for name, target in self.targets.items()}
        self.heads = nn.ModuleDict({n: feedforward(encoder.dim, hidden, size, dropout) for n, size in sizes.items()})

    def forward(self, batch: InDocument) -> dict[str, LossTerm]:
        """The terms of all chosen losses, with names such as `nsp_previous`."""
        vector = self.encode(batch.sentence).vector
        return {name: self.targets[name].loss(head(vector), batch) for name, head in self.heads.items()}

    def weighted_sum(self, means: Mapping[str, Tensor | float]) -> Tensor | float:
        """The weighted sum of mean losses; names as in `forward`."""
        return sum(self.weights.get(name.split("_")[0], 1.0) * mean for name, mean in means.items())

    def training_step(self, batch: InDocument, batch_idx: int) -> Tensor:
        means = {
            name: self.mean_over(term.nats.sum(), term.targets.sum(), f"train/{name}_loss")
            for name, term in self(batch).items()
        }
        loss = torch.as_tensor(self.weighted_sum(means))
        share = self.mean_over(torch.ones((), dtype=torch.double, device=loss.device), len(batch.sentence.lengths))
        self.log_score("train/loss", loss.detach(), 1 / share, prog_bar=True)  # by the sentences of the global batch
        return loss

    def examine(self, batch: InDocument, decode: bool = True) -> dict[str, Tensor]:
        return {f"{name} {field}": n for name, term in self(batch).items() for field, n in term._asdict().items()}

    def scores_of(self, sums: Mapping[str, float]) -> dict[str, float]:
        counts = {name: sums[f"{name} targets"] for name in self.targets if sums[f"{name} targets"]}
        means = {name: sums[f"{name} nats"] / count for name, count in counts.items()}
        scores = {f"val/{name}_loss": mean for name, mean in means.items()}
        for name, count in counts.items():
            reported = {"accuracy": 100 * sums[f"{name} correct"] / count, "perplexity": perplexity(means[name])}
            scores[f"val/{name}_{self.targets[name].metric}"] = reported[self.targets[name].metric]
        return scores | {"val/loss": float(self.weighted_sum(means))}


class NextWords:
    """log p of the lower-cased words of a sentence given the vector of the one before: one distribution for all."""

    def __init__(self, head: nn.Module, words: Vocabulary) -> None:
        self.network, self.words = head, words

    def tokens(self, sentence: str) -> SentenceTokens:
        matches = list(WORD_PATTERN.finditer(sentence))
        spans = np.array([word.span() for word in matches], np.int64).reshape(-1, 2)
        names = [word[0] for word in matches]
        return SentenceTokens(self.words.rows(" ".join(names).lower()), names, spans)

    def log_probabilities(self, vectors: Tensor, rows: Sequence[list[int]]) -> Tensor:
        ids = pad_ids(rows, vectors.device)
        portions = max(1, CHUNK_BYTES["cpu"] // (len(self.words) * vectors.itemsize))
        parts = zip(vectors.split(portions), ids.split(portions), strict=True)
        return torch.cat([self.network(part).log_softmax(1).gather(1, picked) for part, picked in parts])
