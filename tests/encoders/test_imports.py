"""A frozen encoder needs only what reads and runs it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WITHOUT = """
import sys
sys.modules |= dict.fromkeys(["torchtext", "fasttext", "hydra", "pytorch_lightning"])  # importing them fails
from encoders import load_encoder
print(load_encoder("tests/golden_run").encode(["the dog runs .", "a no-such-word"]).shape)
"""


def test_loading_and_encoding_need_neither_torchtext_nor_fasttext_nor_hydra_nor_lightning() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "(2, 8)\n", done.stderr
