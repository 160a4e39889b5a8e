"""Pretrained transformers as frozen encoders: one layer, or all layers in one pass."""

import math
import os
import sys
import tempfile
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from encoder_lab.errors import InputError, first_line
from encoder_lab.model import Model
from encoder_lab.progress import Progress
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import contents_of, key_of
from encoder_lab.storage.text_files import visible_files
from encoders.length_batches import length_batches
from encoders.sentence_modules import SentenceModules, has_modules, pool_states, read_modules
from encoders.transformers_files import lacks_end_token, load_transformer, positions_of

Pooling = Literal["mean", "cls", "max", "last"]
POOLING_MODES = {"mean": "mean", "cls": "cls", "max": "max", "last": "lasttoken"}  # as sentence-transformers calls them
Layers = int | str | Sequence[int]  # one number, "last", "all", "mean" (over all) or several numbers
BATCH_TOKENS = 4096  # padded tokens per forward pass on a CPU,
GPU_BATCH_TOKENS = 1 << 15  # and on a GPU
MAX_TOKENS = 512  # longer sentences are cut, earlier where the model or its tokenizer has fewer
NO_LIMIT = 10**9  # tokens; a tokenizer that knows of none says 10**30
REMEDY = "give a name on the hub or a folder with safetensors weights"
POOLER = "pooler"  # on top of the layers, so not used; many checkpoints have none


class Pretrained:
    """A frozen transformer, or its encoder part; the vector of a layer is pooled over the tokens."""

    def __init__(
        self, name: str, layers: Layers, pooling: Pooling | None, device: str, work: Path, prompt: str | None = None
    ) -> None:
        """`pooling`: None takes that of a sentence-transformers folder with its other modules, or the mean.

        `prompt`: a text in front of each sentence, or the name of one of the folder's prompts.
        """
        if pooling is not None and pooling not in POOLING_MODES:
            raise InputError(f"pooling={pooling}: give mean, cls, max or last")
        self.name, self.work = name, work
        self.device = torch.device(device)
        self.tokenizer, model = _load(name)
        self.model = model.eval().requires_grad_(False).to(self.device)
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.layers, self.averaged = self._layer_numbers(layers), layers == "mean"
        modules = read_modules(name) if pooling is None and layers == "last" else None
        self.modules = modules
        self.pooling = modules.pooling if modules else (POOLING_MODES[pooling or "mean"],)
        self.post_pooling = torch.nn.Sequential(*(modules.post_pooling if modules else ())).to(self.device)
        prompts, default = (modules.prompts, modules.prompt) if modules else ({}, "")
        self.prompt = default if prompt is None else prompts.get(prompt, prompt)
        self.max_tokens = _max_tokens(self.tokenizer, self.model, modules)
        self.max_rows: int | None = None  # of a batch
        self._last: tuple[list[str], np.ndarray] | None = None
        if modules or has_modules(name):
            self._report(f"modules of its folder: {modules or 'not used, as pooling= or layers= is given'}")
        if self.prompt:
            self._report(f"each sentence begins with {self.prompt!r}")
        if lacks_end_token(name, self.tokenizer):
            self._report("tokenizer_config.json asks for a token at the end of each text, and tokenizer.json adds none")
        self.cut = 0  # sentences of the last call that were longer
        self._refuse_unusable(name)

    def _report(self, text: str) -> None:
        print(f"hf:{self.name}: {text}", file=sys.stderr)

    @torch.inference_mode()
    def _refuse_unusable(self, name: str) -> None:
        """Raises InputError if the model cannot encode a sentence: its files may not fit each other."""
        try:
            alone = self._pooled_states(["a b"])
            padded = self._pooled_states(["a b", "a b a b a b a b"])[:, :1]
        except InputError:
            raise
        except Exception as error:  # as many ways as there are models
            raise InputError(f"hf:{name}: cannot encode a sentence ({first_line(error)}); {REMEDY}") from None
        self.dim, shape = alone.shape[-1], alone.shape
        tolerance = torch.finfo(self.model.dtype).eps ** 0.5 * float(alone.nan_to_num().abs().max())
        if not torch.allclose(alone, padded, rtol=0, atol=tolerance, equal_nan=True):
            self.max_rows = 1  # as FNet, ConvBERT and YOSO, which do not mask it
            self._report("padding changes its vectors, so each sentence is encoded alone")
        if not self.modules and shape != (len(self.layer_names), 1, int(self.model.config.hidden_size)):
            raise InputError(f"hf:{name}: its vectors have another size than its config.json says; {REMEDY}")

    def _layer_numbers(self, layers: Layers) -> list[int]:
        """The numbers of the layers, each once; negative numbers count from the top. Raises InputError."""
        count = int(self.model.config.num_hidden_layers) + 1  # layer 0 is the token embeddings
        if layers in ("all", "mean"):
            return list(range(count))
        asked = [-1] if layers == "last" else [layers] if isinstance(layers, int | str) else list(layers)
        if not asked or any(type(number) is not int or not -count <= number < count for number in asked):
            numbers = f"numbers from {-count} to {count - 1}, such as [0,{count - 1}]"
            raise InputError(f"layers={layers}: give last, all, mean, or {numbers}")
        return list(dict.fromkeys(int(number) % count for number in asked))

    def vectors(self, sentences: list[str]) -> np.ndarray:
        """The named vectors of sentences, (L, N, D) float32; the last result is cached on disk."""
        if self._last is None or self._last[0] != sentences:
            self._last = list(sentences), self._encode(sentences)
        return self._last[1]

    def layer_vectors(self, name: str, sentences: list[str]) -> np.ndarray:
        """Vectors of one layer, or the mean over layers, (N, D)."""
        return np.asarray(self.vectors(sentences)[self.layer_names.index(name)])

    @property
    def layer_names(self) -> list[str]:
        """The names of the L vectors of a sentence."""
        return ["mean of layers"] if self.averaged else [f"layer {number}" for number in self.layers]

    @torch.inference_mode()
    def _encode(self, sentences: list[str]) -> np.ndarray:
        shape, self.cut = (len(self.layer_names), len(sentences), self.dim), 0
        if not sentences:
            return np.empty(shape, np.float32)
        self.work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=self.work) as file:  # deleted when the process ends
            # allocate now: writing to a map on a full disk kills the process
            os.posix_fallocate(file.fileno(), 0, 4 * math.prod(shape))
            out = np.memmap(file, np.float32, "r+", shape=shape)
        letters = np.array([len(sentence) for sentence in sentences], np.int64)
        tokens = np.minimum(self.max_tokens, letters // 4 + 2)  # about that many
        budget = BATCH_TOKENS if self.device.type == "cpu" else GPU_BATCH_TOKENS
        with Progress(total=len(sentences), desc="encoding", leave=False, unit=" sentences") as bar:
            for batch in length_batches(np.argsort(-letters, kind="stable"), tokens, budget, self.max_rows):
                out[:, batch] = self._pooled_states([sentences[i] for i in batch]).cpu().numpy()
                bar.update(len(batch))
        if self.cut:
            self._report(f"{self.cut:,} of {len(sentences):,} sentences are cut after {self.max_tokens} tokens")
        return out

    def _pooled_states(self, sentences: list[str]) -> Tensor:
        """(L, B, D), zeros for a text without tokens."""
        texts = [self.prompt + sentence for sentence in sentences]
        texts = [text.lower() for text in texts] if self.modules and self.modules.lowercase else texts
        tokens = self.tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=self.max_tokens)
        lengths = tokens["attention_mask"].sum(1)
        full = [text for text, length in zip(texts, lengths, strict=True) if length == self.max_tokens]
        if full:
            self.cut += sum(len(ids) > self.max_tokens for ids in self.tokenizer(full, verbose=False)["input_ids"])
        if not tokens["input_ids"].numel():
            return torch.zeros(len(self.layer_names), len(texts), self.dim)
        largest_id, rows = int(tokens["input_ids"].max()), self.model.get_input_embeddings().weight.shape[0]
        if largest_id >= rows:
            problem = f"the tokenizer gives token {largest_id}, and the model has only {rows}"
            raise InputError(f"hf:{self.name}: {problem}; take both from one folder")
        tokens = tokens.to(self.device)
        hidden = self.model(**tokens, output_hidden_states=True).hidden_states
        mask = tokens["attention_mask"].bool()
        # (L, B, T, D); they may be of 16 bits, and longer than the text, as of Reformer
        states = torch.stack([hidden[number][:, : mask.shape[1]].float() for number in self.layers])
        if self.prompt and self.modules and not self.modules.with_prompt:
            mask[:, : self._prompt_tokens] = False
        vectors = torch.cat([pool_states(states, mask, mode) for mode in self.pooling], -1)
        vectors = vectors.masked_fill(~mask.any(1)[:, None], 0)
        return self.post_pooling(vectors.mean(0, keepdim=True) if self.averaged else vectors)

    @cached_property
    def _prompt_tokens(self) -> int:
        """How many tokens of a text are its prompt, as sentence-transformers counts: without the mark of the end."""
        prompt = self.prompt.lower() if self.modules and self.modules.lowercase else self.prompt
        ids = self.tokenizer(prompt, truncation=True, max_length=self.max_tokens)["input_ids"]
        return len(ids) - (ids[-1] in self.tokenizer.all_special_ids)


def _max_tokens(tokenizer: Any, model: Any, modules: SentenceModules | None) -> int:
    """How many tokens a text can have: what the folder, the tokenizer and the positions of the model allow."""
    positions = positions_of(model)
    limit = modules.max_tokens if modules else MAX_TOKENS
    sizes = positions, limit, None if modules and limit else tokenizer.model_max_length  # as the library's
    return min((size for size in sizes if isinstance(size, int) and 0 < size < NO_LIMIT), default=MAX_TOKENS)


def pretrained(
    name: str, layers: Layers, pooling: Pooling | None, device: str, work: Path, prompt: str | None = None
) -> list[Model]:
    """A model for each of these layers, by name `layer 3`, `layer 3, cls` (not mean pooling) or `mean of layers`.

    All come from one pass over the sentences; `work` is a folder for their vectors. Of a sentence-transformers folder
    without `pooling`: one model with the folder's modules. Raises InputError for a model that cannot be used.
    """
    model = Pretrained(name, layers, pooling, device, work, prompt)
    content = _content_key(name, model)
    mode = "own modules" if model.modules else model.pooling[0]
    suffix = {"mean": "", "lasttoken": ", last"}.get(mode, f", {mode}")
    suffix += f", prompt {model.prompt!r}" if prompt else ""
    return [
        Model(
            Path(name).name,
            name_of_vectors + suffix,
            partial(model.layer_vectors, name_of_vectors),
            content and key_of(code_of(Pretrained), content, name_of_vectors, suffix, model.max_tokens, model.prompt),
        )
        for name_of_vectors in model.layer_names
    ]


def _load(name: str) -> tuple[Any, Any]:
    try:
        tokenizer, model, missing = load_transformer("AutoModel", name, f"hf:{name}", REMEDY)
    except InputError:
        if Path(name).is_dir():
            read_modules(name)  # says so if the folder has no transformer
        raise
    if missing := [key for key in missing if POOLER not in key]:
        raise InputError(f"hf:{name}: no weights for {missing[0]}, which its config.json asks for; {REMEDY}")
    tokenizer.padding_side = "right"  # otherwise the first token of a sentence depends on the batch
    return tokenizer, model.get_encoder() if model.config.is_encoder_decoder else model


def _content_key(name: str, model: Pretrained) -> str | None:
    """A fingerprint of the weights: hash of the local files, or the commit on the hub."""
    if Path(name).is_dir():
        return key_of(contents_of(visible_files(Path(name)), Path(name)))
    commit = getattr(model.model.config, "_commit_hash", None)
    return commit and f"{name} {commit}"
