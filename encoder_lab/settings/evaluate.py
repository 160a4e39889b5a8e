"""The settings of an evaluation that belong to no class: `python evaluate.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from encoder_lab.settings.build import ClassSettings, SuiteSettings, frozen_settings
from encoder_lab.settings.run import Embeddings, Probes, names_of
from encoder_lab.settings.types import NameOrNull, NonEmpty, Seed

LAYERS_TITLE = "last, all, mean, a number or several in brackets"


@dataclass(frozen=True)
class EvaluationSettings:
    probes: Probes
    corpus: ClassSettings
    embeddings: Embeddings
    suites: Annotated[Mapping[str, SuiteSettings], "the suites of tasks by name"]
    model: Annotated[
        str | Annotated[Sequence[str], Field(min_length=1)],
        Field(title="a name, or several in brackets", description="one or several: model=[bov,majority,RUN]"),
    ] = ()
    epochs: Annotated[
        int | str | Sequence[int | str] | None,
        Field(title="all, or numbers as [0,1,5]"),
        "of a run: all that it keeps, or some as [0,1,5]; the scores join its curves",
    ] = None
    protocol: Annotated[Literal["modern", "senteval"] | None, "senteval or modern; null: as probes.classifier"] = None
    control: Annotated[bool, "true adds control tasks and selectivity"] = False
    mdl: Annotated[bool, "true adds description lengths; baselines have none"] = False
    layers: Annotated[
        int | str | Sequence[int],
        Field(title=LAYERS_TITLE, description="of hf:NAME: last, all, mean (over all), a number or several: [0,3,6]"),
    ] = "last"
    pooling: Annotated[
        Literal["mean", "cls", "max", "last"] | None,
        "of hf:NAME: mean, cls, max or last; null: as its sentence-transformers folder says, or mean",
    ] = None
    prompt: Annotated[str | None, 'of hf:NAME: before each sentence, as "query: ", or the name of a prompt'] = None
    bos: Annotated[bool, "of lm:PATH: the token that begins a text, as context"] = True
    eos: Annotated[bool, "of lm:PATH: scored: the token that ends a text; of a run, each sentence"] = False
    sentences: Annotated[NameOrNull, "of vectors:FILE.npy: the text file with one line for each row"] = None
    write_sentences: Annotated[NameOrNull, "write the distinct sentences to this file, one per line, and stop"] = None
    published: Annotated[NameOrNull, "adds the papers' scores of these tasks; or a table's name; null for none"] = (
        "paper"
    )
    out: Annotated[NonEmpty, "a folder for each model: config.yaml, probes.csv, answers.csv; report.py reads it"] = (
        "evaluations"
    )
    cache: Annotated[
        NonEmpty | Literal[False] | None,
        Field(title="the name of a folder, or off", description="or off: compute everything again"),
    ] = ".cache"
    allow: Annotated[Sequence[str], "packages with your own encoder or corpus in a run: allow=[my_package]"] = ()
    seed: Annotated[Seed | None, "random choices: tasks, classifiers; null: 1, or 1111 with protocol=senteval"] = None
    device: Annotated[
        Annotated[str, Field(pattern=r"^(cpu|cuda|mps|xpu|hpu|npu|xla)(:\d{1,4})?$")] | None,
        Field(title="cpu, cuda, cuda:1, mps, xpu, hpu, npu or xla, or null"),
        "cpu or cuda; null is the GPU if there is one",
    ] = None
    config_folders: Sequence[Path] = field(default=())  # of --config-dir

    @property
    def models(self) -> tuple[str, ...]:
        """The names in `model=`; none where it is not given."""
        return names_of(self.model) if self.model else ()

    @property
    def cache_folder(self) -> Path | None:
        """The folder of `cache=`; None where everything is computed again."""
        return Path(self.cache) if self.cache and self.cache != "off" else None

    @property
    def measures(self) -> tuple[str, ...]:
        """Those of `probes.measures`, `control` and `mdl`."""
        switches = {"selectivity": self.control, "control": self.control, "bits": self.mdl}
        return (*self.probes.measures, *(name for name, asked in switches.items() if asked))

    @property
    def random_seed(self) -> int:
        """The seed; without one, that of the published toolkit for its protocol."""
        senteval = self.probes.classifier.arguments.get("protocol") == "senteval"
        return self.seed if self.seed is not None else 1111 if senteval else 1


def evaluation_settings(written: Mapping[str, Any]) -> EvaluationSettings:
    """What Hydra composed, frozen; `protocol=` is a setting of the classifier, which is written with the scores."""
    if protocol := written["protocol"]:
        classifier = {**written["probes"]["classifier"], "protocol": protocol}
        written = {**written, "probes": {**written["probes"], "classifier": classifier}}
    return frozen_settings(EvaluationSettings, written)
