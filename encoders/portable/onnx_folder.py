"""ONNX: the network as a graph, and the reader of sentences as a Python file without torch."""

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.onnx import register_custom_op_symbolic, symbolic_helper

from encoder_lab.errors import InputError
from encoders.portable.network import SentenceEncoder, TextReader, refuse_string
from encoders.portable.parts import Parts

GRAPH, SETTINGS, NGRAMS = "model.onnx", "text.json", "ngrams.npy"
INPUTS, OUTPUT = ("ids", "lengths", "unknown"), "vectors"
OPSET = 18


class OnnxEncoder:
    """Sentences to vectors in onnxruntime. A part of the export, with `TextReader`."""

    def __init__(self, folder: str) -> None:
        import onnxruntime

        path = Path(folder)
        self.session = onnxruntime.InferenceSession(path / GRAPH)
        ngrams = np.load(path / NGRAMS) if (path / NGRAMS).exists() else None
        self.reader = TextReader(json.loads((path / SETTINGS).read_text(encoding="utf-8")), ngrams)

    def encode(self, sentences: Sequence[str], batch_size: int = 64) -> np.ndarray:
        """Vectors (N, D) float32 of sentences, in their order. Raises TypeError for one string."""
        refuse_string(sentences)
        parts = [np.zeros((0, self.reader.vector_dim), np.float32)]
        for start in range(0, len(sentences), batch_size):
            inputs = self.reader.read(sentences[start : start + batch_size])
            parts += self.session.run([OUTPUT], dict(zip(INPUTS, inputs, strict=True)))
        return np.concatenate(parts)


def write_onnx(parts: Parts, folder: Path) -> None:
    """Write graph, settings, n-grams and the reader of text. Raises InputError if the graph gives other vectors."""
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError:
        raise InputError("format=onnx needs other packages: pip install onnx onnxruntime") from None
    reader = TextReader(parts.settings, parts.ngrams)
    network = SentenceEncoder(parts.encoder, parts.table, reader).eval()
    network.forward = network.vectors  # type: ignore[assignment,method-assign]  # what the graph computes
    words = parts.settings["words"][2:]
    example = tuple(map(torch.from_numpy, reader.read([" ".join(words[:3]), " ".join(words[:2])])))
    register_custom_op_symbolic("aten::unfold", _unfold, OPSET)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            example,
            str(folder / GRAPH),
            input_names=list(INPUTS),
            output_names=[OUTPUT],
            dynamic_axes={"ids": {0: "batch", 1: "words"}, "lengths": {0: "batch"}, "unknown": {0: "unknown"}},
            opset_version=OPSET,
            dynamo=False,  # the other exporter repeats a recurrent layer for one number of words
        )
    (folder / SETTINGS).write_text(json.dumps(parts.settings), encoding="utf-8")
    if parts.ngrams is not None:
        np.save(folder / NGRAMS, parts.ngrams)
    (folder / "sentence_encoder.py").write_text(parts.source(OnnxEncoder), encoding="utf-8")
    parts.refuse_other_vectors(OnnxEncoder(str(folder)).encode, "use format=torch")


def _unfold(graph: Any, values: Any, dim: Any, size: Any, step: Any) -> Any:
    """Windows of a dimension with any number of words: slices next to each other. ONNX has no such operator."""
    dim, size, step = (symbolic_helper._get_const(value, "i", "n") for value in (dim, size, step))
    assert step == 1

    def constant(number: int) -> Any:
        return graph.op("Constant", value_t=torch.tensor([number]))

    ends = [*range(1 - size, 0), torch.iinfo(torch.int64).max]
    slices = [graph.op("Slice", values, constant(k), constant(end), constant(dim)) for k, end in enumerate(ends)]
    return graph.op("Concat", *(graph.op("Unsqueeze", part, constant(-1)) for part in slices), axis_i=-1)
