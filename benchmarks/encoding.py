"""Speed of a frozen encoder, compared with encoding in batches in file order.

python benchmarks/encoding.py                               20,000 sentences through bilstm_max
python benchmarks/encoding.py sentences=1000000 encoder=bov
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import benchmark, measure
from encoder_lab.settings.command_line import COUNT, TEXT, Setting

SETTINGS = [
    Setting("sentences", "how many sentences to generate", COUNT, 20_000),
    Setting("encoder", "a name from configs/encoder", TEXT, "bilstm_max"),
]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from benchmarks.machine import DEVICE, in_new_process, measure_cost, synchronised_time
from benchmarks.steps import WIDTH, WORDS, encoder_of
from datamodules.text.vocabulary import Vocabulary
from encoders import FrozenEncoder
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder

REPEATED_SHARE = 0.2  # share of repeated sentences, as among premises and probing sentences
PLAIN_BATCH = 64  # sentences
MAX_PLAIN = 5_000  # sentences; enough to time the plain way


def generate_sentences(count: int, seed: int = 1) -> list[str]:
    """Sentences of Zipfian words; lengths are skewed, median 14 words, at most 100."""
    random = np.random.default_rng(seed)
    lengths = np.clip(random.lognormal(np.log(14), 0.6, count), 1, 100).astype(int)
    ends = lengths.cumsum()
    words = np.minimum(random.zipf(1.2, ends[-1]), WORDS - 1)
    sentences = [" ".join(map(str, words[end - length : end])) for length, end in zip(lengths, ends, strict=True)]
    for row in np.flatnonzero(random.random(count) < REPEATED_SHARE):
        sentences[row] = sentences[random.integers(row + 1)]
    return sentences


def distinct_sentences(count: int) -> list[str]:
    """`count` different sentences."""
    return list(dict.fromkeys(generate_sentences(2 * count)))[:count]


def frozen_encoder(encoder: Encoder, bfloat16: bool = False) -> FrozenEncoder:
    """The encoder with random word vectors of the words 0 to WORDS - 1."""
    vocabulary = Vocabulary(map(str, range(WORDS)))
    matrix = np.random.default_rng(1).normal(size=(len(vocabulary), WIDTH)).astype(np.float32)
    matrix[:2] = 0
    embedding = WordEmbedding(matrix).to(DEVICE)
    return FrozenEncoder(encoder.to(DEVICE).eval(), embedding, vocabulary, bfloat16=bfloat16)


@torch.no_grad()
def encode_plainly(frozen: FrozenEncoder, sentences: list[str]) -> np.ndarray:
    """The straightforward implementation: every sentence, in file order, padded to its batch."""
    vectors = []
    with patch("encoders.recurrent.MIN_PACKED", sys.maxsize):  # PyTorch's own recurrent layers
        for start in tqdm(range(0, len(sentences), PLAIN_BATCH), desc="plain", disable=None, leave=False):
            rows = [torch.tensor(frozen.vocabulary.rows(text)) for text in sentences[start : start + PLAIN_BATCH]]
            lengths = torch.tensor([len(row) for row in rows]).to(DEVICE)
            ids = pad_sequence(rows, batch_first=True).to(DEVICE)
            vectors.append(frozen.encoder(frozen.embedding(ids), lengths).vector.cpu())
    return torch.cat(vectors).numpy()


def compare(name: str, count: int) -> dict[str, object]:
    """Time both ways on the same sentences, and compare their vectors."""
    sentences, frozen = generate_sentences(count), frozen_encoder(encoder_of(name))
    sample = sentences[:MAX_PLAIN]
    frozen.encode(sample[:256])  # warm up: the first call of a kernel is slow
    with tempfile.TemporaryDirectory() as folder:
        with measure_cost() as cost:
            vectors = frozen.encode(sentences, out=Path(folder) / "vectors.npy")
        started = synchronised_time()
        expected = encode_plainly(frozen, sample)
        ours, theirs = count / cost["seconds"], len(sample) / (synchronised_time() - started)
        difference = float(np.abs(vectors[: len(sample)] - expected).max())
    # kernels for other batch shapes round differently, and GPUs multiply in TF32
    assert difference < (1e-4 if DEVICE == "cpu" else 1e-2), f"vectors differ by {difference}"
    return {
        "encoder": name,
        "sentences": count,
        "distinct": frozen.coverage.sentences,
        "ours_sentences_per_second": round(ours),
        "plain_sentences_per_second": round(theirs),
        "ratio": round(ours / theirs, 2),
        "result_megabytes": round(count * frozen.dim * 4 / 2**20),
        "memory_growth_megabytes": round(cost["memory_mb"]),
        "own_memory_growth_megabytes": round(cost["own_mb"]),
        "largest_difference": difference,
    }


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, object]]:
    yield in_new_process(compare, settings.encoder, settings.sentences)


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
