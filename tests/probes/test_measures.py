"""How easily a task is read: control tasks, codes of labels, and what their rows say, where the answer is known."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest
import torch
from torch.distributions import Normal

from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.reports.terminal import measures_text
from probes.baselines import BASELINES, score_baseline
from probes.bits.codes import description_length, variational_length
from probes.bits.tasks import codes_of
from probes.classification import Classification
from probes.classifiers.classifier import Grid, Labelled
from probes.evaluation import Evaluation
from probes.measures import FromScores, hard_items, measures_of
from probes.probing.controls import control_task
from probes.statistics import compare
from probes.task import Items, single
from probes.vectors import Vectors

GRID = Grid(l2=(1e-4, 1e-2, 1.0)).logistic()
MLP = Grid(widths=(20,), dropouts=(0.0,), l2=(1e-4,))
VALUES = (1e-2, 1e-1, 1.0)
ALL = ("accuracy", "hard", "selectivity", "bits", "bits_mlp", "bits_variational")
WORDS = ("a", "bb", "ccc", "dddd", "eeeee")


def vectors(sentences: int, seed: int, informative: bool, width: int = 6) -> Labelled:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, sentences)
    x = random.normal(size=(sentences, width))
    return Labelled((x + informative * 20 * np.eye(width)[labels]).astype(np.float32), labels)


def test_predictable_labels_cost_little_more_than_the_first_portion_which_is_coded_uniformly() -> None:
    code = description_length(vectors(4000, 1, True), vectors(400, 2, True), 4, GRID, seed=1)
    assert code.label_bits[:4].tolist() == [log2(4)] * 4  # 0.1 % of 4000 sentences
    assert code.bits < 0.03 * code.uniform_bits
    assert code.uniform_bits == 4000 * log2(4)


@pytest.mark.parametrize("width", [6, 256])
def test_labels_unrelated_to_the_vectors_cost_their_entropy(width) -> None:
    train, dev = vectors(4000, 1, False, width), vectors(400, 2, False, width)
    code = description_length(train, dev, 4, Grid().logistic(), seed=1)
    assert code.uniform_bits / code.bits == pytest.approx(1, abs=0.02)


def test_a_weak_penalty_shortens_the_code_where_a_bias_alone_is_worse_than_no_classifier() -> None:
    """With many classes for the sentences the strongest penalty leaves the bias, which fits the first sentences."""
    random, labels = np.random.default_rng(1), np.random.default_rng(1).permutation(np.arange(360) % 20)
    x = (random.normal(size=(360, 20)) + 2 * np.eye(20)[labels]).astype(np.float32)
    code = description_length(Labelled(x[:300], labels[:300]), Labelled(x[300:], labels[300:]), 20, GRID, seed=1)
    assert code.bits < 0.9 * code.uniform_bits


def test_a_class_not_seen_before_has_a_finite_code() -> None:
    train = vectors(400, 1, True)
    rare = Labelled(train.vectors, np.where(np.arange(400) == 7, 3, train.labels % 3))
    assert np.isfinite(description_length(rare, rare, 4, GRID, seed=1).bits)


def test_the_code_of_an_mlp_is_short_where_no_linear_one_is() -> None:
    """Whether a number is far from zero; and unrelated labels cost their entropy with an MLP too."""
    x = np.random.default_rng(0).normal(size=(3000, 1)).astype(np.float32)
    far = Labelled(x, (np.abs(x[:, 0]) > 0.67).astype(np.int64))
    train, dev = (Labelled(*(part[rows] for part in far)) for rows in (slice(2400), slice(2400, None)))
    linear, mlp = (description_length(train, dev, 2, grid, 1) for grid in (GRID, Grid()))
    assert linear.uniform_bits / linear.bits == pytest.approx(1, abs=0.02)
    assert mlp.uniform_bits / mlp.bits > 1.7
    unrelated = description_length(vectors(2000, 1, False), vectors(400, 2, False), 4, MLP, 1)
    assert unrelated.uniform_bits / unrelated.bits == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("slope", [0.0, 1.0, 4.0])
def test_the_variational_code_is_near_the_exact_bayesian_one_and_never_shorter(slope) -> None:
    """The exact one, of a single feature, is an integral over two weights, here a sum over a fine grid."""
    random = np.random.default_rng(3)
    x = random.normal(size=60)
    x = (x - x.mean()) / x.std()
    y = (slope * x + random.logistic(size=60) > 0).astype(np.int64)
    code = variational_length(Labelled(x[:, None].astype(np.float32), y), 2, VALUES, 1)
    difference = torch.linspace(-12, 12, 241, dtype=torch.double)  # of the weights, and of the biases, of two classes
    scores = difference[:, None, None] * torch.from_numpy(x) + difference[None, :, None]
    likely = torch.nn.functional.logsigmoid(scores * torch.from_numpy(2.0 * y - 1)).sum(2)
    exact = []
    for l2 in VALUES:
        prior = Normal(0.0, (2 / (60 * l2)) ** 0.5).log_prob(difference)
        step = 2 * np.log(24 / 240)
        exact.append(-float(torch.logsumexp((likely + prior[:, None] + prior[None]).flatten(), 0) + step) / np.log(2))
    assert min(exact) - 0.5 < code.bits < min(exact) + log2(len(VALUES)) + 3


def length(sentences: list[str]) -> np.ndarray:
    return np.array([[len(s.split()), 1.0] for s in sentences], dtype=np.float32)


def nothing(sentences: list[str]) -> np.ndarray:
    return np.array([[hash(s) % 97, 1.0] for s in sentences], dtype=np.float32)


def lengths_task() -> Classification:
    random = np.random.default_rng(0)
    gold = [random.integers(0, 2, size) for size in (300, 80, 80)]
    texts = [[f"{' '.join('a' * (1 + 2 * y))} w{random.integers(1 << 40)}" for y in part] for part in gold]
    parts = [single(some, labels) for some, labels in zip(texts, gold, strict=True)]
    return Classification("Length", ["short", "long"], *parts, grid=MLP)


def test_the_variational_code_depends_little_on_its_draws() -> None:
    train = vectors(300, 1, False, 20)
    lengths = [variational_length(train, 4, VALUES, seed).bits for seed in range(8)]
    assert np.ptp(lengths) < 1  # bit; of 615


def test_a_penalty_of_zero_leaves_the_variational_code_as_it_is() -> None:
    scores = []
    for l2 in ((1e-2,), (0.0, 1e-2)):
        task = replace(lengths_task(), grid=Grid(widths=(0,), l2=l2))
        (code,) = codes_of(task, ["bits_variational"])
        scores.append(code.score(Vectors(length(task.sentences), task.sentences), "cpu").test)
    assert scores[0] == scores[1]


@pytest.mark.parametrize("reader", ["bits", "bits_variational"])
def test_of_unequal_classes_vectors_that_say_nothing_have_a_code_as_long_as_chance(reader) -> None:
    """About half as long as the uniform code: 34 labels of 300 are of the rare class."""
    task = lengths_task()
    gold = [(np.arange(len(part.gold)) % 9 == 0).astype(np.int64) for part in (task.train, task.dev)]
    train, dev = task.train._replace(gold=gold[0]), task.dev._replace(gold=gold[1])
    (code,) = codes_of(replace(task, train=train, dev=dev), [reader])
    outcome = code.score(Vectors(nothing(task.sentences), task.sentences), "cpu")
    assert outcome.chance == pytest.approx(-100 * sum(p * log2(p) for p in (34 / 300, 266 / 300)))
    assert outcome.test == pytest.approx(outcome.chance, abs=8)


def test_every_measure_of_a_task_that_is_read_and_a_bag_that_says_nothing(tmp_path) -> None:
    task = lengths_task()
    more = measures_of([task], ALL, MLP, 1)
    model = Model("e", "o", length, "1", bag=Model("bov", "bov", nothing))
    rows = [score.row for score in Evaluation(model, [task, *more], cache=tmp_path).scores()]
    by_name = {(row.suite, row.task, row.classifier): row for row in rows}
    task_row, control = by_name["probing", "Length", "mlp"], by_name["control", "Length control per word", "mlp"]
    paired = compare(task_row.answers.right, control.answers.right)
    assert by_name["selectivity", "Length", "mlp"].interval == tuple(paired[:3])
    for reader in ("logreg", "mlp", "variational"):
        bits, gain = by_name["bits", "Length", reader], by_name["gain", "Length", reader]
        assert bits.test_low < bits.test_accuracy < bits.test_high < 40
        assert bits.hyperparameters["compression"] == pytest.approx(100 / bits.test_accuracy, abs=0.01)
        assert gain.test_accuracy == pytest.approx(100 - bits.test_accuracy, abs=8)
    hard = hard_items(task)
    assert by_name["hard", "Length", "mlp"].hyperparameters == {"items": hard.sum()}
    right = task_row.answers.right[hard]
    assert by_name["hard", "Length", "mlp"].answers.right.tolist() == right.tolist()
    assert by_name["hard", "Length", "mlp"].test_accuracy == pytest.approx(100 * right.mean(), abs=0.005)
    text = measures_text("m", [task_row], rows)
    assert f" {paired.difference:.1f} ±{(paired.high - paired.low) / 2:.1f}" in text
    assert all(name in text for name in ("probing", "selectivity", "bits", "gain over bov"))
    constant = replace(task_row, task="Constant", seconds=0.0)  # it has one class, so no control task
    assert measures_text("m", [task_row, constant], rows) == text


@pytest.mark.parametrize("grid", [Grid(widths=(5, 20)), Grid(widths=(5, 9), protocol="senteval"), GRID])
def test_a_control_task_is_read_by_the_classifier_that_was_chosen_for_its_task(grid) -> None:
    task = replace(lengths_task(), grid=grid)
    tasks = [task, *measures_of([task], ["selectivity", "control"], grid, 1)]
    rows = [score.row for score in Evaluation(Model("e", "o", length, "1"), tasks).scores()]
    cells = [[row.hyperparameters[name] for name in ("width", "dropout", "l2")] for row in rows[:3]]
    assert [row.suite for row in rows] == ["probing", "control", "control", "selectivity"]
    assert cells[0] == cells[1] == cells[2]
    alone = replace(control_task(task, "word", 1), grid=grid.cell(*cells[0]))
    assert rows[1].test_accuracy == alone.score(Vectors(length(task.sentences), task.sentences), "cpu").test


def test_the_bag_takes_no_time_where_its_codes_are_cached(tmp_path) -> None:
    """As after each epoch in which its vectors stay the same."""
    tasks = [lengths_task(), *measures_of([lengths_task()], ["bits"], GRID, 1)]
    model = Model("e", "o", length, "1", bag=Model("bov", "bov", nothing))
    first, second = ([e.row for e in Evaluation(model, tasks, bag_cache=tmp_path).scores()][-1] for _ in range(2))
    assert first.suite == "gain"
    assert first.seconds > second.seconds == 0
    assert replace(first, seconds=0.0) == second


def test_an_mlp_is_needed_for_its_code_and_classes_for_any(recwarn) -> None:
    with pytest.raises(InputError, match="bits_mlp is the code of an MLP"):
        measures_of([lengths_task()], ALL, GRID, 1)
    published = replace(lengths_task(), grid=replace(MLP, protocol="senteval", tenacity=3))
    assert [code.grid for code in codes_of(published, ALL)] == [MLP.logistic(), MLP, MLP]
    assert measures_of([replace(lengths_task(), classes=["a"])], ALL, MLP, 1) == []
    assert "Length: one class" in str(recwarn[0].message)


def test_an_item_is_hard_where_its_surest_word_has_another_majority_label() -> None:
    """`cat` is 0 in 3 of 3 items, `dog` 1 in 2 of 3; an item of new words has the majority label of the task, 0."""
    train = single(["the cat", "a cat", "cat", "the dog", "dog", "dog cats"], np.array([0, 0, 0, 1, 1, 0]))
    test = single(["dog cat", "dog cat", "my dog", "my dog", "new", "new"], np.array([0, 1, 1, 0, 0, 1]))
    task = Classification("T", ["a", "b"], train, train, test)
    assert hard_items(task).tolist() == [False, True, False, True, False, True]
    others = replace(task, train=train._replace(gold=1 - train.gold))  # of which other items are hard
    assert FromScores(task, "hard").test_items != FromScores(others, "hard").test_items


def test_a_task_without_a_hard_item_is_left_out_of_hard(recwarn) -> None:
    task = lengths_task()
    easy = replace(task, name="Easy", test=Items(task.train.texts, task.train.gold))
    assert [more.name for more in measures_of([task, easy], ["accuracy", "hard"], MLP, 1)] == ["Length"]
    assert "Easy: no hard test item" in str(recwarn[0].message)


def task_of(rule: str) -> Classification:
    """Six hundred random sentences, labelled by their length band or by whether they contain the word `yes`."""
    random = np.random.default_rng(0)
    sentences = [" ".join(random.choice(["yes", *"abcdefghijkl"], random.integers(3, 16))) for _ in range(600)]
    if rule == "length":
        labels = np.array([(len(s.split()) - 3) // 5 for s in sentences]).clip(max=2)
    else:
        labels = np.array(["yes" in s for s in sentences], dtype=int)
    parts = [single(sentences[i : i + 200], labels[i : i + 200]) for i in (0, 200, 400)]
    return Classification(rule, [str(c) for c in range(labels.max() + 1)], *parts)


def test_majority_scores_the_share_of_the_most_frequent_class() -> None:
    task = task_of("words")
    most = np.bincount(task.train.gold).argmax()
    assert score_baseline("majority", *task.parts).test_accuracy == pytest.approx(100 * np.mean(task.test.gold == most))


def test_length_alone_solves_a_task_of_lengths() -> None:
    assert score_baseline("length", *task_of("length").parts).test_accuracy > 95


@pytest.mark.parametrize("name", BASELINES)
def test_labels_that_are_all_alike_in_training_are_predicted(name) -> None:
    task = task_of("words")
    alike = replace(task, train=single(task.train.sentences, np.ones_like(task.train.gold)))
    assert score_baseline(name, *alike.parts).test_accuracy == pytest.approx(100 * task.test.gold.mean())


@pytest.mark.parametrize("name", ["nb-uni-tfidf", "nb-bi-tfidf"])
def test_naive_bayes_reads_words_but_not_lengths(name) -> None:
    words, length = score_baseline(name, *task_of("words").parts), score_baseline("majority", *task_of("words").parts)
    assert words.test_accuracy > length.test_accuracy


@pytest.mark.parametrize("name", BASELINES)
def test_the_accuracy_is_the_share_of_correct_items(name) -> None:
    score = score_baseline(name, *task_of("words").parts)
    assert score.test_accuracy == pytest.approx(100 * score.test_correct.mean())


def task(sentences: int = 3000) -> Classification:
    random = np.random.default_rng(1)
    texts = [" ".join(random.choice(WORDS, 3)) for _ in range(sentences)]
    split = single(texts, (random.random(sentences) < 0.25).astype(np.int64))
    return Classification("Tense", ["PAST", "PRES"], split, split, single(texts[:100], split.gold[:100]))


@pytest.mark.parametrize("per", ["word", "sentence"])
def test_equal_sentences_have_equal_control_labels_in_every_split(per) -> None:
    control = control_task(task(), per, seed=1)
    labels = dict(zip(control.train.sentences, control.train.gold, strict=True))
    assert [labels[s] for s in control.test.sentences] == control.test.gold.tolist()


def test_per_word_the_longest_word_decides() -> None:
    control = control_task(task(), "word", seed=2)
    deciding = [max(map(len, s.split())) for s in control.train.sentences]
    assert len(set(zip(deciding, control.train.gold.tolist(), strict=True))) == len(set(deciding))


def test_control_labels_have_the_distribution_of_the_task() -> None:
    many = task()
    distinct = single([f"{i} {s}" for i, s in enumerate(many.train.sentences)], many.train.gold)
    control = control_task(replace(many, train=distinct), "sentence", seed=1)
    assert control.train.gold.mean() == pytest.approx(many.train.gold.mean(), abs=0.03)


def test_another_seed_draws_other_labels() -> None:
    first, second = (control_task(task(), "sentence", seed).train.gold for seed in (1, 2))
    assert not np.array_equal(first, second)
