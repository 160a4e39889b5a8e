"""The settings of a run that belong to no class: `python train.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from encoder_lab.errors import InputError
from encoder_lab.settings.build import ClassSettings, SuiteSettings
from encoder_lab.settings.types import (
    MAX_COUNT,
    MAX_ITEMS,
    AboveZero,
    Count,
    ItemCount,
    NameOrNull,
    NonEmpty,
    NotNegative,
    Paths,
    Seed,
    Steps,
    ZeroOrMore,
)

CONSTANT_RATE = ClassSettings("encoder_lab.training.schedules.RateSchedule")
COLOUR_PATTERN = r"^#[0-9a-fA-F]{6}$"
LOGGERS = ("tensorboard", "csv", "wandb", "mlflow")
SIZE_TITLE = f"a whole number from 1 to {MAX_ITEMS}; or null (train_size: only with probes=senteval and files)"
PART_OF_BATCHES_TITLE = "a part of the batches as 0.5 or 1.0, or a whole number of them, 1 or more"
STRATEGIES_TITLE = "one of auto, ddp, ddp_find_unused_parameters_true, ddp_find_unused_parameters_false"
PRECISIONS_TITLE = "32-true, bf16-mixed, 16-mixed or 64-true: the weights of a frozen encoder have at least 32 bits"

PartOfBatches = Annotated[
    Annotated[int, Field(ge=1)] | Annotated[float, Field(gt=0, le=1)] | None, Field(title=PART_OF_BATCHES_TITLE)
]
StepsOrLog = Annotated[Literal["log"] | Sequence[Count], Field(title="log, or a list of steps, as [1,2,4,8]")]
MeasureName = Literal["accuracy", "hard", "selectivity", "bits", "bits_mlp", "bits_variational"]
Size = Annotated[ItemCount | None, Field(title=SIZE_TITLE)]


def names_of(setting: object) -> tuple[str, ...]:
    """The names in a setting that is one name or several."""
    return tuple(map(str, setting)) if isinstance(setting, list | tuple) else (str(setting),)


@dataclass(frozen=True)
class EarlyStopping:
    patience: Annotated[Count | None, "epochs without a better score that end the run; null: never"] = None


@dataclass(frozen=True)
class Checkpoints:
    keep: Annotated[
        Literal["best_last", "every"],
        "every: also the weights before training and after every epoch, for evaluate.py epochs=all",
    ] = "best_last"
    every_n_epochs: Annotated[Count | None, "with keep=every: after every n-th epoch and the last; null is each"] = None
    steps: Annotated[Steps, "also the weights after these optimiser steps: [1,2,4,8]"] = ()
    every_n_steps: Annotated[
        Count | None, "also the state of training within an epoch, to resume from; null after each epoch only"
    ] = None

    def __post_init__(self) -> None:
        if self.every_n_epochs and self.keep != "every":
            raise InputError(
                "checkpoints.every_n_epochs= says which epochs are kept; give checkpoints.keep=every with it"
            )

    @property
    def epoch_interval(self) -> int | None:
        """The weights after every n-th epoch stay; None: after no epoch."""
        return (self.every_n_epochs or 1) if self.keep == "every" else None


@dataclass(frozen=True)
class Labels:
    encoder: Annotated[str | None, "in tables and figures, instead of the name of the file"] = None
    objective: Annotated[str | None, "the same of the objective"] = None
    colour: Annotated[
        Annotated[str, Field(pattern=COLOUR_PATTERN)] | None,
        Field(title='null, or a colour in quotes, as "#D55E00"', description="of the line in report.py curves"),
    ] = None


@dataclass(frozen=True)
class Optimizer:
    """Requirements on any optimiser of torch."""

    lr: Annotated[AboveZero, "learning rate"]


@dataclass(frozen=True)
class Trainer:
    """Requirements on Lightning's trainer; its other arguments are as it declares them."""

    max_epochs: Annotated[
        Annotated[int, Field(ge=-1)] | None, Field(title="a whole number, or -1 for no end", description="passes")
    ]
    accelerator: Annotated[NonEmpty, "cpu, gpu, or auto: an NVIDIA GPU if there is one"] = "auto"
    devices: Annotated[
        Literal[-1]
        | Annotated[int, Field(ge=1, le=1024)]
        | Annotated[str, Field(pattern=r"^(-1|auto|\d{1,4}(,\d{1,4})*)$")]
        | Annotated[Sequence[Annotated[int, Field(ge=0, le=1024)]], Field(min_length=1)],
        Field(title="a number of devices, -1, auto, or a list as [0,1]", description="processes; see trainer=ddp"),
    ] = 1
    precision: Annotated[
        Literal["32-true", "bf16-mixed", "16-mixed", "64-true", "bf16", "16", "32", "64", 16, 32, 64],
        Field(title=PRECISIONS_TITLE, description="of the numbers: 32-true, bf16-mixed, ..."),
    ] = "32-true"
    gradient_clip_val: Annotated[
        NotNegative | None, Field(title="a number, 0 or more, or null", description="maximum norm of the gradient")
    ] = 5.0
    log_every_n_steps: Annotated[Count, "optimiser steps between points of train/step_loss"] = 20
    num_sanity_val_steps: Annotated[ZeroOrMore, "batches that are validated before training"] = 0
    use_distributed_sampler: Annotated[
        Literal[False], Field(title="false: our samplers share the batches", description="Lightning's own way to do it")
    ] = False
    enable_model_summary: Annotated[bool, "Lightning's table of the layers"] = False
    enable_progress_bar: Annotated[bool, "in a terminal; false: a line for each epoch"] = True
    limit_train_batches: Annotated[PartOfBatches, "part of an epoch, or a number of batches"] = 1.0
    limit_val_batches: Annotated[PartOfBatches, "the same in validation"] = 1.0
    accumulate_grad_batches: Annotated[
        Literal[1], Field(title="1, or a larger datamodule.batch_size", description="batches of a step")
    ] = 1
    strategy: Annotated[
        Literal["auto", "ddp", "ddp_find_unused_parameters_true", "ddp_find_unused_parameters_false"]
        | Mapping[str, Any],
        Field(title=STRATEGIES_TITLE, description="how several processes train together"),
    ] = "auto"
    num_nodes: Annotated[Count, "machines"] = 1
    callbacks: Annotated[Sequence[Any] | None, Field(title="a list in brackets", description="of your own")] = None
    logger: Annotated[Sequence[Any] | None, Field(title="a list in brackets", description="of your own")] = None
    # with another value these would have no effect here
    val_check_interval: Annotated[
        None, Field(title="null: a score is of a whole epoch; probes.steps= and checkpoints.steps= look within one")
    ] = None
    check_val_every_n_epoch: Annotated[
        Literal[1], Field(title="1: every epoch has a score; probes.every_n_epochs= makes probing rarer")
    ] = 1
    overfit_batches: Annotated[
        Literal[0], Field(title="0: trainer=overfit trains on the same 256 sentences again and again")
    ] = 0
    limit_test_batches: Annotated[None, Field(title="null: training has no test batches")] = None
    limit_predict_batches: Annotated[None, Field(title="null: training predicts nothing")] = None
    reload_dataloaders_every_n_epochs: Annotated[
        Literal[0], Field(title="0: the batches of an epoch depend on the seed and the epoch")
    ] = 0
    enable_checkpointing: Annotated[Literal[True], Field(title="true: a run has checkpoints")] = True
    barebones: Annotated[Literal[False], Field(title="false: a run has scores and checkpoints")] = False
    model_registry: Annotated[None, Field(title="null: the model is in the folder of the run")] = None
    enable_autolog_hparams: Annotated[Literal[True], Field(title="true: the settings are in config.yaml")] = True

    written: Mapping[str, Any] = field(default_factory=dict)  # all of the group

    @property
    def several_devices(self) -> bool:
        """Whether the run may take more than one device of a machine."""
        return self.devices != 1 if isinstance(self.devices, int | str) else len(self.devices) > 1

    @property
    def single_process(self) -> bool:
        """Whether one process trains."""
        return self.num_nodes == 1 and not self.several_devices


@dataclass(frozen=True)
class Embeddings:
    source: ClassSettings
    freeze: Annotated[bool, "false: the vectors are trained with the model"] = True

    written: Mapping[str, Any] = field(default_factory=dict)  # all of the group


@dataclass(frozen=True)
class Probes:
    source: ClassSettings
    classifier: ClassSettings
    train_size: Annotated[Size, "sentences of each task; published: 100000"] = None
    dev_size: Annotated[Size, "null: a quarter of train_size, at most 300; published: 10000"] = None
    test_size: Annotated[Size, "null: five twelfths of train_size, at most 500; published: 10000"] = None
    tasks: Annotated[
        str | Sequence[str],
        Field(title="a name, or a list in brackets, as [SentLen,WC]", description="all, or some by name"),
    ] = "all"
    every_n_epochs: Annotated[Count, "probing after every n-th epoch, the last, and before training"] = 1
    more: Annotated[Paths, "files or folders with tasks of your own, added to these: docs/own_task.md"] = ()
    measures: Annotated[
        Sequence[MeasureName],
        Field(title="a list in brackets, as [accuracy,hard,selectivity,bits]; other codes: bits_mlp, bits_variational"),
        "of each task: accuracy, and how easily it is read; docs/probing_protocol.md",
    ] = ("accuracy",)
    steps: Annotated[StepsOrLog, "and after these optimiser steps, as [1,2,4,8]; log: after each power of two"] = ()

    written: Mapping[str, Any] = field(default_factory=dict)  # all of the group

    def __post_init__(self) -> None:
        if "accuracy" not in self.measures:
            raise InputError(f"probes.measures={list(self.measures)}: accuracy belongs to it, as [accuracy,bits]")

    @property
    def probing_steps(self) -> Sequence[int]:
        """The optimiser steps of `steps`; of log those up to the largest count."""
        return [1 << power for power in range(MAX_COUNT.bit_length())] if self.steps == "log" else self.steps  # type: ignore[return-value]


@dataclass(frozen=True)
class SuiteEntry:
    """A suite: the function that makes its tasks (`_target_`), and the group with its settings."""

    settings: Annotated[NonEmpty, "the group with its settings"]
    reads: Annotated[
        Sequence[Literal["classifier", "corpus", "surprisal"]], "what it reads of the settings of all suites"
    ] = ("classifier", "corpus", "surprisal")
    cannot_score: Annotated[Sequence[str], "forms of model= that lack what its tasks need"] = ()


@dataclass(frozen=True)
class RunSettings:
    """`python train.py`"""

    encoder: ClassSettings
    objective: ClassSettings
    datamodule: ClassSettings
    corpus: ClassSettings
    embeddings: Embeddings
    probes: Probes
    trainer: Trainer
    objective_name: Annotated[str, "the choice of this run; tables and figures show it"]
    encoder_name: Annotated[str, "the same"]
    corpus_name: Annotated[str, "the same"]
    suites: Annotated[Mapping[str, SuiteSettings], "the suites of tasks by name"]
    parts: Annotated[Mapping[str, Any] | None, "the objectives of objective=multitask"] = None
    schedule: ClassSettings = CONSTANT_RATE
    seed: Annotated[Seed, "every random choice of the run: weights, order, dropout, probes"] = 1
    resume: Annotated[NameOrNull, "resume=RUN continues the run in that folder"] = None
    init: Annotated[NameOrNull, "init=RUN or a checkpoint: begin with its encoder and word vectors"] = None
    exclude_task_sentences: Annotated[bool, "sentences of its tasks are no training text; false: they are"] = True
    early_stopping: EarlyStopping = EarlyStopping()
    logger: Annotated[
        NonEmpty | Sequence[str],
        Field(title="a name, or a list in brackets, as [csv]"),
        "tensorboard, csv, wandb, mlflow: Lightning's loggers; all get the scores of the tasks",
    ] = ("tensorboard",)
    allow: Annotated[Sequence[str], "packages with your own parts: [my_package]; given again to resume or load"] = ()
    checkpoints: Checkpoints = Checkpoints()
    cache: Annotated[NonEmpty, "tokenised corpora, subword codes, word vectors; safe to delete"] = ".cache"
    labels: Labels = Labels()
    begun_from: Sequence[Mapping[str, Any]] = field(default_factory=tuple)  # the runs before it, by init=
    written: Mapping[str, Any] = field(default_factory=dict)  # as config.yaml has them

    def __post_init__(self) -> None:
        if unknown := [name for name in self.logger_names if name not in LOGGERS]:
            raise InputError(f"logger=[{unknown[0]}]: no such logger; choose some of {', '.join(LOGGERS)}, or []")
        if len(set(self.logger_names)) < len(self.logger_names):
            raise InputError(f"logger={list(self.logger_names)}: give each once")
        if self.resume:
            raise InputError(f"resume={self.resume}: begins no new run; write it without + and in no file of settings")

    @property
    def logger_names(self) -> tuple[str, ...]:
        """The names in `logger=`."""
        return names_of(self.logger)
