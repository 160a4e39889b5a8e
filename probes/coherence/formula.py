"""The language of predictions: `(2;%shuffled%) > (2;%original%)`, read into a tree and evaluated on region values.

An operand is `(N;%condition%)`, the value of region N; `(*;%condition%)`, the value of the whole text; or a number.
Operators, the tightest first: `+ -`, then `< > =`, then `& |`. Round or square brackets group.
Two spellings that the published toolkit reads in an unexpected way are refused, or with `syntaxgym=True` read as there:
`a < b < c` (the toolkit ignores c) and `a & b | c` (the toolkit reads from the left).
"""

import re
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from encoder_lab.errors import InputError

TIE_TOLERANCE = 1e-6  # two sides that differ by less than this share are the same: what float32 leaves of equal sums
MAX_CHARACTERS, MAX_DEPTH, MAX_OPERATORS = 10_000, 50, 200  # characters, nested brackets and operators of a formula
SPACES = re.compile(r"\s*")
VALUE_PATTERN = re.compile(r"\(\s*(\d+|\*)\s*;%\s*([\w-]+)\s*%\s*\)", re.ASCII)
NUMBER_PATTERN = re.compile(r"[+-]?\d+\.?\d*(?:[eE][+-]?\d+)?", re.ASCII)
CLOSING = {"(": ")", "[": "]"}
OPERATOR_LEVELS = ("&|", "<>=", "+-")  # the loosest first
ARITHMETIC = {"+": np.add, "-": np.subtract, "&": np.minimum, "|": np.maximum}


class Number(NamedTuple):
    """A constant, in bits."""

    value: float


class Value(NamedTuple):
    """The value of a region of a condition, or of the whole text where `region` is None."""

    region: int | None
    condition: str


class Operation(NamedTuple):
    """Two operands and their operator."""

    symbol: str
    left: "Formula"
    right: "Formula"


Formula = Number | Value | Operation


def parse(text: str, syntaxgym: bool = False) -> Formula:
    """The tree of a formula. Raises InputError that names the character."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"formula {text[:40]!r}...: {len(text)} characters, at most {MAX_CHARACTERS} are read")
    reader = _Reader(text, syntaxgym)
    tree = reader.read_level(0)
    if reader.position < len(text):
        raise reader.error("expected an operator (+ - < > = & |) or the end")
    return tree


class _Reader:
    """Reads a formula from left to right; `position` is the next character that is not a space."""

    def __init__(self, text: str, syntaxgym: bool) -> None:
        self.text, self.syntaxgym = text, syntaxgym
        self.position = self.depth = self.operators = 0
        self.skip(0)

    def skip(self, characters: int) -> None:
        match = SPACES.match(self.text, self.position + characters)
        self.position = match.end() if match else len(self.text)

    def error(self, problem: str) -> InputError:
        seen = repr(self.text[self.position]) if self.position < len(self.text) else "the end"
        return InputError(f"formula {self.text!r}, character {self.position + 1} ({seen}): {problem}")

    def read_level(self, number: int) -> Formula:
        """A chain of operands with operators of one level between them."""
        if number == len(OPERATOR_LEVELS):
            return self.read_operand()
        start = self.position
        operands, symbols = [self.read_level(number + 1)], []
        while self.position < len(self.text) and self.text[self.position] in OPERATOR_LEVELS[number]:
            if self.operators == MAX_OPERATORS:
                raise self.error(f"more than {MAX_OPERATORS} operators; split the formula into several predictions")
            self.operators += 1
            symbols.append(self.text[self.position])
            self.skip(1)
            operands.append(self.read_level(number + 1))
        if OPERATOR_LEVELS[number] == "<>=" and len(symbols) > 1:
            if not self.syntaxgym:
                raise self.ambiguity_error(start, _chain_as_conjunction(operands, symbols))
            operands, symbols = operands[:2], symbols[:1]
        if len(set(symbols)) > 1 and OPERATOR_LEVELS[number] == "&|" and not self.syntaxgym:
            raise self.ambiguity_error(start, "brackets, for example " + _bracketed_from_left(operands, symbols))
        tree = operands[0]
        for symbol, right in zip(symbols, operands[1:], strict=True):
            tree = self.check_types(Operation(symbol, tree, right), start)
        return tree

    def ambiguity_error(self, start: int, write: str) -> InputError:
        part = self.text[start : self.position].strip()
        return InputError(f"formula {self.text!r}: {part!r} can be read in two ways; write {write}")

    def check_types(self, operation: Operation, start: int) -> Operation:
        """The operation, where its sides are both true or false for & and |, and numbers for the others."""
        is_logical = operation.symbol in "&|"
        if {is_prediction(operation.left), is_prediction(operation.right)} != {is_logical}:
            part = self.text[start : self.position].strip()
            sides = "comparisons, such as (a < b)" if is_logical else "numbers, not comparisons"
            raise InputError(f"formula {self.text!r}: in {part!r} both sides of {operation.symbol} must be {sides}")
        return operation

    def read_operand(self) -> Formula:
        if match := VALUE_PATTERN.match(self.text, self.position):
            self.skip(len(match[0]))
            if match[1] != "*" and len(match[1]) > 6:
                raise self.error(f"no region has the number {match[1][:12]}...")
            return Value(None if match[1] == "*" else int(match[1]), match[2])
        if match := NUMBER_PATTERN.match(self.text, self.position):
            value = float(match[0])
            if not np.isfinite(value):
                raise self.error("the number is too large")
            self.skip(len(match[0]))
            return Number(value)
        opening = self.text[self.position : self.position + 1]
        if opening not in CLOSING or self.depth == MAX_DEPTH:
            raise self.error("expected (REGION;%CONDITION%), a number or an opening bracket")
        self.depth += 1
        self.skip(1)
        inner = self.read_level(0)
        if self.text[self.position : self.position + 1] != CLOSING[opening]:
            raise self.error(f"expected {CLOSING[opening]!r}")
        self.depth -= 1
        self.skip(1)
        return inner


def _chain_as_conjunction(operands: list[Formula], symbols: list[str]) -> str:
    pairs = zip(operands, symbols, operands[1:], strict=False)
    return " & ".join(f"({formula_text(a)} {symbol} {formula_text(b)})" for a, symbol, b in pairs)


def _bracketed_from_left(operands: list[Formula], symbols: list[str]) -> str:
    text = _bracketed_text(operands[0])
    for symbol, right in zip(symbols, operands[1:], strict=True):
        text = f"({text} {symbol} {_bracketed_text(right)})"
    return text[1:-1]


def formula_text(tree: Formula) -> str:
    """The formula with round brackets: `parse(formula_text(tree)) == tree`."""
    if isinstance(tree, Number):
        return repr(tree.value)
    if isinstance(tree, Value):
        return f"({'*' if tree.region is None else tree.region};%{tree.condition}%)"
    return f"{_bracketed_text(tree.left)} {tree.symbol} {_bracketed_text(tree.right)}"


def _bracketed_text(tree: Formula) -> str:
    return f"({formula_text(tree)})" if isinstance(tree, Operation) else formula_text(tree)


def is_prediction(tree: Formula) -> bool:
    """Whether the formula is true or false; otherwise it is a number."""
    return isinstance(tree, Operation) and tree.symbol not in "+-"


def values_in(tree: Formula) -> list[Value]:
    """The region values that the formula needs, from left to right."""
    return [part for part in _subformulas(tree) if isinstance(part, Value)]


def evaluate(tree: Formula, value: Callable[[Value], np.ndarray], syntaxgym: bool = False) -> np.ndarray:
    """The formula on N items, (N,): numbers, or 1 for true, 0 for false and 0.5 where the two sides tie.

    `value` gives a region's surprisals (N,). A comparison with NaN is false. `=` allows a difference of
    0.001 + 0.00001 |right|. `&` is the smaller and `|` the larger of its sides: a tie stays one where it decides.
    With `syntaxgym` a tie under `<` or `>` is false.
    """
    if isinstance(tree, Number):
        return np.asarray(tree.value)
    if isinstance(tree, Value):
        return value(tree)
    left, right = evaluate(tree.left, value, syntaxgym), evaluate(tree.right, value, syntaxgym)
    with np.errstate(invalid="ignore"):
        if tree.symbol in ARITHMETIC:
            return ARITHMETIC[tree.symbol](left, right)
        if tree.symbol == "=":
            return np.isclose(left, right, rtol=1e-5, atol=1e-3).astype(float)
        strict = left < right if tree.symbol == "<" else left > right
        if syntaxgym:
            return strict.astype(float)
        close = np.abs(left - right) <= TIE_TOLERANCE * np.maximum(1, np.maximum(np.abs(left), np.abs(right)))
        tie = (left == right) | (close & np.isfinite(left - right))  # any number is below infinity
        return np.where(tie, 0.5, strict)


def margin(tree: Formula, value: Callable[[Value], np.ndarray]) -> np.ndarray:
    """The bits (N,) by which the formula holds on N items; negative where it fails, 0 where it ties."""
    if not isinstance(tree, Operation) or tree.symbol in "+-":
        return evaluate(tree, value)
    if tree.symbol in "&|":
        return ARITHMETIC[tree.symbol](margin(tree.left, value), margin(tree.right, value))
    with np.errstate(invalid="ignore"):
        difference = evaluate(tree.right, value) - evaluate(tree.left, value)
    return {"<": difference, ">": -difference, "=": -np.abs(difference)}[tree.symbol]


MAX_ORDERED_VALUES = 7  # values; up to this many every order of them is tried (7! = 5,040)
CHANCE_DRAWS = 50_000
DRAWN_DEVIATION = 1e4  # the standard deviation of drawn values: sides that `=` takes for equal are then rare


def chance(formulas: Sequence[str], syntaxgym: bool = False) -> float | None:
    """The percentage of items in which all formulas hold if each value is drawn from the same distribution.

    Exact where only the order of values counts; sums are of normal draws. None where a value is compared with a number
    other than 0: that depends on the model's bits.
    """
    trees = [parse(formula, syntaxgym) for formula in formulas]
    parts = [part for tree in trees for part in _subformulas(tree)]
    if any(isinstance(part, Number) and part.value for part in parts):
        return None
    names = list(dict.fromkeys(part for part in parts if isinstance(part, Value)))
    ordinal = not any(
        isinstance(part, Number) or (isinstance(part, Operation) and part.symbol in "+-") for part in parts
    )
    if ordinal and len(names) <= MAX_ORDERED_VALUES:
        samples = np.array(list(permutations(range(len(names)))), dtype=float)
    else:
        normal = np.random.default_rng(0).normal(0, DRAWN_DEVIATION, (CHANCE_DRAWS, len(names)))
        samples = np.concatenate([normal, -normal])  # so that one comparison holds in exactly a half
    columns = dict(zip(names, samples.T, strict=True))
    truths = [np.broadcast_to(evaluate(tree, columns.__getitem__, syntaxgym), len(samples)) for tree in trees]
    return 100 * float(np.min(truths, axis=0).mean())


def _subformulas(tree: Formula) -> list[Formula]:
    return [tree, *_subformulas(tree.left), *_subformulas(tree.right)] if isinstance(tree, Operation) else [tree]
