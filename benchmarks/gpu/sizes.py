"""How large the work of `make gpu` is."""

from typing import NamedTuple

from benchmarks.probing import Shape
from benchmarks.steps import FULL, SMALL, Scale

QUICK = [
    "corpus.size=160", "embeddings.dim=10", "embeddings.bucket=100", "embeddings.words=5000", "encoder.dim=16",
    "encoder.projection=12", "objective.decoder_embedding=8", "objective.decoder_hidden=12", "probes.tasks=[SentLen]",
    "probes.train_size=120", "probes.dev_size=60", "probes.test_size=60", "probes.classifier.widths=[20]",
    "probes.classifier.dropouts=[0.0]",
]  # fmt: skip


class Sizes(NamedTuple):
    """Published sizes, or such that all takes seconds on a CPU."""

    scale: Scale  # of text and models
    steps: int  # training steps of a measurement
    dims: tuple[int, ...]  # of the encoders of NLI and encoding
    sentences: int  # encoded
    probed: Shape
    times: int  # how often each work is repeated
    product: int  # rows of the matrices of which the product is timed
    megabytes: int  # that are copied
    demo: list[str]  # settings of the demo


PUBLISHED = Sizes(FULL, 20, (512, 4096), 20_000, Shape(100_000, 10_000, 10_000, 512, 6), 3, 8192, 1024, [])
TINY = Sizes(SMALL, 1, (16,), 40, Shape(60, 40, 40, 8, 3), 1, 64, 1, QUICK)
BY_NAME = {"published": PUBLISHED, "tiny": TINY}
