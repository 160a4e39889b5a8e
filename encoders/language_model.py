"""lm:PATH, a causal language model on disk: the surprisal of every token of a text."""

import math
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from common.devices import device_for
from common.errors import InputError

BATCH_TOKENS = 4096  # padded tokens per forward pass on a CPU,
GPU_BATCH_TOKENS = 1 << 15  # and on a GPU,
CELLS, GPU_CELLS = 1 << 26, 1 << 29  # at most this many logits per forward pass
WORTH, STEP = (
    16,
    8,
)  # fewest shared tokens that are computed once; a multiple of STEP, so that groups fit into one batch

TokenIds = tuple[int, ...]


class ScoredTokens(NamedTuple):
    """The T tokens of one continuation."""

    tokens: list[str]
    offsets: np.ndarray  # (T, 2) int64, first character and the one after the last, in the continuation
    logprobs: np.ndarray  # (T,) float64, log2 of the probability given all before


class CausalLM:
    """A Hugging Face causal language model with its tokenizer.

    The token that begins a text (BOS) is context and has no surprisal of its own; `bos=False` leaves it out, and the
    first token, which then has no context, has 0 bits. `eos=True` adds the token that ends a text, at its last
    character. A text longer than the model's context of L tokens is read in windows of L that begin every L // 2
    tokens, so that each token is scored with at least the L // 2 tokens before it; `long_texts` counts such texts.
    """

    def __init__(self, path: Path, device: str | None = None, bos: bool = True, eos: bool = False) -> None:
        """Raises InputError where the folder holds no causal language model in safetensors, or no fast tokenizer."""
        self.path, self.device = path, torch.device(device_for(device))
        self.tokenizer, model = _load(path)
        self.model = model.eval().requires_grad_(False).to(self.device)
        self.context = getattr(self.model.config, "max_position_embeddings", None) or 1 << 30
        self.begin = self._special("bos", "cls", "eos") if bos else None
        self.end = self._special("eos", "sep") if eos else None
        self.long_texts = 0
        self.shares = self._check()

    def _special(self, *names: str) -> int:
        found = [getattr(self.tokenizer, f"{name}_token_id") for name in names]
        for number in found:
            if number is not None:
                return int(number)
        raise InputError(f"lm:{self.path}: the tokenizer has no {names[0].upper()} token; give {names[0]}=false")

    def _vocabulary(self) -> int:
        return int(self.model.get_input_embeddings().num_embeddings)

    def _budget(self) -> int:
        """Padded tokens in a forward pass."""
        tokens, cells = (BATCH_TOKENS, CELLS) if self.device.type == "cpu" else (GPU_BATCH_TOKENS, GPU_CELLS)
        return min(tokens, cells // self._vocabulary())

    @torch.inference_mode()
    def _check(self) -> bool:
        """Whether texts can share what was computed for their beginning.

        Raises InputError for a model that sees the next word, or one of another tokenizer.
        """
        size = self._vocabulary()
        if len(self.tokenizer) > size:
            said = f"the tokenizer has {len(self.tokenizer)} tokens, the model {size}; take both from one folder"
            raise InputError(f"lm:{self.path}: {said}")
        ids = torch.tensor([[0, 1 % size], [0, 2 % size]], device=self.device)
        out = self.model(input_ids=ids, use_cache=True)
        first = out.logits[:, 0]
        if not torch.allclose(first[0], first[1], atol=1e-3, rtol=1e-3):
            raise InputError(f"lm:{self.path}: not a causal model: a later word changes an earlier probability")
        layers = getattr(getattr(out, "past_key_values", None), "layers", None)
        return {type(layer).__name__ for layer in layers or ()} == {"DynamicLayer"}

    def logprobs(self, pairs: Sequence[tuple[str, str]]) -> list[ScoredTokens]:
        """Each distinct (context, continuation) once. A token that begins in the context is context."""
        distinct = list(dict.fromkeys(pairs))
        rows, offsets, befores = [], [], []
        for before, continuation in distinct:
            encoded = self.tokenizer(
                before + continuation, add_special_tokens=False, return_offsets_mapping=True, verbose=False
            )
            ids, places = encoded["input_ids"], list(encoded["offset_mapping"])
            if self.end is not None:
                ids, places = [*ids, self.end], [*places, (len(before) + len(continuation),) * 2]
            rows.append((*(() if self.begin is None else (self.begin,)), *ids))
            offsets.append(np.array(places, np.int64).reshape(-1, 2) - len(before))
            befores.append(int((offsets[-1][:, 0] < 0).sum()))
        scores = self._scored(list(dict.fromkeys(rows)))
        found = {}
        for pair, row, spans, skipped in zip(distinct, rows, offsets, befores, strict=True):
            first = len(row) - len(spans) + skipped
            names = self.tokenizer.convert_ids_to_tokens(list(row[first:]))
            found[pair] = ScoredTokens(names, spans[skipped:], scores[row][first:])
        return [found[pair] for pair in pairs]

    def _scored(self, rows: list[TokenIds]) -> dict[TokenIds, np.ndarray]:
        """log2 p of every token of each row given those before it, the first one 0."""
        found = {row: np.zeros(len(row)) for row in rows}
        long = [row for row in rows if len(row) > self.context]
        groups = _groups([row for row in rows if 1 < len(row) <= self.context], self._budget() if self.shares else 0)
        if long:
            self.long_texts += len(long)
            said = f"read in windows of {self.context} that begin every {self.context // 2} tokens"
            warnings.warn(f"lm:{self.path}: {len(long)} texts longer than the model's context {said}", stacklevel=3)
        with tqdm(total=len(rows), desc="scoring", disable=None, leave=False, unit=" texts") as bar:
            for batch in self._batches(groups):
                for row, bits in self._batch(batch):
                    found[row][1:] = bits
                    bar.update()
            for row in long:
                self._windows(row, found[row])
                bar.update()
        return found

    def _windows(self, row: TokenIds, out: np.ndarray) -> None:
        """Scores a long row in place."""
        done = 1
        for start in range(0, len(row), max(1, self.context // 2)):
            window = row[start : start + self.context]
            ((_, bits),) = self._batch([[window]])
            new = start + len(window) - done
            out[done : done + new] = bits[len(bits) - new :]
            done += new
            if done == len(row):
                return

    def _batches(self, groups: list[list[TokenIds]]) -> Iterator[list[list[TokenIds]]]:
        """Batches of groups of similar length; with a shared beginning, only those with as many shared tokens."""
        budget = self._budget()
        shapes = {id(group): (len(group) > 1, _shared(group), max(map(len, group))) for group in groups}
        batch: list[list[TokenIds]] = []
        members = 0
        for group in sorted(groups, key=lambda group: shapes[id(group)], reverse=True):
            shape = shapes[id(group)]
            if batch:
                first = shapes[id(batch[0])]
                longest = max(first[2], shape[2])
                full = (members + len(group)) * longest > budget
                if full or shape[0] != first[0] or (shape[0] and shape[1] != first[1]):
                    yield batch
                    batch, members = [], 0
            batch.append(group)
            members += len(group)
        if batch:
            yield batch

    @torch.inference_mode()
    def _batch(self, groups: list[list[TokenIds]]) -> Iterator[tuple[TokenIds, np.ndarray]]:
        """Rows with the log2 p of their tokens but the first. Groups of several rows share as many tokens each."""
        together = len(groups[0]) > 1
        beginnings = [group[0][: _shared(group)] for group in groups]
        ids, mask = self._padded(beginnings)
        out = self.model(input_ids=ids, attention_mask=mask, use_cache=together)
        bits = _log2(out.logits[:, :-1], ids[:, 1:])
        if not together:
            for (row,), own in zip(groups, bits, strict=True):
                yield row, own[: len(row) - 1]
            return
        rows = [row for group in groups for row in group]
        owner = torch.tensor([at for at, group in enumerate(groups) for _ in group], device=self.device)
        rests, rest_mask = self._padded([row[ids.shape[1] :] for row in rows])
        first = _log2(out.logits[owner, -1:], rests[:, :1])
        cache = out.past_key_values
        cache.batch_select_indices(owner)
        both = torch.cat([mask[owner], rest_mask], 1)
        logits = self.model(input_ids=rests, attention_mask=both, past_key_values=cache, use_cache=True).logits
        later = _log2(logits[:, :-1], rests[:, 1:])
        for number, row in enumerate(rows):
            yield row, np.concatenate([bits[int(owner[number])], first[number], later[number]])[: len(row) - 1]

    def _padded(self, rows: Sequence[TokenIds]) -> tuple[Tensor, Tensor]:
        """Ids (B, T) with zeros on the right, and which are tokens (B, T)."""
        longest = max(map(len, rows))
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=self.device)
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        return ids, (torch.arange(longest, device=self.device) < lengths[:, None]).long()


def _log2(logits: Tensor, ids: Tensor) -> np.ndarray:
    """(B, T, V) and (B, T) to log2 p (B, T)."""
    logits = logits.float()
    chosen = logits.gather(2, ids[:, :, None])[:, :, 0] - logits.logsumexp(2)
    return chosen.double().cpu().numpy() / math.log(2)


def _groups(rows: list[TokenIds], budget: int) -> list[list[TokenIds]]:
    """Rows that begin with the same tokens, at least WORTH and half of each, within a pass of `budget` tokens."""
    groups: list[list[TokenIds]] = []
    for row in sorted(rows):
        if groups and (len(groups[-1]) + 1) * max(map(len, [*groups[-1], row])) <= budget:
            first = groups[-1][0]
            same = min(_same(first, row), len(first) - 1, len(row) - 1)
            if same >= WORTH and 2 * same >= max(len(row), len(first)):
                groups[-1].append(row)
                continue
        groups.append([row])
    return groups


def _shared(group: list[TokenIds]) -> int:
    """How many first tokens are computed once for a group: the common prefix, in steps, and never all of a row.

    The rows are sorted, so the first and the last have the shortest common prefix.
    """
    if len(group) == 1:
        return len(group[0])
    same = min(_same(group[0], group[-1]), min(map(len, group)) - 1)
    return same - same % STEP


def _same(one: TokenIds, other: TokenIds) -> int:
    """How many first tokens are the same."""
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return number
    return min(len(one), len(other))


def _load(path: Path) -> tuple[Any, Any]:
    if not path.is_dir():
        raise InputError(f"lm:{path}: no such folder; give a folder with a causal language model in safetensors")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options = {"local_files_only": True, "trust_remote_code": False}  # nothing is fetched or executed
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, **options)
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            path, use_safetensors=True, output_loading_info=True, **options
        )
        model, info = loaded
    except Exception as error:  # of any kind: the libraries do not say what damaged files raise
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"lm:{path}: {said}; give a folder with a causal language model in safetensors") from None
    if info["missing_keys"]:
        raise InputError(f"lm:{path}: no weights for {sorted(info['missing_keys'])[0]}; is this a language model?")
    if not tokenizer.is_fast:
        raise InputError(f"lm:{path}: the tokenizer does not say where tokens start; add a tokenizer.json")
    return tokenizer, model
