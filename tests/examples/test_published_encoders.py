"""docs/published_encoders.md: weights of another project become a function of sentences."""

import numpy as np
import torch

from tests.clone import finish
from tests.conftest import ROOT
from tests.pages import Command, blocks

WORDS = ["<s>", "</s>", "the", "dog", "sleeps"]


def test_the_code_of_the_page_gives_the_vectors_of_the_weights(tmp_path) -> None:
    codes = {block.names or n: block.text for n, block in enumerate(blocks(ROOT / "docs" / "published_encoders.md"))}
    python = [text for text in codes.values() if "import" in text]
    assert len(python) == 2
    for name, text in zip(("convert.py", "infersent.py"), python, strict=True):
        (tmp_path / name).write_text(text)
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(4, 3, bidirectional=True)
    torch.save({f"enc_lstm.{name}": weight for name, weight in lstm.state_dict().items()}, tmp_path / "infersent1.pkl")
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32)
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, vectors.tolist(), strict=True)]
    (tmp_path / "glove.840B.300d.txt").write_text("".join(lines))
    sentences = ["the dog sleeps", "unknown dog", ""]
    use = f"import numpy, infersent; numpy.save('out.npy', infersent.encode({sentences!r}))"
    for program, *arguments in (["convert.py", "infersent1.pkl", "infersent1.safetensors"], ["-c", use]):
        finish(tmp_path, Command([program], arguments))
    for found, known in zip(np.load(tmp_path / "out.npy"), ([2, 3, 4], [3], []), strict=True):
        with torch.inference_mode():
            wanted = lstm(torch.from_numpy(vectors[[0, *known, 1]]))[0].amax(0)
        np.testing.assert_allclose(found, wanted, atol=1e-6)
