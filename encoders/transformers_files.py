"""Transformers and their tokenizers, from a folder or the hub: safetensors alone, and no code of theirs."""

import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from encoder_lab.errors import InputError, first_line
from encoder_lab.storage.files import path_inside, refuse_special

LAYER_COUNT = re.compile(r"(layers?|experts|blocks|groups)$")  # settings that say how often a part is built
LAYER_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")  # of a layer, in the name of a weight
MAX_LAYERS = 1000  # more would take too long to build
MAX_NUMBERS_PER_BYTE = 8  # of weights
SMALL_MODEL_NUMBERS = 10**7  # that any machine has memory for


def load_transformer(cls: str, name: str | Path, source: str, forms: str, **options: Any) -> tuple[Any, Any, list[str]]:
    """A tokenizer, a model of the class `cls` (AutoModel), and the names of its weights that are in no file, sorted.

    Raises InputError, which begins with `source` and ends with `forms`, where the files are damaged, where they would
    run code or need much more memory than they have bytes, and where there are none of a tokenizer.
    """
    try:
        import transformers
    except ImportError:
        raise InputError(f"{source}: needs another package: pip install transformers") from None
    if (Path(name) / "adapter_config.json").is_file():  # without PEFT the library leaves it out and says nothing
        raise InputError(f"{source}: an adapter (PEFT), which is not read; merge it into its model: merge_and_unload()")
    auto, options = getattr(transformers, cls), options | {"trust_remote_code": False}
    try:
        with _silence_transformers(Path(name).is_dir()):
            for file in Path(name).glob("*.safetensors*"):
                refuse_special(file)
            for index in Path(name).glob("*.index.json"):
                for file in json.loads(index.read_bytes())["weight_map"].values():
                    path_inside(index.parent, file)
            config = transformers.AutoConfig.from_pretrained(name, **options)
            _refuse_many_layers(config.to_dict())
            if Path(name).is_dir():
                _refuse_large(auto, config, sum(file.stat().st_size for file in Path(name).glob("*.safetensors")))
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, **options)
            model, info = auto.from_pretrained(name, use_safetensors=True, output_loading_info=True, **options)
    except Exception as error:  # damaged files fail in many ways
        problem = first_line(error)
        if "ignore_mismatched_sizes" in str(error):
            problem = "its weights have other shapes than its config.json says"
        elif problem.startswith("Repo id must"):
            problem = "no such folder"
        raise InputError(f"{source}: {problem}; {forms}") from None
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):  # the library makes one where there are no files
        raise InputError(f"{source}: the tokenizer has no words; add the tokenizer.json of the model")
    if left_out := _layers_left_out(model, info["unexpected_keys"]):
        print(
            f"{source}: config.json leaves out layers that are in the weights, such as {left_out[0]}", file=sys.stderr
        )
    if model.dtype.itemsize < torch.float32.itemsize:
        print(f"{source}: computes in {str(model.dtype).removeprefix('torch.')}, as its weights are", file=sys.stderr)
    return tokenizer, model, sorted(info["missing_keys"])


def _layers_left_out(model: Any, unused: Iterable[str]) -> list[str]:
    """The unused weights that have the name of a weight of the model, but for the numbers of layers, sorted."""
    endings = tuple({LAYER_NUMBER.sub("", name) for name in model.state_dict() if LAYER_NUMBER.search(name)})
    return sorted(name for name in unused if LAYER_NUMBER.sub("", name).endswith(endings))


def positions_of(model: Any) -> int | None:
    """How many tokens a text can have, by the positions of a model; None or below 1 where it says no number."""
    for name, module in model.named_modules():  # RoBERTa and its like begin behind the row of padding
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return len(module.weight) - module.padding_idx - 1
    return getattr(model.config, "max_position_embeddings", getattr(model.config, "max_seq_len", None))  # of MPT


def lacks_end_token(name: str | Path, tokenizer: Any) -> bool:
    """Whether a tokenizer leaves out the token that ends a text, as transformers 5 does where 4 added it."""
    from transformers.models.auto.tokenization_auto import get_tokenizer_config

    asks = get_tokenizer_config(name).get("add_eos_token") is True
    return asks and tokenizer("a")["input_ids"][-1:] != [tokenizer.eos_token_id]


def _refuse_many_layers(settings: dict[str, Any]) -> None:
    """Raises ValueError where config.json asks for so many parts that building them would take very long."""
    for key, value in settings.items():
        if isinstance(value, dict):
            _refuse_many_layers(value)
        elif type(value) is int and value > MAX_LAYERS and LAYER_COUNT.search(str(key)):
            raise ValueError(f"{key} is {value} in its config.json; at most {MAX_LAYERS} are built")


def _refuse_large(auto: Any, config: Any, stored: int) -> None:
    """Raises ValueError where config.json asks for much more memory than the `stored` bytes of weights can fill."""
    with torch.device("meta"):  # takes no memory
        model = auto.from_config(config, trust_remote_code=False)
    needed = sum(tensor.numel() for tensor in chain(model.parameters(), model.buffers()))
    if needed > SMALL_MODEL_NUMBERS + MAX_NUMBERS_PER_BYTE * stored:
        raise ValueError(f"its config.json asks for {needed:,} numbers, and its weights have {stored:,} bytes")


@contextmanager
def _silence_transformers(local: bool) -> Iterator[None]:
    """Without the library's own messages: an error is one line. A download from the hub keeps its progress bars."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    if local:
        logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
