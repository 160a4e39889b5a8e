"""Probe your own model: any function, a sentence-transformer, all layers of a transformer, with controls and intervals.

python examples/probe_your_own_model.py                         two functions
python examples/probe_your_own_model.py FOLDER                  and a sentence-transformers folder with its layers
python examples/probe_your_own_model.py FOLDER probes.tasks=[SentLen,WC]      settings as those of evaluate.py
"""

# %% Arguments
import sys
import tempfile
from pathlib import Path

import numpy as np

from encoder_lab.evaluation.tasks import tasks_for
from encoder_lab.model import Model
from encoders.hugging_face import pretrained
from probes.evaluation import Evaluated, Evaluation
from probes.probing.controls import control_task

ARGUMENTS = sys.argv[1:]
FOLDERS = [text for text in ARGUMENTS if "=" not in text]
SETTINGS = [text for text in ARGUMENTS if "=" in text]
if not any(text.startswith("probes.tasks=") for text in SETTINGS):
    SETTINGS.append("probes.tasks=[SentLen,WC,Tense]")

# %% The tasks: of the embedded corpus, built in seconds; probes=senteval probes.root=DIR reads the published ones
TASKS = tasks_for(*SETTINGS)


# %% Any function from sentences to an array (N, D) is a model
def surface(sentences: list[str]) -> np.ndarray:
    """The number of words, of characters, and of words that end in -ed."""
    return np.array([[len(s.split()), len(s), s.count("ed ")] for s in sentences], dtype=np.float32)


def letters(sentences: list[str]) -> np.ndarray:
    """How often each letter occurs."""
    return np.array([[s.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for s in sentences])


models = [Model("surface", "function", surface), Model("letters", "function", letters)]

# %% So is a sentence-transformer; and each layer of the transformer in it is one
work = Path(tempfile.mkdtemp())
for folder in FOLDERS:
    from sentence_transformers import SentenceTransformer

    transformer = SentenceTransformer(folder, device="cpu")
    name = Path(folder).name
    models.append(Model(name, "its vectors", lambda sentences, t=transformer: t.encode(sentences)))  # type: ignore[misc]
    models += pretrained(folder, "all", "mean", "cpu", work)


# %% Scores with 95% intervals. A control task gives each word a random label: what is above it is not memory
def as_cell(score: Evaluated, control: Evaluated) -> str:
    """One cell: the score, its interval, and its distance to the control task (Hewitt and Liang 2019)."""
    row = score.row
    selectivity = row.test_accuracy - control.row.test_accuracy
    return f"{row.test_accuracy:5.1f} [{row.test_low:.0f}, {row.test_high:.0f}] {selectivity:+.0f}"


print(f"{'test accuracy [95% interval] selectivity':42}" + "".join(f"{task.name:>22}" for task in TASKS))
for model in models:
    per_word = [control_task(task, "word", task.seed) for task in TASKS]  # type: ignore[arg-type,attr-defined]
    evaluation = Evaluation(model, [*TASKS, *per_word])
    scores, controls = evaluation.scores(TASKS), evaluation.scores(per_word)
    cells = [as_cell(score, control) for score, control in zip(scores, controls, strict=True)]
    print(f"{model.encoder + ', ' + model.objective:42}" + "".join(f"{cell:>22}" for cell in cells))
