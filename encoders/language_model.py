"""lm:PATH, a causal language model on disk: the surprisal of every token of a text."""

import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from datamodules.text.sentences import SEPARATOR
from encoder_lab.errors import InputError, first_line
from encoder_lab.model import TokenLogprobs
from encoders.length_batches import length_batches
from encoders.prefix_trees import MAX_NODES, PrefixTree, TokenIds, common_prefix_length, prefix_tree, prefix_trees
from encoders.transformers_files import load_transformer, positions_of

BATCH_TOKENS = 1024  # padded tokens per forward pass on a CPU: what is computed of more does not fit the cache,
GPU_BATCH_TOKENS = 1 << 15  # and on a GPU,
REMEDY = "give a folder with a causal language model in safetensors"
SEPARATORS = re.compile(rf"(?:^| ){re.escape(SEPARATOR)}(?= |$)")  # with the space before
NO_SEPARATORS = re.compile("(?!)")
MAX_LOGITS, GPU_MAX_LOGITS = 1 << 26, 1 << 29  # at most this many logits per forward pass


class CausalLM:
    """A Hugging Face causal language model with its tokenizer.

    The token that begins a text (BOS) is context and has no surprisal of its own; `bos=False` leaves it out, and the
    first token, which then has no context, has 0 bits. `eos=True` adds the token that ends a text, at its last
    character. A text longer than the model's context of L tokens is read in windows of L that begin every L // 2
    tokens, so that each token is scored with at least the L // 2 tokens before it; `long_texts` has such pairs.

    `[SEP]`, where the speaker changes, is the token of the tokenizer that separates texts (SEP), without one the token
    that ends a text (EOS). All other tokens are those of the text without it, as in the text of one speaker.
    `separator=False` reads it as it is written, in word pieces.
    """

    def __init__(
        self, path: Path, device: str = "cpu", bos: bool = True, eos: bool = False, separator: bool = True
    ) -> None:
        """Raises InputError where the folder holds no causal language model in safetensors, or no fast tokenizer."""
        self.separators = SEPARATORS if separator else NO_SEPARATORS
        self.path, self.device = path, torch.device(device)
        self.tokenizer, model = _load(path)
        self.model = _with_fused_gelu(model).eval().requires_grad_(False).to(self.device)
        self.context = self._context()
        self.begin = self._special_token("bos", "cls", "eos", otherwise="give bos=false") if bos else None
        self.end = self._special_token("eos", "sep", otherwise="give eos=false") if eos else None
        self.long_texts: set[tuple[str, str]] = set()
        try:
            self.shares_prefixes = self._check_model()
            self.logprobs([("", "a")])
        except InputError:
            raise
        except Exception as error:  # settings that build a model but no answers
            raise InputError(f"lm:{path}: cannot score a text ({first_line(error)}); {REMEDY}") from None

    def _context(self) -> int:
        positions = positions_of(self.model) or 1 << 30
        if type(positions) is not int or positions < 2:
            raise InputError(f"lm:{self.path}: max_position_embeddings is {positions!r} in its config.json; {REMEDY}")
        return positions

    def _special_token(self, *names: str, otherwise: str = "") -> int:
        """The first of the tokenizer's special tokens that there is. Raises InputError with what to do `otherwise`."""
        numbers = [getattr(self.tokenizer, f"{name}_token_id") for name in names]
        if all(number is None for number in numbers):
            raise InputError(f"lm:{self.path}: the tokenizer has no {names[0].upper()} token; {otherwise}")
        return next(int(number) for number in numbers if number is not None)

    def _vocabulary_size(self) -> int:
        return int(self.model.get_input_embeddings().num_embeddings)

    def _batch_tokens(self) -> int:
        """Padded tokens in a forward pass."""
        tokens, cells = (BATCH_TOKENS, MAX_LOGITS) if self.device.type == "cpu" else (GPU_BATCH_TOKENS, GPU_MAX_LOGITS)
        return min(tokens, cells // self._vocabulary_size())

    @torch.inference_mode()
    def _check_model(self) -> bool:
        """Whether texts can share their beginning. Raises InputError for no causal model or another tokenizer."""
        size = self._vocabulary_size()
        if len(self.tokenizer) > size:
            problem = f"the tokenizer has {len(self.tokenizer)} tokens, the model {size}"
            raise InputError(f"lm:{self.path}: {problem}; take both from one folder")
        rest = (3 % size, 4 % size) * (min(MAX_NODES, self.context) // 4 - 1)
        first, second = (0, 1 % size, *rest), (0, 2 % size, *rest)  # long, as attention may be local
        out = self.model(input_ids=torch.tensor([first, second], device=self.device), use_cache=True)
        if not torch.allclose(out.logits[0, 0], out.logits[1, 0], atol=1e-3, rtol=1e-3):
            raise InputError(f"lm:{self.path}: not a causal model: a later word changes an earlier probability")
        layers = getattr(getattr(out, "past_key_values", None), "layers", None)
        if {type(layer).__name__ for layer in layers or ()} != {"DynamicLayer"}:  # each token sees all before it
            return False
        try:
            together = self._logits([prefix_tree(sorted({first, second}))])[0, 1 - len(second) :]
        except (TypeError, ValueError, RuntimeError):  # a model without positions, or with its own kind of mask
            return False
        return torch.allclose(together, out.logits[1, 1:], atol=1e-3, rtol=1e-3)

    def logprobs(self, pairs: Sequence[tuple[str, str]]) -> list[TokenLogprobs]:
        """Each distinct (context, continuation) once. A token that begins in the context is context."""
        distinct = list(dict.fromkeys(pairs))
        rows, offsets = [], []
        for (context, continuation), (ids, token_spans) in zip(distinct, self._tokenize(distinct), strict=True):
            if self.end is not None:
                ids, token_spans = [*ids, self.end], [*token_spans, (len(context) + len(continuation),) * 2]
            rows.append((*(() if self.begin is None else (self.begin,)), *ids))
            offsets.append(np.array(token_spans, np.int64).reshape(-1, 2) - len(context))
        self._report_long_texts(pair for pair, row in zip(distinct, rows, strict=True) if len(row) > self.context)
        scores = self._score_rows(list(dict.fromkeys(rows)))
        scored = {}
        for pair, row, spans in zip(distinct, rows, offsets, strict=True):
            skipped = int((spans[:, 0] < 0).sum())
            first = len(row) - len(spans) + skipped
            names = self.tokenizer.convert_ids_to_tokens(list(row[first:]))
            scored[pair] = TokenLogprobs(names, spans[skipped:], scores[row][first:])
        return [scored[pair] for pair in pairs]

    def _report_long_texts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Collect the pairs longer than the model's context; prints a line the first time."""
        before = len(self.long_texts)
        self.long_texts.update(pairs)
        if self.long_texts and not before:
            windows = f"read in windows of {self.context} that begin every {self.context // 2} tokens"
            tqdm.write(f"lm:{self.path}: texts longer than the model's context are {windows}", file=sys.stderr)

    def _tokenize(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[list[int], list[tuple[int, int]]]]:
        """The ids of each text, context and continuation together, and their characters in it."""
        texts = ["".join(pair) for pair in pairs]
        cuts = [[match.span() for match in self.separators.finditer(text)] for text in texts]
        encoded = self._encode([self.separators.sub("", text) for text in texts])
        for text, removed, tokens in zip(texts, cuts, encoded, strict=True):
            ids, offsets = tokens.ids, tokens.offsets
            yield self._insert_separators(text, removed, ids, offsets) if removed else (ids, offsets)

    def _insert_separators(
        self, text: str, removed: list[tuple[int, int]], ids: list[int], offsets: list[tuple[int, int]]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The tokens of the text without the characters `removed`, with a separator for each of these."""
        separator = self._special_token("sep", "eos", otherwise=f"take suites without {SEPARATOR}, or add one")
        remaining = list(removed)
        out: list[tuple[int, tuple[int, int]]] = []
        shift = 0  # characters removed before this token
        for number, (start, end) in zip(ids, offsets, strict=True):
            while remaining and start + shift >= remaining[0][0]:
                shift += remaining[0][1] - remaining[0][0]
                out.append((separator, _separator_span(text, remaining.pop(0))))
            cut_length = sum(stop - first for first, stop in remaining if end + shift > first)  # a token on both sides
            out.append((number, (start + shift, end + shift + cut_length)))
        out += [(separator, _separator_span(text, cut)) for cut in remaining]
        return [number for number, _ in out], [span for _, span in out]

    def _encode(self, texts: list[str]) -> list[Any]:
        """Ids and offsets of texts by the tokenizer itself, which is several times as fast as its wrapper."""
        tokenizer = self.tokenizer.backend_tokenizer
        tokenizer.no_truncation()  # a file may ask for both
        tokenizer.no_padding()
        return tokenizer.encode_batch(texts, add_special_tokens=False)

    def _score_rows(self, rows: list[TokenIds]) -> dict[TokenIds, np.ndarray]:
        """log2 p of every token of each row given those before it, the first one 0."""
        scores = {row: np.zeros(len(row)) for row in rows}
        short = [row for row in rows if 1 < len(row) <= self.context]
        trees = list(prefix_trees(short, min(MAX_NODES, self._batch_tokens()), self.shares_prefixes))
        sizes = np.array([len(tree.ids) for tree in trees], np.int64)
        for batch in length_batches(np.argsort(-sizes, kind="stable"), sizes, self._batch_tokens()):
            scores.update(self._score_batch([trees[index] for index in batch]))
        for row in rows:
            if len(row) > self.context:
                self._score_windows(row, scores[row])
        for before, row in pairwise(sorted(rows)):  # other batches round otherwise, and equal beginnings must tie
            same = common_prefix_length(before, row)
            scores[row][:same] = scores[before][:same]
        return scores

    def _score_windows(self, row: TokenIds, out: np.ndarray) -> None:
        """Scores a long row in place."""
        scored = 1
        for start in range(0, len(row), max(1, self.context // 2)):
            window = row[start : start + self.context]
            ((_, bits),) = self._score_batch([prefix_tree([window])])
            new = start + len(window) - scored
            out[scored : scored + new] = bits[len(bits) - new :]
            scored += new
            if scored == len(row):
                return

    @torch.inference_mode()
    def _score_batch(self, trees: list[PrefixTree]) -> Iterator[tuple[TokenIds, np.ndarray]]:
        """Each row with log2 p of its tokens, (T,); 0 for the first one."""
        logits = self._logits(trees).float()
        size, vocabulary = logits.shape[1:]
        parents = self._pad([tree.parents for tree in trees]).clamp(min=0)
        parents += size * torch.arange(len(trees), device=self.device)[:, None]
        chosen = logits.view(-1)[parents * vocabulary + self._pad([tree.ids for tree in trees])]
        nats = chosen - logits.logsumexp(2).view(-1)[parents]
        for tree, scores in zip(trees, (nats.double().cpu().numpy() / math.log(2)), strict=True):
            bits = np.where(tree.parents < 0, 0, scores[: len(tree.ids)])
            yield from zip(tree.rows, (bits[path] for path in tree.paths), strict=True)

    def _logits(self, trees: list[PrefixTree]) -> Tensor:
        """(B, N, V) of the tokens of each tree, padded on the right."""
        ids = self._pad([tree.ids for tree in trees])
        if all(len(tree.rows) == 1 for tree in trees):
            mask = self._pad([np.ones(len(tree.ids), np.int64) for tree in trees])
            return self.model(input_ids=ids, attention_mask=mask, use_cache=False).logits
        sees = np.zeros((len(trees), 1, ids.shape[1], ids.shape[1]), bool)
        for index, tree in enumerate(trees):
            sees[index, 0, : len(tree.ids), : len(tree.ids)] = tree.attention_mask()
        sees[:, 0] |= np.eye(ids.shape[1], dtype=bool)  # also of padding, which would have nothing to see
        dtype = self.model.dtype
        hidden = torch.from_numpy(~sees).to(self.device)  # one byte each, `dtype` has four
        mask = torch.zeros_like(hidden, dtype=dtype).masked_fill_(hidden, torch.finfo(dtype).min)
        positions = self._pad([tree.depths for tree in trees])
        return self.model(input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=False).logits

    def _pad(self, rows: Sequence[np.ndarray]) -> Tensor:
        """Rows of whole numbers with zeros on the right, (B, N)."""
        return pad_sequence([torch.from_numpy(row) for row in rows], batch_first=True).to(self.device)


def _separator_span(text: str, cut: tuple[int, int]) -> tuple[int, int]:
    """The characters of a separator without the space before it."""
    return cut[0] + (text[cut[0]] == " "), cut[1]


def _with_fused_gelu(model: Any) -> Any:
    """The same function by torch's own kernel: Transformers computes GPT-2's GELU in seven passes over memory."""
    from transformers.activations import NewGELUActivation

    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, NewGELUActivation):
                setattr(module, name, torch.nn.GELU(approximate="tanh"))
    return model


def _load(path: Path) -> tuple[Any, Any]:
    if not path.is_dir():
        raise InputError(f"lm:{path}: no such folder; {REMEDY}")
    auto = "AutoModelForCausalLM"
    tokenizer, model, missing = load_transformer(auto, path, f"lm:{path}", REMEDY, local_files_only=True)
    if missing:
        raise InputError(f"lm:{path}: no weights for {missing[0]}; is this a language model?")
    if not tokenizer.is_fast:
        raise InputError(f"lm:{path}: the tokenizer does not say where tokens start; add a tokenizer.json")
    return tokenizer, model
