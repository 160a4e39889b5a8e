"""Folders of Hugging Face models with a corrupted part: weights, config.json, or the files of the tokenizer."""

import json
import struct
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from encoders.hugging_face import pretrained
from encoders.language_model import CausalLM
from tests.attack.attack import GONE, Attack, corrupt, refused
from tests.encoders.small_language_models import gpt2, save
from tests.fuzzing import limits
from tests.test_transformers import BERT, T5, tiny

WEIGHTS, CONFIG = "model.safetensors", "config.json"
ODD: list[Any] = [None, True, False, 0, 1, -1, 2, 3, 7, 10**6, 10**12, 2**31, 2**63, 10**30, 0.5, -0.5, 1e308]
ODD += [float("nan"), float("inf"), "", "abc", "../..", "a\0b", "\x1b[31m", "x" * 5000, "bert", "gpt2", "t5", "llama"]
ODD += ["float16", "F64", "F8_E4M3", "U8", "I64", "BOOL", [], [0], [1], [-1, 4], [2**40, 2**40], {}, {"a": 1}, [[]]]
ODD += ["os.system", {"": "os.getcwd"}, GONE, GONE, GONE]
WHOLE = ["[]", "{}", "null", "5", '"bert"', "", "{", "[" * 10000, '{"model_type": "bert"}', '{"model_type": []}']
WHOLE += [
    '{"model_type": "abc"}', '{"model_type": "t5"}', '{"a": 1, "a": 2}', "NaN", '{"auto_map": {"AutoModel": "a.B"}}',
]  # fmt: skip
PLACES = ["model-1.safetensors", "/dev/zero", "../other.safetensors", "/etc/passwd", "a\0b", "", ".", "x" * 300]
LEAVING = ("/dev/zero", "../other.safetensors", "/etc/passwd")
LENGTHS = [0, 1, 7, 2, 10**6, 2**31, 2**40, 2**63, 2**64 - 1]


def _vectors(path: Path) -> None:
    (layer,) = pretrained(str(path), -1, "mean", "cpu", path / "work")
    assert layer.encode(["a b", "c"]).shape[0] == 2


def _surprisals(path: Path) -> None:
    (scored,) = CausalLM(path, "cpu").logprobs([("The cat", " sat")])
    assert len(scored.tokens) == len(scored.logprobs) > 0


def _llama(folder: Path) -> Path:
    gpt2(folder)
    sizes = {"hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4}
    return save(folder, "LlamaForCausalLM", vocab_size=300, num_key_value_heads=2, max_position_embeddings=64, **sizes)


MODELS: dict[str, tuple[str, Callable[[Path], object], Callable[[Path], None]]] = {  # how it is given, made and used
    "bert": ("hf", lambda folder: tiny(folder, "Bert", **BERT), _vectors),
    "t5": ("hf", lambda folder: tiny(folder, "T5", **T5), _vectors),
    "gpt2": ("lm", gpt2, _surprisals),
    "llama": ("lm", _llama, _surprisals),
}


@cache
def files_of(model: str) -> dict[str, bytes]:
    """The files of a small model."""
    with tempfile.TemporaryDirectory() as made:
        MODELS[model][1](Path(made))
        return {path.name: path.read_bytes() for path in Path(made).iterdir()}


def loaded(case: Any, folder: Path) -> None:
    """One line, at once, or a model that gives what is asked of it."""
    model, changes = case
    files, (prefix, _, use) = dict(files_of(model)), MODELS[model]
    for way, *how in changes:
        CHANGES[way](files, *how)
    (path := folder / "model").mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    with limits():
        message = refused(lambda: use(path))
    assert message is None or f"{prefix}:{path}" in message, message
    if any(way == "index" and how[0] in LEAVING for way, *how in changes) and f"{WEIGHTS}.index.json" in files:
        assert message, "a name that leaves the folder was accepted"


def _replaced(files: dict[str, bytes], which: int, steps: list[int], odd: int) -> None:
    """A value of config.json or of a file of the tokenizer."""
    names = [name for name in (CONFIG, CONFIG, *sorted(files)) if name in files and name.endswith(".json")]
    name = names[which % len(names)]
    try:
        content = json.loads(files[name])
    except (ValueError, RecursionError):
        return
    if isinstance(content, dict) and content:
        corrupt(content, steps, ODD[odd])
        files[name] = json.dumps(content).encode()


def _whole(files: dict[str, bytes], which: int, content: str) -> None:
    names = sorted(files)
    files[names[which % len(names)]] = content.encode()


def _bytes(files: dict[str, bytes], which: int, place: float, length: int, new: str) -> None:
    names = [name for name in (WEIGHTS, *sorted(files)) if name in files]
    name = names[which % len(names)]
    content = files[name]
    at = int(place * len(content))
    files[name] = content[:at] + bytes.fromhex(new) + content[at + length :]


def _cut(files: dict[str, bytes], share: float) -> None:
    content = files.get(WEIGHTS, b"")
    files[WEIGHTS] = content[: int(share * len(content))]


def _header(files: dict[str, bytes], steps: list[int], odd: int) -> None:
    """What the head of the weights says of a tensor: its name, type, shape and place."""
    if not (read := _header_of(files.get(WEIGHTS, b""))):
        return
    header, tensors = read
    corrupt(header, steps, ODD[odd])
    text = json.dumps(header).encode()
    files[WEIGHTS] = struct.pack("<Q", len(text)) + text + tensors


def _length(files: dict[str, bytes], length: int) -> None:
    files[WEIGHTS] = struct.pack("<Q", LENGTHS[length]) + files.get(WEIGHTS, b"")[8:]


def _shape(files: dict[str, bytes], which: int, shape: list[int]) -> None:
    """A tensor of another shape, with bytes enough for it."""
    if not (read := _header_of(files.get(WEIGHTS, b""))):
        return
    header, tensors = read
    names = [name for name in header if name != "__metadata__"]
    size = 4 * int(np.prod(shape))
    offsets = [len(tensors), len(tensors) + size]
    header[names[which % len(names)]] = {"dtype": "F32", "shape": shape, "data_offsets": offsets}
    text = json.dumps(header).encode()
    files[WEIGHTS] = struct.pack("<Q", len(text)) + text + tensors + bytes(size)


def _header_of(content: bytes) -> tuple[dict[str, Any], bytes] | None:
    """The header and the bytes of the tensors; None where an earlier change has corrupted it."""
    try:
        end = 8 + struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8:end])
    except (ValueError, RecursionError, struct.error):
        return None
    return (header, content[end:]) if isinstance(header, dict) and len(header) > 1 else None


def _index(files: dict[str, bytes], place: str, at: int) -> None:
    """Weights in several files, as an index says: some of them elsewhere."""
    names = [name for name in (_header_of(files.get(WEIGHTS, b"")) or ({}, b""))[0] if name != "__metadata__"]
    where = {name: place if number % 7 == at else WEIGHTS for number, name in enumerate(names)}
    files[f"{WEIGHTS}.index.json"] = json.dumps({"metadata": {}, "weight_map": where}).encode()
    files["model-1.safetensors"] = files.pop(WEIGHTS, b"")


def _gone(files: dict[str, bytes], which: int) -> None:
    del files[sorted(files)[which % len(files)]]


CHANGES: dict[str, Callable[..., None]] = {
    "value": _replaced, "whole": _whole, "bytes": _bytes, "cut": _cut, "header": _header, "length": _length,
    "shape": _shape, "index": _index, "gone": _gone,
}  # fmt: skip
_number, _share = st.integers(0, 60), st.floats(0, 1, width=16)
_steps, _odd = st.lists(_number, min_size=1, max_size=4), st.integers(0, len(ODD) - 1)
_change = st.one_of(
    st.tuples(st.just("value"), _number, _steps, _odd),
    st.tuples(st.just("value"), st.just(0), _steps, _odd),
    st.tuples(st.just("whole"), _number, st.sampled_from(WHOLE)),
    st.tuples(st.just("bytes"), _number, _share, st.integers(0, 40), st.binary(max_size=12).map(bytes.hex)),
    st.tuples(st.just("cut"), _share),
    st.tuples(st.just("header"), _steps, _odd),
    st.tuples(st.just("length"), st.integers(0, len(LENGTHS) - 1)),
    st.tuples(st.just("shape"), _number, st.lists(st.integers(0, 40), max_size=3)),
    st.tuples(st.just("index"), st.sampled_from(PLACES), st.integers(0, 7)),
    st.tuples(st.just("gone"), _number),
)
_case = st.tuples(st.sampled_from(sorted(MODELS)), st.lists(_change, min_size=1, max_size=2))
ATTACKS = [Attack("transformer", _case, loaded)]
