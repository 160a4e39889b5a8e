"""Human evaluation of BShift, SOMO or CoordInv, as Conneau et al. 2018 did it (appendix, Mechanical Turk survey).

The first call writes pretest_a.csv and pretest_b.csv: two people who know the task judge 200 sentences, each alone.
Where they agree a sentence is a control. The second call writes sheets of 100 sentences, controls among them, in
random order; people fill copies named SHEET.PERSON.csv. `answers=` reads these: of people with at least 10 controls and
90% of them right, a majority for each sentence; accuracy with its interval, agreement, and probes.csv for report.py.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import FILE, FOLDER, INTEGER, Command, Setting

ORIGINAL_LABEL = "O"
YES_ANSWERS, NO_ANSWERS = ("yes", "y", "1", "ok", "acceptable"), ("no", "n", "0", "odd", "anomalous")
MIN_CONTROLS, MIN_CORRECT_SHARE = 10, 0.9  # controls that a person must have judged, and the share that must be right
PRETEST_FILES = ("pretest_a.csv", "pretest_b.csv")
COLUMNS = ("number", "sentence", "acceptable")


class HumanJudgments(NamedTuple):
    """The human judgments of a task."""

    accuracy: float  # of majorities, in percent
    low: float
    high: float
    sentences: int
    judgments: int
    people: int
    refused: tuple[str, ...]  # people with too few or too many wrong controls
    agreement: float  # share of the pairs of judgments of a sentence that are equal, in percent
    alpha: float  # Krippendorff's alpha
    acceptable: float  # share of the sentences that the majority accepts, in percent

    def __str__(self) -> str:
        suffix = f"; left out: {', '.join(self.refused)}" if self.refused else ""
        return (
            f"{self.accuracy:.1f} [{self.low:.1f}, {self.high:.1f}] over {self.sentences:,} sentences with "
            f"{self.judgments:,} judgments of {self.people} people; agreement {self.agreement:.1f}%, Krippendorff's "
            f"alpha {self.alpha:.2f}; accepted {self.acceptable:.1f}%{suffix}"
        )


def run_survey(options: SimpleNamespace) -> None:
    """The next step of a survey: its pretests, its sheets, or its result."""
    intact = sentences_to_judge(options.task)
    order = sorted(intact)
    Random(options.seed).shuffle(order)
    pretest, items = order[: options.pretest], order[options.pretest : options.pretest + options.items]
    if not items:
        few = f"{len(order):,} test sentences, too few for pretest={options.pretest}"
        raise InputError(f"{options.task}: {few}; give fewer")
    paths = [options.out / name for name in PRETEST_FILES]
    if not any(path.exists() for path in paths):
        for path in paths:
            write_sheet(path, pretest)
        print(f"{paths[0]}, {paths[1]}: {len(pretest)} sentences each; write yes or no into the column acceptable")
        return
    first, second = (read_sheet(path, set(pretest)) for path in paths)
    controls = {sentence: natural for sentence, natural in first.items() if second.get(sentence) == natural}
    if options.answers is None:
        sheets = make_sheets(items, sorted(controls), options.sheet, options.controls, options.seed)
        for number, sentences in enumerate(sheets, start=1):
            write_sheet(options.out / f"sheet_{number:03}.csv", sentences)
        print(f"{options.out}: {len(sheets)} sheets for {len(items):,} sentences, {len(controls)} controls")
        return
    people = read_people(options.answers, controls.keys() | set(items))
    result = judge_answers(people, controls, {sentence: intact[sentence] for sentence in items})
    write_row(options.out, options.task, result)
    print(result)


def sentences_to_judge(path: Path) -> dict[str, bool]:
    """The test sentences of a task, and whether each is as it was written. Raises InputError for another task."""
    from probes.probing.published_files import read_task

    task = read_task(path.stem, path)
    if ORIGINAL_LABEL not in task.classes or len(task.classes) != 2:
        raise InputError(f"{path}: labels {', '.join(task.classes[:5])}; give BShift, SOMO or CoordInv: O and another")
    original = task.classes.index(ORIGINAL_LABEL)
    test = task.parts[2]
    return {sentence: bool(gold == original) for sentence, gold in zip(test.sentences, test.gold, strict=True)}


def make_sheets(items: Sequence[str], controls: Sequence[str], size: int, count: int, seed: int) -> list[list[str]]:
    """Each item on one sheet, with `count` controls among every `size` sentences, in random order."""
    if not MIN_CONTROLS <= count < size or len(controls) < count:
        limits = f"fewer than sheet={size}, and at most the {len(controls)} sentences on which both pretests agree"
        raise InputError(f"controls={count}: give {MIN_CONTROLS} or more, {limits}")
    random, sheets = Random(seed), []
    for first in range(0, len(items), size - count):
        sheet = [*items[first : first + size - count], *random.sample(controls, count)]
        random.shuffle(sheet)
        sheets.append(sheet)
    return sheets


def judge_answers(
    people: Mapping[str, Mapping[str, bool]], controls: Mapping[str, bool], intact: Mapping[str, bool]
) -> HumanJudgments:
    """The result of a survey: `people` by name with their answers, `intact` the truth of the items.

    A sentence with as many for as against counts half right. Raises InputError where no judgment is left.
    """
    from probes.statistics import interval_with_ties

    by_sentence: dict[str, list[bool]] = defaultdict(list)
    refused = []
    for name, answers in people.items():
        matches = [answer == controls[sentence] for sentence, answer in answers.items() if sentence in controls]
        if len(matches) < MIN_CONTROLS or sum(matches) < MIN_CORRECT_SHARE * len(matches):
            refused.append(name)
            continue
        for sentence in answers.keys() & intact.keys():
            by_sentence[sentence].append(answers[sentence])
    if not by_sentence:
        raise InputError(
            f"no judgment is left: nobody has {MIN_CONTROLS} controls with {MIN_CORRECT_SHARE:.0%} of them right"
        )
    shares = {sentence: sum(accepts) / len(accepts) for sentence, accepts in by_sentence.items()}
    accepted = {sentence: 0.5 if share == 0.5 else float(share > 0.5) for sentence, share in shares.items()}
    correct = sum(yes if intact[sentence] else 1 - yes for sentence, yes in accepted.items())
    low, high = interval_with_ties(correct, len(accepted))
    pairs = [first == second for accepts in by_sentence.values() for first, second in combinations(accepts, 2)]
    return HumanJudgments(
        100 * correct / len(accepted),
        low,
        high,
        len(accepted),
        sum(map(len, by_sentence.values())),
        len(people) - len(refused),
        tuple(refused),
        100 * sum(pairs) / len(pairs) if pairs else float("nan"),
        krippendorff(by_sentence.values()),
        100 * sum(accepted.values()) / len(accepted),
    )


def krippendorff(units: Iterable[Sequence[bool]]) -> float:
    """Krippendorff's alpha for two classes: 1 - observed / expected disagreement; NaN if nothing was judged twice."""
    pairable = [unit for unit in units if len(unit) > 1]
    total = sum(map(len, pairable))
    counts = Counter(answer for unit in pairable for answer in unit)
    expected = 2 * counts[True] * counts[False] / (total - 1) if total > 1 else 0.0
    observed = sum(2 * sum(unit) * (len(unit) - sum(unit)) / (len(unit) - 1) for unit in pairable)
    return 1 - observed / expected if expected else float("nan")


def write_sheet(path: Path, sentences: Sequence[str]) -> None:
    from encoder_lab.storage.csv_files import upsert_csv

    rows = [dict(zip(COLUMNS, (number, text, ""), strict=True)) for number, text in enumerate(sentences, start=1)]
    path.unlink(missing_ok=True)
    upsert_csv(path, rows, key=COLUMNS[:1])


def read_sheet(path: Path, known: Set[str]) -> dict[str, bool]:
    """The answers of a filled sheet; empty ones are no answers. Raises InputError naming the line of another word, or
    of a sentence that is not `known`.
    """
    from encoder_lab.storage.csv_files import read_numbered_csv

    answers = {}
    for number, row in read_numbered_csv(path, COLUMNS):
        answer = row["acceptable"].strip().lower()
        if answer and answer not in (*YES_ANSWERS, *NO_ANSWERS):
            raise InputError(f"{path}:{number}: acceptable is {answer[:40]!r}; write yes or no")
        if answer and row["sentence"] not in known:
            remedy = "give task=, pretest=, items= and seed= as when the sheets were made"
            raise InputError(f"{path}:{number}: {row['sentence'][:40]!r} is not of this survey; {remedy}")
        if answer:
            answers[row["sentence"]] = answer in YES_ANSWERS
    return answers


def read_people(folder: Path, known: Set[str]) -> dict[str, dict[str, bool]]:
    """The answers of each person, of the files SHEET.PERSON.csv. Raises InputError for none, and for one of nobody."""
    people: dict[str, dict[str, bool]] = defaultdict(dict)
    for path in sorted({*folder.glob("sheet_*.csv"), *folder.glob("*.*.csv")}):
        person, answers = path.stem.partition(".")[2], read_sheet(path, known)
        if answers and not person:
            raise InputError(f"{path}: who filled it? name it {path.stem}.PERSON.csv")
        people[person].update(answers)
    people.pop("", None)
    if not people:
        raise InputError(f"{folder}: no filled sheets there; name them SHEET.PERSON.csv, as sheet_001.anna.csv")
    return dict(people)


def write_row(out: Path, task: Path, result: HumanJudgments) -> None:
    """An evaluation that report.py reads: the row Hum. Eval. with the accuracy and its interval."""
    from encoder_lab.storage.files import atomic_write
    from probes.probing import FILES
    from probes.results import ProbeRow, write_rows

    names = {file: name for name, file in FILES.items()}
    with atomic_write(out / "config.yaml") as file:
        file.write("encoder_name: baseline\nobjective_name: Hum. Eval.\nmodel: human\nseed: 1\n")
    details = {"judgments": result.judgments, "people": result.people, "alpha": round(result.alpha, 3)}
    score = (result.accuracy, result.low, result.high)
    row = ProbeRow(0, 0, "probing", names.get(task.name, task.stem), "majority", score[0], *score, details, 1, 0.0)
    write_rows(out / "probes.csv", [row])


COMMAND = Command(
    "python -m probes.probing.human task=FILE out=DIR [answers=DIR]",
    __doc__,
    [
        Setting("task", "a file of the published form with the labels O (original) and another", FILE, required=True),
        Setting("out", "the folder of the survey", FOLDER, required=True),
        Setting("answers", "the folder with the filled sheets", FOLDER),
        Setting("items", "test sentences to be judged", INTEGER, 1000),
        Setting("pretest", "test sentences that two people judge first", INTEGER, 200),
        Setting("sheet", "sentences of a sheet", INTEGER, 100),
        Setting("controls", "of these controls", INTEGER, 10),
        Setting("seed", "which sentences, and their order", INTEGER, 1),
    ],
    run_survey,
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
