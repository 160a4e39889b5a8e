"""Reads the downstream tasks from the files of the published toolkit (SentEval's data/downstream)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil, floor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from datamodules.corpora.sick import COMPLETE_FILE, SETS
from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import unknown_name_message
from encoder_lab.storage.text_files import plain_or_packed, read_lines, read_table
from probes.classification import Classification
from probes.downstream.scoring import Downstream
from probes.probing.published_files import columns_of, items_from_rows, read_own_task, read_rows, warn_of_seen_items
from probes.task import Items, name_key
from probes.vectors import pair_features, sentence_vector

SOURCE = "https://github.com/facebookresearch/SentEval (data/downstream/get_transfer_data.bash)"
QUESTIONS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
ENTAILMENT = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
STS_DOMAINS = {
    "STS12": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "STS13": ("FNWN", "headlines", "OnWN"),
    "STS14": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "STS15": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "STS16": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}


DownstreamItem = tuple[str, str, float]  # an item of a file: its texts, the second one of pairs alone, and its gold


def read_downstream(
    root: Path, names: Sequence[str] | None = None
) -> tuple[list[Classification | Downstream], dict[str, Path]]:
    """The named tasks (by default all) of a folder, and the missing file of each other task.

    `root` is the toolkit's data/downstream or a parent of it. Raises InputError naming file and line.
    """
    names = [name for name in TASKS if not name.endswith(COSINE_SUFFIX)] if names is None else canonical_names(names)
    folders = (root / part for part in ("data/downstream", "downstream", "."))
    folder = next((path for path in folders if path.is_dir()), None)
    if folder is None:
        raise InputError(f"{root}: no such folder; get the tasks with {SOURCE} and name it (downstream.root=)")
    missing = {name: path for name in names for path in _task_files(folder, name) if not path.is_file()}
    return [TASKS[name].read(folder, name) for name in names if name not in missing], missing


def canonical_names(names: Sequence[str]) -> list[str]:
    """The names in TASKS of the given names. Case and hyphens do not matter; the toolkit's names are accepted too.

    Raises InputError with the choices.
    """
    spelt = {name_key(name): name for name in TASKS} | TOOLKIT_NAMES
    if unknown := [name for name in names if name_key(name) not in spelt]:
        raise InputError(f"{unknown[0]}: {unknown_name_message('downstream task', unknown[0], list(TASKS))}")
    return list(dict.fromkeys(spelt[name_key(name)] for name in names))


def _sorted_items(path: Path, rows: Iterable[DownstreamItem], pairs: bool = False) -> Items:
    """Sorted by length, then label, as the toolkit sorts items before it draws folds and batches (stable)."""
    ordered = sorted(rows, key=lambda row: (len(row[0].split()), len(row[1].split()), row[2]))
    if not ordered:
        raise InputError(f"{path}: no item in it; the file is cut off")
    first, second, gold = zip(*ordered, strict=True)
    are_classes = all(isinstance(value, int) for value in gold)
    texts = (list(first), list(second)) if pairs else (list(first),)
    return Items(texts, np.array(gold, np.int64 if are_classes else np.float64))


def _read_class_files(folder: Path, name: str) -> Downstream:
    """Two files of one sentence per line: those of class 1, then those of class 0."""
    rows = [
        (line, "", label)
        for label, path in zip((1, 0), _task_files(folder, name), strict=True)
        for line in "".join(f"{text}\n" for _, text in read_lines(path, "latin-1")).splitlines()  # as the toolkit
    ]
    return Downstream(name, "nested", {"all": _sorted_items(folder / name, rows)}, classes=2)


def _read_sentiment(folder: Path, name: str, classes: int) -> Classification:
    """SST-2: sentence, tab, label. SST-5: label, space, sentence."""

    def rows(path: Path) -> Iterator[DownstreamItem]:
        for number, line in read_lines(path):
            sentence, _, label = line.rpartition("\t") if classes == 2 else line.partition(" ")[::-1]
            yield sentence, "", _parse_label(path, number, label, labels)

    labels = list(map(str, range(classes)))
    parts = [_sorted_items(path, rows(path)) for path in _task_files(folder, name)]
    return Classification(name, labels, *parts, suite="downstream", features=sentence_vector)


def _read_questions(folder: Path, name: str) -> Downstream:
    def rows(path: Path) -> Iterator[DownstreamItem]:
        for number, line in read_lines(path, "latin-1"):
            label, _, question = line.partition(" ")
            yield question, "", _parse_label(path, number, label.partition(":")[0], QUESTIONS)

    train, test = (_sorted_items(path, rows(path)) for path in _task_files(folder, name))
    return Downstream(name, "folds", {"train": train, "test": test}, classes=len(QUESTIONS))


def _read_paraphrases(folder: Path, name: str) -> Downstream:
    def rows(path: Path) -> Iterator[DownstreamItem]:
        for number, fields in _read_fields(path, 5):
            if number > 1 or fields[0] != "Quality":  # the header
                yield fields[3], fields[4], _parse_label(path, number, fields[0], ("0", "1"))

    train, test = (_sorted_items(path, rows(path), pairs=True) for path in _task_files(folder, name))
    return Downstream(name, "folds", {"train": train, "test": test}, classes=2, positive=1)


def _read_sick(folder: Path, name: str) -> Classification | Downstream:
    """SICK-E: the judgment. SICK-R: the relatedness, 1 to 5. From three files, or the one of today's download."""
    files = _task_files(folder, name)
    joint = len(files) == 1
    column = "relatedness_score" if name != "SICK-E" else "entailment_label" if joint else "entailment_judgment"
    labels, sets = partial(_parse_label, labels=ENTAILMENT), list(SETS.values())
    parse = labels if name == "SICK-E" else partial(_parse_score, low=1, high=5)

    def rows(path: Path, part: str) -> Iterator[DownstreamItem]:
        for number, row in read_table(path, ["sentence_A", "sentence_B", column, *(["SemEval_set"] if joint else [])]):
            gold = parse(path, number, row[column])
            if not joint or SPLITS[_parse_label(path, number, row["SemEval_set"], sets)] == part:
                yield row["sentence_A"], row["sentence_B"], gold

    paths = files * len(SPLITS) if joint else files
    parts = {part: _sorted_items(path, rows(path, part), pairs=True) for part, path in zip(SPLITS, paths, strict=True)}
    if name == "SICK-E":
        return Classification(name, list(ENTAILMENT), *parts.values(), suite="downstream", features=pair_features)
    return Downstream(name, "relatedness", parts, rated=(1, 5))


def _read_benchmark(folder: Path, name: str) -> Downstream:
    def rows(path: Path) -> Iterator[DownstreamItem]:
        for number, fields in _read_fields(path, 7):
            yield fields[5], fields[6], _parse_score(path, number, fields[4], 0, 5)

    paths = _task_files(folder, name)
    parts = {part: _sorted_items(path, rows(path), pairs=True) for part, path in zip(SPLITS, paths, strict=True)}
    return Downstream(name, "relatedness", parts, rated=(0, 5))


def _read_sts_year(folder: Path, name: str) -> Downstream:
    """Pairs and their gold scores in two files for each domain; a pair without a score is left out."""
    files = iter(_task_files(folder, name))
    domains = {domain: _read_domain(next(files), next(files)) for domain in STS_DOMAINS[name]}
    return Downstream(name, "similarity", domains)


def _read_domain(pairs: Path, scores: Path) -> Items:
    lines = [fields for _, fields in _read_fields(pairs, 2)]
    texts = ((number, line.strip()) for number, line in read_lines(scores))
    gold = [_parse_score(scores, number, text, 0, 5) if text else None for number, text in texts]
    if len(lines) != len(gold):
        raise InputError(f"{scores}: {len(gold)} scores for the {len(lines)} pairs of {pairs}")
    scored = zip(lines, gold, strict=True)
    rows = ((f[0], f[1], score) for f, score in scored if score is not None)
    return _sorted_items(pairs, rows, pairs=True)


def _read_fields(path: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in read_lines(path):
        fields = line.split("\t")
        if len(fields) < columns:
            raise InputError(f"{path}:{number}: {len(fields)} columns, expected {columns}; fix or remove the line")
        yield number, fields


def _parse_label(path: Path, number: int, text: str, labels: Sequence[str]) -> int:
    if text not in labels:
        raise InputError(f"{path}:{number}: label {text[:40]!r} is none of {', '.join(labels)}")
    return labels.index(text)


def _parse_score(path: Path, number: int, text: str, low: float, high: float) -> float:
    try:
        score = float(text)
    except ValueError:
        score = float("nan")
    if not low <= score <= high:
        raise InputError(f"{path}:{number}: score {text[:40]!r} is no number from {low} to {high}")
    return score


class TaskFiles(NamedTuple):
    """The files of a task, in the order that its reader expects, and the reader."""

    files: tuple[str, ...]
    read: Callable[[Path, str], Classification | Downstream]


def _task_files(folder: Path, name: str) -> list[Path]:
    files = [plain_or_packed(folder / file) for file in TASKS[name].files]
    joint = plain_or_packed(folder / "SICK" / COMPLETE_FILE)
    is_joint = TASKS[name].files == SICK_FILES and joint.is_file() and not all(map(Path.is_file, files))
    return [joint] if is_joint else files


def _read_by_cosine(folder: Path, name: str) -> Downstream:
    """The test part of a relatedness task as a similarity task: nothing is trained."""
    base = name.removesuffix(COSINE_SUFFIX)
    task = TASKS[base].read(folder, base)
    assert isinstance(task, Downstream)
    return Downstream(name, "similarity", {"test": task.parts["test"]})


def read_own_file(name: str, path: Path) -> Classification | Downstream:
    """The user's own task of a file: with labels, or pairs with scores; test pairs alone are scored by cosines."""
    if "score" not in columns_of(path):
        return read_own_task(name, path, "downstream")
    parts = {}
    for part, rows in zip(SPLITS, read_rows(path, "score").values(), strict=True):
        if rows:
            gold = [_parse_score(path, row.number, row.gold, -MAX_SCORE, MAX_SCORE) for row in rows]
            parts[part] = items_from_rows(rows, np.array(gold))
            if len(parts[part].texts) != 2:
                raise InputError(f"{path}:{rows[0].number}: a score is of a pair; give sentence and sentence2")
            if len(set(gold)) == 1:
                problem = f"the {part} lines have only one score, {gold[0]:g}; nothing correlates with it"
                raise InputError(f"{path}: {problem}")
    if list(parts) == ["test"]:
        return Downstream(name, "similarity", parts)
    if len(parts) < len(SPLITS):
        raise InputError(f"{path}: lines of {' and '.join(parts)} alone; give all of {', '.join(SPLITS)}, or only test")
    warn_of_seen_items(path, parts["train"], parts["test"])
    scores = parts["train"].gold
    return Downstream(name, "relatedness", parts, rated=(floor(scores.min()), ceil(scores.max())))


# the toolkit's names that differ from those of the papers
TOOLKIT_NAMES = {"stsbenchmark": "STSB", "sickentailment": "SICK-E", "sickrelatedness": "SICK-R"}
SPLITS = ("train", "dev", "test")
MAX_SCORE = 1000  # the regression has an output for each whole number in the range of scores
COSINE_SUFFIX = "-cosine"
SICK_FILES = ("SICK/SICK_train.txt", "SICK/SICK_trial.txt", "SICK/SICK_test_annotated.txt")
SST_FILES = {n: tuple(f"SST/{of}/sentiment-{part}" for part in SPLITS) for n, of in ((2, "binary"), (5, "fine"))}

# in the order of Conneau et al. 2018, Table 5
TASKS: Mapping[str, TaskFiles] = {
    "MR": TaskFiles(("MR/rt-polarity.pos", "MR/rt-polarity.neg"), _read_class_files),
    "CR": TaskFiles(("CR/custrev.pos", "CR/custrev.neg"), _read_class_files),
    "SUBJ": TaskFiles(("SUBJ/subj.objective", "SUBJ/subj.subjective"), _read_class_files),
    "MPQA": TaskFiles(("MPQA/mpqa.pos", "MPQA/mpqa.neg"), _read_class_files),
    "SST-2": TaskFiles(SST_FILES[2], partial(_read_sentiment, classes=2)),
    "SST-5": TaskFiles(SST_FILES[5], partial(_read_sentiment, classes=5)),
    "TREC": TaskFiles(("TREC/train_5500.label", "TREC/TREC_10.label"), _read_questions),
    "MRPC": TaskFiles(("MRPC/msr_paraphrase_train.txt", "MRPC/msr_paraphrase_test.txt"), _read_paraphrases),
    "SICK-E": TaskFiles(SICK_FILES, _read_sick),
    "SICK-R": TaskFiles(SICK_FILES, _read_sick),
    "STSB": TaskFiles(tuple(f"STS/STSBenchmark/sts-{part}.csv" for part in SPLITS), _read_benchmark),
    **{
        year: TaskFiles(
            tuple(f"STS/{year}-en-test/STS.{of}.{d}.txt" for d in domains for of in ("input", "gs")), _read_sts_year
        )
        for year, domains in STS_DOMAINS.items()
    },
    "SICK-R-cosine": TaskFiles(SICK_FILES, _read_by_cosine),
    "STSB-cosine": TaskFiles(tuple(f"STS/STSBenchmark/sts-{part}.csv" for part in SPLITS), _read_by_cosine),
}
PUBLISHED_SIZES = {  # items of all parts
    **{"MR": 10_662, "CR": 3_775, "SUBJ": 10_000, "MPQA": 10_606, "SST-2": 70_042, "SST-5": 11_855, "TREC": 5_952},
    **{"MRPC": 5_801, "SICK-E": 9_927, "SICK-R": 9_927, "STSB": 8_628, "SICK-R-cosine": 4_927, "STSB-cosine": 1_379},
    **{"STS12": 3_108, "STS13": 1_500, "STS14": 3_750, "STS15": 3_000, "STS16": 1_186},
}
