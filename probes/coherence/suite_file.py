"""Test suites in files: SyntaxGym's JSON, also in the older form of the published suites, and minimal pairs."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.text_files import (
    files_below,
    parse_user_json,
    read_blocks,
    read_json_lines,
    without_packed_suffix,
)
from probes.coherence.formula import is_prediction, parse, values_in

BUILD_COMMAND = "python -m probes.coherence.build"
ENDINGS = (".json", ".jsonl")
GOOD, BAD = "sentence_good", "sentence_bad"  # of minimal pairs
METRICS = ("sum", "mean", "median", "range", "max", "min")
ALL_METRICS = "all"  # of files: every metric is stored; formulas read the sum
UNUSUAL_SPACE = re.compile(r"\s{2}|[^\S ]")
ROUND_BRACKETS = str.maketrans("[]", "()")


class Item(NamedTuple):
    """One item: the same text in C conditions, each cut into R regions."""

    number: int
    texts: tuple[tuple[str, ...], ...]  # (C, R) region texts in the order of TestSuite.conditions; may be empty
    source: str = ""  # where the item came from
    twins: str = ""  # while suites are built: items of one name are drawn together


class TestSuite(NamedTuple):
    """A test suite."""

    name: str
    metric: str  # of METRICS: what makes one value of the surprisals in a region
    regions: tuple[str, ...]  # names of the R regions
    conditions: tuple[str, ...]  # names of the C conditions
    predictions: tuple[str, ...]  # formulas
    items: tuple[Item, ...]
    meta: Mapping[str, Any] = {}  # what else the file says: author, comment, reference, tags


def read_suites(paths: Sequence[Path], syntaxgym: bool = False) -> list[TestSuite]:
    """The suites of files and folders: SyntaxGym's .json, and minimal pairs as .jsonl. Raises InputError for none."""
    if missing := [path for path in paths if not path.exists()]:
        raise InputError(f"coherence.paths: {missing[0]}: no such file or folder; build suites with {BUILD_COMMAND}")
    files = [file for path in paths for file in files_below(path, ENDINGS)]
    origins: dict[str, Path] = {}
    suites = []
    for file in dict.fromkeys(files):
        pairs = without_packed_suffix(file).suffix == ".jsonl"
        for suite in read_minimal_pairs(file) if pairs else [read_suite(file, syntaxgym)]:
            if suite.name in origins:
                raise InputError(f"{file}: the suite {suite.name} is also in {origins[suite.name]}; rename one of them")
            origins[suite.name] = file
            suites.append(suite)
    return suites


def read_minimal_pairs(path: Path) -> list[TestSuite]:
    """A suite for each `UID` of a file, or one of its name: the good sentence surprises less. Raises InputError."""
    suites: dict[str, list[Item]] = {}
    for number, record in read_json_lines(path):
        texts = [record.get(key) for key in (GOOD, BAD)]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise InputError(f"{path}:{number}: no text under {GOOD} and {BAD}, as minimal pairs in JSON lines have")
        name = str(path.name.partition(".")[0] if record.get("UID") in (None, "") else record["UID"])
        if not name.isprintable():
            raise InputError(f"{path}:{number}: the UID of a pair is a word or a few, in one line")
        items = suites.setdefault(name, [])
        good, bad = (" ".join(str(text).split()) for text in texts)
        items.append(Item(len(items) + 1, ((good,), (bad,)), str(record.get("pairID", ""))))
    formula = ("(1;%good%) < (1;%bad%)",)
    return [
        TestSuite(name, "sum", ("sentence",), ("good", "bad"), formula, tuple(items)) for name, items in suites.items()
    ]


def read_suite(path: Path, syntaxgym: bool = False) -> TestSuite:
    """The suite in a JSON file (also packed). Raises InputError that names suite, item, condition and region."""
    return suite_from_record(read_json(path), str(path), syntaxgym)


def read_json(path: Path) -> Any:
    """What a JSON file (also packed) holds. Raises InputError."""
    content = b"".join(read_blocks(path))
    try:
        return parse_user_json(path, content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        remedy = "correct the file, or let the name of JSON lines end in .jsonl"
        raise InputError(f"{path}: not valid JSON ({' '.join(str(error).split())}); {remedy}") from None


def suite_from_record(record: Any, location: str, syntaxgym: bool = False) -> TestSuite:
    """The suite in a parsed file. `location` is for messages."""
    types = {"meta": dict, "region_meta": dict, "items": list, "predictions": list}
    top = _checked_fields(record, location, types, ("predictions",))
    meta = _checked_fields(top["meta"], f"{location}: meta", {"name": str, "metric": str})
    if not meta["name"] or not meta["name"].isprintable():
        raise InputError(f"{location}: meta: the name of a suite is a word or a few, in one line")
    location = f"{location}: suite {meta['name']}"
    if meta["metric"] not in (*METRICS, ALL_METRICS):
        raise InputError(f"{location}: metric {meta['metric']!r}; give one of {', '.join((*METRICS, ALL_METRICS))}")
    metric = METRICS[0] if meta["metric"] == ALL_METRICS else meta["metric"]
    regions = _region_names(top["region_meta"], location)
    predictions = _predictions(top, location)
    if not top["items"]:
        raise InputError(f"{location}: no items")
    conditions = _condition_names(top["items"][0], f"{location}, first item")
    items = tuple(_item(item, conditions, len(regions), f"{location}, item", i) for i, item in enumerate(top["items"]))
    if twice := [number for number, count in Counter(item.number for item in items).items() if count > 1]:
        raise InputError(f"{location}, item {twice[0]}: the number occurs twice; number the items 1, 2, 3, ...")
    other_meta = {k: v for k, v in meta.items() if k not in ("name", "metric", "string_predictions", "model")}
    suite = TestSuite(meta["name"], metric, regions, conditions, predictions, items, other_meta)
    check_predictions(suite, location, syntaxgym)
    return suite


def _checked_fields(
    record: Any, location: str, types: Mapping[str, type], optional: Sequence[str] = ()
) -> dict[str, Any]:
    """The object, with fields of these types; the published form allows any others."""
    needed = [name for name in types if name not in optional]
    if not isinstance(record, dict):
        raise InputError(f"{location}: expected an object with {', '.join(needed)}, found {_type_name(record)}")
    for name in needed:
        if name not in record:
            raise InputError(f"{location}: no {name!r}; add it")
    for name, expected in types.items():
        value = record.get(name)
        if name in record and (not isinstance(value, expected) or isinstance(value, bool)):
            raise InputError(f"{location}: {name!r} must be {TYPE_NAMES[expected]}, found {_type_name(value)}")
    return record


TYPE_NAMES = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}


def _type_name(value: Any) -> str:
    names = {bool: "true or false", type(None): "null"} | TYPE_NAMES
    return names.get(type(value), "a number")


def _region_names(record: dict[str, Any], location: str) -> tuple[str, ...]:
    if not record or set(record) != {str(number) for number in range(1, len(record) + 1)}:
        raise InputError(f"{location}: region_meta must name the regions 1, 2, 3, ... without a gap")
    names = [record[str(number)] for number in range(1, len(record) + 1)]
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{location}: region_meta: the name of a region must be a text")
    return tuple(names)


def _predictions(top: dict[str, Any], location: str) -> tuple[str, ...]:
    """Formulas, from the list of predictions or, in the older form, from `meta.string_predictions`."""
    old = top["meta"].get("string_predictions", [])
    if not top.get("predictions"):
        old = [old] if isinstance(old, str) else old
        if not isinstance(old, list) or not old or not all(isinstance(formula, str) for formula in old):
            raise InputError(f"{location}: no predictions; add a list of {{type: formula, formula: ...}}")
        return tuple(formula.translate(ROUND_BRACKETS) for formula in old)
    formulas = []
    for number, record in enumerate(top["predictions"], 1):
        prefix = f"{location}, prediction {number}"
        if isinstance(record, dict) and record.get("type") != "formula":
            raise InputError(f"{prefix}: type {record.get('type')!r} is not read; write type 'formula' and a formula")
        formulas.append(
            _checked_fields(record, prefix, {"type": str, "formula": str})["formula"].translate(ROUND_BRACKETS)
        )
    return tuple(formulas)


def _condition_names(item: Any, location: str) -> tuple[str, ...]:
    types = {"item_number": int, "conditions": list, "source": str}
    conditions = _checked_fields(item, location, types, ("source",))["conditions"]
    names = [
        _checked_fields(c, location, {"condition_name": str, "regions": list})["condition_name"] for c in conditions
    ]
    if not names or len(set(names)) < len(names):
        raise InputError(f"{location}: {'two conditions have the same name' if names else 'no conditions'}")
    if not all(name and name.isprintable() for name in names):
        raise InputError(f"{location}: the name of a condition is a word or a few, in one line")
    return tuple(names)


def _item(record: Any, conditions: tuple[str, ...], regions: int, location: str, index: int) -> Item:
    names = _condition_names(record, f"{location} at place {index + 1} of the list")
    location = f"{location} {record['item_number']}"
    if set(names) != set(conditions):
        raise InputError(f"{location}: conditions {', '.join(names)}, but the first item has {', '.join(conditions)}")
    regions_by_name = {c["condition_name"]: c["regions"] for c in record["conditions"]}
    texts = tuple(_regions(regions_by_name[name], regions, f"{location}, condition {name}") for name in conditions)
    return Item(record["item_number"], texts, record.get("source", ""))


def _regions(records: list[Any], count: int, location: str) -> tuple[str, ...]:
    if len(records) != count:
        raise InputError(f"{location}: {len(records)} regions, but region_meta names {count}")
    texts = []
    for number, record in enumerate(records, 1):
        prefix = f"{location}, region {number}"
        fields = _checked_fields(record, prefix, {"region_number": int, "content": str})
        if fields["region_number"] != number:
            raise InputError(f"{prefix}: has region_number {fields['region_number']}; list the regions as 1, 2, 3, ...")
        text = fields["content"].strip(" ")
        if UNUSUAL_SPACE.search(text):
            raise InputError(f"{prefix}: {text[:40]!r} has two spaces, a tab or a line end; put single spaces")
        texts.append(text)
    if not any(texts):
        raise InputError(f"{location}: every region is empty; give the condition a text")
    return tuple(texts)


def check_predictions(suite: TestSuite, location: str, syntaxgym: bool = False) -> None:
    """Raises InputError where a formula is not one, or names a region or a condition that the suite does not have.

    The published toolkit takes an unknown condition under `*` for 0; so does `syntaxgym=True`.
    """
    for number, text in enumerate(suite.predictions, 1):
        prefix = f"{location}, prediction {number}"
        try:
            tree = parse(text, syntaxgym)
        except InputError as error:
            raise InputError(f"{prefix}: {error}") from None
        if not is_prediction(tree):
            raise InputError(
                f"{prefix}: {text!r} is a number, neither true nor false; compare it, for example with > 0"
            )
        for value in values_in(tree):
            if value.condition not in suite.conditions and not (syntaxgym and value.region is None):
                has = ", ".join(suite.conditions)
                raise InputError(f"{prefix}: no condition {value.condition!r}; the items have {has}")
            if value.region is not None and not 1 <= value.region <= len(suite.regions):
                raise InputError(f"{prefix}: no region {value.region}; region_meta names 1 to {len(suite.regions)}")


def record_of(suite: TestSuite) -> dict[str, Any]:
    """The suite as JSON has it."""
    items = []
    for item in suite.items:
        conditions = []
        for name, texts in zip(suite.conditions, item.texts, strict=True):
            regions = [{"region_number": number, "content": text} for number, text in enumerate(texts, 1)]
            conditions.append({"condition_name": name, "regions": regions})
        source = {"source": item.source} if item.source else {}
        items.append({"item_number": item.number, **source, "conditions": conditions})
    return {
        "meta": {"name": suite.name, "metric": suite.metric, **suite.meta},
        "region_meta": {str(number): name for number, name in enumerate(suite.regions, 1)},
        "predictions": [{"type": "formula", "formula": formula} for formula in suite.predictions],
        "items": items,
    }


def write_suite(suite: TestSuite, path: Path) -> None:
    with atomic_write(path) as file:
        json.dump(record_of(suite), file, indent=1, ensure_ascii=False)
        file.write("\n")


def suite_fingerprint(suite: TestSuite) -> str:
    """The same text means the same items and predictions."""
    return sha256(json.dumps(record_of(suite), sort_keys=True).encode()).hexdigest()[:16]
