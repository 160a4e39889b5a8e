"""What an objective uses: a loss that reads one direction rises without it, and not without another."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from encoder_lab.errors import InputError
from encoder_lab.model import Examined, Model
from objectives.dev_loss import BATCH_SIZE
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.coherence.tasks import Coherence
from probes.coherence.world import world_suites
from probes.evaluation import Evaluation
from probes.results import read_rows
from probes.suites import Context
from probes.task import single
from probes.use.effects import MAX_TURNS, Effect, Erasures, excess_over_controls, resample_sums
from probes.use.tasks import Use, UseSettings, tasks
from probes.vectors import Vectors
from tests.probes.downstream.small_files import folder_of_tasks
from tests.test_evaluate import FIXED, scored
from tests.test_resume import assert_same_weights

WIDTH, GRID = 6, Grid(widths=(10,), dropouts=(0.0,), l2=(1e-3,))
USE = ["suite=[probing,use]", "use.examples=40", "checkpoints.keep=every"]


def encode(sentences: list[str]) -> np.ndarray:
    """Vectors of which the first two numbers are a sign each."""
    return np.array([list(map(float, text.split())) for text in sentences], dtype=np.float32)


def sentence(random: np.random.Generator) -> str:
    signs = random.choice([-1.0, 1.0], 2) + 0.1 * random.normal(size=2)
    return " ".join(f"{number:.4f}" for number in (*signs, *random.normal(size=WIDTH - 2)))


def task(direction: int, sizes: tuple[int, int, int] = (300, 60, 60)) -> Classification:
    """Whether the number in this direction is positive."""
    random = np.random.default_rng(direction)
    parts = [[sentence(random) for _ in range(size)] for size in sizes]
    gold = (np.array([float(text.split()[direction]) > 0 for text in part], dtype=np.int64) for part in parts)
    items = [single(part, labels) for part, labels in zip(parts, gold, strict=True)]
    return Classification(f"Sign{direction}", ["-", "+"], *items, grid=GRID)


class ReadsFirst:
    """An objective that must say the sign in the first direction, and reads it, or its opposite, from the vector."""

    parts = ("",)

    def __init__(self, sign: int = 1) -> None:
        self.sign = sign

    def __call__(self, examples: int) -> SimpleNamespace:
        vectors = torch.from_numpy(encode([sentence(np.random.default_rng(i)) for i in range(min(200, examples))]))

        def examine(_: str, change: Callable[[Any], Any] | None = None, _decode: bool = False) -> Examined:
            read = vectors if change is None else change(vectors)
            nats = torch.nn.functional.softplus(-4 * self.sign * read[:, 0] * vectors[:, 0].sign()).double().numpy()
            return Examined({"nats": nats, "n": np.ones(len(nats))}, lambda s: {"val/loss": s["nats"] / s["n"]}, "")

        return SimpleNamespace(examine=examine)

    def fingerprint(self) -> str:
        return "1"


def rows_of(*some: Any, cache: Path | None = None, sign: int = 1) -> dict[str, Any]:
    """The rows by task, of an encoder with this objective."""
    model = Model("signs", "", encode, "1", loss=ReadsFirst(sign))
    return {e.row.task: e.row for e in Evaluation(model, some, cache=cache).scores() if e.row.suite == "use"}


def test_what_the_loss_reads_is_used_and_what_it_does_not_read_is_not() -> None:
    first, second = task(0), task(1)
    rows = rows_of(first, second, Use(first), Use(second))
    assert rows["Sign0"].hyperparameters["used"] == 1
    assert rows["Sign0"].test_low > 100 > rows["Sign0"].hyperparameters["random"]
    assert rows["Sign1"].hyperparameters["used"] == 0
    assert abs(rows["Sign1"].test_accuracy) < 5
    assert {row.hyperparameters["rank"] for row in rows.values()} == {1}


def test_what_does_not_raise_the_loss_is_not_used_where_the_controls_lower_it() -> None:
    row = rows_of(task(0), task(1), Use(task(1)), sign=-1)["Sign1"]
    assert row.test_low < 0
    assert max(row.hyperparameters["random"], row.hyperparameters["control"]) < row.test_low
    assert row.hyperparameters["used"] == 0


def test_random_directions_are_of_the_sentences_of_all_tasks_and_so_are_cached_scores(tmp_path) -> None:
    first, second = task(0), task(1)
    alone, cached = (rows_of(first, Use(first), cache=tmp_path) for _ in range(2))
    both = rows_of(first, second, Use(first), cache=tmp_path)
    assert alone["Sign0"] == cached["Sign0"] != both["Sign0"]
    assert both["Sign0"].hyperparameters == rows_of(first, second, Use(first))["Sign0"].hyperparameters


def test_all_random_directions_are_measured_also_where_a_batch_has_fewer_examples() -> None:
    sentences = task(0).sentences
    erasures = Erasures(Vectors(encode(sentences), sentences), Model("signs", "", encode, "1", loss=ReadsFirst()))
    assert len(erasures.random_effects("", 200, 1, 10)) == 1
    assert len({effect.value for effect in erasures.random_effects("", 200, 2, 2 * MAX_TURNS + 1)}) == 3
    assert MAX_TURNS <= BATCH_SIZE


def test_what_an_mlp_reads_after_the_erasure_is_there_and_of_a_linear_grid_is_not() -> None:
    """The number itself has one direction, so nothing is left of it: the MLP is near the majority class."""
    mlp = rows_of(task(0), Use(task(0)))["Sign0"].hyperparameters
    assert mlp["mlp"] < mlp["majority"] + 25
    linear = Classification(**{**vars(task(0)), "grid": GRID.logistic()})
    assert "mlp" not in rows_of(linear, Use(linear))["Sign0"].hyperparameters


def test_the_interval_is_that_of_the_paired_examples() -> None:
    """Two losses that differ by the same number in every example differ by it without doubt."""
    nats = np.random.default_rng(0).exponential(size=(50, 1))
    effect, base = (Effect(float(n.mean()), resample_sums(n)[:, 0] / len(n)) for n in (nats + 0.25, nats))
    assert excess_over_controls(effect, [base]) == pytest.approx((0.25, 0.25, 0.25))
    assert excess_over_controls(effect, [base, effect]) == pytest.approx((0.125, 0.0, 0.25))


@pytest.mark.filterwarnings("ignore")
def test_an_erasure_of_all_directions_is_no_more_than_that_of_the_control() -> None:
    """Both leave the mean vector, up to rounding, which may be above zero in every bootstrap sample."""
    for labels in range(1, 7):
        parts = (single(p.sentences, labels * np.arange(len(p.gold)) % 7) for p in task(1).parts)
        many = Classification("All", list("abcdefg"), *parts, grid=GRID.logistic(), seed=labels - 1)
        numbers = rows_of(many, Use(many, examples=100))["All"].hyperparameters
        assert numbers["control"] == pytest.approx(711.45, abs=0.01)
        assert numbers["used"] == 0


def test_fewer_vectors_than_dimensions_and_directions_that_span_all_are_said(recwarn) -> None:
    few = task(0, (WIDTH, 20, 20))
    rows_of(few, Use(few))
    parts = (single(p.sentences, np.arange(len(p.gold)) % 7) for p in task(0).parts)
    many = Classification("All", list("abcdefg"), *parts, grid=GRID)
    rows_of(many, Use(many))
    messages = " ".join(str(warning.message) for warning in recwarn)
    assert f"Sign0: {WIDTH} vectors of {WIDTH} numbers" in messages
    assert f"All: its classes span all {WIDTH} directions" in messages


def test_a_property_with_one_class_is_left_out_and_none_at_all_is_refused(recwarn) -> None:
    constant = Classification("Same", ["a"], *(single(p.sentences, p.gold * 0) for p in task(0).parts))
    context = Context(GRID, 1, Path(), None, [task(0), constant])  # type: ignore[arg-type]
    assert [use.name for use in tasks(context, UseSettings())] == ["Sign0"]
    assert "Same: one class" in str(recwarn[0].message)
    coherence = [task(0), Coherence(world_suites(2, 1)[0])]
    for earlier, settings, message in (
        ([constant], UseSettings(), "no suite before it has one"),
        ([task(0)], UseSettings(on="downstream"), "use.on=downstream: no suite before it"),
        (coherence, UseSettings(on="coherence"), "use.on=coherence: no suite before it"),
    ):
        with pytest.raises(InputError, match=message):
            tasks(Context(GRID, 1, Path(), None, earlier), settings)  # type: ignore[arg-type]


def test_a_run_shows_what_it_uses_and_training_is_the_same(lab, finished_run, tmp_path) -> None:
    """And how easily it is read; evaluate.py finds the same of an epoch that it keeps."""
    run, measures = tmp_path / "run", "probes.measures=[accuracy,selectivity,bits]"
    lab.succeed(*lab.settings(run, *USE, measures, "probes.every_n_epochs=2"))
    assert_same_weights(run, finished_run)
    rows = [row for row in read_rows(run / "probes.csv") if row.suite == "use"]
    names = ("SentLen", "BShift", "SubjNum")
    assert [(row.epoch, row.task) for row in rows] == [(epoch, name) for epoch in (0, 2) for name in names]
    assert {"rank", "random", "control", "used", "bleu", "mlp"} <= rows[0].hyperparameters.keys()
    easy = [row for row in read_rows(run / "probes.csv") if row.suite in ("control", "selectivity", "bits", "gain")]
    assert len(easy) == 2 * 3 * 4  # epochs, tasks, measures
    probing, *_, last = scored(lab, tmp_path, f"model={run}", "epochs=[2]", *USE[:2], measures)
    others = {(row.epoch, row.suite, row.task): row for row in read_rows(probing.folder / "probes.csv")}
    for row in (row for row in easy if row.epoch == 2):
        assert others[row.epoch, row.suite, row.task].test_accuracy == pytest.approx(row.test_accuracy, abs=0.05)
    later = {(row.epoch, row.task): row for row in read_rows(last.folder / "probes.csv")}
    for row in (row for row in rows if row.epoch == 2):
        assert later[row.epoch, row.task].test_accuracy == pytest.approx(row.test_accuracy, abs=0.05)
        assert later[row.epoch, row.task].hyperparameters["rank"] == row.hyperparameters["rank"]


def test_a_run_that_left_out_sentences_of_its_tasks_is_measured_later(lab, tmp_path) -> None:
    run, text = tmp_path / "run", tmp_path / "text.txt"
    words = ["a", "baker", "saw", "the", "old", "king", "near", "some", "green", "river", "again", "then", "she", "ran"]
    random = np.random.default_rng(1)
    text.write_text("".join(" ".join(random.permutation(words)[: 5 + i % 8]) + " .\n\n" for i in range(800)))
    corpus = ["corpus=text", f"corpus.root={text}", "corpus.probe_split=false"]
    tasks = ["probes=text", f"probes.paths=[{text}]", "probes.tasks=[SentLen]"]
    done = lab.finish(*lab.settings(run, *corpus, *tasks, "objective=autoencoder", "trainer.max_epochs=1"))
    assert "left out of train" in done.stdout, done.stderr
    *_, last = scored(lab, tmp_path, f"model={run}", *tasks, "probes.train_size=100", *USE[:2])
    assert [row.task for row in read_rows(last.folder / "probes.csv")] == ["SentLen"]


REFUSED = {
    "objective=untrained": "it is not trained",
    "objective.attention=true": "it reads the states of the words",
    "suite=[use]": "give suite=[probing,use]",
    "use.draws=3": "use.draws=3: give 10 or more",
    "use.on=chess": "use.on=chess: no suite before it",
}


@pytest.mark.parametrize("more", REFUSED)
def test_what_cannot_be_measured_is_refused_with_the_reason(lab, tmp_path, more) -> None:
    settings = [text for text in lab.settings(tmp_path) if "untrained" not in more or "objective." not in text]
    assert REFUSED[more] in lab.refusal(*settings, "suite=[probing,use]", more)


@pytest.mark.parametrize("model", ["bov", "majority"])
def test_a_model_without_an_objective_is_refused_with_what_it_can_have(lab, tmp_path, model) -> None:
    with pytest.raises(InputError, match=r"no loss of an objective.*use\.on=downstream"):
        scored(lab, tmp_path, f"model={model}", *USE[:2])


def test_a_frozen_model_is_measured_on_downstream_tasks(lab, tmp_path) -> None:
    more = ["suite=[probing,downstream,use]", "use.on=downstream", "downstream.tasks=[MR]", "probes.tasks=[SentLen]"]
    folder = folder_of_tasks(tmp_path)
    *_, use = scored(lab, tmp_path, "model=bov", *FIXED[2:], *more, f"downstream.root={folder}")
    (row,) = read_rows(use.folder / "probes.csv")
    assert (row.task, row.classifier) == ("SentLen in MR", "error")
    assert row.test_low <= row.test_accuracy <= row.test_high
