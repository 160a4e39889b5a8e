"""README.md of an exported encoder: how to use it, its training and scores, the licence of its data, what to cite."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datamodules.download.catalogue import CATALOG
from encoder_lab.settings.run_settings import trained_in_bfloat16
from encoder_lab.storage.csv_files import read_csv
from encoders.portable.parts import Parts

SUITES = Path(__file__).parents[2] / "configs" / "suite"
CITE_PREFIX = "# Cite: "  # in the YAML file of a suite
FASTTEXT_PAPER = 'Bojanowski et al. 2017, "Enriching word vectors with subword information" (TACL): the word vectors'
OBJECTIVE_PAPERS = {
    "nli": 'Conneau et al. 2017, "Supervised learning of universal sentence representations" (EMNLP): InferSent',
    "skipthought": 'Kiros et al. 2015, "Skip-thought vectors" (NeurIPS): the objective',
    "discourse": "Chen, Chu and Gimpel 2019 (EMNLP): the objective",
}
SCORE_COLUMNS = ("suite", "task", "classifier", "test_accuracy", "test_low", "test_high")


def model_card(parts: Parts, usage: str, limits: list[str]) -> str:
    """The text of the model card; `usage` is Python, `limits` says where vectors may differ."""
    config = parts.config
    title = f"{config.get('encoder_name', 'encoder')}, {config.get('objective_name', 'objective')}"
    sections = {
        "Use": f"```python\n{usage}\n```",
        "What it reads": "\n".join(f"* {line}" for line in limits),
        "Training": "\n".join(_training(parts)),
        "Scores": "\n".join(_scores(parts)),
        "Licence of the data": "\n".join(_licences(config)),
        "How to cite": "\n".join(_citations(parts)),
    }
    front = "---\ntags:\n- sentence-similarity\n- feature-extraction\n- sentence-encoder-lab\n---\n"
    head = f"# {title}\n\nA sentence encoder of {parts.encoder.dim} dimensions, trained with Sentence Encoder Lab."
    return "\n\n".join([front + head, *(f"## {name}\n\n{text}" for name, text in sections.items())]) + "\n"


def _training(parts: Parts) -> Iterator[str]:
    config = parts.config
    yield f"* Checkpoint: after epoch {parts.epoch}."
    for name in ("encoder", "objective", "corpus"):
        if settings := _settings_line(config.get(name)):
            yield f"* {name} `{config.get(f'{name}_name', '?')}`: {settings}"
    yield f"* embeddings: {_settings_line(config['embeddings'])}"
    yield f"* seed {config.get('seed', '?')}; trainer: {_settings_line(config.get('trainer')) or 'not known'}"
    if versions := config.get("made_with"):
        yield f"* made with: {', '.join(f'{name} {value}' for name, value in versions.items())}"


def _settings_line(node: Any) -> str:
    values = node if isinstance(node, dict) else {}
    plain = {key: value for key, value in values.items() if not isinstance(value, dict | list)}
    return ", ".join(f"{key!s}={value}" for key, value in plain.items() if key not in ("_target_", "_partial_"))


def _scores(parts: Parts) -> Iterator[str]:
    path = parts.run / "probes.csv"
    rows = read_csv(path, ("epoch", *SCORE_COLUMNS)) if path.exists() else []
    rows = [row for row in rows if row["epoch"] == str(parts.epoch)]
    if not rows:
        yield "The run has no scores of this epoch."
        return
    narrow = ", computed in bfloat16 where the machine had it" if trained_in_bfloat16(parts.config) else ""
    units = "`loss` in thousandths of a nat, `error` in points, `dimensions` in dimensions"
    units = f"In percent; `regression` and `cosine` are Pearson's r times 100, {units}."
    yield f"Of the frozen vectors after epoch {parts.epoch}{narrow}, with 95% intervals. {units}\n"
    yield "| suite | task | classifier | test | 95% interval |\n| --- | --- | --- | ---: | ---: |"
    for row in rows:
        suite, task, reader, test, low, high = (row[name] for name in SCORE_COLUMNS)
        yield f"| {suite} | {task} | {reader} | {test} | {low} to {high} |"


def _licences(config: Any) -> Iterator[str]:
    corpus = str(config.get("corpus_name", "?"))
    entries = [entry for entry in CATALOG if f"corpus={corpus}" in entry.use.split()]
    for entry in entries:
        yield f"* {entry.name}: {entry.licence} ({entry.what}; {entry.homepage})"
    if not entries:
        yield f"* `corpus={corpus}`: text of the person who trained this encoder; ask there for its licence"
    if path := config["embeddings"].get("path"):
        yield f"* word vectors of `{Path(str(path)).name}`: see the licence of their publisher"
    yield "* The exported code is that of Sentence Encoder Lab, MIT licence."


def _citations(parts: Parts) -> Iterator[str]:
    path = parts.run / "probes.csv"
    suites = sorted({row["suite"] for row in read_csv(path, ("suite",))}) if path.exists() else []
    source = str(parts.config["embeddings"].get("source", {}).get("_target_", "")).rpartition(".")[2]
    yield "* Sentence Encoder Lab authors, *Sentence Encoder Lab*, version 0.1.0 (software)"
    files = [file for suite in suites if (file := SUITES / f"{suite}.yaml").parent == SUITES and file.is_file()]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    yield from (f"* {line.removeprefix(CITE_PREFIX)}" for line in lines if line.startswith(CITE_PREFIX))
    if source == "Trained":
        yield f"* {FASTTEXT_PAPER}"
    yield from (f"* {paper}" for key, paper in OBJECTIVE_PAPERS.items() if key == parts.config.get("objective_name"))
