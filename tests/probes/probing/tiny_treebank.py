"""Dependency trees of an invented language that marks number, gender, case, person, tense and mood by endings."""

from functools import cache
from pathlib import Path
from random import Random

from datamodules.trees.conllu import DependencyTree, Portion, parse_portion

STEMS = [
    f"{a}{b}{c}" for a in ("ba", "lo", "mi", "tu", "ke") for b in ("ral", "sin", "dor", "vek") for c in ("", "o", "i")
]
NOUNS, VERBS, ADJECTIVES = STEMS[:30], STEMS[30:50], STEMS[50:]
GENDERS = ("Fem", "Masc")
Line = tuple[str, str, str, int, str]  # form, part of speech, features, head (0 is the root), relation


@cache
def tiny_treebank(count: int, seed: int = 0, varied: bool = False) -> str:
    """`count` sentences in CoNLL-U, a function of the seed; `varied`: also passives and questions."""
    random, other = Random(seed), Random(seed + 1)
    sentences = (_sentence(random) for _ in range(count))
    return "".join(conllu(_varied(lines, other) if varied else lines) for lines in sentences)


def trees_of(text: str) -> list[DependencyTree]:
    """The trees of a text in CoNLL-U."""
    return list(parse_portion(Portion(Path("a.conllu"), 1, text.encode())))


def _varied(lines: list[Line], r: Random) -> list[Line]:
    """Every third sentence in the passive, every third a question."""
    if r.random() < 1 / 3:
        lines = [(*line[:4], line[4].replace("nsubj", "nsubj:pass")) for line in lines]
    return [*lines[:-1], ("?", *lines[-1][1:])] if r.random() < 1 / 3 else lines


def conllu(lines: list[Line]) -> str:
    """The rows of a sentence, and the blank line after it."""
    rows = (
        f"{place}\t{form}\t_\t{part}\t_\t{features or '_'}\t{head}\t{relation}\t_\t_\n"
        for place, (form, part, features, head, relation) in enumerate(lines, start=1)
    )
    return "".join(rows) + "\n"


def _sentence(r: Random) -> list[Line]:
    lines: list[Line] = []
    main = _clause(r, lines, 0, "root")
    if r.random() < 0.35:
        at = len(lines)
        lines.append((r.choice(["ja", "no"]), "CCONJ", "", 0, "cc"))
        second = _clause(r, lines, main, "conj")
        lines[at] = (*lines[at][:3], second, "cc")
    lines.append((".", "PUNCT", "", main, "punct"))
    form, *rest = lines[0]
    return [(form.capitalize(), *rest), *lines[1:]]  # type: ignore[list-item]


def _clause(r: Random, lines: list[Line], head: int, relation: str) -> int:
    """Add a clause: subject, verb, object, and places; returns the number of its verb."""
    subject = _phrase(r, lines, "Nom", "nsubj")
    tense, mood, person = r.choice(["Past", "Pres"]), r.choice(["Ind", "Ind", "Cnd"]), r.choice("13")
    endings = {"Past": "ta", "Pres": "sa"}[tense], {"Ind": "", "Cnd": "bi"}[mood], {"1": "m", "3": ""}[person]
    verb = r.choice(VERBS) + "".join(endings)
    lines.append((verb, "VERB", f"Mood={mood}|Person={person}|Tense={tense}|VerbForm=Fin", head, relation))
    here = len(lines)
    ends = [subject]
    if r.random() < 0.7:
        ends.append(_phrase(r, lines, r.choice(["Acc", "Par"]), "obj"))
    for _ in range(r.choice([0, 0, 1, 2])):
        ends.append(_phrase(r, lines, "Ine", "obl"))
    for at in ends:
        lines[at - 1] = (*lines[at - 1][:3], here, lines[at - 1][4])
    return here


def _phrase(r: Random, lines: list[Line], case: str, relation: str) -> int:
    """Add a noun, with adjectives before it and perhaps a noun in the genitive after it; returns its number."""
    adjectives = r.choice([0, 0, 1, 2])
    noun = len(lines) + adjectives + 1
    lines += [(r.choice(ADJECTIVES), "ADJ", "", noun, "amod") for _ in range(adjectives)]
    which, number = r.randrange(len(NOUNS)), r.choice(["Plur", "Sing"])
    ending = {"Nom": "", "Acc": "n", "Par": "a", "Ine": "ss", "Gen": "ne"}[case] + ("t" if number == "Plur" else "")
    features = f"Case={case}|Gender={GENDERS[which % 2]}|Number={number}"
    lines.append((NOUNS[which] + ending, "NOUN", features, 0, relation))
    if r.random() < 0.3:
        inner = _phrase(r, lines, "Gen", "nmod")
        lines[inner - 1] = (*lines[inner - 1][:3], noun, "nmod")
    return noun
