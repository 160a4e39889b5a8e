"""MTEB on a run: any of its tasks that reads text.

python examples/mteb_on_a_run.py RUN STS12 Banking77Classification         fetches the data of the tasks
"""

# %% A run as MTEB wants it
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mteb
import numpy as np
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction

from encoders import load_encoder

ABOUT_THE_TASK = ("task_metadata", "hf_split", "hf_subset", "prompt_type")  # an encoder of a run reads all text alike


class RunForMTEB(AbsEncoder):
    """The frozen encoder of a run; it reads raw text, tokenised as its corpus was."""

    def __init__(self, model_name: str, revision: str | None = None, *, device: str | None = None) -> None:
        self.model = load_encoder(model_name, device, raw=True)
        metadata = {
            "name": f"sentence-encoder-lab/{Path(model_name).resolve().name}",
            "embed_dim": self.model.get_sentence_embedding_dimension(),
            "similarity_fn_name": ScoringFunction.COSINE,
        }
        self.mteb_model_meta = ModelMeta.create_empty(metadata)

    def encode(self, inputs: Iterable[dict[str, list[str]]], **options: Any) -> np.ndarray:
        """Vectors (N, D) of MTEB's batches; an option that the encoder does not have is a TypeError."""
        ours = {key: value for key, value in options.items() if key not in ABOUT_THE_TASK}
        return self.model.encode([text for batch in inputs for text in batch["text"]], **ours)


# %% Scores of its tasks
def main(run: str, tasks: list[Any]) -> dict[str, float]:
    """The main score of each task, printed as it comes."""
    results = mteb.evaluate(RunForMTEB(run), tasks, cache=None, show_progress_bar=False)
    scores = {result.task_name: float(result.get_score()) for result in results.task_results}
    for name, score in scores.items():
        print(f"{name:40}{100 * score:6.1f}")
    return scores


if __name__ == "__main__":
    main(sys.argv[1], list(mteb.get_tasks(tasks=sys.argv[2:], languages=["eng"])))
