"""The modules of a sentence-transformers folder above its transformer, read as data: no class of it is imported.

Pooling, dense layers, normalisation, prompts, the longest text. Modules of other kinds are refused.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from encoder_lab.errors import InputError

# in the order of their vectors
POOLING_MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
OLD_MODES = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
ACTIVATIONS = {"Tanh": nn.Tanh, "Identity": nn.Identity, "ReLU": nn.ReLU, "GELU": nn.GELU, "Sigmoid": nn.Sigmoid}
MAX_DENSE_WEIGHTS = 10**9  # of a dense layer
MODEL_TYPES = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
# of the transformer; all but the first are older
SETTINGS_FILES = [f"sentence_{model_type}_config.json" for model_type in MODEL_TYPES]
VECTOR = "sentence_embedding"  # what the library calls it
TASK = "feature-extraction"
TEXT_STATES = {"method": "forward", "method_output_name": "last_hidden_state"}  # of a text, the states that are pooled
ARGUMENTS = ("model_args", "model_kwargs", "config_args", "config_kwargs", "tokenizer_args", "processor_kwargs")


class SentenceModules(NamedTuple):
    """The modules of a sentence-transformers folder and their settings."""

    pooling: tuple[str, ...]
    with_prompt: bool  # whether the tokens of the prompt are pooled
    post_pooling: Sequence[nn.Module]  # on the pooled vector, from the first
    max_tokens: int | None
    lowercase: bool  # texts are put in lower case
    prompts: Mapping[str, str]
    prompt: str  # the one that is used by default

    def __str__(self) -> str:
        return ", ".join([f"pooling {' and '.join(self.pooling)}", *map(str, self.post_pooling)])


class _Normalize(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.normalize(x, dim=-1)

    def __str__(self) -> str:
        return "normalised"


class _Truncate(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        return x[..., : self.dim]

    def __str__(self) -> str:
        return f"the first {self.dim} numbers"


class _Dense(nn.Sequential):
    def __str__(self) -> str:
        return "dense {0.in_features} to {0.out_features}".format(self[0])


def read_modules(name: str) -> SentenceModules | None:
    """The modules of a folder or of a model on the hub; None where it has no `modules.json`. Raises InputError."""
    path = _find_file(name, "modules.json")
    if path is None:
        return None
    source = f"hf:{name}"
    entries = _read_json(path, source)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{source}: modules.json is no list of modules; get the model again")
    classes = [str(entry.get("type")) for entry in entries]
    types = [name.rpartition(".")[2] if name.startswith("sentence_transformers.") else name for name in classes]
    hint = "pooling=mean takes the transformer alone" if "Transformer" in types else "model=call: takes a function"
    if types[:2] != ["Transformer", "Pooling"] or not {"Dense", "Normalize", "Dropout"}.issuperset(types[2:]):
        supported = "read are Transformer and Pooling, then Dense and Normalize"
        raise InputError(f"{source}: its modules.json has {', '.join(types)}; {supported}; {hint}")
    if folder := entries[0].get("path"):
        raise InputError(f"{source}: its transformer is in {folder}/; move the files from there into the folder itself")
    post_pooling = list[nn.Module]()
    settings = []
    for entry, type_name in zip(entries, types, strict=True):
        folder = str(entry.get("path"))
        file = _find_file(name, f"{folder}/config.json") if type_name in ("Pooling", "Dense", "Normalize") else None
        settings.append(_read_settings(file, source))
        names = [settings[-1].get(f"module_{end}_name") or VECTOR for end in ("input", "output")]
        if names != [VECTOR, VECTOR]:
            raise InputError(f"{source}: {folder}/ works on other numbers than the vector of a sentence; {hint}")
        if type_name == "Dense":
            weights = _find_file(name, f"{folder}/model.safetensors")
            if weights is None:
                raise InputError(f"{source}: {folder}/ has no model.safetensors; save the model again with it")
            post_pooling.append(_dense_layer(settings[-1], weights, source))
        elif type_name == "Normalize":
            post_pooling.append(_Normalize())
    limits = _read_settings(next(filter(None, (_find_file(name, file) for file in SETTINGS_FILES)), None), source)
    if unread := _unread_settings(limits):
        raise InputError(f"{source}: {', '.join(unread)} of its transformer's settings is not read; {hint}")
    prompt_settings = _read_settings(_find_file(name, "config_sentence_transformers.json"), source)
    prompts = prompt_settings.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str) for text in prompts.values()):
        raise InputError(f"{source}: the prompts of config_sentence_transformers.json are no texts")
    default, longest = prompt_settings.get("default_prompt_name"), limits.get("max_seq_length")
    if default is not None and default not in list(prompts):
        raise InputError(f"{source}: no prompt {default!r}, the default of config_sentence_transformers.json; add it")
    longest = longest if isinstance(longest, int) and longest > 2 else None
    if type(dim := prompt_settings.get("truncate_dim")) is int and dim > 0:
        post_pooling.append(_Truncate(dim))
    pooling, with_prompt = _pooling_modes(settings[1], source), settings[1].get("include_prompt", True) is not False
    lowercase = limits.get("do_lower_case") is True
    return SentenceModules(pooling, with_prompt, post_pooling, longest, lowercase, prompts, prompts.get(default, ""))


def _unread_settings(settings: Mapping[str, Any]) -> list[str]:
    """Those by which other tokens would be read, or other states pooled, than here."""
    unread = [key for key in (*ARGUMENTS, "processing_kwargs") if settings.get(key)]
    unread += ["transformer_task"] if settings.get("transformer_task", TASK) != TASK else []
    states = settings.get("modality_config", {"text": TEXT_STATES})
    return unread if isinstance(states, dict) and states.get("text") == TEXT_STATES else [*unread, "modality_config"]


def pool_states(states: Tensor, mask: Tensor, mode: str) -> Tensor:
    """Vectors (..., B, D) of token vectors `states (..., B, T, D)` of which `mask (B, T)` are real, padded right."""
    real = mask[..., None].to(states.dtype)
    if mode in ("mean", "mean_sqrt_len_tokens"):
        count = real.sum(-2).clamp(min=1)
        return (states * real).sum(-2) / (count if mode == "mean" else count.sqrt())
    if mode == "weightedmean":
        weights = torch.arange(1, mask.shape[1] + 1, device=mask.device)[:, None] * real
        return (states * weights).sum(-2) / weights.sum(-2).clamp(min=1)
    if mode == "max":
        return states.masked_fill(real == 0, -torch.inf).amax(-2)
    rows = torch.arange(len(mask), device=mask.device)
    first = mask.int().argmax(1)
    return states[..., rows, first if mode == "cls" else mask.shape[1] - 1 - mask.int().flip(1).argmax(1), :]


def _pooling_modes(settings: Mapping[str, Any], source: str) -> tuple[str, ...]:
    old = [mode for key, mode in zip(OLD_MODES, POOLING_MODES, strict=True) if settings.get(f"pooling_mode_{key}")]
    pooling = settings.get("pooling_mode", old or "mean")
    modes = (pooling,) if isinstance(pooling, str) else tuple(pooling) if isinstance(pooling, list) else ()
    if not modes or any(mode not in POOLING_MODES for mode in modes):
        raise InputError(f"{source}: pooling {pooling!r}; known are {', '.join(POOLING_MODES)}")
    return modes


def _dense_layer(settings: Mapping[str, Any], weights: Path, source: str) -> nn.Module:
    sizes = settings.get("in_features"), settings.get("out_features")
    activation = str(settings.get("activation_function", "torch.nn.modules.activation.Tanh"))
    activation_class = ACTIVATIONS.get(activation.rpartition(".")[2]) if activation.startswith("torch.nn.") else None
    if activation_class is None or settings.get("use_residual"):
        raise InputError(f"{source}: a dense layer with {activation} or a residual; known are {', '.join(ACTIVATIONS)}")
    if not all(type(size) is int and size > 0 for size in sizes) or math.prod(sizes) > MAX_DENSE_WEIGHTS:  # type: ignore[arg-type, operator]
        raise InputError(f"{source}: a dense layer of {sizes[0]} to {sizes[1]} numbers; get the model again")
    try:
        state = {key.removeprefix("linear."): value.float() for key, value in load_file(weights).items()}
        layer = nn.Linear(sizes[0], sizes[1], bias=settings.get("bias") is not False, device="meta")  # type: ignore[arg-type]
        layer.load_state_dict(state, assign=True)
    except (SafetensorError, RuntimeError, OSError, ValueError) as error:
        problem = f"{weights.parent.name}/{weights.name}: {' '.join(str(error).split())}"
        raise InputError(f"{source}: {problem}; get the model again") from None
    return _Dense(layer.requires_grad_(False), activation_class())


def has_modules(name: str) -> bool:
    """Whether a folder or a model on the hub is one of sentence-transformers."""
    return _find_file(name, "modules.json") is not None


def _find_file(name: str, file: str) -> Path | None:
    """A file of a folder, or of a model on the hub; None where it has none."""
    if Path(name).is_dir():
        path = Path(name) / file
        within_folder = path.resolve().is_relative_to(Path(name).resolve())
        return path if within_folder and path.is_file() else None
    from transformers.utils import cached_file

    quiet = {"_raise_exceptions_for_missing_entries": False, "_raise_exceptions_for_connection_errors": False}
    cached = cached_file(name, file, **quiet)
    return Path(cached) if cached else None


def _read_settings(path: Path | None, source: str) -> dict[str, Any]:
    settings = _read_json(path, source) if path else {}
    if not isinstance(settings, dict):
        raise InputError(f"{source}: {path} holds no settings; get the model again")
    return settings


def _read_json(path: Path, source: str) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{source}: {path.name} is not valid JSON ({error}); get the model again") from None
