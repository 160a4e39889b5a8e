"""A folder in the published format of DiscoEval, small enough for a test."""

import pickle
import random
from pathlib import Path

SIZES = {"train": 40, "valid": 10, "test": 10}
SENSES = {"Explicit": ["Comparison.Contrast", "Contingency.Cause", "Temporal.Synchrony"],
          "Implicit": ["Contingency.Cause", "Expansion.List"]}  # fmt: skip
RELATIONS = ["NS-Elaboration", "NN-Joint", "SN-Attribution"]


def small_files(root: Path, seed: int = 0) -> Path:
    """Write all twelve tasks below `root`, each with words of its own, and give `root`."""
    for name, content in small_contents(seed).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def small_contents(seed: int = 0) -> dict[str, bytes]:
    """File names below the root and what is in them."""
    draw = random.Random(seed)
    files: dict[str, bytes] = {}

    def text() -> str:
        return " ".join(f"w{draw.randrange(10**6)}" for _ in range(draw.randint(1, 4)))

    def lines(name: str, labels: list[str], texts: int) -> None:
        for part, size in SIZES.items():
            rows = [
                [*([labels[i % len(labels)]] if labels else []), *(text() for _ in range(texts))] for i in range(size)
            ]
            files[f"{name}/{part}.txt"] = "".join("\t".join(row) + "\n" for row in rows).encode()

    for domain in ("arxiv", "rocstory", "wiki"):
        lines(f"SP/{domain}", ["0", "1", "2", "3", "4"], 5)
        lines(f"BSO/{domain}", [], 2)
    for domain in ("chat", "wiki"):
        lines(f"DC/{domain}", ["0", "1"], 6)
    lines("SSP/abs", ["0", "1"], 1)
    for group, senses in SENSES.items():
        lines(f"PDTB/{group}", [str(i) for i in range(len(senses))], 2)
        files[f"PDTB/{group}/labelset.txt"] = "\n".join(senses).encode()
    for part, size in zip(("TRAIN", "DEV", "TEST"), SIZES.values(), strict=True):
        nodes = [(RELATIONS[i % 3], [text() for _ in range(1 + i % 4)], [text()]) for i in range(size)]
        files[f"RST/RST_{part}.pkl"] = pickle.dumps(nodes, protocol=2)
    return files
