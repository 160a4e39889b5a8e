"""Watch an encoder learn: train it, see its curves, look into every epoch, add a suite of tasks later.

    python examples/watch_an_encoder_learn.py runs/watched

Cells begin with `# %%`, as notebooks in editors do. More settings of the training may follow the folder.
"""

# %%
import csv
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from encoders import load_encoder

RUN = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/watched")


def run(*command: str) -> None:
    """A command as one types it in a shell."""
    print("python", *command)
    subprocess.run([sys.executable, *command], check=True)


# %% Train. Every epoch is kept, and the tasks are scored at steps of the first epoch too.
SETTINGS = ["corpus.size=2000", "trainer.max_epochs=3", "probes.tasks=[SentLen,WC,BShift,SubjNum]"]
WITHIN = ["checkpoints.keep=every", "checkpoints.steps=[2,8,32]", "probes.steps=[2,8,32]"]
run("train.py", "objective=nmt_enfr", *SETTINGS, *WITHIN, f"hydra.run.dir={RUN}", *sys.argv[2:])

# %% Curves: what rises and what falls, also within the first epoch.
run("report.py", "curves", str(RUN), f"out={RUN / 'probing.png'}")

with (RUN / "probes.csv").open(encoding="utf-8") as file:
    for row in csv.DictReader(file):
        print(f"epoch {row['epoch']:<9} {row['task']:<9} {row['test_accuracy']}%")

# %% Every epoch loads. Are two sentences that differ in one word still close?
SENTENCES = ["The dog sees the cat .", "The dog sees the bird .", "Yesterday it rained ."]
for epoch in (0, 1):
    vectors = load_encoder(RUN, epoch=epoch).encode(SENTENCES)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    print(
        f"epoch {epoch}: cosine {units[0] @ units[1]:.3f} with the close one, {units[0] @ units[2]:.3f} with the other"
    )

# %% A suite that was not scored while the run trained, for all epochs that it kept.
SIZES = [f"discoeval.{split}_size={size}" for split, size in (("train", 200), ("dev", 60), ("test", 60))]
run("evaluate.py", f"model={RUN}", "epochs=all", "suite=discoeval", "discoeval.tasks=[SP]", *SIZES)
run("report.py", "curves", str(RUN), "suite=discoeval", f"out={RUN / 'discoeval.png'}")
