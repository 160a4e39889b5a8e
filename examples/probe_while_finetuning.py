"""Fine-tune a small transformer on SICK's entailment with Hugging Face's Trainer, and see which probes move.

python examples/probe_while_finetuning.py MODEL SICK out=finetuned
python examples/probe_while_finetuning.py MODEL SICK out=finetuned epochs=1 probes.tasks=[SentLen,WC]

MODEL: a folder with a transformer and its tokenizer. SICK: a folder with SICK_train.txt. Other settings are those of
evaluate.py. `python report.py curves finetuned out=curves.png` draws the scores.
"""

# %% Arguments
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer, Trainer, TrainingArguments

from datamodules.corpora.sick import Sick
from datamodules.corpus import LABELS, Inference
from encoder_lab.evaluation.tasks import tasks_for
from probes.results import read_rows
from probes.statistics import compare
from probes.trainer_callback import ProbingTrainerCallback

SETTINGS = dict(text.split("=", 1) for text in sys.argv[1:] if "=" in text)
MODEL, SICK = (text for text in sys.argv[1:] if "=" not in text)
OUT = Path(SETTINGS.pop("out", "finetuned"))
EPOCHS, SIZE = int(SETTINGS.pop("epochs", "3")), int(SETTINGS.pop("size", "4500"))
TASKS = tasks_for(*(f"{key}={value}" for key, value in SETTINGS.items()))


# %% The model: vectors are means over the top layer; a linear layer over [u, v, |u - v|, u * v] gives the label
class Entailment(nn.Module):
    """Not a class of this project: the callback needs `encode` alone."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.transformer = AutoModel.from_pretrained(folder)
        self.head = nn.Linear(4 * self.transformer.config.hidden_size, len(LABELS))

    def vectors(self, tokens: dict[str, Tensor]) -> Tensor:
        states = self.transformer(**tokens).last_hidden_state
        mask = tokens["attention_mask"][:, :, None]
        return (states * mask).sum(1) / mask.sum(1).clamp(min=1)

    def forward(self, premise: dict[str, Tensor], hypothesis: dict[str, Tensor], labels: Tensor) -> dict[str, Tensor]:
        u, v = self.vectors(premise), self.vectors(hypothesis)
        logits = self.head(torch.cat([u, v, (u - v).abs(), u * v], 1))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

    def tokens(self, texts: list[str]) -> dict[str, Tensor]:
        return dict(self.tokenizer(texts, padding=True, truncation=True, max_length=128, return_tensors="pt"))

    def encode(self, sentences: list[str]) -> Tensor:
        """What is probed: one vector each, in portions."""
        parts = [sentences[start : start + 64] for start in range(0, len(sentences), 64)]
        return torch.cat([self.vectors(self.tokens(part)) for part in parts])

    def collate(self, pairs: list[Inference]) -> dict[str, Any]:
        labels = torch.tensor([LABELS.index(pair.label) for pair in pairs])
        texts = [pair.premise for pair in pairs], [pair.hypothesis for pair in pairs]
        return {"premise": self.tokens(texts[0]), "hypothesis": self.tokens(texts[1]), "labels": labels}


# %% Training, probed before it and after each epoch
torch.manual_seed(1)
model = Entailment(MODEL)
data = list(Sick(SICK, SIZE).inference("train"))
OUT.mkdir(parents=True, exist_ok=True)
(OUT / "config.yaml").write_text(f"encoder_name: {Path(MODEL).name}\nobjective_name: entailment\nseed: 1\n")
probing = ProbingTrainerCallback(TASKS, model, OUT / "probes.csv")
arguments = TrainingArguments(
    str(OUT),
    num_train_epochs=EPOCHS,
    per_device_train_batch_size=16,
    learning_rate=2e-5,
    logging_steps=20,
    save_strategy="no",
    report_to="none",
    remove_unused_columns=False,
    use_cpu=True,
    seed=1,
)
trainer = Trainer(model, arguments, data_collator=model.collate, train_dataset=data, callbacks=[probing])  # type: ignore[arg-type]
trainer.train()

# %% Which probes moved: the first and the last epoch on the same test sentences, by McNemar's test
rows = read_rows(OUT / "probes.csv")
last = max(row.epoch for row in rows)
print(f"\n{'task':12}{'before':>22}{'after':>22}{'difference':>26}{'p':>10}")
for task in TASKS:
    before, after = (next(row for row in rows if (row.task, row.epoch) == (task.name, e)) for e in (0, last))
    cells = [f"{row.test_accuracy:.1f} [{row.test_low:.1f}, {row.test_high:.1f}]" for row in (before, after)]
    assert before.answers
    assert after.answers
    paired = compare(after.answers.right, before.answers.right)
    moved = f"{paired.difference:+.1f} [{paired.low:+.1f}, {paired.high:+.1f}]"
    print(f"{task.name:12}{cells[0]:>22}{cells[1]:>22}{moved:>26}{paired.p_value:>10.2g}")
